"""The same charts by matplotlib: every function takes and returns axes."""

import matplotlib
import numpy as np
import pytest

import pellucid as pel
from pellucid import inspect
from pellucid.report import plots, report
from pellucid.report.numbers.layers import inside
from pellucid.train import History
from tests.report.cases import look_of, quiet, two_moons

matplotlib.use("Agg")
pytestmark = pytest.mark.usefixtures("closed_pictures")


@pytest.fixture(scope="module")
def moons():
    return two_moons()


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    model = pel.MLPRegressor(hidden_layer_sizes=(4,), max_iter=3, random_state=0)
    return quiet(model, X, X[:, 0]), X, X[:, 0]


def own_axes():
    from matplotlib.figure import Figure

    return Figure().add_subplot()


@pytest.mark.parametrize("name", ["confusion", "reliability", "roc", "precision_recall", "importance", "regions"])
def test_of_classes(moons, name):
    ax = own_axes()
    assert getattr(plots, name)(moons.model, moons.X, moons.y, ax=ax) is ax
    assert ax.get_xlabel()


@pytest.mark.parametrize("name", ["predictions", "residuals", "importance", "regions"])
def test_of_numbers(numbers, name):
    ax = own_axes()
    assert getattr(plots, name)(*numbers, ax=ax) is ax
    assert ax.get_xlabel()


@pytest.mark.parametrize(
    "name",
    ["gradient_norms", "dead_units", "saturation", "spreads", "gradient_sizes", "update_sizes", "ranks", "units"],
)
def test_of_looks(moons, name):
    ax = own_axes()
    assert getattr(plots, name)(moons.watch, ax=ax) is ax
    assert getattr(plots, name)(moons.model.history).get_xlabel()


def test_of_a_training(moons):
    ax = own_axes()
    assert plots.learning_curves(moons.model, ax=ax) is ax
    words = [text.get_text() for text in ax.texts]
    assert {"training", "validation"} <= set(words)
    assert any("best epoch" in word for word in words)
    assert plots.rates(moons.model.history).get_ylabel() == "learning rate"
    with pytest.raises(ValueError, match="no epochs"):
        plots.learning_curves(History())


def test_histograms_of_every_layer(moons):
    flat = plots.histograms(moons.watch, "dz", look=2)
    assert [ax.get_title(loc="left").split(",")[0] for ax in flat] == ["hidden1", "hidden2", "output"]
    assert len(plots.histograms(moons.model, X=moons.X, y=moons.y)) == 3
    assert len(plots.histograms(inspect.run(moons.model, moons.X))) == 3
    with pytest.raises(ValueError, match="quantity is one of"):
        plots.histograms(moons.watch, "q")
    with pytest.raises(ValueError, match="gradients need y"):
        plots.histograms(inspect.run(moons.model, moons.X), "dz")


def test_partial_dependence_by_name_and_number(numbers, moons):
    model, X, y = numbers
    assert len(plots.partial_dependence(model, X, y, columns=(1,))) == 1
    flat = plots.partial_dependence(model, X, y)
    assert [ax.get_title(loc="left") for ax in flat] == ["x0", "x1"]
    assert len(plots.partial_dependence(moons.model, moons.X, moons.y)) == 2


def test_records_of_a_report_are_drawn(moons):
    record = report(moons.model, X=moons.X, y=moons.y, watch=moons.watch, findings=[]).numbers
    assert plots.roc(record["ranking"], ax=own_axes()).get_legend() is not None
    assert plots.dead_units(record["inside"], ax=own_axes()).get_ylabel() == "dead units"
    assert plots.learning_curves(record["learning"], ax=own_axes()).get_xlabel() == "epoch"
    assert len(plots.partial_dependence((record["dependence0"], record["dependence1"]))) == 2


def test_dead_units_are_drawn_as_they_are():
    ax = plots.dead_units(inside([look_of(0), look_of(10)]), ax=own_axes())
    assert [np.asarray(line.get_ydata()).tolist() for line in ax.lines] == [[0.1, 0.1]] * 3


def test_what_is_missing_is_said(moons):
    with pytest.raises(ValueError, match="expects X and y"):
        plots.confusion(moons.model)
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.predictions(moons.model, moons.X, moons.y)
    with pytest.raises(ValueError, match="layers are drawn of"):
        plots.dead_units(inspect.Watch())
