"""What columns of tables are worth, by permutation; and estimators that draw how they learned."""

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pellucid import (
    BaggedMLPClassifier,
    BaggedMLPRegressor,
    MLPClassifier,
    MLPRegressor,
    TabularMLPClassifier,
    TabularMLPRegressor,
)
from pellucid.estimators.importances import permuted
from tests.estimators import few_rows as few
from tests.estimators.few_rows import saved_and_loaded
from tests.estimators.test_tabular import BOTH, QUICK, fitted, labels, table

mpl.use("Agg")
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*held-out rows the loss of the network:sklearn.exceptions.ConvergenceWarning"
)


@pytest.mark.parametrize("kind", BOTH)
def test_columns_that_matter_are_found(kind, tmp_path):
    model, X, _ = fitted(kind, importances=True)
    worth = dict(zip(model.feature_names_in_, model.feature_importances_, strict=True))
    assert max(worth, key=worth.get) == "width"
    assert abs(worth["height"]) < 0.1 * worth["width"]  # it has no part in the target
    assert model.importances_.names == list(X)
    assert model.importances_.deviation.shape == (6,)
    assert str(model.importances_).splitlines()[1].startswith("width ")
    again = saved_and_loaded(model, tmp_path)
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert str(again.importances_) == str(model.importances_)


@pytest.mark.parametrize("kind", BOTH)
def test_they_change_nothing_about_the_fit_and_are_the_same_again(kind):
    model, X, _ = fitted(kind, importances=True)
    plain, *_ = fitted(kind)
    assert_array_equal(model.predict(X), plain.predict(X))
    assert_array_equal(fitted(kind, importances=True)[0].importances_.falls, model.importances_.falls)


@pytest.mark.parametrize("kind", BOTH)
def test_they_are_of_the_rows_that_were_held_out(kind):
    X, value = table()
    test, other = table(200, seed=2)
    y, y_test = (labels(v) if kind is TabularMLPClassifier else v for v in (value, other))
    turned = test[sorted(test)]  # columns in another order
    model = kind(**QUICK, importances=True).fit(X, y, X_val=turned, y_val=y_test)
    assert model.importances_.names == list(X)
    assert model.importances_.score == pytest.approx(model.score(test, y_test))
    ours = model.permutation_importances(turned, y_test, n_repeats=20, random_state=0)
    theirs = permutation_importance(model, test, y_test, n_repeats=20, random_state=0)
    assert_allclose(ours.mean, theirs.importances_mean, atol=4 * theirs.importances_std.max() / np.sqrt(20))


def test_they_are_asked_for():
    model, X, y = fitted(TabularMLPRegressor, max_iter=3)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match=r"set importances=True ahead of fit.*permutation_importances\(X, y\)"):
        _ = model.feature_importances_
    with pytest.raises(AttributeError, match="has no importances_ yet: call fit first"):
        _ = TabularMLPRegressor(folds=1, importances=True).importances_
    for settings in ({"early_stopping": False}, {"validation_fraction": 0}):
        with pytest.raises(ValueError, match="importances=True asks for rows that are not trained on: give X_val"):
            TabularMLPRegressor(folds=1, **QUICK, importances=True, **settings).fit(X, y)
    with pytest.raises(ValueError, match="n_repeats"):
        model.permutation_importances(X, y, n_repeats=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.permutation_importances(X, y[:-1])


def test_a_column_that_two_others_mix_counts_whole():
    """Shuffled are columns of the table: scales that mix columns come after."""
    model, *_ = fitted(TabularMLPRegressor, importances=True, scaling="whiten")
    assert len(model.feature_importances_) == 6
    assert np.argmax(model.feature_importances_) == 0


def test_the_score_falls_by_what_a_column_explains():
    rng = np.random.RandomState(0)
    x, y = rng.normal(size=2000), rng.normal(size=2000)
    worth = permuted(["x", "y"], [x, y], lambda columns: -float(np.mean((columns[0] - x) ** 2)), 10, rng)
    assert worth.score == 0
    assert_allclose(worth.mean, [2 * x.var(), 0], rtol=0.1)  # E (x - x')² = 2 Var x
    assert_array_equal(worth.falls[1], 0)


def test_scikit_learn_selects_by_them():
    X, y = few.X, few.NUMBERS
    chosen = SelectFromModel(TabularMLPRegressor(folds=1, **QUICK, importances=True), max_features=2, threshold=-np.inf)
    assert chosen.fit(X, y).get_support().tolist() == [True, True, False, False]


@pytest.mark.filterwarnings("ignore:.*in the bags of all")
def test_ensembles_have_the_mean_of_their_members():
    X, value = table()
    member = TabularMLPRegressor(folds=1, **{**QUICK, "max_iter": 8}, importances=True)
    bag = BaggedMLPRegressor(member, 3, random_state=0)
    with pytest.raises(AttributeError, match="call fit first"):
        _ = bag.feature_importances_
    bag.fit(X, value)
    assert_allclose(bag.feature_importances_, np.mean([m.feature_importances_ for m in bag.estimators_], axis=0))
    assert np.argmax(bag.feature_importances_) == 0
    plain = BaggedMLPRegressor(MLPRegressor(**few.SMALL), 2, method="seeds", random_state=0)
    with pytest.warns(UserWarning, match="converged"):
        plain.fit(few.X, few.NUMBERS)
    assert not hasattr(plain, "feature_importances_")


# pictures


def lines(ax):
    """The curves, without marks."""
    return [line for line in ax.lines if len(line.get_xdata()) > 2]


@pytest.mark.parametrize("kind", BOTH)
def test_tables_draw_how_they_learned(kind, tmp_path):
    model, *_ = fitted(kind)
    ax = model.plot_learning()
    training, validation = lines(ax)
    assert_array_equal(training.get_ydata(), model.model_.history["loss"])
    assert_array_equal(validation.get_ydata(), model.validation_loss_curve_)
    kept = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
    assert kept[0].get_xdata()[0] == model.best_iter_
    assert kept[0].get_ydata()[0] == model.validation_loss_curve_[model.best_iter_ - 1]
    assert f"kept\nepoch {model.best_iter_}" in [text.get_text() for text in ax.texts]
    again = saved_and_loaded(model, tmp_path).plot_learning()
    assert_array_equal(lines(again)[1].get_ydata(), validation.get_ydata())
    last, *_ = fitted(kind, early_stopping=False)
    ax = last.plot_learning(ax=mpl.pyplot.figure().subplots())
    assert len(lines(ax)) == 1
    assert not [text for text in ax.texts if "kept" in text.get_text()]


@pytest.mark.filterwarnings("ignore:.*converged")
@pytest.mark.parametrize(
    "estimator",
    [
        MLPClassifier((8,), max_iter=20, early_stopping=True, random_state=0),
        MLPClassifier((8,), max_iter=20, random_state=0),
        MLPClassifier((8,), solver="lbfgs", max_iter=20, random_state=0),
    ],
)
def test_networks_draw_how_they_learned(estimator):
    estimator.fit(few.X, few.TWO)
    curves = lines(estimator.plot_learning())
    assert len(curves) == 1 + (estimator.validation_scores_ is not None)
    assert_array_equal(curves[0].get_ydata(), estimator.model_.history["loss"])


@pytest.mark.filterwarnings("ignore:.*converged", "ignore:.*in the bags of all")
def test_ensembles_draw_a_line_for_each_member():
    X, value = table()
    bag = BaggedMLPClassifier(TabularMLPClassifier(folds=1, **{**QUICK, "max_iter": 5}), 3, random_state=0)
    ax = bag.fit(X, labels(value)).plot_learning()
    assert len(lines(ax)) == 6
    assert [text.get_text() for text in ax.texts] == ["loss", "val_loss"]
    piped = make_pipeline(StandardScaler(), MLPRegressor(**few.SMALL))
    seeds = BaggedMLPRegressor(piped, 2, method="seeds", random_state=0).fit(few.X, few.NUMBERS)
    assert len(lines(seeds.plot_learning())) == 2
    cycles = BaggedMLPRegressor(MLPRegressor(**{**few.SMALL, "max_iter": 6}), 3, method="snapshots", random_state=0)
    assert len(lines(cycles.fit(few.X, few.NUMBERS).plot_learning())) == 1  # one training
    trees = BaggedMLPRegressor(DecisionTreeRegressor(), 2, random_state=0).fit(few.X, few.NUMBERS)
    with pytest.raises(TypeError, match="draws networks of pellucid, got a member DecisionTreeRegressor"):
        trees.plot_learning()
