"""Every experiment of the lab: it runs in its quick setting, meets its criterion, and says what it should."""

import re

import pytest

from pellucid import lab
from pellucid.lab.page import index

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module", params=lab.names())
def result(request):
    return lab.run(request.param)


def test_the_criterion_is_met(result):
    assert result.passed, result.verdict
    assert result.verdict.endswith(".")
    assert result.numbers


def test_what_is_said(result):
    it = result.experiment
    assert len(it.title) <= 70
    for words in (it.claim, it.setting, it.criterion, *it.notice):
        assert words.endswith((".", "?")), words
    assert it.notice
    assert it.further
    for call in it.further:
        named = re.search(r'lab\.run\("([^"]+)"(.*)\)', call)
        assert named, f"{call}: a call of lab.run"
        other = lab.find(named[1])
        arguments = set(re.findall(r"(\w+)=", named[2])) - {"full"}
        assert arguments <= set(other.defaults), call


def test_the_page(result):
    page = result.html()
    assert result.experiment.claim[:20].split("<")[0].split("'")[0] in page
    assert page.count("<figure>") == len(result.outcome.pictures)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)  # else nothing is cut off at the axes
    assert not any("\\" in name for name in ids)  # which a style sheet would read as another name
    assert len(page) < 3e6


def test_figures_have_named_axes(result):
    """Axes that show data say what they show; those without ticks (drawings) need no names."""
    from matplotlib import pyplot as plt

    try:
        for name, figure in result.figures.items():
            shown = [ax for ax in figure.axes if ax.axison and ax.get_visible() and ax.get_label() != "<colorbar>"]
            assert figure.get_size_inches().prod() > 0
            for ax in shown:
                if len(ax.get_xticks()) and len(ax.get_yticks()):
                    around = [other for other in shown if other.get_xlabel()]
                    assert around, f"{name}: no axis says what it shows"
    finally:
        plt.close("all")


def test_text(result):
    text = str(result)
    assert result.experiment.title in text
    assert "shown" in text
    assert max(map(len, text.splitlines())) <= 100


def test_all_are_listed():
    everything = lab.catalogue()
    assert {it.name for it in everything} == set(lab.names())
    page = index(everything, {"xor": True})
    assert all(f'href="{it.name}.html"' in page for it in everything)


def test_turned_parameters():
    assert lab.run("xor", steps=100, epochs=7).settings["epochs"] == 7
    with pytest.raises(TypeError, match="it has seed"):
        lab.run("xor", speed=3)
    with pytest.raises(ValueError, match="did you mean 'xor'"):
        lab.run("xr")


def test_a_declaration_describes_every_parameter():
    with pytest.raises(ValueError, match="describe each of them once"):
        lab.experiment(
            "x",
            "x",
            lectures=("kth",),
            topic="models",
            claim="",
            setting="",
            criterion="",
            notice=(),
            further=(),
            knobs={"sede": "of the data"},
        )(lambda seed=0: None)
