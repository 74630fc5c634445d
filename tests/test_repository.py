"""What stands around the code keeps to its form: the width of the markdown, and the files that other tools read."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pellucid
from tests.lowest import CASES

ROOT = Path(__file__).parents[1]
FOLDERS = (".github", "benchmarks", "docs", "examples", "src", "tests")
WIDEST = 110  # written at about 100


def markdown() -> list[Path]:
    """Every markdown page of the project, and none of an environment's or a cache's."""
    here = ROOT.glob("*.md")
    below = (page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))
    return sorted({*here, *below})


def prose(text: str) -> list[str]:
    """The lines of a page that can be broken: no code, no tables; links and code spans count as nothing."""
    text = re.sub(r"^([ ]*)(`{3,}).*?^\1\2", "", text, flags=re.S | re.M)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("|")]
    return [re.sub(r"!?\[[^\]]*\]\([^)]*\)|`[^`]*`|https?://\S+", "", line) for line in lines]


@pytest.mark.parametrize("page", markdown(), ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_wrapped(page):
    wide = [line for line in prose(page.read_text(encoding="utf-8")) if len(line) > WIDEST]
    assert not wide, f"{page.name}: break these lines at about 100 columns"


def test_what_counts_as_prose():
    page = "short\n```python\n" + "x" * 200 + "\n```\n| " + "y" * 200 + " |\n[a](" + "z" * 200 + ")\n" + "w " * 60
    assert [len(line) > WIDEST for line in prose(page)] == [False, False, False, True]


FORMS = {
    "github-workflows": "workflows/*.yml",
    "github-issue-forms": "ISSUE_TEMPLATE/*.yml",
    "citation-file-format": "../CITATION.cff",
}


@pytest.mark.parametrize(("schema", "files"), FORMS.items())
def test_files_for_the_host_have_their_form(schema, files):
    pytest.importorskip("check_jsonschema")
    paths = list((ROOT / ".github").glob(files))
    assert paths
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths]
    check = subprocess.run(command, capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


def test_the_citation_is_of_this_version():
    assert f"\nversion: {pellucid.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_hooks_are_the_commands_of_make_lint():
    config = (ROOT / ".pre-commit-config.yaml").read_text()
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), flags=re.M).group(1)
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe.splitlines()]
    assert re.findall(r"entry: (.*)", config) == commands


def test_the_hooks_have_their_form():
    pytest.importorskip("pre_commit")
    command = [sys.executable, "-m", "pre_commit", "validate-config", ROOT / ".pre-commit-config.yaml"]
    check = subprocess.run(command, capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


@pytest.mark.parametrize("package", CASES)
def test_the_tests_with_the_lowest_versions_are_there(package):
    assert all((ROOT / "tests" / path).exists() for path in CASES[package])
