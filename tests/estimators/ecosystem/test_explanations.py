"""Explanations of others: SHAP's values add up to the predictions; scikit-learn's importances find what matters."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance

from pellucid import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
truth = X[:, 0] * 2 + np.abs(X[:, 1])
TABLE = pd.DataFrame({"amount": X[:, 0], "size": X[:, 1], "kind": rng.choice(["a", "b"], 200), "noise": X[:, 3]})
TABLE.loc[::9, "size"] = np.nan
SETTINGS = {"hidden_layer_sizes": (16,), "random_state": 0}


def fit(estimator, rows, target):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(rows, target)


PLAIN = {
    "classes": lambda: fit(MLPClassifier(**SETTINGS, max_iter=80, learning_rate_init=0.01), X, truth > 1),
    "numbers": lambda: fit(MLPRegressor(**SETTINGS, max_iter=80, learning_rate_init=0.01), X, truth),
}
TABLES = {
    "classes": lambda: TabularMLPClassifier(**SETTINGS, max_iter=10).fit(TABLE, truth > 1),
    "numbers": lambda: TabularMLPRegressor(**SETTINGS, max_iter=10).fit(TABLE, truth),
}


@pytest.mark.parametrize("kind", PLAIN)
def test_shap_values_add_up(kind):
    shap = pytest.importorskip("shap")
    estimator = PLAIN[kind]()
    predict = estimator.predict_proba if kind == "classes" else estimator.predict
    for explainer in (shap.explainers.Permutation(predict, X[:40], seed=0), shap.KernelExplainer(predict, X[:20])):
        explained = explainer(X[:6], silent=True)
        assert_allclose(explained.base_values + explained.values.sum(axis=1), predict(X[:6]), atol=1e-6)
        sizes = np.abs(explained.values).reshape(6, 4, -1).mean(axis=(0, 2))
        assert sizes[0] > 3 * sizes[3]


@pytest.mark.parametrize("kind", TABLES)
def test_shap_values_of_a_table_with_words(kind):
    """SHAP's maskers subtract: words go in as codes, and are words again ahead of the estimator."""
    shap = pytest.importorskip("shap")
    estimator = TABLES[kind]()
    kinds = TABLE["kind"].astype("category").cat
    coded = TABLE.assign(kind=kinds.codes.astype(float))

    def predict(rows):
        table = pd.DataFrame(rows, columns=TABLE.columns)
        table["kind"] = kinds.categories.to_numpy()[table["kind"].astype(int)]
        return estimator.predict_proba(table) if kind == "classes" else estimator.predict(table)

    some = coded.dropna()
    explained = shap.explainers.Permutation(predict, some.iloc[:30], seed=0)(some.iloc[:4])
    assert_allclose(explained.base_values + explained.values.sum(axis=1), predict(some.iloc[:4].to_numpy()), atol=1e-6)


@pytest.mark.parametrize(("makers", "rows"), [(PLAIN, X), (TABLES, TABLE)], ids=["arrays", "tables"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_permutation_importance(makers, rows, kind):
    target = truth > 1 if kind == "classes" else truth
    found = permutation_importance(makers[kind](), rows, target, n_repeats=3, random_state=0).importances_mean
    assert np.argmax(found) == 0
    assert found[0] > 10 * abs(found[3])


def test_partial_dependence():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    estimator = PLAIN["numbers"]()
    curve = partial_dependence(estimator, X, [0], kind="average")["average"][0]
    assert curve[-1] - curve[0] > 3
    display = PartialDependenceDisplay.from_estimator(TABLES["classes"](), TABLE, ["amount"], grid_resolution=5)
    matplotlib.pyplot.close(display.figure_)
