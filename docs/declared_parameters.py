"""For the API pages: estimators as they are at run time. Their constructors, and the list in their docstrings, are made
from declarations (`pellucid.estimators.parameters`), which a reader of the text alone does not see."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe

from pellucid.estimators.parameters import Parameters
from pellucid.estimators.shell import Learned

KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: griffe.ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: griffe.ParameterKind.keyword_only,
}


class DeclaredParameters(griffe.Extension):
    """Docstrings, constructors and learned attributes of estimators."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Replace what the text says by what the class has."""
        if not cls.path.startswith("pellucid.estimators."):
            return
        actual = getattr(importlib.import_module(cls.module.path), cls.name, None)
        if not isinstance(actual, type):
            return
        for name, member in cls.members.items():
            learned = vars(actual).get(name)
            if isinstance(learned, Learned) and not name.startswith("_"):
                member.docstring = griffe.Docstring(learned.__doc__ or "", parent=member)
        if issubclass(actual, Parameters) and actual.declared and actual.__doc__:
            for name in [name for name in actual.own_parameters if name in cls.members]:
                del cls.members[name]
            cls.docstring = griffe.Docstring(inspect.cleandoc(actual.__doc__), parent=cls)
            cls.set_member("__init__", _constructor(actual))


def _constructor(actual: type[Parameters]) -> griffe.Function:
    arguments = [
        griffe.Parameter(name, annotation=str(one.annotation), kind=KINDS[one.kind], default=repr(one.default))
        for name, one in inspect.signature(actual).parameters.items()
    ]
    first = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
    return griffe.Function("__init__", parameters=griffe.Parameters(first, *arguments))
