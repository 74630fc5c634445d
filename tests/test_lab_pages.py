"""The pages of the lab: one for each experiment, written by docs/make_lab.py, with figures of moderate size."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

from pellucid import lab
from pellucid.figures import axes, figure_of
from pellucid.lab import Beside, Outcome, Picture, Table, experiment

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "lab"
LARGEST = 400_000

pytestmark = pytest.mark.usefixtures("closed_pictures")


@pytest.fixture(scope="module")
def make_lab():
    spec = importlib.util.spec_from_file_location("make_lab", ROOT / "docs" / "make_lab.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", lab.names())
def test_every_experiment_has_a_page_that_the_index_lists(name):
    remedy = f"run python docs/make_lab.py --only {name}"
    assert (FOLDER / f"{name}.md").exists(), remedy
    assert f"]({name}.md)" in (FOLDER / "index.md").read_text(encoding="utf-8"), remedy


def test_no_page_or_figure_is_left_over():
    pages = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    written = {name.removesuffix(".md") for name, text in pages.items() if "Written by docs/make_lab.py from" in text}
    assert written <= set(lab.names())
    files = {path.name for pattern in ("*.svg", "*.png") for path in FOLDER.glob(pattern)}
    used = {file for text in pages.values() for file in re.findall(r"\]\(([\w.-]+\.(?:svg|png))\)", text)}
    assert files <= used


def test_figures_are_of_moderate_size():
    assert not [path.name for path in FOLDER.iterdir() if path.stat().st_size > LARGEST]


def test_a_page_says_everything(make_lab):
    def work(n: int = 3) -> Outcome:
        return Outcome(
            False,
            "It came out as 2 < 3.",
            {"n": n},
            (Beside("a number", 3, 2), Beside("one that the lecture lacks", None, 1.5)),
            (Table("Rows | of a kind", ("x", "y"), [[1, "a | b"]]),),
            (Picture("line", "A line.", lambda: figure_of(axes())),),
        )

    trial = experiment(
        "trial",
        "A trial: x < y",
        lectures=("kth",),
        topic="models",
        claim="Words that go on for rather long, so that a line of the page has to be broken somewhere near its end.",
        setting="As it is.",
        criterion="n < 3.",
        notice=("One thing.",),
        further=('lab.run("trial", n=5)',),
        knobs={"n": "a number"},
    )(work)
    result = lab.Result(trial, {"n": 4}, trial.work(), 0.1)
    page = make_lab.page(result, ["trial-line.svg"])
    assert page.startswith("# A trial: x &lt; y\n")
    for words in (
        "**✗ Not shown.** It came out as 2 &lt; 3.",
        "- **Lecture.** KTH DD2424, lecture 4",
        "| a number | 3 | 2 |",
        "| one that the lecture lacks |  | 1.5 |",
        "| 1 | a \\| b |",
        "(trial-line.svg)",
        '- `lab.run("trial", n=5)`',
        "| `n` | `3` | a number |",
        "Run with `n=4`.",
        "[trial.py](../../src/pellucid/lab/experiments/trial.py)",
    ):
        assert words in page, words
    assert max(len(line) for line in page.splitlines() if not line.startswith(("|", "!", "<"))) <= 110


def test_small_figures_are_drawn_and_large_ones_are_dots(make_lab, monkeypatch):
    picture = Picture("line", "A line.", lambda: figure_of(axes()))
    name, content = make_lab.draw(picture, "trial")
    assert name == "trial-line.svg"
    assert content.startswith(b"<svg")
    monkeypatch.setattr(make_lab, "LARGEST", 10)
    name, content = make_lab.draw(picture, "trial")
    assert name == "trial-line.png"
    assert content.startswith(b"\x89PNG")


def test_words_of_a_drawing_keep_their_digits(make_lab):
    def draw():
        ax = axes()
        ax.plot([0.0, 1.0 / 3.0])
        ax.set_title("λ = 0.001")
        return figure_of(ax)

    _, content = make_lab.draw(Picture("line", "A line.", draw), "trial")
    tags = "".join(re.findall("<[^>]*>", content.decode()))
    assert "λ = 0.001" in content.decode()
    assert not re.search(r"\d\.\d{3}", tags)


def test_a_formula_does_not_become_a_list(make_lab):
    for length in range(90, 101):
        lines = make_lab.wrapped("x" * length + " - 2 + 3 and 1. more").splitlines()
        assert not [line for line in lines if re.match(r"[-+*] |\d+\. ", line)]


def test_its_examples(make_lab):
    assert doctest.testmod(make_lab).failed == 0
