"""How parameters start."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import nn
from pellucid.errors import ShapeError


def weight(init, n_in=400, n_out=300, activation=None, seed=0):
    net = nn.Sequential(("layer", nn.Dense(n_out, init=init)), *([activation] if activation else []))
    return net.initialize(n_in, seed=seed).params["layer.weight"]


VARIANCE = {
    "lecun": 1 / 400,
    "lecun_normal": 1 / 400,
    "lecun_uniform": 1 / 400,
    "xavier": 1 / 400,  # the lectures' name
    "glorot": 2 / 700,
    "glorot_normal": 2 / 700,
    "glorot_uniform": 2 / 700,
    "he": 2 / 400,
    "he_normal": 2 / 400,
    "he_uniform": 2 / 400,
    "auto": 1 / 400,
    "standard_normal": 1.0,
    "orthogonal": 1 / 400,
    "random_walk": np.exp(1 / 400) / 400,
    "random_signs": 1.0,
    "zeros": 0.0,
    "ones": 0.0,
}


def test_every_name_has_a_stated_variance():
    assert set(VARIANCE) == set(nn.INITIALIZERS)


@pytest.mark.parametrize("name", VARIANCE)
def test_mean_and_variance(name):
    W = weight(name)
    assert W.shape == (400, 300)
    assert_allclose(W.var(), VARIANCE[name], rtol=0.01)
    assert abs(W.mean() - (name == "ones")) < 0.01 * max(1.0, W.std() * 10)
    if name.endswith("uniform"):
        assert np.abs(W).max() <= np.sqrt(3 * VARIANCE[name])


@pytest.mark.parametrize(("activation", "gain"), [("relu", np.sqrt(2)), ("tanh", 5 / 3), ("selu", 1), ("identity", 1)])
def test_automatic_choice_by_the_activation_that_follows(activation, gain):
    assert_allclose(weight("auto", activation=activation).std(), gain / 20, rtol=0.01)
    net = nn.Sequential(("layer", nn.Dense(300)), nn.BatchNorm(), nn.Dropout(0.1), activation, nn.Dense(2), "sigmoid")
    assert_allclose(net.initialize(400).params["layer.weight"].std(), gain / 20, rtol=0.01)


def test_orthogonal_columns():
    for shape in ((30, 20), (20, 30)):
        W = weight("orthogonal", *shape)
        gram = W.T @ W if shape[0] > shape[1] else W @ W.T
        assert_allclose(gram, np.eye(20), atol=1e-12)


def test_numbers_constants_and_given_arrays():
    assert (weight(0.1) == 0.1).all()
    assert_allclose(weight(nn.normal(0.01)).std(), 0.01, rtol=0.01)
    assert np.abs(weight(nn.uniform(0.5))).max() <= 0.5
    table = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(weight(table, 2, 3), table)
    with pytest.raises(ShapeError, match=r"the array has shape \(2, 3\), the parameter has shape \(4, 3\)"):
        weight(table, 4, 3)
    with pytest.raises(ValueError, match="no initialiser called 'hee': did you mean 'he'"):
        weight("hee")
    with pytest.raises(ValueError, match="sigma is a number from 0, got -1"):
        nn.normal(-1)
    net = nn.Dense(3, bias=0.25)
    assert (net.initialize(2).params["bias"] == 0.25).all()


def test_seeds():
    assert np.array_equal(weight("he", seed=5), weight("he", seed=5))
    assert not np.array_equal(weight("he", seed=5), weight("he", seed=6))


def test_a_layer_does_not_notice_its_neighbours():
    small = nn.Sequential(("a", nn.Dense(4)), ("b", nn.Dense(3))).initialize(2).params
    large = nn.Sequential(("a", nn.Dense(4)), ("extra", nn.Dense(4)), ("b", nn.Dense(3))).initialize(2).params
    assert np.array_equal(small["a.weight"], large["a.weight"])
    assert np.array_equal(small["b.weight"], large["b.weight"])


def test_dtype():
    p, s = nn.mlp((4,), 2, norm="batch").initialize(3, dtype=np.float32)
    assert {v.dtype for v in [*p.values(), *s.values()]} == {np.dtype(np.float32)}


def test_ntk_scaling():
    for n in (10, 1000):
        net = nn.Dense(200, scaling="ntk")
        p, _ = net.initialize(n)
        assert_allclose(p["weight"].std(), 1, rtol=0.05)
        x = np.random.default_rng(0).normal(size=(500, n))
        assert_allclose(net.predict(p, x).std(), 1, rtol=0.1)


# starting values that need data


@pytest.mark.parametrize("activation", ["relu", "tanh", "swiglu", "maxout"])
@pytest.mark.parametrize("norm", [None, "batch"])
def test_unit_variance_layer_by_layer(activation, norm):
    X = np.random.default_rng(0).normal(5.0, 3.0, (300, 20))
    net = nn.mlp((30, 20), 4, activation=activation, norm=norm)
    started = nn.data_dependent(net, net.initialize(20), X)
    lsuv = nn.lsuv(net, net.initialize(20), X, tolerance=0.001)
    for variables, each in ((started, True), (lsuv, False)):
        taps: dict[str, Any] = {}
        net.apply(variables.params, X, variables.state, training=norm is not None, noise=False, taps=taps)
        for name in ("hidden1", "hidden2", "output"):
            z = taps[f"{name}.affine"]
            if each:
                assert_allclose(z.std(0), 1, rtol=1e-9)
                assert_allclose(z.mean(0), 0, atol=1e-9)
            else:
                assert abs(z.var() - 1) < 0.001


def test_constant_data_is_refused():
    net = nn.mlp((3,), 1)
    with pytest.raises(ShapeError, match=r"hidden1: an output is the same for all rows"):
        nn.data_dependent(net, net.initialize(2), np.ones((5, 2)))


# symmetry


def test_equal_units_stay_equal():
    X = np.random.default_rng(0).normal(size=(8, 2))
    net = nn.mlp((2,), 1, init=0.3, output_init=0.3)
    p = net.initialize(2).params
    assert_allclose(net.predict(p, X), 0.6 * np.maximum(0.3 * X.sum(1, keepdims=True), 0))
    for _ in range(5):
        g = pel.grad(lambda p: np.mean((net.predict(p, X) - X[:, :1]) ** 2))(p)
        p = pel.tree_map(lambda w, d: w - 0.1 * d, p, g)
    assert np.ptp(p["hidden1.weight"], axis=1).max() == 0
    assert np.ptp(p["hidden1.bias"]) == 0
    assert np.ptp(p["output.weight"]) == 0


def test_constant_start_keeps_its_pattern_through_training():  # samples as rows: patterns transposed
    d, L = 5, 4
    rng = np.random.default_rng(1)
    net = nn.Sequential(*[part for i in range(L) for part in ((f"l{i}", nn.Dense(d, init=0.2, bias=None)), "tanh")])
    p = net.initialize(d).params
    for _ in range(3):
        X, Y = rng.normal(size=(6, d)), rng.normal(size=(6, d))
        g = pel.grad(lambda p: np.mean((net.predict(p, X) - Y) ** 2))(p)  # noqa: B023
        p = pel.tree_map(lambda w, dw: w - 0.5 * dw, p, g)
    first, *middle, last = (p[f"l{i}.weight"] for i in range(L))
    assert_allclose(np.ptp(first, axis=1), 0, atol=1e-15)  # every unit reads the same weights
    for W in middle:
        assert_allclose(W, W[0, 0], atol=1e-15)
    assert_allclose(np.ptp(last, axis=0), 0, atol=1e-15)
    assert np.ptp(last, axis=1).min() > 1e-4  # but the outputs differ
