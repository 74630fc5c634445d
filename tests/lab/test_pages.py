"""Errata, answers and names: all are there, their programs run, and their links lead to what exists."""

import re
from pathlib import Path

import pytest

import pellucid
from pellucid import lab
from tests import test_docs
from tests.markdown import anchors, links, rows, sections

FOLDER = Path(__file__).parents[2] / "docs" / "lab"
PAGES = {name: (FOLDER / f"{name}.md").read_text("utf-8") for name in ("errata", "answers", "glossary")}
LECTURES = ("Waterloo", "cs231n", "Notes", "KTH", "Book")
every_page = pytest.mark.parametrize("page", PAGES)

NAMES = """
Mark I Perceptron; Adaline; Madaline; AlexNet; VGGNet; GoogLeNet; Frank Rosenblatt; Bernard Widrow and Ted Hoff;
Roger Grosse; Hui et al.; Henri Lebesgue; McCulloch and Pitts, 1943; Rosenblatt, 1957; Widrow and Hoff, 1960;
Rumelhart, Hinton and Williams, 1986; Hinton and Salakhutdinov, 2006; Dahl et al., 2010; Krizhevsky et al., 2012;
LeCun et al., 1991; Maas et al., 2013; He et al., 2015; Clevert et al., 2015; Goodfellow et al., 2013;
Ramachandran et al., 2018; Nair and Hinton, 2010; Glorot and Bengio, 2010; Saxe et al., 2013;
Sussillo and Abbott, 2014; Krähenbühl et al., 2015; Mishkin and Matas, 2015; Ioffe and Szegedy, 2015;
Santurkar et al., 2018; Wu and Johnson, 2021; Srivastava et al., 2014; Duchi et al., 2011; Kingma and Ba, 2015;
Bauer, 1974; Kantorovich, 1957; Baydin et al., 2018; Bryson and Ho, 1969; Werbos, 1974; Kolmogorov, 1957;
Arnol'd, 1957; Kahane, 1975; Leshno et al., 1993; Hornik, 1993; Lin and Tegmark, 2016; Canziani et al., 2016; Bishop;
Goodfellow, Bengio and Courville; Mathematica; Maple; Theano; TensorFlow; PyTorch; JAX; Keras; TensorFlow Playground;
Initializing neural networks
"""

QUESTIONS = (  # of the lectures, by words that each heading has
    *("sigmoid gate", "ReLU gate", "W = 0", "weights of size 0.01", "|s| > 5", "ReLU instead of tanh"),
    *("layer 1 under Xavier", "?? hidden layers", "which dimensions", "5.5", "(1 + exp(x₀x₁ + sin x₀))⁻¹"),
    *("Forward or reverse", "depend on the input", "influence diagram", "BN(xᵢ) = f(xᵢ, x₋ᵢ, μ, σ²)"),
    "gradients of W and b",
)


def test_all_errata_are_there():
    parts = sections(PAGES["errata"])
    numbers = [int(title.split(".")[0]) for title in parts]
    slips = rows(PAGES["errata"])
    assert numbers + [int(row[0]) for row in slips] == list(range(1, 70))
    for title, words in parts.items():
        assert any(f"**{lecture}**" in words for lecture in LECTURES), title
        assert links(words), title
    for number, lectures, printed, right, _ in slips:
        assert all(lecture in LECTURES for lecture in lectures.split(", ")), number
        assert printed
        assert right


def test_all_questions_are_answered():
    parts = sections(PAGES["answers"])
    for question in QUESTIONS:
        (title,) = [title for title in parts if question in title]
        assert any(target.endswith(".md") for _, target in links(parts[title])), title
    assert len(QUESTIONS) == 16


def test_all_names_are_there_once():
    table = rows(PAGES["glossary"])
    first = [row[0] for row in table]
    for name in NAMES.replace("\n", " ").split(";"):
        assert first.count(name.strip()) == 1, name
    assert all(all(row) for row in table)


@pytest.mark.parametrize("page", ["errata", "answers"])
def test_lectures_have_their_titles(page):
    for title in lab.LECTURES.values():
        assert title in PAGES[page].replace("\n", " ")


@every_page
def test_no_codes(page):
    assert not re.findall(r"\b[A-R]\d\d\b", PAGES[page])


@every_page
def test_programs_run(page):
    test_docs.test_page(FOLDER / f"{page}.md")


@every_page
def test_linked_experiments_exist(page):
    linked = {target.removesuffix(".md") for _, target in links(PAGES[page]) if re.fullmatch(r"[\w-]+\.md", target)}
    assert not sorted(linked - set(lab.names()) - set(PAGES))


@every_page
def test_linked_names_exist(page):
    names = [words.strip("`") for words, target in links(PAGES[page]) if target == "../reference.md"]
    for name in names:
        thing = pellucid
        for part in name.split("."):
            thing = getattr(thing, part)
    reference = (FOLDER.parent / "reference.md").read_text("utf-8")
    assert not [name for name in names if name.rsplit(".", 1)[-1] not in reference]


@every_page
def test_linked_places_exist(page):
    for _, target in links(PAGES[page]):
        path, _, place = target.partition("#")
        if re.fullmatch(r"[\w-]+\.md", target) and path.removesuffix(".md") not in PAGES:
            continue  # the page of an experiment
        assert (FOLDER / path).exists(), target
        assert not place or place in anchors(FOLDER / path), target
