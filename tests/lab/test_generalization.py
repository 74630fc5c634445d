"""Experiments on generalisation: curve fitting, bias and variance, splits and leaks, houses."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from pellucid import datasets
from pellucid.estimators import MLPRegressor, TablePreprocessor
from pellucid.lab import generalization as lab
from pellucid.lab import housing, splits


def test_curve_fitting():
    found = lab.curve_fits()
    assert len(found.x) == 10
    assert found.degrees == tuple(range(10))
    assert found.train[9] < 1e-10  # ten points, ten coefficients
    np.testing.assert_allclose(found.at(9)(found.x), found.y, atol=1e-10)
    assert np.all(np.diff(found.train) < 1e-12)  # a larger model never fits its own points worse
    assert found.best == 3
    assert found.test[9] > 1.9 * found.test[3]
    assert found.largest[9] > 1000 * found.largest[3]
    assert str(found).splitlines()[-1].split()[:2] == ["9", "0.000"]


def test_fits_are_least_squares():
    found = lab.curve_fits(n=12, degrees=(3,))
    powers = np.vander(found.x, 4)
    expected = powers @ np.linalg.lstsq(powers, found.y, rcond=None)[0]
    np.testing.assert_allclose(found.at(3)(found.x), expected, atol=1e-10)


def test_the_usual_data_set_is_usual():  # the seed was not chosen for the largest effect
    tests = np.array([lab.curve_fits(seed=seed).test for seed in range(100)])
    median = np.median(tests, axis=0)
    assert int(np.argmin(median)) == 3
    assert abs(lab.curve_fits().test[9] - median[9]) < 0.1


def test_more_data_overfits_less():
    found = lab.more_data()
    assert np.all(np.diff(found.test) < 0)
    assert np.all(np.diff(found.train) > 0)
    assert abs(found.test[-1] - lab.NOISE) < 0.01
    assert abs(found.train[-1] - lab.NOISE) < 0.01


def test_too_few_points():
    with pytest.raises(ValueError, match="10 points determine a polynomial of degree 9 at most, got degree 10"):
        lab.curve_fits(degrees=range(11))


def test_bias_and_variance_add_up():
    found = lab.bias_variance_by_size()
    for parts in found.parts:
        error = np.hypot(np.hypot(parts.variance_error, parts.bias_squared_error), parts.mse_error)
        assert abs(parts.total - parts.mse) < 4 * error
    assert np.all(np.diff([p.variance for p in found.parts]) > 0)
    assert found.parts[0].bias_squared > 0.4  # a constant cannot follow a wave
    assert abs(found.parts[9].bias_squared) < 0.002
    assert found.best in (3, 4, 5)
    # n - (degree + 1) of n directions of noise are left in the training error
    np.testing.assert_allclose(found.train[5:], 0.09 * (20 - np.arange(6, 11)) / 20, rtol=0.1)
    gaps = np.array([p.mse for p in found.parts]) - found.train
    assert np.all(np.diff(gaps[3:]) > 0)  # the gap grows with the variance


def test_variance_of_least_squares_is_as_computed():
    """Fixed points: the variance of a prediction is σ² times the diagonal of the hat matrix."""
    found = lab.bias_variance_by_size((3,), repetitions=400)
    A, B = np.vander(np.linspace(0, 1, 20), 4), np.vander(np.linspace(0, 1, 101), 4)
    expected = 0.09 * np.mean(np.sum((B @ np.linalg.pinv(A)) ** 2, axis=1))
    assert abs(found.parts[0].variance - expected) < 4 * found.parts[0].variance_error


def test_bias_and_variance_of_networks():
    def make(units, seed):
        return MLPRegressor(
            hidden_layer_sizes=(units,), activation="tanh", solver="lbfgs", max_iter=150, tol=0.03, alpha=0.01,
            random_state=seed, engine="numpy",
        )  # fmt: skip

    found = lab.bias_variance_by_size((1, 4), make, repetitions=10)
    small, large = found.parts
    assert small.bias_squared > large.bias_squared + 0.02  # one unit is one step, a wave needs more
    assert found.train[0] > found.train[1]
    assert found.best == 4


def test_roles_do_not_overlap():
    roles = splits.holdout(101, seed=3)
    rows = np.concatenate([roles.train, roles.validation, roles.test])
    assert sorted(rows) == list(range(101))
    assert (len(roles.validation), len(roles.test)) == (20, 20)
    with pytest.raises(ValueError, match=r"leave some to train on, got 0\.5 and 0\.5"):
        splits.holdout(100, 0.5, 0.5)
    with pytest.raises(ValueError, match="3 rows are too few"):
        splits.holdout(3, 0.1, 0.1)


class Noted(RegressorMixin, BaseEstimator):
    """Predicts the mean, and notes which rows it was given."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        Noted.seen.append(("fit", frozenset(X[:, 0].astype(int))))
        return self

    def predict(self, X):
        Noted.seen.append(("predict", frozenset(X[:, 0].astype(int))))
        return np.full(len(X), self.mean_)


def test_test_rows_are_looked_at_once():
    Noted.seen.clear()
    X, y = np.arange(50.0)[:, None], np.random.default_rng(0).normal(size=50)
    roles = splits.holdout(50)
    test = frozenset(roles.test.tolist())
    found = splits.select({"mean": Noted()}, X, y, folds=4, roles=roles)
    assert all(not rows & test for what, rows in Noted.seen if what == "fit")
    assert [rows for what, rows in Noted.seen if rows & test] == [test]
    assert Noted.seen[-1] == ("predict", test)
    assert found.rows == {"train": 30, "validation": 10, "folds": 40, "test": 10}
    judged = [rows for what, rows in Noted.seen[3:-2] if what == "predict"][1::2]
    assert sorted(row for rows in judged for row in rows) == sorted(np.concatenate([roles.train, roles.validation]))


def test_selection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 30))
    y = X[:, 0] + rng.normal(size=120)
    found = splits.select({"free": Ridge(1e-6), "held back": Ridge(30.0), "nearly constant": Ridge(1e6)}, X, y)
    assert found.train["free"] < found.validation["free"]
    assert found.chosen_by_folds == found.chosen_by_holdout == "held back"
    assert found.folds["free"].shape == (5,)
    assert str(found).count("not looked at") == 2


def test_a_scaler_inside_a_model_sees_training_rows_only():
    """Rows that are held out may hold anything: what is learned stays the same."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    roles = splits.holdout(60)
    model = {"m": make_pipeline(TablePreprocessor("standard"), Ridge())}
    wild = X.copy()
    wild[roles.test] *= 1e6
    honest, changed = (splits.select(model, inputs, y, roles=roles) for inputs in (X, wild))
    assert honest.validation == changed.validation
    np.testing.assert_array_equal(honest.folds["m"], changed.folds["m"])
    assert honest.test != changed.test


def test_leaks():
    few = splits.scaler_leak("whiten", repetitions=30), splits.scaler_leak("standard", rows=40, repetitions=60)
    for leak in few:
        mean, error = leak.flattery
        assert mean > 2 * error  # few rows: the scaler knows too much
    many = splits.scaler_leak("whiten", rows=200, repetitions=10)
    assert abs(many.flattery[0]) < 0.02  # many rows: next to nothing
    noise = splits.choice_leak()
    assert noise.leaky.mean() < 0.8  # it seems to predict what cannot be predicted
    assert noise.honest.mean() > 1.0
    assert "flattery" in str(noise)


def test_housing():
    rows = housing.housing(train=100, validation=50)
    np.testing.assert_allclose(rows.train.X[:, :8].mean(axis=0), 0, atol=1e-12)  # scaled by these rows
    assert np.abs(rows.test.X[:, :8].mean(axis=0)).max() > 0.01  # and not by those
    assert len(rows.test.y) == 2850
    X, y = datasets.load("california")
    assert X.shape == (3000, 9)
    assert abs(y.mean() - 206_856) < 3 * y.std() / np.sqrt(3000)  # of the whole table


def test_early_stopping():
    run = housing.early_stopping(epochs=150, patience=20)
    train, held = run.curves()
    assert run.stopped_epoch == run.best_epoch + 20
    assert len(held) == 150
    assert int(np.argmin(held[: run.stopped_epoch])) + 1 == run.best_epoch
    assert train[-1] < 0.7 * train[run.best_epoch - 1]  # training goes on to improve
    assert held[-1] > held[run.best_epoch - 1] + 0.03  # validation does not
    assert run.test_stopped < run.test_end


def test_a_larger_least_improvement_stops_earlier():
    patient = housing.early_stopping(epochs=60, patience=10)
    strict = housing.early_stopping(epochs=60, patience=10, min_delta=0.1)
    assert strict.stopped_epoch < patient.stopped_epoch


def test_averaging():
    found = housing.averaging(members=5, epochs=40)
    assert found.averages[0] == found.members[0]
    assert found.averages[-1] < np.mean(found.members) - 0.01
    assert "variance of the average" in found.report


def test_ablation():
    found = housing.ablation(seeds=(0, 1, 2), epochs=120)
    gap = dict(zip(found.variants, found.gap.mean(axis=1), strict=True))
    assert gap["both"] < gap["dropout"] < gap["plain"]
    assert gap["both"] < gap["batch norm"] < gap["plain"]
    alone, beside = found.gain("plain", "dropout")[0], found.gain("batch norm", "both")[0]
    assert alone > beside  # with batch norm, dropout is needed less
    assert len(str(found).splitlines()) == 6


def test_pictures():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    from pellucid.lab import generalization_plots as plots

    fits = lab.curve_fits()
    ax = plots.plot_fit(fits, 9)
    np.testing.assert_allclose(ax.lines[2].get_ydata(), fits.y)
    assert plots.plot_degrees(fits).get_title() == "10 training points"
    run = housing.early_stopping(epochs=15, patience=3)
    ax = plots.plot_stopping(run)
    marks = [line.get_xdata() for line in ax.lines if line.get_marker() == "o"]
    assert [list(mark) for mark in marks] == [[run.best_epoch]]
    found = housing.Ablation(("plain", "both"), np.ones((2, 2)), np.array([[2.0, 2.0], [1.5, 1.5]]))
    assert [text.get_text() for text in plots.plot_ablation(found).texts][:2] == ["gap 1.00", "gap 0.50"]
    plt.close("all")
