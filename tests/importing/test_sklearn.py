"""from_sklearn: the predictions of scikit-learn's networks, and the training that they would have had."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import pellucid as pel
from pellucid import inspect, nn
from pellucid.importing import from_sklearn
from pellucid.importing.sklearn_scalers import SCALERS

digits, labels = load_digits(return_X_y=True)
X, y = digits[:400] * 100 + 1000, labels[:400]  # columns that need a scaler
NUMBERS = np.c_[X[:, 20] - X[:, 30], X[:, 40]] / 500

TARGETS = {
    "many classes": (MLPClassifier, y, {}),
    "two classes": (MLPClassifier, np.where(y > 4, "high", "low"), {}),
    "several labels": (MLPClassifier, np.c_[y > 4, y % 2, y == 3].astype(int), {}),
    "numbers": (MLPRegressor, NUMBERS[:, 0], {}),
    "two numbers": (MLPRegressor, NUMBERS, {}),
    "counts": (MLPRegressor, y, {"loss": "poisson"}),
}
FRONTS = {
    "standard": [StandardScaler()],
    "without mean": [StandardScaler(with_mean=False)],
    "without deviation": [StandardScaler(with_std=False)],
    "least and largest": [MinMaxScaler((-1, 2))],
    "largest": [MaxAbsScaler()],
    "robust": [RobustScaler(unit_variance=True)],
    "two": [MaxAbsScaler(), "passthrough", StandardScaler()],
}


def fitted(kind, target, front=(), rows=X, **settings):
    settings = {"hidden_layer_sizes": (12, 6), "activation": "tanh", "max_iter": 8, "random_state": 0} | settings
    steps = [*front, kind(**settings)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_pipeline(*steps).fit(rows, target) if front else steps[0].fit(rows, target)


def same(ours, theirs, rows=X):
    names = ("predict_proba",) if hasattr(theirs, "predict_proba") else ("predict",)
    for name in names:
        assert_allclose(getattr(ours, name)(rows), getattr(theirs, name)(rows), rtol=0, atol=1e-10)
    if hasattr(theirs, "classes_"):
        assert_array_equal(ours.predict(rows), theirs.predict(rows))


@pytest.mark.parametrize("target", TARGETS)
def test_all_targets_are_predicted_the_same(target, tmp_path):
    kind, truth, settings = TARGETS[target]
    theirs = fitted(kind, truth, [StandardScaler()], **settings)
    ours = from_sklearn(theirs)
    assert type(ours) is getattr(pel, kind.__name__)
    same(ours, theirs)
    assert ours.score(X, truth) == pytest.approx(theirs.score(X, truth), abs=1e-10)
    ours.save(tmp_path / "net.pel")
    assert_array_equal(pel.load(tmp_path / "net.pel").predict(X), ours.predict(X))


@pytest.mark.parametrize("front", FRONTS)
def test_scalers_come_along(front):
    theirs = fitted(MLPClassifier, y, FRONTS[front])
    same(from_sklearn(theirs), theirs)


def test_every_scaler_of_the_table_is_tried():
    assert set(SCALERS) == {type(step) for steps in FRONTS.values() for step in steps if step != "passthrough"}


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu"])
@pytest.mark.parametrize("solver", ["lbfgs", "sgd", "adam"])
def test_activations_and_solvers(activation, solver):
    theirs = fitted(MLPClassifier, y, rows=digits[:400], activation=activation, solver=solver)
    ours = from_sklearn(theirs)
    same(ours, theirs, digits)
    assert ours.get_params()["activation"] == activation
    for weight, other in zip(ours.coefs_, theirs.coefs_, strict=True):
        assert_array_equal(weight, other)
    assert (ours.n_iter_, ours.n_outputs_, ours.out_activation_) == (theirs.n_iter_, 10, "softmax")


def test_what_was_learned_comes_along():
    theirs = fitted(MLPClassifier, y, early_stopping=True, rows=digits[:400])
    ours = from_sklearn(theirs)
    assert ours.loss_curve_ == theirs.loss_curve_
    assert ours.validation_scores_ == theirs.validation_scores_
    assert ours.best_validation_score_ == theirs.best_validation_score_
    assert ours.t_ == theirs.t_


def test_names_of_columns_come_along():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=[f"pixel{i}" for i in range(X.shape[1])])
    ours = from_sklearn(fitted(MLPClassifier, y, [StandardScaler()], rows=table))
    assert ours.feature_names_in_[3] == "pixel3"
    with pytest.raises(ValueError, match="feature names should match"):
        ours.predict(table.rename(columns={"pixel3": "pixel 3"}))


def test_single_precision_stays():
    theirs = fitted(MLPClassifier, y, rows=digits[:400].astype(np.float32))
    ours = from_sklearn(theirs)
    assert ours.model_.dtype == np.float32
    assert_allclose(ours.predict_proba(digits), theirs.predict_proba(digits.astype(np.float32)), atol=1e-6)


@pytest.mark.parametrize(
    "settings", [{"solver": "adam"}, {"solver": "sgd"}, {"solver": "sgd", "momentum": 0.5}], ids=str
)
def test_training_goes_on_as_it_would_have_there(settings):
    """Moments, velocities and corrections of its optimizer are carried over: the next epochs have the same weights."""
    theirs = fitted(MLPClassifier, y, [StandardScaler()], batch_size=50, shuffle=False, alpha=0.0, **settings)
    ours = from_sklearn(theirs)
    rows = theirs[0].transform(X)
    for _ in range(3):
        theirs[1].partial_fit(rows, y)
        ours.partial_fit(X, y)
    for weight, other in zip(ours.coefs_, theirs[1].coefs_, strict=True):
        assert_allclose(weight, other, rtol=0, atol=1e-12)
    scale = ours.model_.state["input.fixed_scale.scale"]
    assert_array_equal(scale, theirs[0].scale_)


def test_alpha_is_divided_by_the_rows_that_it_was_trained_on():
    ours = from_sklearn(fitted(MLPClassifier, y, alpha=2.0))
    assert ours.model_.penalty == nn.L2(2.0 / len(X))


def test_a_warm_start_begins_with_the_imported_weights():
    theirs = fitted(MLPRegressor, NUMBERS[:, 0], [RobustScaler()], max_iter=60)
    ours = from_sklearn(theirs).set_params(warm_start=True, max_iter=5, tol=0.0)
    before = ours.score(X, NUMBERS[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours.fit(X, NUMBERS[:, 0])
    assert ours.n_iter_ == 5
    assert ours.score(X, NUMBERS[:, 0]) > before - 0.02


def test_it_is_diagnosed_behind_its_scaler():
    ours = from_sklearn(fitted(MLPClassifier, y, [StandardScaler()], max_iter=40))
    codes = ours.diagnose(X, y).codes
    assert "input-scale" not in codes
    assert "input-offset" not in codes
    assert "output" in str(inspect.run(ours, X, y))


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        (lambda: MLPClassifier(), NotFittedError, "not fitted"),
        (lambda: LogisticRegression().fit(digits[:50] / 16, labels[:50]), TypeError, "got a LogisticRegression"),
        (
            lambda: fitted(MLPClassifier, y, [PCA(5)]),
            TypeError,
            r"PCA ahead of the network is not a shift.*StandardScaler, RobustScaler",
        ),
        (lambda: fitted(MLPClassifier, y, [MinMaxScaler(clip=True)]), ValueError, "clip=False"),
        (
            lambda: Pipeline([("a", StandardScaler()), ("b", LogisticRegression())]).fit(digits[:50] / 16, labels[:50]),
            TypeError,
            "a Pipeline that ends with a LogisticRegression",
        ),
        (
            lambda: GridSearchCV(MLPClassifier(max_iter=3), {"alpha": [0.1]}, cv=2).fit(digits[:60], labels[:60] > 4),
            TypeError,
            "give its best_estimator_, which is a MLPClassifier",
        ),
        (
            lambda: TransformedTargetRegressor(MLPRegressor(max_iter=3), transformer=StandardScaler()).fit(
                digits[:60], labels[:60]
            ),
            TypeError,
            "give its regressor_",
        ),
    ],
    ids=["not fitted", "another", "PCA", "clipping", "pipeline", "search", "transformed target"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_errors_say_what_to_do(estimator, error, words):
    with pytest.raises(error, match=words):
        from_sklearn(estimator())
