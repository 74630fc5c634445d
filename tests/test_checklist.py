"""Every point of the five lectures is shown somewhere: `checklist.toml` says where, and all of that exists."""

import ast
import functools
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from pellucid import lab
from tests.markdown import anchors

ROOT = Path(__file__).parents[1]
INDEX: dict[str, list[str]] = tomllib.loads((ROOT / "tests" / "checklist.toml").read_text("utf-8"))
# fmt: off
POINTS = {  # how many the list of the lectures' contents has in each part
    "A": 25, "B": 24, "C": 7, "D": 22, "E": 11, "F": 17, "G": 16, "H": 19, "I": 7, "J": 5, "K": 11, "L": 9, "R": 11,
    "M": 1, "N": 20, "O": 16, "P": 69, "Q": 11,
}
# fmt: on


@functools.cache
def functions(path: Path) -> frozenset[str]:
    """The tests of a file, without running it."""
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@functools.cache
def headings(path: Path) -> frozenset[str]:
    return frozenset(anchors(path))


def exists(target: str) -> bool:
    if target.startswith("lab:"):
        return target.removeprefix("lab:") in lab.names()
    if "::" in target:
        path, name = target.split("::")
        return (ROOT / path).exists() and name.split("[")[0] in functions(ROOT / path)
    path, _, place = target.partition("#")
    return path.startswith("docs/") and (ROOT / path).exists() and (not place or place in headings(ROOT / path))


def keys(part: str, count: int) -> list[str]:
    """A01, A02, ...; the names (M) are one point, the conventions are Q1, Q2, ..."""
    return {"M": ["M"], "Q": [f"Q{i}" for i in range(1, count + 1)]}.get(
        part, [f"{part}{i:02}" for i in range(1, count + 1)]
    )


def test_every_point_has_a_row():
    assert sorted(INDEX) == sorted(key for part, count in POINTS.items() for key in keys(part, count))
    assert sum(count for part, count in POINTS.items() if part not in "MNOPQ") == 184
    assert Counter(key[0] for key in INDEX) == POINTS


@pytest.mark.parametrize("point", INDEX)
def test_every_point_is_shown(point):
    assert INDEX[point], f"{point} has no target"
    assert all(isinstance(target, str) for target in INDEX[point])
    assert len(set(INDEX[point])) == len(INDEX[point])
    missing = [target for target in INDEX[point] if not exists(target)]
    assert not missing, f"{point}: not there: {', '.join(missing)}"


def test_what_is_not_there_is_noticed():
    there = ["tests/test_checklist.py::test_what_is_not_there_is_noticed[any]", "lab:xor", "docs/losses.md#the-table"]
    assert all(map(exists, there))
    gone = [
        "tests/test_checklist.py::test_gone",
        "tests/gone.py::test_x",
        "lab:gone",
        "docs/losses.md#gone",
        "README.md",
    ]
    assert not any(map(exists, gone))


def test_every_experiment_shows_something():
    shown = {target.removeprefix("lab:") for targets in INDEX.values() for target in targets if target[:4] == "lab:"}
    assert not sorted(set(lab.names()) - shown)
