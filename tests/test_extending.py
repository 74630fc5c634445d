"""The page docs/extending.md, run: its lines put into a copy of the sources, and its examples run on that copy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "extending.md"
PARTS = ["a parameter", "an activation", "a loss", "an update rule", "a callback", "an experiment"]

EXAMPLES = """
import doctest, pathlib, sys
import pellucid
assert pellucid.__file__.startswith(sys.argv[1]), pellucid.__file__
text = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
test = doctest.DocTestParser().get_doctest(text, {}, "extending", None, 0)
assert len(test.examples) > 30
sys.exit(doctest.DocTestRunner().run(test).failed)
"""


class Addition(NamedTuple):
    """Lines of the page and where they go: behind the line of a file that begins with `after`, or at its end."""

    path: str
    after: str
    lines: str


def sections() -> dict[str, str]:
    """The page, by its headings."""
    _, *parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip((heading.lower() for heading in parts[::2]), parts[1::2], strict=True))


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)


def additions(text: str) -> list[Addition]:
    """What is to be added, in the order of the page."""
    every = []
    for block in blocks(text, "python"):
        heading, _, lines = block.partition("\n")
        place = re.fullmatch(r"# (\S+), (?:after `(.*)`|at the end|a new file)", heading)
        assert place, f"{heading!r} does not say where the lines go"
        assert heading.endswith("a new file") != (ROOT / place[1]).exists(), heading
        every.append(Addition(place[1], place[2] or "", lines))
    return every


def add(root: Path, addition: Addition) -> None:
    """Put the lines into the copy."""
    path = root / addition.path
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if not addition.after:
        path.write_text(f"{text}\n\n{addition.lines}" if text else addition.lines, encoding="utf-8")
        return
    lines = text.splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.strip().startswith(addition.after)]
    assert len(places) == 1, f"{addition.path}: {len(places)} lines begin with {addition.after!r}"
    lines.insert(places[0] + 1, addition.lines)
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of the project with all that the page adds."""
    root = tmp_path_factory.mktemp("extended")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__", "fixtures"))
    shutil.copy(ROOT / "pyproject.toml", root)
    for addition in additions(PAGE.read_text(encoding="utf-8")):
        add(root, addition)
    return root


def run(root: Path, *command: str) -> None:
    """Run Python on the copy."""
    settings = {**os.environ, "PYTHONPATH": str(root / "src")}
    process = subprocess.run(
        [sys.executable, *command], cwd=root, env=settings, capture_output=True, text=True, timeout=600
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_the_page_has_all_parts():
    assert list(sections()) == PARTS
    for heading, text in sections().items():
        assert additions(text), heading
        assert blocks(text, "pycon"), heading


def test_a_parameter_is_one_declaration_and_one_use():
    in_sources = [one for one in additions(sections()["a parameter"]) if one.path.startswith("src/")]
    assert [one.path for one in in_sources] == [
        "src/pellucid/estimators/mlp_parameters.py",
        "src/pellucid/estimators/recipe.py",
    ]


def test_examples_run_on_the_copy(extended, tmp_path):
    examples = tmp_path / "examples.txt"
    examples.write_text("\n".join(blocks(PAGE.read_text(encoding="utf-8"), "pycon")), encoding="utf-8")
    run(extended, "-W", "error", "-c", EXAMPLES, str(extended), str(examples))


def test_walks_find_their_cases(extended):
    files = [f"tests/{path}.py" for path in ("estimators/test_errors", "nn/test_activations", "nn/test_losses")]
    names = "warmup or isru or LogCosh or every_condition or every_record or every_loss"
    run(extended, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "-k", names, *files)


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        (Addition("src/pellucid/optim/rules/table.py", '"nothing": ', ""), "0 lines begin with"),
        (Addition("src/pellucid/optim/rules/table.py", '"', ""), "lines begin with"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(addition, message):
    with pytest.raises(AssertionError, match=message):
        add(ROOT, addition)
