"""Tables that make networks fail: a default fit beats a linear model or says that it does not; how it is rescued."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pellucid.estimators import TabularMLPClassifier, TabularMLPRegressor
from pellucid.estimators.tables.hidden_directions import HiddenDirections
from tests.estimators.few_rows import saved_and_loaded
from tests.nasty_tables import CLASSES, GENERATORS, NastyTable

KNOWN_TO_WARN = {"heavy_tails", "few_rows"}
"""Straight lines, in columns with long tails, which are smoothly clipped, and of 28 rows; of all others no warning is
expected."""

SMALL: dict[str, Any] = {"hidden_layer_sizes": (16,), "random_state": 0, "numbers": "waves", "folds": 1}
"""One network: a linear one beside it would need no rescue."""


def linear_model(task: str) -> Any:
    """What everybody would try first."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, LogisticRegression(max_iter=500) if task == CLASSES else Ridge())


def as_numbers(X: pd.DataFrame, training: pd.DataFrame) -> pd.DataFrame:
    """What a linear model can take: dates as days, truth values as 0 and 1, no columns that are empty in training."""
    full = X[training.columns[training.notna().any()]]
    times, truths = full.select_dtypes("datetime").columns, full.select_dtypes("bool").columns
    return full.assign(**{c: full[c].astype("int64") / 8.64e13 for c in times}).astype(dict.fromkeys(truths, float))


def costs(model: Any, X: pd.DataFrame, table: NastyTable) -> np.ndarray:
    """The log loss, or the squared error in standard units, of each test row."""
    y = table.y_test
    if table.task == CLASSES:
        likely = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        return -np.log(np.clip(likely, 1e-15, 1.0))
    y = y.astype(float)
    return np.mean(((model.predict(X) - y) / y.std(axis=0)).reshape(len(y), -1) ** 2, axis=1)


def fitted(table: NastyTable, **settings: Any) -> tuple[Any, list[str]]:
    """A fit, and its warnings that a linear model is better."""
    kind = TabularMLPClassifier if table.task == CLASSES else TabularMLPRegressor
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind(random_state=0, **settings).fit(table.X, table.y)
    return model, [str(one.message) for one in caught if "linear model" in str(one.message)]


@pytest.mark.parametrize("name", GENERATORS)
def test_a_default_fit_beats_a_linear_model_or_says_that_it_does_not(name):
    table = GENERATORS[name]()
    model, told = fitted(table)
    assert len(model.attempts_) <= 3
    assert not told or name in KNOWN_TO_WARN, told
    ours = costs(model, table.X_test, table)
    line = linear_model(table.task).fit(as_numbers(table.X, table.X), table.y)
    linear = costs(line, as_numbers(table.X_test, table.X), table)
    difference = ours - linear
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    if told:
        assert difference.mean() > -error, "a warning, though the network is better"
    else:
        assert difference.mean() < 2 * error, "the network is worse, and no warning"


def test_tables_are_the_same_each_time_and_other_for_another_seed():
    for name, generator in GENERATORS.items():
        one, again, other = generator(), generator(), generator(1)
        pd.testing.assert_frame_equal(one.X, again.X)
        assert_array_equal(one.y, again.y)
        assert not one.X_test.reset_index(drop=True).equals(other.X_test.reset_index(drop=True)), name
        assert not set(one.X.index) & set(one.X_test.index)
    assert len(GENERATORS) >= 20


# nearly collinear columns


def test_what_nearly_equal_columns_differ_by_is_learned_once_it_stands_beside_them():
    table = GENERATORS["small_difference"]()
    settings = {"hidden_layer_sizes": (32, 32), "max_iter": 64, "numbers": "waves"}
    hidden, _ = fitted(table, scaling="robust", **settings)
    shown, told = fitted(table, scaling="separate", **settings)
    assert not told
    assert shown.network_columns()[-1] == "hidden0"
    assert shown.score(table.X_test, table.y_test) > 0.8 > hidden.score(table.X_test, table.y_test)


def test_independent_columns_hide_nothing_even_if_they_are_many():
    rng = np.random.default_rng(0)
    for rows, columns in ((300, 3), (300, 250), (300, 300), (100, 400)):
        X = rng.normal(size=(rows, columns))
        assert HiddenDirections().fit_transform(X).shape == X.shape
    equal = np.column_stack([X[:, 0], X[:, 0], np.ones(100), 2 * X[:, 0]])
    assert HiddenDirections().fit_transform(equal).shape == equal.shape


# the rescue

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 3))
Y = X[:, 0] + np.abs(X[:, 1])


@pytest.mark.parametrize(("kind", "y", "rate"), [(TabularMLPRegressor, Y, 3.0), (TabularMLPClassifier, Y > 1, 300.0)])
def test_a_rate_far_too_high_is_lowered(kind, y, rate, tmp_path):
    model = kind(learning_rate_init=rate, verbose="silent", **SMALL).fit(X, y)
    attempts = model.attempts_
    assert 2 <= len(attempts) <= 3
    assert attempts[1]["rate"] == pytest.approx(rate / 5)
    assert all(attempt["failure"] for attempt in attempts[:-1])
    assert not attempts[-1]["failure"]
    assert model.baselines_["network"] == min(attempt["loss"] for attempt in attempts) == attempts[-1]["loss"]
    assert model.baselines_["network"] < model.baselines_["linear"] < model.baselines_["constant"]
    again = saved_and_loaded(model, tmp_path)
    assert again.attempts_ == attempts
    assert again.baselines_ == model.baselines_


def test_another_attempt_is_said(capsys):
    TabularMLPRegressor(learning_rate_init=3.0, verbose=True, **SMALL).fit(X, Y)
    assert "Attempt 1: the " in capsys.readouterr().out


def test_a_rate_beyond_rescue_is_warned_of_with_both_figures():
    with pytest.warns(ConvergenceWarning) as caught:
        model = TabularMLPRegressor(learning_rate_init=1e6, **SMALL).fit(X, Y)
    assert len(model.attempts_) == 3
    text = next(str(one.message) for one in caught if "linear model" in str(one.message))
    figures = model.baselines_
    assert f"{figures['network']:.4g}, that of a linear model {figures['linear']:.4g}" in text
    assert "learning_rate_init (now 1e+06)" in text


def test_a_good_fit_is_done_once_and_is_the_fit_it_was():
    model = TabularMLPRegressor(**SMALL).fit(X, Y)
    (attempt,) = model.attempts_
    assert not attempt["failure"]
    assert attempt["best_epoch"] == model.best_iter_
    assert attempt["loss"] == pytest.approx(min(model.validation_loss_curve_), rel=1e-4)


@pytest.mark.parametrize("folds", [1, 4])
@pytest.mark.parametrize(
    ("kind", "y"), [(TabularMLPRegressor, rng.normal(size=150)), (TabularMLPClassifier, rng.integers(0, 3, 150))]
)
def test_noise_is_tried_again_at_most_twice_and_never_warned_of(kind, y, folds):
    model = kind(**SMALL | {"folds": folds}).fit(X, y)
    assert 2 <= len(model.attempts_) <= 3
    assert "does not beat" in model.attempts_[0]["failure"]
    assert "constant answer" in model.attempts_[0]["failure"]


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_every_loss_weights_several_outputs_and_own_validation_rows(loss):
    both = np.column_stack([np.exp(X[:, 0]), 1 + np.abs(X[:, 1])])
    weights = np.random.default_rng(1).integers(1, 3, 150).astype(float)
    model = TabularMLPRegressor(loss=loss, **SMALL).fit(
        X[:100], both[:100], weights[:100], X_val=X[100:], y_val=both[100:], sample_weight_val=weights[100:]
    )
    figures = model.baselines_
    assert figures["network"] < figures["linear"] < figures["constant"]
    if loss == "squared_error":
        units = np.average(both[:100], axis=0, weights=weights[:100]), both[:100]
        deviation = np.sqrt(np.average((units[1] - units[0]) ** 2, axis=0, weights=weights[:100]))
        errors = 0.5 * np.sum(((both[100:] - units[0]) / deviation) ** 2, axis=1)
        assert figures["constant"] == pytest.approx(np.average(errors, weights=weights[100:]), rel=1e-6)


def test_the_baselines_are_those_of_scikit_learn():
    y = (Y > 1).astype(int)
    model = TabularMLPClassifier(**SMALL).fit(X[:100], y[:100], X_val=X[100:], y_val=y[100:])
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:100], y[:100])
    scores = line.decision_function(X[100:])[:, None]
    target = model.fitted.target
    at = scores / target.learn_from(scores, target.encode(y[100:]), None).temperature
    expected = np.mean(np.logaddexp(0, np.where(y[100:] == 1, -1, 1) * at[:, 0]))
    assert model.baselines_["linear"] == pytest.approx(expected, rel=1e-3)
    share = y[:100].mean()
    assert model.baselines_["constant"] == pytest.approx(-np.log(np.where(y[100:], share, 1 - share)).mean(), rel=1e-3)


def test_nothing_is_compared_without_held_out_rows_or_in_a_short_training():
    for settings in ({"validation_fraction": 0}, {"max_iter": 5}):
        model = TabularMLPRegressor(**SMALL | settings).fit(X, rng.normal(size=150))
        assert model.attempts_ == []
        assert model.baselines_ == {}


def test_all_attempts_share_the_time():
    model = TabularMLPRegressor(max_time=1e-3, **SMALL).fit(X, rng.normal(size=150))
    assert len(model.attempts_) == 1


@pytest.mark.filterwarnings("ignore:Columns .* have no values at all")
def test_an_empty_column_changes_nothing():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    more = frame.assign(d=np.nan, e=None)
    model, same = (TabularMLPRegressor(max_iter=3, **SMALL).fit(one, Y) for one in (more, frame))
    assert model.preprocessor_.kinds_["d"] == model.preprocessor_.kinds_["e"] == "empty"
    assert_array_equal(model.predict(more.assign(d=1.0, e="text")), same.predict(frame))
