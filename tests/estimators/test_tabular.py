"""TabularMLPClassifier and TabularMLPRegressor: tables in, predictions out."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neural_network import MLPRegressor as SklearnMLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import pellucid as pel
from pellucid import nn, optim
from pellucid.estimators import TabularMLPClassifier, TabularMLPRegressor
from pellucid.estimators.tables.recipe import auto_batch, auto_epochs
from pellucid.nn.losses.numbers import Quantile
from pellucid.train.temperature import calibrated_log_loss
from tests.estimators import few_rows as few
from tests.estimators.few_rows import saved_and_loaded
from tests.estimators.marks import converted_targets, skipped_checks

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*held-out rows the loss of the network:sklearn.exceptions.ConvergenceWarning"
)
BOTH = (TabularMLPClassifier, TabularMLPRegressor)
CREW = {"hidden_layer_sizes": (24, 24), "max_iter": 24, "folds": 1, "random_state": 0, "engine": "numpy"}
QUICK = {**CREW, "numbers": "waves"}
"""One network, and no crew."""


def table(rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of all kinds, some missing; and what they make up together."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "width": rng.normal(5, 2, rows),
            "height": rng.exponential(3, rows),
            "colour": rng.choice(["red", "green", "blue"], rows),
            "city": rng.choice([f"city{i}" for i in range(15)], rows),
            "new": rng.random(rows) > 0.5,
            "when": pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 700, rows), unit="D"),
        }
    )
    value = (
        100 + 20 * X["width"] + 30 * (X["colour"] == "red") - 25 * X["new"] + 5 * (X["city"].str[4:].astype(int) % 3)
    )
    X.loc[::17, "height"] = np.nan
    X.loc[5::23, "colour"] = None
    return X, value.to_numpy()


def labels(value: np.ndarray) -> np.ndarray:
    return np.select([value < 185, value < 215], ["low", "middle"], "high")


def fitted(kind, **settings):
    X, value = table()
    y = labels(value) if kind is TabularMLPClassifier else value
    return kind(**{**QUICK, **settings}).fit(X, y), X, y


# a crew of two. One full batch of all rows in float64: what the checks compare to the last digits must not depend on a
# split. Smooth labels: one check has 1000 epochs, in which noise is learned by heart, whatever its class weighs
CHECKED = {
    "max_iter": 60,
    "numbers": ("waves", "rough"),
    "batch_size": 100,
    "validation_fraction": 0,
    "dtype": "float64",
    "engine": "numpy",
}


@converted_targets
@skipped_checks
@parametrize_with_checks(
    [
        TabularMLPClassifier((16,), folds=1, **CHECKED, label_smoothing=0.1),
        TabularMLPRegressor((16,), folds=1, **CHECKED),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", BOTH)
def test_a_table_of_all_kinds_is_learned(kind):
    model, X, _ = fitted(kind)
    test, value = table(seed=1)
    y = labels(value) if kind is TabularMLPClassifier else value
    assert model.score(test, y) > 0.8
    assert fitted(kind, numbers="auto")[0].score(test, y) > 0.8
    assert model.feature_names_in_.tolist() == list(X)
    assert model.n_features_in_ == 6
    assert len(model.loss_curve_) == len(model.validation_scores_) == model.n_iter_ == 24
    assert len(model.validation_loss_curve_) == 24
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    assert model.transform(test).shape == (300, 24)
    assert any(isinstance(layer, nn.Embed) for _, layer in model.estimator_.model_.net.children)


@pytest.mark.parametrize("kind", BOTH)
def test_the_best_epoch_is_kept_the_last_of_equals(kind):
    model, *_ = fitted(kind, monitor=None)
    best = max(model.validation_scores_)
    assert model.best_validation_score_ == pytest.approx(best)
    assert model.best_iter_ == 24 - model.validation_scores_[::-1].index(best)


def test_classes_are_judged_by_the_validation_loss_after_a_temperature():
    X, value = table()
    test, other = table(100, seed=2)
    y, truth = labels(value), labels(other)
    made = TabularMLPClassifier(**QUICK)
    model = clone(made).fit(X, y, X_val=test, y_val=truth)
    assert model.best_validation_score_ == max(model.validation_scores_)
    assert model.validation_scores_ != [-loss for loss in model.validation_loss_curve_]
    loss = calibrated_log_loss(np.searchsorted(model.classes_, truth), model.decision_function(test))
    assert model.best_validation_score_ == pytest.approx(-loss, rel=1e-5)
    assert loss == pytest.approx(log_loss(truth, model.predict_proba(test)), rel=1e-3)  # as its predictions are made
    plain = made.set_params(monitor="loss").fit(X, y, X_val=test, y_val=truth)
    assert plain.validation_scores_ == [-loss for loss in plain.validation_loss_curve_]
    assert plain.best_validation_score_ == max(plain.validation_scores_)


@pytest.mark.parametrize("kind", BOTH)
def test_the_order_of_columns_changes_no_bit(kind):
    model, X, y = fitted(kind, numbers="auto", max_iter=12)
    turned = clone(model).fit(X[X.columns[::-1]], y)
    assert_array_equal(turned.predict(X), model.predict(X))
    assert_array_equal(model.predict(X[sorted(X)]), model.predict(X))
    polars = pl.DataFrame({name: [None if pd.isna(v) else v for v in X[name].tolist()] for name in X})
    assert_array_equal(clone(model).fit(polars, y).predict(polars), model.predict(X))


@pytest.mark.parametrize("kind", BOTH)
def test_repeated_fits_and_pickles_agree_to_the_bit(kind):
    model, X, y = fitted(kind, numbers="auto", max_iter=12)
    assert_array_equal(clone(model).fit(X, y).predict(X), model.predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("kind", BOTH)
def test_validation_rows_teach_the_preprocessor_nothing(kind):
    X, value = table()
    y = labels(value) if kind is TabularMLPClassifier else value
    short = {**QUICK, "max_iter": 12}  # so short that no worse score of its rows makes it begin anew, with a lower rate
    model = kind(**short).fit(X, y)
    rng = np.random.RandomState(0)
    model_rows = clone(model)
    inside, outside = model_rows._split(y, rng)
    assert len(outside) == 60
    other = X.copy()
    # what only validation rows have: a huge number and a new category
    other.loc[outside, "width"] = 1e6
    other.loc[outside, "city"] = "elsewhere"
    changed = kind(**short).fit(other, y)
    assert "elsewhere" not in changed.preprocessor_.categories_["city"]
    assert_array_equal(changed.preprocessor_.transform(X.iloc[inside]), model.preprocessor_.transform(X.iloc[inside]))
    assert changed.validation_scores_ != model.validation_scores_
    assert changed.loss_curve_ == model.loss_curve_  # the training rows are the same, and so is what is learned


@pytest.mark.parametrize("kind", BOTH)
def test_own_validation_rows(kind):
    X, value = table()
    y = labels(value) if kind is TabularMLPClassifier else value
    test, other = table(100, seed=2)
    y_test = labels(other) if kind is TabularMLPClassifier else other
    model = kind(**QUICK, monitor=None).fit(X, y, X_val=test, y_val=y_test)
    assert model.best_validation_score_ == pytest.approx(model.score(test, y_test), rel=1e-4)
    with pytest.raises(ValueError, match="X_val and y_val together"):
        kind(**QUICK).fit(X, y, X_val=test)


def test_patience_ends_training_and_none_does_not():
    with pytest.warns(ConvergenceWarning, match="linear model"):  # so little patience does not go far
        model, *_ = fitted(TabularMLPRegressor, max_iter=200, patience=3)
    assert model.n_iter_ == model.best_iter_ + 3 < 200
    last, *_ = fitted(TabularMLPRegressor, validation_fraction=0)
    assert last.validation_scores_ is None
    assert last.n_iter_ == 24


@pytest.mark.parametrize("scaling", ["robust", "quantile", "whiten"])
@pytest.mark.parametrize("kind", BOTH)
def test_everything_travels_in_the_saved_model(kind, scaling, tmp_path):
    model, *_ = fitted(kind, scaling=scaling, max_iter=5)
    model.save(tmp_path / "table.pel")
    again = pel.load(tmp_path / "table.pel")
    X, _ = table(seed=5)
    X.loc[3, "city"] = "unheard of"
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.loss_curve_ == model.loss_curve_
    assert again.feature_names_in_.tolist() == model.feature_names_in_.tolist()


# classes


def test_classes_probabilities_and_scores():
    model, X, y = fitted(TabularMLPClassifier)
    assert model.classes_.tolist() == ["high", "low", "middle"]
    p = model.predict_proba(X)
    assert_allclose(p.sum(1), 1, rtol=1e-5)
    assert_array_equal(model.classes_[p.argmax(1)], model.predict(X))
    assert_array_equal(model.decision_function(X).argmax(1), p.argmax(1))
    assert_allclose(np.exp(model.predict_log_proba(X)), p, rtol=1e-5)
    assert model.score(X, y) == np.mean(model.predict(X) == y)


def test_calibration_improves_probabilities_and_leaves_classes():
    model, X, _ = fitted(TabularMLPClassifier)
    test, value = table(200, seed=3)
    y = labels(value)
    before, classes = log_loss(y, model.predict_proba(test)), model.predict(X)
    model.calibrate(test, y)
    assert log_loss(y, model.predict_proba(test)) < before
    assert model.estimator_.temperature_ != 1.0
    assert_array_equal(model.predict(X), classes)
    assert fitted(TabularMLPClassifier, calibrated=True)[0].estimator_.temperature_ != 1.0


def test_rare_classes_keep_a_row_to_train_on():
    X, value = table(60)
    y = labels(value)
    y[7] = "one"
    model = TabularMLPClassifier(**QUICK).fit(X, y)
    assert model.classes_.tolist() == ["high", "low", "middle", "one"]
    assert model.predict_proba(X).shape == (60, 4)


def test_class_weights_count_for_validation_rows_too():
    X, value = table()
    y = np.where(value > 240, "rare", "usual")
    plain = TabularMLPClassifier(**QUICK).fit(X, y)
    weighted = TabularMLPClassifier(**QUICK, class_weight={"rare": 100.0, "usual": 1.0}).fit(X, y)
    assert np.sum(weighted.predict(X) == "rare") > np.sum(plain.predict(X) == "rare")


# numbers


def test_units_of_the_target_do_not_matter():
    X, value = table()
    model = TabularMLPRegressor(**QUICK).fit(X, value)
    scaled = TabularMLPRegressor(**QUICK).fit(X, 1000 * value - 7)
    assert_allclose(scaled.predict(X), 1000 * model.predict(X) - 7, rtol=1e-3)
    assert_allclose(model.predict(X).mean(), value.mean(), rtol=0.05)


def test_intervals_are_in_the_targets_units_and_hold():
    model, *_ = fitted(TabularMLPRegressor)
    test, value = table(400, seed=4)
    low, high = model.predict_interval(test, 0.8)
    assert 0.68 < np.mean((low <= value) & (value <= high)) < 0.92
    wide = clone(model).fit(*table()).calibrate(test, value).predict_interval(test, 0.95)
    assert np.all(wide[1] - wide[0] > high - low)


def test_other_losses_and_several_outputs():
    X, value = table()
    median = TabularMLPRegressor(**QUICK, loss=nn.loss("quantile", quantiles=(0.1, 0.5, 0.9))).fit(X, value)
    made = median.predict(X)
    assert made.shape == (300, 3)
    assert np.mean(value < made[:, 0]) < 0.35 < 0.65 < np.mean(value < made[:, 2])
    counts = np.random.default_rng(0).poisson(value / 40)
    poisson = TabularMLPRegressor(**QUICK, loss="poisson").fit(X, counts)
    assert poisson.predict(X).min() > 0
    assert_allclose(poisson.predict(X).mean(), counts.mean(), rtol=0.15)
    two = TabularMLPRegressor(**QUICK).fit(X, np.column_stack([value, -1000 * value]))
    assert r2_score(np.column_stack([value, -1000 * value]), two.predict(X)) > 0.8
    low, high = two.predict_interval(X)
    assert low.shape == high.shape == (300, 2)
    assert np.all(low < high)


# errors


@pytest.mark.parametrize("kind", BOTH)
def test_columns_that_are_missing_or_new_are_named(kind):
    model, X, _ = fitted(kind)
    with pytest.raises(ValueError, match="missing now: 'city', 'width'"):
        model.predict(X.drop(columns=["width", "city"]))
    with pytest.raises(ValueError, match="not seen in fit: 'depth'"):
        model.predict(X.assign(depth=1.0))


@pytest.mark.parametrize("kind", BOTH)
def test_bad_tables_are_refused_and_leave_the_fit_as_it_was(kind):
    model, X, y = fitted(kind)
    before = model.predict(X)
    with pytest.raises(ValueError, match="no column has any value"):
        model.fit(X[["height"]] * np.nan, y)
    endless = X.copy()
    endless.loc[217, "width"] = np.inf
    with pytest.raises(ValueError, match="column 'width' has an infinite value in row 217"):
        model.fit(endless, y)
    with pytest.raises(ValueError, match="column 'width' has an infinite value in row 217"):
        model.predict(endless)
    with pytest.raises(ValueError, match=r"n_samples=5 is too few to set 0.2 of them aside"):
        model.fit(X[:5], ["a", "b", "a", "b", "a"] if kind is TabularMLPClassifier else y[:5])
    with pytest.raises(ValueError, match=r"validation_fraction is a number in \[0, 1\)"):
        clone(model).set_params(validation_fraction=1.0).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    assert_array_equal(model.predict(X), before)


def test_bad_targets_are_refused():
    X, value = table()
    with pytest.raises(ValueError, match="y has one class only, 'a'"):
        TabularMLPClassifier().fit(X, ["a"] * 300)
    with pytest.raises(ValueError, match="y is constant, the same in all 300 rows"):
        TabularMLPRegressor().fit(X, np.full(300, 2.5))
    with pytest.raises(ValueError, match="y is constant in column 1"):
        TabularMLPRegressor().fit(X, np.column_stack([value, np.ones(300)]))
    gone = value.copy()
    gone[41] = np.nan
    with pytest.raises(ValueError, match=r"Input y contains NaN. In row 41"):
        TabularMLPRegressor().fit(X, gone)
    names = labels(value).astype(object)
    names[41] = None
    with pytest.raises(ValueError, match=r"Input y contains NaN. In row 41"):
        TabularMLPClassifier().fit(X, names)
    with pytest.raises(ValueError, match="ample weights"):
        TabularMLPRegressor().fit(X, value, sample_weight=np.zeros(300))


# the recipe, and the company it keeps


def test_batches_grow_and_epochs_shrink_with_rows():
    rows = [50, 1000, 5000, 20_000, 80_000, 10**6]
    assert [auto_batch(n) for n in rows] == sorted(auto_batch(n) for n in rows)
    assert [auto_epochs(n) for n in rows] == sorted((auto_epochs(n) for n in rows), reverse=True)


def test_searches_and_cross_validation_take_frames():
    X, value = table(150)
    model = TabularMLPRegressor(**{**QUICK, "max_iter": 8})
    search = GridSearchCV(model, {"scaling": ["robust", "standard"], "one_hot_max": [3, 20]}, cv=2).fit(X, value)
    assert set(search.best_params_) == {"scaling", "one_hot_max"}
    assert len(cross_val_score(model, X, value, cv=3)) == 3


def test_defaults_beat_scikit_learns_mlp_on_a_table_of_its_own():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    train, test = np.split(np.random.default_rng(0).permutation(len(X)), [330])
    ours = TabularMLPRegressor(folds=1, random_state=0).fit(X.iloc[train], y.iloc[train])
    theirs = make_pipeline(StandardScaler(), SklearnMLPRegressor(random_state=0))
    with pytest.warns(UserWarning, match="Maximum iterations"):
        theirs.fit(X.iloc[train], y.iloc[train])
    assert ours.score(X.iloc[test], y.iloc[test]) > theirs.score(X.iloc[test], y.iloc[test])


@pytest.mark.parametrize("kind", BOTH)
def test_the_native_engine_runs_all_of_it(kind, recwarn):
    slow, *_ = fitted(kind, max_iter=6)
    fast, *_ = fitted(kind, max_iter=6, engine="native")
    assert not [w for w in recwarn if "allback" in type(w.message).__name__]
    assert_allclose(fast.loss_curve_, slow.loss_curve_, rtol=1e-3)


# columns and targets of many kinds


@pytest.mark.parametrize("columns", [few.FRAME.columns[1:], np.array(["b", "c"]), pd.Index([], dtype=object)])
def test_categorical_columns_come_as_index_or_array(columns: Any, tmp_path: Path) -> None:
    clf = TabularMLPClassifier(folds=1, **few.SMALL, categorical=columns).fit(few.FRAME, few.TWO)
    assert (clf.preprocessor_.kinds_["b"] == "category") == (len(columns) > 0)
    assert np.array_equal(saved_and_loaded(clf, tmp_path).predict_proba(few.FRAME), clf.predict_proba(few.FRAME))


def test_names_of_several_kinds_are_refused_as_by_scikit_learn() -> None:
    with pytest.raises(TypeError, match="1 is a int"):
        TabularMLPClassifier(folds=1, **few.SMALL).fit(pd.DataFrame(few.X, columns=["a", 1, "b", 2]), few.TWO)


@pytest.mark.parametrize("y", [pd.Series(pd.date_range("2020", periods=60)), few.NUMBERS.astype(str)])
def test_table_regressor_refuses_targets_that_are_no_numbers(y: Any) -> None:
    with pytest.raises(ValueError, match="y holds numbers, got"):
        TabularMLPRegressor(folds=1, **few.SMALL).fit(few.X, y)


def test_table_regressor_scores_several_quantiles() -> None:
    reg = TabularMLPRegressor(folds=1, **few.SMALL, loss=Quantile((0.1, 0.5, 0.9))).fit(few.X, few.NUMBERS)
    assert reg.score(few.X, few.NUMBERS) < 1.0
    plain = TabularMLPRegressor(folds=1, **few.SMALL).fit(few.X, 100 * few.NUMBERS + 7)
    assert plain.score(few.X, 100 * few.NUMBERS + 7) == pytest.approx(
        r2_score(100 * few.NUMBERS + 7, plain.predict(few.X))
    )


def test_embedding_dim_may_be_a_list() -> None:
    clf = TabularMLPClassifier(folds=1, **few.SMALL, embedding_dim=[3]).fit(few.FRAME[["c"]], few.TWO)
    assert clf.estimator_.model_.params["input.embed.table1"].shape[1] == 3


@pytest.mark.parametrize("rule", optim.RULES)
def test_every_rule_learns_at_its_automatic_rate(rule):
    """Decay is a share of the rate: of a rule of high rates it must not be all that is left."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    model = TabularMLPRegressor(optimizer=rule, quality="fast", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > 0.8


@pytest.mark.parametrize("settings", [{"schedule": "constant"}, {"optimizer": "schedule_free_adamw"}])
@pytest.mark.filterwarnings("error")
def test_all_epochs_at_a_constant_rate_are_what_was_asked_for(settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    TabularMLPRegressor(quality="fast", random_state=0, **settings).fit(X, np.sin(2 * X[:, 0]))


@pytest.mark.parametrize(
    ("kind", "y", "error", "words"),
    [
        (TabularMLPClassifier, ["a", 1], TypeError, "TabularMLPClassifier: y has texts, such as 'a', and others, such"),
        (TabularMLPRegressor, ["1.5", "b"], ValueError, "TabularMLPRegressor: y holds numbers, got 'b': for classes"),
        (TabularMLPRegressor, [1, (2,)], ValueError, r"y holds numbers, got \(2,\)"),
    ],
)
def test_targets_of_objects(kind, y, error, words):
    target = np.empty(8, object)
    target[:] = y * 4
    with pytest.raises(error, match=words):
        kind().fit(np.arange(8.0)[:, None], target)


def test_a_list_of_dicts_is_pointed_to_a_frame():
    with pytest.raises(TypeError, match=r"X is a list of dicts: give a data frame; pandas.DataFrame\(X\)"):
        TabularMLPRegressor().fit([{"a": 1.0}, {"a": 2.0}], [1.0, 2.0])
