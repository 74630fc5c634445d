"""What table estimators have in common with the plain ones: early_stopping, partial_fit, several labels, weights."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from pellucid import BaggedMLPClassifier, TabularMLPClassifier, TabularMLPRegressor, tune
from pellucid.errors import DataWarning
from pellucid.estimators.tables.incremental import SHARE
from pellucid.estimators.tables.recipe import NUMBERS
from tests.estimators.few_rows import saved_and_loaded
from tests.estimators.test_tabular import BOTH, CREW, QUICK, fitted, labels, table

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*held-out rows the loss of the network:sklearn.exceptions.ConvergenceWarning"
)


def several(value):
    """Three labels for each row; the last is rare."""
    return np.column_stack([value > 190, value < 210, value > 260]).astype(int)


def target(kind, value):
    return labels(value) if kind is TabularMLPClassifier else value


# early_stopping


@pytest.mark.parametrize("kind", BOTH)
def test_early_stopping_is_the_default_and_false_holds_no_rows_out(kind):
    model, X, y = fitted(kind, early_stopping=False)
    assert model.validation_scores_ is None
    assert model.best_iter_ is None
    same, *_ = fitted(kind, validation_fraction=0)
    assert_array_equal(model.predict(X), same.predict(X))
    assert kind().early_stopping is True
    usual, *_ = fitted(kind, early_stopping=True)
    assert usual.best_iter_ is not None
    with pytest.raises(ValueError, match="early_stopping is"):
        kind(early_stopping="yes").fit(X, y)


@pytest.mark.parametrize("kind", BOTH)
def test_own_validation_rows_do_not_choose_without_early_stopping(kind):
    X, value = table()
    test, other = table(100, seed=2)
    plain = kind(**QUICK, early_stopping=False).fit(X, target(kind, value))
    watched = clone(plain).fit(X, target(kind, value), X_val=test, y_val=target(kind, other))
    assert len(watched.validation_loss_curve_) == 24
    assert_array_equal(watched.predict(X), plain.predict(X))  # the last epoch, whatever the validation rows say


def test_tune_trains_on_all_rows_at_last():
    X, value = table(120)
    base = TabularMLPRegressor(**{**QUICK, "max_iter": 4}, importances=True)
    found = tune(X, value, estimator=base, trials=1, random_state=0, verbose=False, space={"dropout": (0.0, 0.1)})
    assert found.best_estimator.early_stopping is True
    assert found.best_estimator.validation_scores_ is None
    assert found.best_estimator.importances is True


def test_members_hold_out_what_their_estimator_would():
    X, value = table(120)
    for settings, checked in (({}, True), ({"early_stopping": False}, False), ({"validation_fraction": 0}, False)):
        member = TabularMLPClassifier(**{**QUICK, "max_iter": 3}, **settings)
        with pytest.warns(DataWarning, match="in the bags of all"):
            bag = BaggedMLPClassifier(member, 2, random_state=0).fit(X, labels(value))
        assert (bag.estimators_[0].validation_scores_ is not None) is checked


# return_std


def test_deviations_by_dropout():
    reg, X, _ = fitted(TabularMLPRegressor, dropout=0.2)
    mean, deviation = reg.predict(X, return_std=True, n_draws=20)
    assert mean.shape == deviation.shape == (300,)
    assert np.all(deviation > 0)
    assert np.corrcoef(mean, reg.predict(X))[0, 1] > 0.95
    assert abs(mean.mean() - reg.predict(X).mean()) < 0.2 * reg.predict(X).std()  # in the units of the target
    clf, X, _ = fitted(TabularMLPClassifier, dropout=0.2)
    mean, deviation = clf.predict_proba(X, return_std=True)
    assert mean.shape == deviation.shape == (300, 3)
    assert_allclose(mean.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("kind", BOTH)
def test_without_dropout_there_are_none(kind):
    model, X, _ = fitted(kind, max_iter=2)
    ask = model.predict if kind is TabularMLPRegressor else model.predict_proba
    with pytest.raises(ValueError, match=r"return_std draws networks by dropout.*set dropout=0.1, or use an ensemble"):
        ask(X, return_std=True)


# partial_fit


def parts(rows, size=100):
    return [slice(i, i + size) for i in range(0, rows, size)]


@pytest.mark.parametrize("kind", BOTH)
def test_a_table_is_learned_part_by_part(kind):
    X, value = table(600)
    y, model = target(kind, value), kind(**QUICK)
    classes = {"classes": ["high", "low", "middle"]} if kind is TabularMLPClassifier else {}
    for epoch in range(15):
        for part in parts(600):
            model.partial_fit(X[part], y[part], **(classes if epoch == 0 and part.start == 0 else {}))
    test, other = table(300, seed=1)
    assert model.score(test, target(kind, other)) > 0.8
    assert model.n_iter_ == 1
    assert len(model.loss_curve_) == 90
    assert model.t_ == 15 * 600
    assert model.validation_scores_ is None
    assert model.feature_names_in_.tolist() == list(X)


@pytest.mark.parametrize("kind", BOTH)
def test_the_first_rows_teach_the_preprocessor(kind):
    X, value = table(300)
    y = target(kind, value)
    more = {"classes": np.unique(y)} if kind is TabularMLPClassifier else {}
    model = kind(**QUICK).partial_fit(X[:100], y[:100], **more)
    before = model.preprocessor_.transform(X)
    later = X[100:200].copy()
    later.loc[:, "city"] = "elsewhere"
    later.loc[:, "width"] *= 1000
    model.partial_fit(later[sorted(later)], y[100:200])  # columns are known by name
    assert "elsewhere" not in model.preprocessor_.categories_["city"]
    assert_array_equal(model.preprocessor_.transform(X), before)
    city = [str(name).startswith("city") for name in model.preprocessor_.get_feature_names_out()]
    assert_array_equal(model.preprocessor_.transform(later)[:, city], 0)  # the code of what is unknown
    with pytest.raises(ValueError, match="missing now: 'width'"):
        model.partial_fit(X[:100].drop(columns="width"), y[:100])


@pytest.mark.parametrize("kind", BOTH)
def test_fit_begins_anew_and_partial_fit_goes_on_from_it(kind):
    X, value = table()
    y = target(kind, value)
    more = {"classes": np.unique(y)} if kind is TabularMLPClassifier else {}
    plain = kind(**QUICK).fit(X, y)
    model = kind(**QUICK).partial_fit(X[:50], y[:50], **more).fit(X, y)
    assert_array_equal(model.predict(X), plain.predict(X))
    before = model.score(X, y)
    model.partial_fit(X, y)
    assert model.score(X, y) > before - 0.1
    assert not np.array_equal(model.logits(X), plain.logits(X))


@pytest.mark.parametrize("kind", BOTH)
def test_of_a_crew_the_network_that_counts_most_goes_on_alone(kind):
    X, value = table()
    y = target(kind, value)
    crew = kind(**CREW, early_stopping=False).fit(X, y)
    first = crew.fitted.networks[0].model
    assert len(crew.fitted.networks) == 3
    alone = clone(crew).fit(X, y).partial_fit(X, y)
    assert alone.fitted.crew is None
    assert alone.model_.net == first.net
    assert not np.array_equal(alone.logits(X), crew.logits(X))
    before, after = first.params["output.weight"], alone.model_.params["output.weight"]
    assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.9  # it has not begun anew
    assert alone.score(X, y) > crew.score(X, y) - 0.1


@pytest.mark.parametrize(("numbers", "layers"), [("plain", []), ("rough", ["piecewise"]), ("waves", ["periodic"])])
def test_parts_are_learned_by_the_network_that_is_asked_for(numbers, layers):
    X, value = table()
    model = TabularMLPRegressor(**{**QUICK, "numbers": numbers}).partial_fit(X, value)
    beside = [name.removeprefix("input.") for name, _ in model.model_.net.children if name.startswith("input.p")]
    assert beside == layers


@pytest.mark.parametrize("kind", BOTH)
def test_a_stored_estimator_goes_on_as_if_nothing_had_been(kind, tmp_path):
    X, value = table()
    y = target(kind, value)
    more = {"classes": np.unique(y)} if kind is TabularMLPClassifier else {}
    model = kind(**QUICK).partial_fit(X, y, **more).partial_fit(X, y)
    again = saved_and_loaded(model, tmp_path)
    assert_array_equal(again.partial_fit(X, y).logits(X), model.partial_fit(X, y).logits(X))


def test_the_rate_is_a_constant_share_of_the_highest():
    X, value = table()
    for rate, highest in (("auto", NUMBERS.rate), (0.02, 0.02)):
        model = TabularMLPRegressor(**QUICK, learning_rate_init=rate).partial_fit(X, value).partial_fit(X, value)
        assert_allclose(model.model_.history["lr"], SHARE * highest, rtol=1e-3)


def test_a_failed_part_changes_nothing():
    X, value = table()
    model = TabularMLPClassifier(**QUICK)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, labels(value))
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X, labels(value), classes=["high", "low", "middle"])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=r"classes not in `self.classes_`"):
        model.partial_fit(X, np.where(value > 200, "high", "other"))
    with pytest.raises(ValueError, match="'balanced' needs all rows"):
        clone(model).set_params(class_weight="balanced").partial_fit(X, labels(value), classes=np.unique(labels(value)))
    reg = TabularMLPRegressor(**QUICK).partial_fit(X, value)
    with pytest.raises(ValueError, match="y has 2 columns, but the network was made for 1"):
        reg.partial_fit(X, np.column_stack([value, value]))
    assert_array_equal(model.predict_proba(X), before)


def test_calibration_and_importances_of_other_weights_are_gone():
    X, value = table()
    model = TabularMLPRegressor(**QUICK, importances=True).fit(X, value)
    model.predict_interval(X)
    model.partial_fit(X, value)
    with pytest.raises(ValueError, match="intervals need errors on rows"):
        model.predict_interval(X)
    with pytest.raises(AttributeError, match="measured no importances"):
        _ = model.feature_importances_


# several labels


def test_several_labels(tmp_path):
    X, value = table()
    y = several(value)
    model = TabularMLPClassifier(**{**QUICK, "label_smoothing": 0.0}).fit(X, y)
    test, other = table(300, seed=1)
    p = model.predict_proba(test)
    assert p.shape == (300, 3)
    assert np.any(p.sum(axis=1) > 1.2)  # each label has a probability of its own
    assert_array_equal(model.predict(test), p > 0.5)
    assert np.mean(model.predict(test) == several(other)) > 0.85
    assert model.score(test, several(other)) == np.mean(np.all(model.predict(test) == several(other), axis=1))
    assert get_tags(model).classifier_tags.multi_label
    assert model.classes_.tolist() == [0, 1, 2]
    assert_array_equal(saved_and_loaded(model, tmp_path).predict_proba(test), p)
    assert model.permutation_importances(test, several(other), random_state=0).mean.shape == (6,)


def test_several_labels_with_weights_validation_rows_and_parts():
    X, value = table()
    y = several(value)
    test, other = table(100, seed=2)
    weights = np.random.default_rng(0).integers(1, 4, 300)
    own = TabularMLPClassifier(**QUICK).fit(
        X, y, weights, X_val=test, y_val=several(other), sample_weight_val=np.ones(100)
    )
    assert own.best_iter_ is not None
    rare = TabularMLPClassifier(**QUICK).fit(X, y, np.where(y[:, 2] == 1, 50.0, 1.0))
    plain = TabularMLPClassifier(**QUICK).fit(X, y)
    assert rare.predict_proba(X)[:, 2].mean() > plain.predict_proba(X)[:, 2].mean()
    model = TabularMLPClassifier(**QUICK)
    for _ in range(30):
        model.partial_fit(X[:150], y[:150]).partial_fit(X[150:], y[150:])
    assert np.mean(model.predict(X) == y) > 0.9
    with pytest.raises(ValueError, match="made for 3 labels"):
        own.partial_fit(X, y[:, :2])
    with pytest.raises(ValueError, match="made for 3 labels"):
        TabularMLPClassifier(**QUICK).fit(X, y, X_val=test, y_val=several(other)[:, :2])


def test_columns_of_classes_are_no_labels():
    X, value = table()
    with pytest.raises(ValueError, match=r"zeros and ones in a column for each.*MultiOutputClassifier"):
        TabularMLPClassifier(**QUICK).fit(X, np.column_stack([value > 200, value // 50]).astype(int))


def test_an_ensemble_of_tables_with_several_labels():
    X, value = table()
    bag = BaggedMLPClassifier(TabularMLPClassifier(**{**QUICK, "max_iter": 8}), 3, method="folds", random_state=0)
    assert bag.fit(X, several(value)).predict_proba(X).shape == (300, 3)
    assert get_tags(bag).classifier_tags.multi_label


# weights that count rows


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("labelled", [False, True])
def test_whole_weights_are_repeated_rows(kind, labelled):
    """With all rows in one batch and none held out: then a weight of 2 is a row twice, for scales and units too."""
    if labelled and kind is TabularMLPRegressor:
        pytest.skip("numbers have no labels")
    X, value = table(120)
    y = several(value) if labelled else target(kind, value)
    counts = np.random.default_rng(0).integers(0, 3, 120)
    rows = np.repeat(np.arange(120), counts)
    settings = {**QUICK, "early_stopping": False, "dtype": "float64", "max_iter": 12}
    weighted = kind(**settings, batch_size=120).fit(X, y, counts)
    repeated = kind(**settings, batch_size=len(rows)).fit(X.iloc[rows].reset_index(drop=True), y[rows])
    assert_allclose(weighted.logits(X), repeated.logits(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", BOTH)
def test_weights_of_validation_rows_choose_the_epoch(kind):
    X, value = table()
    test, other = table(60, seed=2)
    counts = np.random.default_rng(0).integers(1, 4, 60)
    rows = np.repeat(np.arange(60), counts)
    weighted = kind(**QUICK).fit(
        X, target(kind, value), X_val=test, y_val=target(kind, other), sample_weight_val=counts
    )
    repeated = kind(**QUICK).fit(X, target(kind, value), X_val=test.iloc[rows], y_val=target(kind, other)[rows])
    assert_allclose(weighted.validation_loss_curve_, repeated.validation_loss_curve_, rtol=1e-5)
    assert weighted.best_iter_ == repeated.best_iter_


def test_arrays_are_tables_too():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = (X[:, :2] > 0).astype(int)
    model = TabularMLPClassifier(**QUICK, importances=True).fit(X, y)
    assert model.importances_.names == ["x0", "x1", "x2"]
    assert not hasattr(model, "feature_names_in_")
    assert TabularMLPClassifier(**QUICK).fit(pd.DataFrame(X), y).predict(X).shape == (200, 2)
