"""What tables are like: classes that overlap, rows that come twice, empty columns. None of it is a fault; what is one
beside it, is told.
"""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons

from pellucid import MLPClassifier, MLPRegressor, Model, inspect, nn, optim

rng = np.random.default_rng(0)


def codes(diagnosis, severity="warning"):
    return {finding.code for finding in diagnosis if finding.severity in (severity, "error")}


def fitted(X, y, **more):
    settings = {"max_iter": 60, "random_state": 0, **more}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MLPClassifier((16,), **settings).fit(X, y)


def test_classes_that_overlap_are_no_wrong_labels():
    """Mistakes grow rarer with certainty; those of careless people do not."""
    X = rng.normal(size=(800, 4))
    chance = 1 / (1 + np.exp(-1.5 * X[:, 0] - X[:, 1]))
    honest = (rng.random(800) < chance).astype(int)
    assert "label-noise" not in codes(fitted(X, honest, alpha=1.0).diagnose(X, honest))
    clear = (X[:, 0] + 0.5 * X[:, 1] > 0).astype(int)
    flipped = np.where(rng.random(800) < 0.25, 1 - clear, clear)
    assert "label-noise" in codes(fitted(X, flipped, alpha=1.0).diagnose(X, flipped))


def test_rows_that_come_twice_by_nature_are_no_leak():
    X, y = make_classification(600, 6, random_state=0)
    X[300:330], y[300:330] = X[:30], y[:30]  # one row in ten has a twin, wherever it ends up
    order = np.random.default_rng(1).permutation(600)
    X, y = X[order], y[order]
    clf = fitted(X[:400], y[:400])
    assert "leak-suspected" not in codes(clf.diagnose(X[:400], y[:400], validation=(X[400:], y[400:])))
    assert "leak-suspected" in codes(clf.diagnose(X[:400], y[:400], validation=(X[300:500], y[300:500])))


def test_columns_that_are_nearly_always_the_same():
    X, y = make_classification(900, 30, n_informative=5, random_state=0)
    X[:, 20:] = -0.4  # borders of pictures, centred
    for column in (20, 21):
        X[70, column] = 1.5  # and two that are lit in the same row
    found = fitted(X, y).diagnose(X, y)
    assert not {"input-constant", "input-duplicate"} & codes(found)
    X[:, 22] = 50.0
    assert "input-constant" in codes(fitted(X, y).diagnose(X, y))


def test_validation_rows_of_an_estimator_count():
    X, y = rng.normal(size=(40, 10)), rng.normal(size=40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reg = MLPRegressor(max_iter=500, n_iter_no_change=500, random_state=0).fit(X, y)
    others = rng.normal(size=(60, 10)), rng.normal(size=60)
    assert "overfitting" in codes(reg.diagnose(validation=others))
    with pytest.raises(ValueError, match="same samples"):
        reg.diagnose(validation=(others[0], others[1][:-1]))
    with pytest.raises(ValueError, match="columns must be the same"):
        reg.diagnose(X, y, validation=(np.ones((5, 3)), np.ones(5)))


def test_rows_learned_by_heart_are_found_without_others():
    X, y = rng.normal(size=(240, 12)), rng.integers(0, 2, 240)
    clf = fitted(X, y, max_iter=400, n_iter_no_change=400)
    assert "overfitting" in codes(clf.diagnose())
    X, y = make_moons(300, noise=0.1, random_state=0)
    assert "overfitting" not in codes(fitted(X, y, max_iter=300).diagnose())


def test_a_schedule_that_ends_too_soon():
    X, y = make_moons(600, noise=0.1, random_state=0)
    model = Model(nn.mlp((32,), 2), "cross_entropy", optim.SGD(optim.Step(0.1, 30, 0.1)))
    model.fit(X, y, epochs=30, batch_size=32, verbose=False, seed=0)
    first = inspect.diagnose(model, X, y)[0]
    assert first.code == "rate-too-low"
    assert float(first.measured["rate at the end"]) < 1e-3


@pytest.mark.parametrize(
    "net",
    [
        nn.Sequential(nn.Dense(16), "relu", "relu", nn.Dense(2)),
        nn.Sequential(nn.Dense(16), nn.BatchNorm(), nn.BatchNorm(), "tanh", nn.Dense(2)),
    ],
)
def test_layers_that_give_back_what_they_are_given(net):
    X, y = make_moons(300, noise=0.1, random_state=0)
    model = Model(net, "cross_entropy", optim.Adam(0.01))
    model.fit(X, y, epochs=20, verbose=False, seed=0)
    assert "useless-layer" in inspect.diagnose(model, X, y).codes


def test_units_beside_one_that_has_exploded_are_no_copies():
    X, y = make_moons(300, noise=0.1, random_state=0)
    model = Model(nn.mlp((16,), 2), "cross_entropy", optim.SGD(0.05))
    model.fit(X, y, epochs=5, verbose=False, seed=0)
    model.params["hidden1.weight"][:, 0] = 1e9
    assert "symmetric-units" not in inspect.diagnose(model, X, y).codes
