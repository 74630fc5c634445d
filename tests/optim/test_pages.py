"""The pictures, and the page that shows them: nothing of the tables is left out."""

from pathlib import Path

import numpy as np
import pytest

from pellucid import optim
from pellucid.optim.plots import PATHS, SHOWN, trajectory

PAGE = (Path(__file__).parents[2] / "docs" / "optimisers.md").read_text()
CONTROLLERS, LINKS = (optim.ReduceOnPlateau, optim.Adaptive), optim.Link.__subclasses__()


@pytest.mark.parametrize("name", [*optim.RULES, *optim.SCHEDULES])
def test_names_are_on_the_page(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize(
    "kind", [*optim.RULES.values(), *optim.SCHEDULES.values(), *CONTROLLERS, *LINKS], ids=lambda kind: kind.__name__
)
def test_kinds_are_on_the_page(kind):
    if kind.__module__.startswith("pellucid"):
        assert f"`{kind.__name__}" in PAGE


def test_state_is_as_the_page_says():
    rows = {row.split("|")[1].split("`")[1]: row.split("|")[3].strip() for row in PAGE.splitlines() if row[:3] == "| `"}
    for name, kind in optim.RULES.items():
        if name in rows:
            found = set(rows[name].replace("`", "").split(", ")) - {"none"}
            assert {entry for entry in found if "(" not in entry} == set(kind().init(np.ones(1))), name


def test_pictures():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    axes = optim.plot_schedules()
    assert len(axes) == len(SHOWN)
    assert {type(one) for one in SHOWN.values()} == set(optim.SCHEDULES.values())
    paths = optim.plot_trajectories()
    assert [ax.get_title() for ax in paths] == list(PATHS)
    own = pyplot.subplots(1, 2)[1]
    optim.plot_schedules({"a": optim.Cosine(1.0)}, steps=10, axes=own)
    assert own[0].get_title() == "a"
    pyplot.close("all")


@pytest.mark.parametrize("name", PATHS)
def test_paths_go_down(name):
    points = trajectory(PATHS[name], 40)
    height = 0.5 * points**2 @ [1.0, 20.0]
    assert height[-1] < 0.02 * height[0]
