"""Every example in the README, the documentation and the docstrings runs; every public name is documented."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

import pytest

import pellucid
import pellucid.estimators
import pellucid.importing
import pellucid.nn
import pellucid.optim
import pellucid.train

ROOT = Path(__file__).parents[1]


pytestmark = pytest.mark.usefixtures("closed_pictures")

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN_HERE = [page for page in PAGES if page.name != "extending.md"]  # that one changes a copy: test_extending.py
MODULES = [
    module.name
    for module in pkgutil.walk_packages(pellucid.__path__, "pellucid.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("page", RUN_HERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page):
    """Python blocks run in one namespace; pycon blocks print what they say."""
    namespace: dict[str, Any] = {}
    runner = doctest.DocTestRunner()
    for kind, code in re.findall(r"```(python|pycon)\n(.*?)```", page.read_text(), flags=re.S):
        if kind == "python":
            exec(compile(code, str(page), "exec"), namespace)
        else:
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), 0)
            runner.run(test, clear_globs=False)
            namespace.update(test.globs)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", ["pellucid", *MODULES])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


SKIP = {"TYPE_CHECKING", "Any"}


def public_names():
    modules = {name for name in vars(pellucid) if inspect.ismodule(getattr(pellucid, name))} - {"random"}
    return [
        name for name in (*vars(pellucid), *pellucid._LATER) if not name.startswith("_") and name not in modules | SKIP
    ]


ROOMS = {
    "estimators": pellucid.estimators,
    "export": pellucid.export,
    "importing": pellucid.importing,
    "inspect": pellucid.inspect,
    "lab": pellucid.lab,
    "nn": pellucid.nn,
    "optim": pellucid.optim,
    "train": pellucid.train,
}
IN_ROOMS = [(room, name) for room, module in ROOMS.items() for name in vars(module) if not name.startswith("_")]


@pytest.mark.parametrize(("room", "name"), IN_ROOMS)
def test_names_in_rooms_are_documented(room, name):
    thing = getattr(ROOMS[room], name)
    if inspect.ismodule(thing):
        return
    reference = (ROOT / "docs" / "reference.md").read_text()
    assert f"`{room}.{name}`" in reference or f"`{room}.{name}(" in reference
    assert inspect.getdoc(thing) or not callable(thing)  # a table has its words below it, in the source


@pytest.mark.parametrize("name", public_names())
def test_public_names_are_documented(name):
    thing = getattr(pellucid, name)
    assert inspect.getdoc(thing), f"{name} has no docstring"
    assert f"`{name}" in (ROOT / "docs" / "reference.md").read_text(), f"{name} is missing in docs/reference.md"
    if inspect.isfunction(thing):
        hints = inspect.signature(thing)
        assert hints.return_annotation is not inspect.Signature.empty
        assert ">>>" in (thing.__doc__ or ""), f"{name} has no example"
