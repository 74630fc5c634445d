"""What stands around the code keeps to its form: the width of the markdown, and the files that other tools read."""

import re
from pathlib import Path

import pytest

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
