"""nn.FixedScale: a scaler inside the network, on both engines, in files and in estimators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import MLPRegressor, Model, nn
from pellucid.errors import ShapeError
from pellucid.estimators import NetworkSettings

rng = np.random.default_rng(0)
CENTER, SCALE = (1e4, -5.0, 0.0), (100.0, 0.1, 1.0)
Z = rng.normal(size=(200, 3))
X = Z * SCALE + CENTER
LAYER = nn.FixedScale(CENTER, SCALE)


def test_values_and_shapes():
    assert_allclose(LAYER.predict({}, X, LAYER.initialize(3).state), Z, atol=1e-12)
    assert LAYER.output((3,)) == (3,)
    assert not LAYER.parameters((3,))
    assert nn.FixedScale([1, 2], np.array([3.0, 4.0])) == nn.FixedScale((1.0, 2.0), (3.0, 4.0))
    assert repr(nn.FixedScale((0.0,) * 9, (1.0,) * 9)) == "FixedScale(9 features)"


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_training_leaves_its_numbers_alone(engine, tmp_path):
    model = Model(nn.Sequential(LAYER, nn.Dense(8), "tanh", nn.Dense(1)), engine=engine, dtype=np.float64)
    plain = Model(nn.Sequential(nn.Dense(8), "tanh", nn.Dense(1)), engine=engine, dtype=np.float64)
    y = Z[:, :1] * Z[:, 1:2]
    losses = [one.fit(rows, y, epochs=4, verbose=False)["loss"] for one, rows in ((model, X), (plain, Z))]
    assert_allclose(losses[0], losses[1], rtol=1e-6)
    assert_array_equal(model.state["fixed_scale1.center"], CENTER)
    model.save(tmp_path / "net.pel")
    loaded = pel.load(tmp_path / "net.pel")
    assert loaded.net == model.net
    assert_array_equal(loaded.predict(X), model.predict(X))


def test_an_estimator_with_a_scaler_inside(tmp_path):
    y = Z[:, 0] ** 2 - Z[:, 1]
    settings = NetworkSettings(fixed_scale=LAYER)
    reg = MLPRegressor(hidden_layer_sizes=(16,), network=settings, solver="lbfgs", tol=0.01, random_state=0).fit(X, y)
    assert reg.score(X, y) > 0.98
    reg.save(tmp_path / "net.pel")
    assert_array_equal(pel.load(tmp_path / "net.pel").predict(X), reg.predict(X))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: nn.FixedScale((1.0,), (1.0, 2.0)), ShapeError, "got 1 and 2"),
        (lambda: nn.FixedScale((1.0, 0.0), (1.0, 0.0)), ValueError, "number 1 of it is 0"),
        (lambda: nn.FixedScale((np.nan,), (1.0,)), ValueError, "center is a list of finite numbers"),
        (lambda: LAYER.initialize(4), ShapeError, r"numbers for 3 features.*\(4,\)"),
        (
            lambda: MLPRegressor(network=NetworkSettings(fixed_scale=2.0)).fit(X, Z[:, 0]),
            ValueError,
            r"network.fixed_scale is nn.FixedScale\(center, scale\)",
        ),
    ],
    ids=["lengths", "zero", "missing", "features", "setting"],
)
def test_errors(make, error, words):
    with pytest.raises(error, match=words):
        make()
