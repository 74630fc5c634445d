"""compat="sklearn" is scikit-learn number by number; the defaults predict as well; lbfgs finds the same optimum."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import sklearn.neural_network as theirs
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_wine,
    make_classification,
    make_multilabel_classification,
    make_regression,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pellucid.autodiff.numerical import numerical_grad
from pellucid.estimators import MLPClassifier, MLPRegressor
from tests.estimators.marks import few_epochs

pytestmark = few_epochs
PAIRS = {MLPClassifier: theirs.MLPClassifier, MLPRegressor: theirs.MLPRegressor}


def data(kind: str) -> tuple[Any, Any]:
    if kind == "multilabel":
        X, y = make_multilabel_classification(150, 8, random_state=0)
        return StandardScaler().fit_transform(X), y
    if kind in ("regression", "outputs"):
        X, y = make_regression(150, 8, n_targets=1 if kind == "regression" else 3, noise=5.0, random_state=0)
        return X, y / 50
    if kind == "counts":
        X = np.random.default_rng(0).normal(size=(150, 8))
        return X, np.random.default_rng(1).poisson(np.exp(0.5 * X[:, 0]))
    X, y = make_classification(150, 8, n_informative=6, n_classes=2 if kind == "binary" else 4, random_state=0)
    return X, y


def both(kind: str, weights: Any = None, **parameters: Any) -> tuple[Any, Any]:
    """Ours and scikit-learn's, fitted alike."""
    ours = MLPClassifier if kind in ("binary", "classes", "multilabel") else MLPRegressor
    settings = {"random_state": 3, "shuffle": False, "max_iter": 25, "batch_size": 32, "hidden_layer_sizes": (9, 7)}
    X, y = data(kind)
    more = {} if weights is None else {"sample_weight": weights}
    a = ours(compat="sklearn", engine="native", **{**settings, **parameters}).fit(X, y, **more)
    b = PAIRS[ours](**{**settings, **parameters}).fit(X, y, **more)
    return a, b


def assert_same(a: Any, b: Any, rtol: float = 1e-10) -> None:
    for mine, other in zip(a.coefs_ + a.intercepts_, b.coefs_ + b.intercepts_, strict=True):
        assert mine.dtype == other.dtype
        assert_allclose(mine, other, rtol=rtol, atol=rtol)
    assert_allclose(a.loss_curve_, b.loss_curve_, rtol=rtol)
    for name in ("n_iter_", "t_", "n_layers_", "n_outputs_", "out_activation_", "_no_improvement_count"):
        assert getattr(a, name) == getattr(b, name), name
    assert_allclose(a.loss_, b.loss_, rtol=rtol)
    for name in ("best_loss_", "validation_scores_", "best_validation_score_"):
        mine, other = getattr(a, name), getattr(b, name)
        assert (mine is None) == (other is None), name
        if mine is not None:
            assert_allclose(mine, other, rtol=1e-8, atol=1e-8)


CASES: list[tuple[str, dict[str, Any]]] = [
    ("binary", {}),
    ("classes", {"activation": "tanh"}),
    ("multilabel", {"activation": "logistic"}),
    ("regression", {"activation": "relu"}),
    ("outputs", {"activation": "identity"}),
    ("counts", {"loss": "poisson"}),
    ("classes", {"alpha": 5.0}),
    ("regression", {"beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-4}),
    ("classes", {"solver": "sgd", "learning_rate_init": 0.05}),
    ("binary", {"solver": "sgd", "learning_rate_init": 0.05, "nesterovs_momentum": False, "momentum": 0.7}),
    ("classes", {"solver": "sgd", "learning_rate_init": 0.5, "learning_rate": "invscaling", "power_t": 0.3}),
    ("outputs", {"solver": "sgd", "learning_rate_init": 0.01, "learning_rate": "constant"}),
    (
        "binary",
        {"solver": "sgd", "learning_rate_init": 0.2, "learning_rate": "adaptive", "tol": 1e-2, "n_iter_no_change": 2},
    ),
    ("binary", {"early_stopping": True, "validation_fraction": 0.2}),
    ("classes", {"early_stopping": True, "n_iter_no_change": 3, "learning_rate_init": 0.01}),
    ("regression", {"early_stopping": True, "n_iter_no_change": 3, "learning_rate_init": 0.01}),
    ("classes", {"tol": 0.05, "n_iter_no_change": 3}),
]


@pytest.mark.parametrize(("kind", "parameters"), CASES)
def test_number_by_number(kind: str, parameters: dict[str, Any]) -> None:
    assert_same(*both(kind, **parameters))


@pytest.mark.parametrize("kind", ["classes", "regression"])
def test_weights_number_by_number(kind: str) -> None:
    weights = np.random.default_rng(0).uniform(0.2, 2.0, 150)
    a, b = both(kind, weights, batch_size=150)
    assert_same(a, b)
    a, b = both(kind, weights)
    for mine, other in zip(a.coefs_, b.coefs_, strict=True):  # its loss_curve_ counts batches by rows, not by weight
        assert_allclose(mine, other, rtol=1e-10, atol=1e-10)


def test_raw_digits_number_by_number() -> None:
    """Pixels from 0 to 16: some first probabilities are 0, where scikit-learn's loss has a limit."""
    X, y = load_digits(return_X_y=True)
    settings: dict[str, Any] = {"random_state": 0, "shuffle": False, "max_iter": 5, "activation": "identity"}
    settings |= {"learning_rate_init": 0.1}
    a = MLPClassifier(compat="sklearn", **settings).fit(X, y)
    b = theirs.MLPClassifier(**settings).fit(X, y)
    assert max(b.loss_curve_) > 10
    assert_allclose(a.loss_curve_, b.loss_curve_, rtol=1e-9)
    c = MLPClassifier(**settings).fit(X, y)
    assert c.loss_curve_[0] > b.loss_curve_[0] * 1.01  # the loss itself has no limit


@pytest.mark.parametrize("kind", ["classes", "outputs"])
def test_partial_and_warm_number_by_number(kind: str) -> None:
    ours = MLPClassifier if kind == "classes" else MLPRegressor
    X, y = data(kind)
    first = {"classes": np.unique(y)} if kind == "classes" else {}
    pair = [ours(compat="sklearn", random_state=0, shuffle=False), PAIRS[ours](random_state=0, shuffle=False)]
    for _ in range(5):
        for estimator in pair:
            estimator.partial_fit(X, y, **first)
    assert_same(*pair)
    for estimator in pair:
        estimator.set_params(warm_start=True, max_iter=4).fit(X, y)
    assert_same(*pair)


# parameters and attributes


@pytest.mark.parametrize("ours", PAIRS)
def test_parameters_have_its_names_defaults_and_places(ours: Any) -> None:
    mine, other = (inspect.signature(cls.__init__).parameters for cls in (ours, PAIRS[ours]))
    for name, parameter in other.items():
        assert mine[name].default == parameter.default, name
        assert mine[name].kind == parameter.kind, name
    places = [n for n, p in other.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [n for n, p in mine.items() if p.kind is p.POSITIONAL_OR_KEYWORD] == places


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("kind", ["classes", "regression"])
def test_all_its_attributes_are_here(kind: str, early: bool) -> None:
    a, b = both(kind, early_stopping=early, max_iter=3)
    for name in vars(b):
        if name.endswith("_") and not name.startswith("_"):
            assert hasattr(a, name), name
    public = [name for name in dir(b) if not name.startswith("_")]
    assert [name for name in public if not hasattr(a, name)] == []


# L-BFGS


def test_lbfgs_without_hidden_layers_is_logistic_regression() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    clf = MLPClassifier((), solver="lbfgs", alpha=2.0, tol=1e-9, max_iter=5000, max_fun=50000).fit(X, y)
    reference = LogisticRegression(C=0.5, tol=1e-10, max_iter=5000).fit(X, y)
    assert_allclose(clf.predict_proba(X), reference.predict_proba(X), atol=1e-5)
    assert_allclose(clf.coefs_[0].T, reference.coef_, atol=1e-5)


def test_lbfgs_without_hidden_layers_is_ridge_for_several_outputs() -> None:
    X, y = data("outputs")
    reg = MLPRegressor(hidden_layer_sizes=(), solver="lbfgs", alpha=3.0, tol=1e-10, max_iter=5000).fit(X, y)
    reference = Ridge(alpha=3.0).fit(X, y)
    assert_allclose(reg.coefs_[0].T, reference.coef_, atol=1e-5)
    assert_allclose(reg.predict(X), reference.predict(X), atol=1e-5)


def test_lbfgs_reaches_the_optimum_of_a_linear_network_no_worse_than_scikit_learn() -> None:
    X, y = data("regression")
    settings: dict[str, Any] = {"activation": "identity", "hidden_layer_sizes": (4,), "solver": "lbfgs", "alpha": 0.0}
    settings |= {"tol": 1e-8, "max_iter": 2000, "random_state": 0}
    a, b = MLPRegressor(**settings).fit(X, y), theirs.MLPRegressor(**settings).fit(X, y)
    assert -1e-8 < a.loss_ - b.loss_ < 1e-12
    assert_allclose(a.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-5)
    assert_allclose(a.predict(X), b.predict(X), atol=1e-3)  # it stops earlier


@pytest.mark.parametrize("compat", [None, "sklearn"])
def test_the_gradient_for_several_outputs(compat: str | None) -> None:
    """Ours is the derivative of the loss; scikit-learn's is the derivative of three times its loss."""
    from pellucid.data.rows import rows_of
    from pellucid.nn import flatten_parameters
    from pellucid.train.loop.step import Snapshot, Trainer

    X, y = data("outputs")
    model = (
        MLPRegressor(hidden_layer_sizes=(3,), activation="tanh", alpha=0.0, compat=compat, max_iter=1).fit(X, y).model_
    )
    trainer = Trainer(model.net, model.loss, model.optimizer, model.penalty)
    rows = rows_of(X, y, None, model.loss, 3, np.float64)
    vector, back = flatten_parameters(model.params)
    batch = rows.take(slice(None))
    cost = lambda v: trainer.gradients(Snapshot(back(v), {}, {}), batch, 0, {})[0][0]
    _, gradient = trainer.gradients(Snapshot(model.params, {}, {}), batch, 0, {})
    exact = np.concatenate([gradient[name].ravel() for name in model.params])
    assert_allclose(exact, numerical_grad(cost, vector) * (3 if compat else 1), rtol=1e-6, atol=1e-8)


# as good predictions


def sets() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    digits, diabetes = load_digits(return_X_y=True), load_diabetes(return_X_y=True)
    synthetic = make_classification(600, 20, n_informative=8, n_classes=3, flip_y=0.05, random_state=0)
    friedman = np.random.default_rng(0).uniform(size=(500, 8))
    smooth = np.sin(3 * friedman[:, 0] * friedman[:, 1]) + friedman[:, 2] ** 2
    return {
        "digits": (digits[0][:800] / 16.0, digits[1][:800], {"max_iter": 40}),
        "breast cancer": (*load_breast_cancer(return_X_y=True), {"max_iter": 40}),
        "wine": (*load_wine(return_X_y=True), {"max_iter": 60, "learning_rate_init": 0.01}),
        "diabetes": (diabetes[0], diabetes[1] / 100, {"max_iter": 60, "learning_rate_init": 0.01}),
        "synthetic classes": (*synthetic, {"max_iter": 40, "learning_rate_init": 0.005}),
        "synthetic numbers": (friedman, smooth, {"max_iter": 60, "learning_rate_init": 0.01, "solver": "sgd"}),
    }


@pytest.mark.parametrize("name", sets())
def test_predicts_as_well_as_scikit_learn(name: str) -> None:
    """Ten seeds: on test rows no significant loss (paired, one-sided), and no loss that would matter."""
    X, y, settings = sets()[name]
    ours = MLPClassifier if y.dtype.kind == "i" else MLPRegressor
    scores = []
    for seed in range(10):
        parts = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y if ours is MLPClassifier else None)
        scaler = StandardScaler().fit(parts[0])
        train, test = scaler.transform(parts[0]), scaler.transform(parts[1])
        pair = [cls(random_state=seed, hidden_layer_sizes=(32,), **settings) for cls in (ours, PAIRS[ours])]
        scores.append([each.fit(train, parts[2]).score(test, parts[3]) for each in pair])
    mine, other = np.transpose(scores)
    worse = stats.ttest_rel(mine, other, alternative="less").pvalue if np.any(mine != other) else 1.0
    assert worse > 0.01 or other.mean() - mine.mean() < 0.002, (mine, other)
    assert other.mean() - mine.mean() < 0.02
