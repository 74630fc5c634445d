"""The page of parameters is what the declarations say."""

import importlib.util
import inspect
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"


def make_reference() -> ModuleType:
    """The script that writes the page."""
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = make_reference()


def test_the_page_is_up_to_date():
    written = SCRIPT.PAGE.read_text(encoding="utf-8")
    assert written == SCRIPT.page(), "docs/parameters.md is not up to date: run python docs/make_reference.py"


@pytest.mark.parametrize("kind", SCRIPT.INTRODUCTIONS, ids=lambda kind: kind.__name__)
def test_the_table_is_the_signature(kind):
    names = [line.split("`")[1] for line in SCRIPT.section(kind).splitlines() if line.startswith("| `")]
    assert names == list(inspect.signature(kind).parameters)


@pytest.mark.parametrize("kind", SCRIPT.INTRODUCTIONS, ids=lambda kind: kind.__name__)
def test_every_parameter_says_what_it_is(kind):
    assert all(one.doc for one in kind.declared.values())
