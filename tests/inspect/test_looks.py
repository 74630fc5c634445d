"""A look at a network against plain NumPy; units that were planted dead, saturated or twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid as pel
from pellucid import Model, inspect, nn, optim
from pellucid.errors import ShapeError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, np.sin(X[:, 0]) + X[:, 1]


def network(activation="tanh", hidden=(6, 5), **settings):
    return Model(
        nn.mlp(hidden, 1, activation=activation, **settings), "squared_error", optim.SGD(0.1), dtype=np.float64
    )


def by_hand(model, X, y):
    """z, a, δ and gradients of a network with tanh and the mean of squared errors, in plain NumPy."""
    p, a, z = model.params, [X], []
    names = ["hidden1", "hidden2", "output"]
    for name in names:
        z.append(a[-1] @ p[f"{name}.weight"] + p[f"{name}.bias"])
        a.append(np.tanh(z[-1]) if name != "output" else z[-1])
    scale = float(model.loss(np.array([[1.0]]), np.array([[0.0]])))  # 1 or 1/2 times the square
    delta = 2 * scale * (z[-1] - y[:, None])
    found = {}
    for k in (2, 1, 0):
        found[names[k]] = {
            "z": z[k],
            "a": a[k + 1],
            "dz": delta,
            "dweight": a[k].T @ delta / len(X),
            "dbias": delta.mean(axis=0),
        }
        if k:
            delta = (delta @ p[f"{names[k]}.weight"].T) * (1 - a[k] ** 2)
    return found


def test_every_quantity_is_that_of_plain_numpy(data):
    X, y = data
    model = network().initialize(4, seed=3)
    look = inspect.run(model, X, y)
    expected = by_hand(model, X, y)
    assert [layer.name for layer in look.layers] == list(reversed(expected))
    for layer in look.layers:
        arrays = {**expected[layer.name], "weight": model.params[f"{layer.name}.weight"]}
        arrays["update"] = -0.1 * arrays["dweight"]
        for name, array in arrays.items():
            ours, reference = getattr(layer, name), inspect.Statistics.of(array)
            for number in ("mean", "std", "low", "high", "zeros"):
                assert getattr(ours, number) == pytest.approx(getattr(reference, number), rel=1e-9, abs=1e-12), name
            assert np.abs(np.subtract(ours.counts, reference.counts)).sum() <= 2
        np.testing.assert_allclose(layer.unit_mean, arrays["a"].mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(layer.unit_std, arrays["a"].std(axis=0), atol=1e-12)
        C = np.atleast_2d(np.cov(arrays["a"].T))
        assert layer.rank == pytest.approx(np.trace(C) ** 2 / np.sum(C**2), rel=1e-6)
    slope = 1 - np.tanh(expected["hidden1"]["z"]) ** 2
    np.testing.assert_allclose(look["hidden1"].unit_slope, slope.max(axis=0), rtol=1e-12)
    np.testing.assert_allclose(look["hidden1"].unit_open, (slope >= 0.01).mean(axis=0), rtol=1e-12)
    assert look["hidden1"].saturated == pytest.approx((slope < 0.01).mean())
    assert look["hidden1"].update_ratio == pytest.approx(
        0.1 * look["hidden1"].dweight.rms / look["hidden1"].weight.rms, rel=1e-6
    )
    assert look.loss == pytest.approx(model.evaluate(X, y)["loss"])
    total = sum(np.sum(e["dweight"] ** 2) + np.sum(e["dbias"] ** 2) for e in expected.values())
    assert look.gradient_norm == pytest.approx(np.sqrt(total))
    np.testing.assert_allclose(look.column_mean, X.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(look.column_std, X.std(axis=0), atol=1e-12)


def test_without_targets_there_are_no_gradients(data):
    look = inspect.run(network().initialize(4), data[0])
    layer = look["hidden2"]
    assert layer.dz is layer.dweight is layer.update is None
    assert look.loss is None
    assert layer.a.count == 300 * 5


@pytest.mark.parametrize("activation", ["relu", "gelu", "elu", "leaky_relu"])
def test_planted_dead_units_are_found(data, activation):
    X, y = data
    model = network(activation, (8, 8), bias=1.0).initialize(4, seed=1)
    model.params["hidden1.bias"][[2, 5]] = -50.0
    model.params["hidden2.bias"][[0]] = -80.0
    look = inspect.run(model, X, y)
    dies = activation not in ("leaky_relu",)
    assert look["hidden1"].dead == ((2, 5) if dies else ())
    assert look["hidden2"].dead == ((0,) if dies else ())


def test_a_unit_that_lives_for_one_row_of_many_is_not_dead():
    X = np.zeros((20_000, 2))
    X[12_345] = 100.0
    model = network("relu", (3,)).initialize(2)
    model.params["hidden1.weight"][:] = 1.0
    model.params["hidden1.bias"][:] = [-1.0, -1.0, -1000.0]
    look = inspect.run(model, X, np.zeros(20_000), rows=100)
    assert look["hidden1"].dead == (2,)
    assert look.rows == 100
    np.testing.assert_allclose(look["hidden1"].unit_open, [1 / 20_000, 1 / 20_000, 0.0])


def test_planted_copies_are_found(data):
    X, y = data
    model = network("relu", (8, 8)).initialize(4, seed=1)
    for unit in (3, 6):
        model.params["hidden1.weight"][:, unit] = 2.0 * model.params["hidden1.weight"][:, 0]  # twice as large: the same
        model.params["hidden1.bias"][unit] = 2.0 * model.params["hidden1.bias"][0]
    look = inspect.run(model, X, y)
    assert look["hidden1"].copies == ((0, 3, 6),)
    assert look["hidden2"].copies == ()
    assert look["hidden1"].rank < 6.5


def test_saturated_units(data):
    X, y = data
    model = network("sigmoid").initialize(4, seed=1)
    model.params["hidden1.weight"] *= 0.0
    model.params["hidden1.bias"][:] = [10, 10, 10, 0, 0, 0]
    assert inspect.run(model, X, y)["hidden1"].saturated == pytest.approx(0.5)


def test_batch_statistics_against_stored_ones(data):
    X, y = data
    model = network("relu", (8,), norm="batch").initialize(4, seed=1)
    model.fit(X, y, epochs=60, batch_size=50, verbose=False)
    near = inspect.run(model, X, y)["hidden1"]
    assert near.norm_shift < 0.2
    assert near.norm_ratio == pytest.approx(1.0, abs=0.1)
    model.state["hidden1.norm.mean"] += 3.0 * np.sqrt(model.state["hidden1.norm.var"])
    model.state["hidden1.norm.var"] *= 4.0
    far = inspect.run(model, X, y)["hidden1"]
    assert far.norm_shift > 1.2
    assert far.norm_ratio == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    "net",
    [
        nn.mlp((5,), 2, activation="swiglu"),
        nn.mlp((5,), 2, activation="maxout"),
        nn.Sequential(nn.Dense(5), nn.Softmax(), nn.Dense(2)),
        nn.Sequential(nn.Dense(4), nn.Residual(nn.Sequential(nn.Dense(4), nn.ReLU())), nn.Tanh(), nn.Dense(2)),
        nn.Sequential(nn.Flatten(), nn.Dense(4), nn.PReLU(), nn.LayerNorm(), nn.Dense(2)),
        nn.Sequential(nn.Dense(4, bias=None), nn.Mixed("relu", "tanh"), nn.Dense(2)),
        nn.mlp((), 2),
    ],
)
def test_other_networks_can_be_looked_at(net):
    X = np.random.default_rng(0).normal(size=(30, 4))
    model = Model(net, "cross_entropy", "adam").initialize(4)
    look = inspect.run(model, X, X[:, 0] > 0)
    assert look.layers[-1].a.count == 60
    assert all(layer.dz.finite for layer in look.layers)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_names_of_columns_come_from_frames_and_pipelines():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 5, 80), "height": rng.normal(170, 9, 80)})
    y = frame["age"] > 40
    model = Model(nn.mlp((4,), 2), "cross_entropy").initialize(2)
    assert inspect.run(model, frame, y).columns == ("age", "height")
    pipeline = make_pipeline(StandardScaler(), pel.MLPClassifier((4,), max_iter=20)).fit(frame, y)
    look = inspect.run(pipeline, frame, y)
    assert look.columns == ("age", "height")
    assert np.allclose(look.column_std, 1.0, atol=1e-3)


def test_errors_say_what_to_do(data):
    X, y = data
    with pytest.raises(ShapeError, match=r"no parameters yet: call fit\(X, y\), or initialize"):
        inspect.run(network(), X, y)
    with pytest.raises(
        TypeError, match="a Model, an estimator of pellucid, or a pipeline that ends in one, got StandardScaler"
    ):
        inspect.run(StandardScaler(), X, y)
    look = inspect.run(network().initialize(4), X, y)
    with pytest.raises(KeyError, match="there are hidden1, hidden2, output"):
        look["hidden9"]


def test_looks_show_themselves(data):
    look = inspect.run(network().initialize(4), *data)
    assert "hidden2" in str(look)
    assert "3 layers after 0 steps, on 300 rows" in repr(look)
    assert "<table" in look._repr_html_()
