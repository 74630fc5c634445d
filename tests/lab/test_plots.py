"""Pictures: they take and return axes, and say what they show."""

import sys

import matplotlib
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot as plt

from pellucid import lab
from pellucid.lab import plots

pytestmark = pytest.mark.usefixtures("closed_pictures")


def words(ax):
    return " ".join(text.get_text() for text in ax.texts)


def test_difference_errors():
    ax = lab.plot_difference_errors(lab.difference_errors(lambda x: 1 / (1 + x * x), 0.7))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert "step" in ax.get_xlabel()
    assert "error" in ax.get_ylabel()
    assert "forward\nslope 1.00" in words(ax)
    assert "central\nslope 2.00" in words(ax)


def test_swell():
    swell = lab.expression_swell(5)
    ax = lab.plot_swell(swell)
    assert ax.get_yscale() == "log"
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert str(swell.derivative[-1]) in words(ax)
    assert str(swell.graph[-1]) in words(ax)


def test_costs_on_given_axes():
    _, given = plt.subplots()
    ax = lab.plot_costs(lab.speelpenning_costs((4, 8, 16)), given)
    assert ax is given
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["4", "8", "16"]
    assert "forward mode" in words(ax)
    assert "reverse mode" in words(ax)


def test_xor_solved():
    plane, curve = lab.plot_xor(lab.train_xor())
    assert plane.get_xlabel() == "$x_1$"
    assert plane.get_ylabel() == "$x_2$"
    assert words(plane).split() == ["+1", "+1", "−1", "−1"]
    assert curve.get_yscale() == "log"
    assert "solved" in words(curve)
    assert "stuck" in words(curve)


def test_xor_stuck_on_given_axes():
    _, given = plt.subplots(1, 2)
    plane, curve = lab.plot_xor(lab.train_xor(0, steps=50, starts=1), tuple(given))
    assert plane is given[0]
    assert "1 start stuck" in words(curve)
    assert "solved" not in words(curve)


def test_save_all(tmp_path):
    first = {path.name: path.read_bytes() for path in plots.save_all(tmp_path)}
    assert set(first) == {"difference_errors.svg", "expression_swell.svg", "speelpenning_costs.svg", "xor.svg"}
    assert all(len(content) < 150_000 for content in first.values())
    assert not plt.get_fignums()


def test_without_matplotlib_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'pellucid\[plot\]'"):
        lab.plot_swell(lab.expression_swell(2))
