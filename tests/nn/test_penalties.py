"""Penalties by name patterns, their factors (½ λ ‖W‖²), and the max-norm constraint."""

import operator

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import nn
from pellucid.errors import ShapeError
from pellucid.nn.losses.table import loss
from pellucid.nn.penalties import L1, L2, ElasticNet, MaxNorm, Penalties

rng = np.random.default_rng(0)
NET = nn.Sequential(
    ("hidden1", nn.Dense(5)), "tanh", ("norm", nn.LayerNorm()), ("hidden2", nn.Dense(4)), "tanh", nn.Dense(1)
)
PARAMS = {name: w + 0.1 * rng.normal(size=w.shape) for name, w in NET.initialize(3).params.items()}
WEIGHTS = ["hidden1.weight", "hidden2.weight", "dense1.weight"]
EVERY = [L1(0.3), L2(0.3), ElasticNet(0.3, 0.7), L1(0.3) + L2(0.7, on="hidden1.*")]


def squares(*names):
    return sum(float(np.sum(PARAMS[name] ** 2)) for name in names)


def sizes(*names):
    return sum(float(np.sum(np.abs(PARAMS[name]))) for name in names)


def test_values():
    assert_allclose(L2(0.3)(PARAMS), 0.5 * 0.3 * squares(*WEIGHTS))
    assert_allclose(L1(0.3)(PARAMS), 0.3 * sizes(*WEIGHTS))
    assert_allclose(ElasticNet(0.3, 0.7)(PARAMS), 0.3 * sizes(*WEIGHTS) + 0.5 * 0.7 * squares(*WEIGHTS))
    assert Penalties()(PARAMS) == 0.0


def test_patterns_choose_layers():
    assert_allclose(L2(2.0, on="hidden1.weight")(PARAMS), squares("hidden1.weight"))
    assert_allclose(L2(2.0, on="hidden1.*")(PARAMS), squares("hidden1.weight", "hidden1.bias"))
    assert_allclose(L2(2.0, on="hidden?.weight")(PARAMS), squares("hidden1.weight", "hidden2.weight"))
    assert_allclose(L2(2.0, on=("hidden1.weight", "norm.scale"))(PARAMS), squares("hidden1.weight", "norm.scale"))
    assert_allclose(L2(2.0, on="*")(PARAMS), squares(*PARAMS))
    assert_allclose(L1(1.0)({"weight": np.ones((2, 2)), "bias": np.ones(2)}), 4.0)  # a layer without a name
    both = L1(0.3, on="hidden1.weight") + L2(0.7, on="hidden2.weight") + L1(0.1, on="dense1.weight")
    assert len(both.parts) == 3
    expected = 0.3 * sizes("hidden1.weight") + 0.35 * squares("hidden2.weight") + 0.1 * sizes("dense1.weight")
    assert_allclose(both(PARAMS), expected)
    with pytest.raises(
        ValueError, match=r"L2: on='hiden.\*' matches none of the parameters: hidden1.weight, hidden1.bias"
    ):
        L2(1.0, on="hiden.*")(PARAMS)
    with pytest.raises(TypeError):
        operator.add(L2(1.0), 1.0)


@pytest.mark.parametrize("penalty", EVERY, ids=str)
def test_gradients_off_zero(penalty):
    away = {name: w + 0.2 * np.sign(w) for name, w in PARAMS.items()}
    pel.check_grads(penalty, (away,), order=2)
    slope = pel.grad(penalty)(PARAMS)
    for name in ("hidden2.bias", "norm.scale", "norm.shift"):
        assert not np.any(slope[name])


@pytest.mark.parametrize("penalty", EVERY, ids=str)
def test_float32_is_kept(penalty):
    single = {name: w.astype(np.float32) for name, w in PARAMS.items()}
    assert penalty(single).dtype == np.float32
    assert all(g.dtype == np.float32 for g in pel.grad(penalty)(single).values())


def test_a_strength_may_be_traced():
    single = {name: w.astype(np.float32) for name, w in PARAMS.items()}
    specs = {name: pel.Spec(w.shape, w.dtype) for name, w in single.items()}
    graph = pel.record(lambda p, a: (L2(a) + L1(a) + ElasticNet(a, a))(p), specs, pel.Spec(()))
    got = pel.run(graph, single, np.float64(0.3))
    assert got.dtype == np.float32
    assert_allclose(got, (L2(0.3) + L1(0.3) + ElasticNet(0.3, 0.3))(single), rtol=1e-6)


def test_the_factor_of_l2():
    """½ λ ‖W‖² has gradient λ W; λ ‖W‖² is L2(2 λ), with gradient 2 λ W."""
    W, lam = PARAMS["hidden1.weight"], 0.3
    assert_allclose(pel.grad(L2(lam))(PARAMS)["hidden1.weight"], lam * W, rtol=1e-15)
    lectures = pel.grad(lambda p: lam * np.sum(p["hidden1.weight"] ** 2))(PARAMS)["hidden1.weight"]
    assert_allclose(pel.grad(L2(2 * lam))(PARAMS)["hidden1.weight"], lectures, rtol=1e-15)


def test_descent_with_l2_is_weight_decay():
    X, y, lr, lam = rng.normal(size=(8, 3)), rng.normal(size=(8, 1)), 0.1, 0.3
    data = lambda p: loss("squared_error")(NET.predict(p, X), y)
    g, penalised = pel.grad(data)(PARAMS), pel.grad(lambda p: data(p) + L2(lam)(p))(PARAMS)
    for name, w in PARAMS.items():
        shrink = 1 - lr * lam if name in WEIGHTS else 1.0
        assert_allclose(w - lr * penalised[name], shrink * w - lr * g[name], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("penalty", EVERY, ids=str)
def test_the_batch_size_does_not_enter(penalty):
    alone = pel.grad(penalty)(PARAMS)
    for n in (1, 7, 64):
        X, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 1))
        data = lambda p, X=X, y=y: loss("squared_error")(NET.predict(p, X), y)
        with_, without = pel.grad(lambda p, data=data: data(p) + penalty(p))(PARAMS), pel.grad(data)(PARAMS)
        for name in PARAMS:
            assert_allclose(with_[name] - without[name], alone[name], atol=1e-13)


def test_l1_and_sparsity():
    params = {"out.weight": np.array([[-2.0, 0.0, 0.5]])}
    assert_array_equal(pel.grad(L1(0.3))(params)["out.weight"], [[-0.3, 0.0, 0.3]])  # at 0 the subgradient 0
    # ½ (w - t)² + λ |w| is least at the soft threshold: exactly 0 where |t| <= λ
    t, lam = np.array([[-2.0, 0.2, -0.1, 1.0]]), 0.3
    objective = lambda w: 0.5 * np.sum((w - t) ** 2) + L1(lam)({"out.weight": w})
    best = np.sign(t) * np.maximum(np.abs(t) - lam, 0)
    for direction in rng.normal(size=(50, 1, 4)):
        assert objective(best) < objective(best + 0.01 * direction)
    w = np.array([[-2.0, 0.2, -0.1, 1.0]])
    for i in range(4000):  # descent with falling steps goes there
        w = w - 0.5 / (1 + 0.5 * i) * pel.grad(objective)(w)
    assert_allclose(w, best, atol=1e-3)


def test_max_norm():
    limit = 0.8
    made = MaxNorm(limit).project(PARAMS)
    for name, w in PARAMS.items():
        if name not in WEIGHTS:
            assert made[name] is w
            continue
        norms = np.linalg.norm(w, axis=0)
        assert_allclose(np.linalg.norm(made[name], axis=0), np.minimum(norms, limit), rtol=1e-14)
        assert_array_equal(made[name][:, norms <= limit], w[:, norms <= limit])  # to the bit
        assert_allclose(made[name] * norms, w * np.minimum(norms, limit), rtol=1e-13)  # the direction stays
    again = MaxNorm(limit).project(made)
    assert_allclose(again["hidden1.weight"], made["hidden1.weight"], rtol=1e-15)
    assert PARAMS["hidden1.weight"] is not made["hidden1.weight"]


def test_max_norm_per_layer_and_at_extremes():
    made = MaxNorm(0.1, on="hidden2.*ight").project(PARAMS)
    assert made["hidden1.weight"] is PARAMS["hidden1.weight"]
    assert np.max(np.linalg.norm(made["hidden2.weight"], axis=0)) < 0.1 + 1e-15
    columns = np.array([[0.0, 1e30, 1e-30], [0.0, 1e30, 1e-30]], np.float32)
    made = MaxNorm(2.0).project({"out.weight": columns})["out.weight"]
    assert made.dtype == np.float32
    assert_allclose(made, [[0.0, np.sqrt(2), 1e-30]] * 2, rtol=1e-6)
    with pytest.raises(ShapeError, match=r"hidden1.bias has shape \(5,\)"):
        MaxNorm(1.0, on="hidden1.*").project(PARAMS)
    with pytest.raises(ValueError, match="matches none"):
        MaxNorm(1.0, on="x.*").project(PARAMS)


def test_max_norm_can_be_recorded():
    specs = {name: pel.Spec(w.shape, w.dtype) for name, w in PARAMS.items()}
    graph = pel.record(lambda p: MaxNorm(0.8).project(p), specs)
    for name, w in pel.run(graph, PARAMS).items():
        assert_array_equal(w, MaxNorm(0.8).project(PARAMS)[name])


@pytest.mark.parametrize("make", [L1, L2, lambda v: ElasticNet(v, 0), lambda v: ElasticNet(0, v)])
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
def test_strengths_are_checked(make, value):
    with pytest.raises(ValueError, match="is a number from 0, got"):
        make(value)


def test_limits_are_checked():
    for value in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="limit is a number above 0"):
            MaxNorm(value)
    assert hash(L2(0.1)) == hash(L2(0.1))
