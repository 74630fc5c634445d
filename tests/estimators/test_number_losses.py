"""Losses of numbers from the estimators: predictions in the units of the target, deviations, intervals that hold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from pellucid import MLPRegressor, TabularMLPRegressor, nn
from pellucid.estimators import BaggedMLPRegressor, TrainingSettings
from pellucid.estimators.regressor import numbers_of
from tests.estimators import few_rows as few
from tests.estimators.few_rows import saved_and_loaded

QUICK = {"hidden_layer_sizes": (48, 48), "max_iter": 30, "random_state": 0, "engine": "numpy"}
OF_NUMBERS = sorted(
    {one.name for one in nn.LOSSES.values() if not one.link.kind.tells_classes and "example" not in one.name}
)
COVERAGE = 0.85
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*held-out rows the loss of the network:sklearn.exceptions.ConvergenceWarning"
)


def noisy(rows, seed):
    """Numbers around 1000 with a spread that depends on the second column; and that spread."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    spread = 5.0 + 40.0 * np.abs(X[:, 1])
    return X, 1000.0 + 60.0 * np.sin(X[:, 0]) + spread * rng.normal(size=rows), spread


X, Y, _ = noisy(1500, 0)
TEST, TRUTH, SPREAD = noisy(3000, 1)


@pytest.fixture(scope="module")
def gaussian():
    return TabularMLPRegressor(folds=1, **QUICK, loss="gaussian").fit(X, Y)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_every_loss_of_numbers_trains_a_table(name, tmp_path):
    model = TabularMLPRegressor(folds=1, **{**QUICK, "max_iter": 20}, loss=name).fit(X, Y / 100)
    said = model.predict(TEST)
    assert said.shape == (3000,)
    assert abs(said.mean() - 10) < 0.5  # in the units of the target
    assert model.score(TEST, TRUTH / 100) > 0.2
    low, high = model.predict_interval(TEST, COVERAGE)
    check_coverage(low, high, TRUTH / 100, held=300)
    assert_array_equal(saved_and_loaded(model, tmp_path).predict(TEST), said)


def check_coverage(low, high, truth, held):
    """Within four deviations: those of the rows counted, and of the held-out rows that the width is learned from."""
    deviation = np.sqrt(COVERAGE * (1 - COVERAGE) * (1 / len(truth) + 1 / held))
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(COVERAGE, abs=4 * deviation + 1 / held)


@pytest.mark.parametrize("loss", ["squared_error", nn.loss("quantile", quantiles=(0.075, 0.925)), "gaussian"])
def test_intervals_hold_on_new_rows(loss):
    model = TabularMLPRegressor(folds=1, **QUICK, loss=loss).fit(X, Y)
    low, high = model.predict_interval(TEST, COVERAGE)
    assert low.shape == high.shape == (3000,)
    check_coverage(low, high, TRUTH, held=300)
    own, other, _ = noisy(500, 2)
    check_coverage(*model.calibrate(own, other).predict_interval(TEST, COVERAGE), TRUTH, held=500)
    if loss != "squared_error":  # wide where rows are uncertain: each half is covered, and widths follow the spread
        assert np.corrcoef(high - low, SPREAD)[0, 1] > 0.8
        calm = np.argsort(SPREAD).argsort() < 1500
        inside = (low <= TRUTH) & (high >= TRUTH)
        for part in (calm, ~calm):
            assert np.mean(inside[part]) == pytest.approx(COVERAGE, abs=0.08)


def test_quantiles_are_in_the_units_of_the_target():
    several = TabularMLPRegressor(folds=1, **QUICK, loss=nn.loss("quantile", quantiles=(0.1, 0.5, 0.9))).fit(X, Y)
    said = several.predict(TEST)
    assert said.shape == (3000, 3)
    assert np.all(np.diff(said, axis=1) >= 0)
    assert_allclose(np.mean(TRUTH[:, None] < said, axis=0), [0.1, 0.5, 0.9], atol=0.06)
    one = TabularMLPRegressor(folds=1, **QUICK, loss=nn.loss("quantile", quantiles=0.9)).fit(X, Y)
    assert np.mean(one.predict(TEST) > TRUTH) == pytest.approx(0.9, abs=0.06)


# normal distributions


def test_a_gaussian_loss_predicts_mean_and_deviation(gaussian, tmp_path):
    mean, deviation = gaussian.predict(TEST, return_std=True)
    assert_array_equal(mean, gaussian.predict(TEST))
    assert np.corrcoef(deviation, SPREAD)[0, 1] > 0.9
    assert np.median(deviation / SPREAD) == pytest.approx(1.0, abs=0.25)
    assert np.mean(np.abs(TRUTH - mean) < norm.ppf(0.9) * deviation) == pytest.approx(0.8, abs=0.06)
    assert gaussian.best_validation_score_ == -min(gaussian.validation_loss_curve_)  # the likelihood chooses the epoch
    again = saved_and_loaded(gaussian, tmp_path)
    assert_array_equal(again.predict(TEST, return_std=True)[1], deviation)


def test_the_view_of_the_network_is_in_standardised_units(gaussian):
    rows = gaussian.preprocessor_.transform(TEST)
    mean, deviation = gaussian.estimator_.predict(rows, return_std=True)
    own = gaussian.predict(TEST, return_std=True)
    units = gaussian.fitted.target.units
    assert_allclose(mean * units.factor + units.shift, own[0], rtol=1e-5)
    assert_allclose(deviation * units.factor, own[1], rtol=1e-5)


def test_units_of_the_target_do_not_matter(gaussian):
    scaled = TabularMLPRegressor(folds=1, **QUICK, loss="gaussian").fit(X, 1e-6 * Y - 3)
    mean, deviation = scaled.predict(TEST, return_std=True)
    assert_allclose(mean, 1e-6 * gaussian.predict(TEST) - 3, rtol=1e-3)
    assert_allclose(deviation, 1e-6 * gaussian.predict(TEST, return_std=True)[1], rtol=0.1)


def test_several_outputs_have_a_deviation_each():
    two = np.column_stack([Y, -10 * Y])
    model = TabularMLPRegressor(folds=1, **QUICK, loss="gaussian").fit(X, two)
    mean, deviation = model.predict(TEST, return_std=True)
    assert mean.shape == deviation.shape == (3000, 2)
    assert_allclose(np.median(deviation[:, 1] / deviation[:, 0]), 10, rtol=0.1)
    low, high = model.predict_interval(TEST, COVERAGE)
    check_coverage(low[:, 1], high[:, 1], -10 * TRUTH, held=300)
    assert model.score(TEST, np.column_stack([TRUTH, -10 * TRUTH])) > 0.2


def test_with_dropout_both_kinds_of_uncertainty_are_added(gaussian):
    model = TabularMLPRegressor(folds=1, **QUICK, loss="gaussian", dropout=0.1).fit(X, Y)
    mean, deviation = model.predict(TEST, return_std=True, n_draws=30)
    target, scores = numbers_of(model.fitted), model.logits(TEST)
    assert mean.shape == deviation.shape == (3000,)
    assert np.median(deviation) > np.median(target.deviations(scores))
    assert np.corrcoef(mean, target.decode(scores))[0, 1] > 0.9


def test_a_target_without_noise_is_learned_too():
    """The plain likelihood stops learning rows that it has called uncertain."""
    exact = 1000 + 50 * np.sin(2 * X[:, 0]) * X[:, 2]
    model = TabularMLPRegressor(folds=1, **QUICK, loss="gaussian").fit(X, exact)
    assert model.score(TEST, 1000 + 50 * np.sin(2 * TEST[:, 0]) * TEST[:, 2]) > 0.9


def test_plain_networks_and_ensembles_have_it(tmp_path):
    y = (Y - 1000) / 50
    settings = {"max_iter": 60, "learning_rate_init": 0.01, "early_stopping": True, "random_state": 0}
    reg = MLPRegressor("gaussian", (32,), **settings, validation_fraction=0.2).fit(X, y)
    mean, deviation = reg.predict(TEST, return_std=True)
    assert np.corrcoef(deviation, SPREAD)[0, 1] > 0.8
    check_coverage(*reg.predict_interval(TEST, COVERAGE), (TRUTH - 1000) / 50, held=300)
    assert_array_equal(saved_and_loaded(reg, tmp_path).predict(TEST), mean)
    bag = BaggedMLPRegressor(
        TabularMLPRegressor(folds=1, **{**QUICK, "max_iter": 6}, loss="gaussian"), 3, method="folds"
    )
    low, high = bag.fit(X, Y).predict_interval(TEST, COVERAGE)
    check_coverage(low, high, TRUTH, held=1500)


def test_a_monitor_of_one_number_is_refused_and_functions_are_not():
    with pytest.raises(ValueError, match="r2 takes one number for each target, but gaussian predicts 2"):
        TabularMLPRegressor(folds=1, **QUICK, loss="gaussian", monitor="r2").fit(X, Y)
    reg = MLPRegressor("gaussian", training=TrainingSettings(), **few.SMALL)
    with pytest.warns(UserWarning, match="converged"):
        reg.fit(few.X, few.NUMBERS)
    with pytest.raises(ValueError, match="intervals need errors"):
        reg.predict_interval(few.X)


def test_intervals_of_positive_numbers_stay_positive():
    counts = np.random.default_rng(0).poisson(np.exp(0.3 * X[:, 0]))
    model = TabularMLPRegressor(folds=1, **{**QUICK, "max_iter": 10}, loss="poisson").fit(X, counts)
    low, high = model.predict_interval(TEST, 0.9)
    assert low.min() == 0
    assert np.all(high > low)
