"""nn.PiecewiseLinear: learned functions between edges that come from data, on both engines."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import pellucid as pel
from pellucid import nn, optim
from pellucid.engine.native.runtime.fallback import FallbackWarning
from pellucid.errors import ShapeError
from pellucid.estimators import MLPRegressor, NetworkSettings
from pellucid.train import Model, load
from tests.both_engines import each_engine

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.abs(X[:, 0]) + X[:, 2]


def components(x, edges):
    """By the definition, one after the other.   (n,) -> (n, bins)"""
    bins = len(edges) - 1
    columns = []
    for t in range(bins):
        place = (x - edges[t]) / (edges[t + 1] - edges[t])
        columns.append(np.clip(place, -np.inf if t == 0 else 0.0, np.inf if t == bins - 1 else 1.0))
    return np.stack(columns, axis=1)


def with_weights(layer, features, data):
    """Edges of these rows, and weights that are not 0."""
    params, state = nn.quantile_edges(layer, layer.initialize(features), data)
    return {"mix": np.random.default_rng(1).normal(size=params["mix"].shape)}, state


def test_it_is_its_formula():
    layer = nn.PiecewiseLinear(2, bins=5, dims=3)
    p, state = with_weights(layer, 3, X)
    outside = np.concatenate([X, 10 * X, -10 * X])
    result = layer.predict(p, outside, state)
    assert result.shape == (180, 2 + 6 + 1)
    assert layer.output((3,)) == (9,)
    assert_array_equal(result[:, :2], outside[:, :2])
    assert_array_equal(result[:, -1], outside[:, 2])
    for j in range(2):
        edges = np.quantile(X[:, j], np.linspace(0, 1, 6), method="inverted_cdf")
        expected = components(outside[:, j], edges) @ p["mix"][j]
        assert_allclose(result[:, 2 + 3 * j : 5 + 3 * j], expected, rtol=1e-9, atol=1e-12)


def test_it_starts_as_the_plain_numbers():
    layer = nn.PiecewiseLinear(3)
    params, state = layer.initialize(3)
    assert not layer.predict(params, X, state)[:, 3:].any()
    ends = state["start"][:, [0, -1]]
    assert_allclose(ends, [[-3.0, 3.0 - 6 / 48]] * 3)
    assert_allclose(state["slope"], 8.0)


def test_columns_of_few_values_have_few_bins():
    data = np.stack(
        [
            np.repeat([0.0, 1.0, 5.0], 20),  # two bins
            np.full(60, 2.0),  # constant: none
            np.r_[np.zeros(59), 1.0],  # one bin, in two halves
            np.r_[np.linspace(0, 1, 58), 1.0 + 1e-9, 1.0 + 2e-9],  # ends in bins that are too narrow
        ],
        axis=1,
    )
    layer = nn.PiecewiseLinear(4, bins=59, dims=2)
    p, state = with_weights(layer, 4, data)
    assert np.count_nonzero(state["slope"], axis=1).tolist()[:3] == [2, 0, 2]
    assert state["slope"].max() < 1e3
    new = np.array([[-1.0, 7.0, 0.5, 0.5], [0.5, 2.0, -3.0, 0.5], [3.0, 2.0, 4.0, 2.0], [9.0, 2.0, 1.0, 0.0]])
    made = layer.predict(p, new, state)[:, 4:].reshape(4, 4, 2)
    first_and_last = p["mix"][0][[0, -1]]
    assert_allclose(made[:, 0], components(new[:, 0], [0.0, 1.0, 5.0]) @ first_and_last)
    assert not made[:, 1].any()
    assert_allclose(made[:, 2], components(new[:, 2], [0.0, 0.5, 1.0]) @ p["mix"][2][[0, -1]])
    assert np.abs(made[2, 3]).max() < 1e3  # right behind the narrow bins nothing explodes


def test_a_single_bin_is_a_line():
    layer = nn.PiecewiseLinear(1, bins=1, dims=1)
    p, state = with_weights(layer, 1, X[:, :1])
    made = layer.predict(p, np.array([[-9.0], [0.0], [9.0]]), state)[:, 1]
    assert_allclose(made[2] - made[1], made[1] - made[0])


@each_engine
def test_gradients_agree_with_differences(engine):
    net = nn.Sequential(nn.PiecewiseLinear(2, 4, 2), nn.Dense(2), "tanh", nn.Dense(1))
    params, state = nn.quantile_edges(net, net.initialize(3, seed=1), X)
    params["piecewise_linear1.mix"] = rng.normal(size=(2, 4, 2))
    vector, back = nn.flatten_parameters(params)
    f = lambda v: np.mean((net.predict(back(v), X, state) - y[:, None]) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        g = pel.compile(pel.grad(f), engine=engine)(vector)
    for i in range(len(vector)):
        e = np.zeros_like(vector)
        e[i] = 1e-6
        assert_allclose(g[i], (f(vector + e) - f(vector - e)) / 2e-6, rtol=1e-5, atol=1e-9)


def test_both_engines_train_alike_and_files_keep_it(tmp_path):
    net = nn.Sequential(("bins", nn.PiecewiseLinear(3, bins=6)), ("output", nn.Dense(1)))
    models = [Model(net, dtype="float64", engine=engine) for engine in ("numpy", "native")]
    for model in models:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FallbackWarning)
            model.fit(X, y, epochs=5, batch_size=16, verbose=False)
    for name, value in models[0].params.items():
        assert_allclose(models[1].params[name], value, rtol=1e-8, atol=1e-12)
    assert_array_equal(models[0].state["bins.start"][:, 0], X.min(axis=0))  # fit has seen the rows
    models[0].save(tmp_path / "m.pel")
    again = load(tmp_path / "m.pel")
    assert_array_equal(again.state["bins.slope"], models[0].state["bins.slope"])
    assert_array_equal(again.predict(X), models[0].predict(X))


def test_edges_come_from_every_kind_of_rows():
    net = nn.Sequential(("bins", nn.PiecewiseLinear(3, bins=6)), nn.Dense(1))
    usual = Model(net).initialize(X).state["bins.start"]
    for rows in (pd.DataFrame(X), X.tolist(), sparse.csr_matrix(X)):
        assert_array_equal(Model(net).initialize(rows).state["bins.start"], usual)
    assert_allclose(Model(net).initialize(3).state["bins.start"][:, 0], -3.0)
    many = np.repeat(X, 1000, axis=0)
    assert_allclose(Model(net).initialize(many).state["bins.start"], usual, atol=0.2)
    inner = nn.Sequential(("scale", nn.Scale(2.0)), ("block", nn.Sequential(("bins", nn.PiecewiseLinear(3, bins=6)))))
    assert_allclose(Model(inner).initialize(X).state["block.bins.start"], 2 * usual, rtol=1e-6)
    plain = nn.mlp((3,), 1).initialize(3)
    assert nn.quantile_edges(nn.mlp((3,), 1), plain, X).params is plain.params


def test_a_kink_is_learned_that_a_line_cannot_follow():
    kink = np.abs(X[:, 0])
    fits = []
    for net in (nn.Sequential(nn.Dense(1)), nn.Sequential(nn.PiecewiseLinear(1, bins=8), nn.Dense(1))):
        model = Model(net, optimizer=optim.Adam(0.02))
        model.fit(X[:, :1], kink, epochs=300, batch_size=60, verbose=False)
        fits.append(model.evaluate(X[:, :1], kink)["loss"])
    assert fits[1] < 0.2 * fits[0]


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_estimators_learn_edges_from_the_rows_they_train_on(tmp_path):
    inside = np.arange(40)
    settings = {"network": NetworkSettings(piecewise=2), "max_iter": 5, "random_state": 0, "warm_start": True}
    model = MLPRegressor(hidden_layer_sizes=(8,), **settings).fit(X, y, val_rows=np.arange(40, 60))
    start = model.model_.state["input.piecewise.start"]
    assert_array_equal(start[:, 0], X[inside, :2].min(axis=0))
    model.save(tmp_path / "m.pel")
    assert_array_equal(pel.load(tmp_path / "m.pel").predict(X), model.predict(X))
    model.fit(2 * X, y)  # a warm start goes on with its edges
    assert_array_equal(model.model_.state["input.piecewise.start"], start)
    both = NetworkSettings(piecewise=2, periodic=2, members=2, input_scale=True)
    assert MLPRegressor(hidden_layer_sizes=(8,), network=both, max_iter=3).fit(X, y).predict(X).shape == (60,)
    alone = MLPRegressor(hidden_layer_sizes=(), network=NetworkSettings(piecewise=3), solver="lbfgs", max_iter=500)
    assert alone.fit(X, y).score(X, y) > 0.98


def test_what_does_not_fit_is_refused():
    with pytest.raises(ShapeError, match="expects 4 features at least, got 3"):
        nn.PiecewiseLinear(4).initialize(3)
    with pytest.raises(ValueError, match="bins is a whole number from 1, got 0"):
        nn.PiecewiseLinear(2, bins=0)
    with pytest.raises(ShapeError, match="is not in the state"):
        nn.PiecewiseLinear(2).predict(nn.PiecewiseLinear(2).initialize(2).params, X[:, :2])
    with pytest.raises(ShapeError, match=r"expects rows \(n, features\)"):
        nn.PiecewiseLinear(2).predict(*[nn.PiecewiseLinear(2).initialize(2).params, X[:, 0]])
