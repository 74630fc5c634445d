"""Every public function, class and method says what each of its parameters is (numpydoc's sections)."""

import importlib
import inspect
import re
from abc import ABC
from enum import Enum
from typing import Any

import pytest

import pellucid

ROOMS = (
    *("pellucid", "nn", "optim", "train", "data", "inspect", "report", "export", "datasets", "estimators"),
    *("importing", "lab", "distributed", "dask"),
)

EXCEPTIONS: set[str] = set()
"""Names that are not done yet, as "room.name" or "room.name.method": the list may only become shorter."""

EVENT = re.compile(r"on_\w+$")  # of callbacks: what they are given is said by `Callback` and `Run`


def public() -> dict[str, Any]:
    """Each function and class that a room exports; once, under the first name that it has."""
    things: dict[int, tuple[str, Any]] = {}
    for room in ROOMS:
        module = importlib.import_module("pellucid" if room == "pellucid" else f"pellucid.{room}")
        for name in (*vars(module), *(pellucid._LATER if module is pellucid else ())):
            thing = getattr(module, name)
            ours = str(getattr(thing, "__module__", "")).startswith("pellucid")
            if not name.startswith("_") and ours and (inspect.isclass(thing) or inspect.isfunction(thing)):
                things.setdefault(id(thing), (f"{room}.{name}", thing))
    return dict(things.values())


def methods(kind: type) -> dict[str, Any]:
    """What can be called on an object of a class. One that overrides another, without words of its own, goes by those
    of the other."""
    every: dict[str, Any] = {}
    for base in (base for base in kind.__mro__ if base.__module__.startswith("pellucid")):
        for name, value in vars(base).items():
            function = inspect.unwrap(getattr(value, "__func__", getattr(value, "fn", value)))
            if name in every or (name.startswith("_") and name != "__call__") or not inspect.isfunction(function):
                continue
            overrides = any(hasattr(other, name) for other in base.__mro__[1:])
            if not EVENT.match(name) and not (overrides and not function.__doc__):
                every[name] = function
    return every


def parameters(thing: Any) -> list[str]:
    """The names of the parameters, with their stars."""
    made_by_others = inspect.isclass(thing) and "__init__" not in vars(thing)
    if made_by_others and (issubclass(thing, BaseException | Enum) or ABC in thing.__bases__):
        return []
    stars: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    names = [stars.get(one.kind, "") + name for name, one in inspect.signature(thing).parameters.items()]
    return [name for name in names if name not in ("self", "cls")]


def documented(doc: str | None) -> list[str]:
    """The names of the section "Parameters" of a docstring that have words of their own."""
    section = re.search(r"^Parameters\n-{10}\n(.*?)(?=^\w[^\n]*\n-{3,}\n|\Z)", inspect.cleandoc(doc or ""), re.S | re.M)
    found = re.findall(r"^([*\w][^\n:]*?)(?: : [^\n]*)?\n +\S", section.group(1) if section else "", re.M)
    return [name for names in found for name in names.split(", ")]


PUBLIC = public()
CASES = {
    name: callee
    for owner, thing in PUBLIC.items()
    for name, callee in {
        owner: thing,
        **({f"{owner}.{key}": method for key, method in methods(thing).items()} if inspect.isclass(thing) else {}),
    }.items()
}


@pytest.mark.parametrize("name", sorted(set(CASES) - EXCEPTIONS))
def test_every_parameter_is_documented(name):
    thing = CASES[name]
    assert thing.__doc__, f"{name} has no docstring"
    missing = [one for one in parameters(thing) if one not in documented(thing.__doc__)]
    assert not missing, f"{name}: say in a section Parameters what these are"
    unknown = [one for one in documented(thing.__doc__) if one not in parameters(thing)]
    assert not unknown, f"{name}: it has no such parameters"


def test_exceptions_are_names_that_need_to_be():
    assert set(CASES) >= EXCEPTIONS
    done = [name for name in EXCEPTIONS if set(parameters(CASES[name])) <= set(documented(CASES[name].__doc__))]
    assert not done, "these are done: take them off the list"


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_examples_have_their_heading(name):
    doc = inspect.cleandoc(PUBLIC[name].__doc__ or "")
    assert ">>>" not in doc or re.search(r"^Examples\n--------\n>>>", doc, re.M), f"{name}: write Examples above it"


def test_what_is_read_of_a_docstring():
    doc = """A sum.

    Parameters
    ----------
    a, b : array, (n,)
        numbers
    *rest
        more: as many as you like
    lost : int

    Returns
    -------
    array
        their sum
    """
    assert documented(doc) == ["a", "b", "*rest"]
