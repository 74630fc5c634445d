"""Dropout and its kin."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import nn

X = np.random.default_rng(0).normal(size=(50, 40))


def drop(layer, x=X, counter=0, **options):
    return layer.apply({}, x, noise=True, counter=counter, **options)[0]


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5, 0.9])
def test_what_stays_is_scaled_and_the_expectation_is_kept(rate):
    layer = nn.Dropout(rate)
    y = drop(layer)
    kept = y != 0
    assert_allclose(y[kept], X[kept] / (1 - rate))
    means = np.mean([drop(layer, np.ones((100, 100)), counter=c) for c in range(30)])
    assert abs(means - 1) < 5 * np.sqrt(rate / (1 - rate) / 300_000) + 1e-12


def test_nothing_happens_at_prediction():
    assert nn.Dropout(0.5).predict({}, X) is X
    assert nn.GaussianNoise(1.0).predict({}, X) is X
    assert nn.AlphaDropout(0.5).predict({}, X) is X


def test_masks_change_with_the_step_and_with_the_layer_and_repeat_with_the_seed():
    layer = nn.Dropout(0.5)
    assert np.array_equal(drop(layer, key=1), drop(layer, key=1))
    assert not np.array_equal(drop(layer, counter=1), drop(layer, counter=2))
    assert not np.array_equal(drop(layer, key=1), drop(layer, key=2))
    net = nn.Sequential(("a", layer), ("b", layer))
    taps: dict[str, Any] = {}
    net.apply({}, np.ones((10, 10)), noise=True, taps=taps)
    assert not np.array_equal(taps["a"] != 0, taps["b"] != 0)
    alone = nn.Sequential(("x", nn.Dense(40)), ("a", layer))  # a layer elsewhere changes nothing
    more: dict[str, Any] = {}
    alone.apply({"x.weight": np.eye(40), "x.bias": np.zeros(40)}, np.ones((10, 40)), noise=True, taps=more)
    fewer: dict[str, Any] = {}
    nn.Sequential(("a", layer)).apply({}, np.ones((10, 40)), noise=True, taps=fewer)
    assert np.array_equal(more["a"], fewer["a"])


def test_both_conventions_agree_in_expectation():
    W = np.random.default_rng(1).normal(size=(40, 1))
    classical, inverted = nn.Dropout(0.3, convention="classical"), nn.Dropout(0.3)
    draws = range(3000)
    train = {kind: np.mean([drop(kind, X[:1], counter=c) @ W for c in draws]) for kind in (classical, inverted)}
    at_test = {kind: float((kind.predict({}, X[:1]) @ W)[0, 0]) for kind in (classical, inverted)}
    for kind in (classical, inverted):
        assert abs(train[kind] - at_test[kind]) < 0.35
    assert_allclose(at_test[classical], 0.7 * at_test[inverted])


def test_monte_carlo_dropout_at_prediction():
    net = nn.mlp((30,), 1, dropout=0.5)
    p, s = net.initialize(40)
    draws = np.stack([net.apply(p, X[:3], s, noise=True, counter=c)[0] for c in range(200)])
    assert (draws.std(0) > 0.05).all()
    assert_allclose(draws.mean(0), net.predict(p, X[:3], s), atol=5 * draws.std() / np.sqrt(200))


def test_weight_scaling_is_the_geometric_mean_of_all_thinned_softmax_networks():
    M = 10
    rng = np.random.default_rng(2)
    W, b, x = rng.normal(size=(M, 3)), rng.normal(size=3), rng.normal(size=M)
    masks = np.array(list(itertools.product([0.0, 1.0], repeat=M)))
    assert len(masks) == 2**M
    log_p = pel.log_softmax(masks * x @ W + b)  # rate 1/2: all masks are equally likely
    geometric = np.exp(log_p.mean(0))
    geometric /= geometric.sum()
    net = nn.Sequential(nn.Dropout(0.5, convention="classical"), ("out", nn.Dense(3)), "softmax")
    assert_allclose(net.predict({"out.weight": W, "out.bias": b}, x[None])[0], geometric, rtol=1e-12)


def test_exact_expectation_by_enumeration():  # M <= 10, any rate, linear layer
    M, rate = 8, 0.3
    rng = np.random.default_rng(3)
    W, x = rng.normal(size=(M, 2)), rng.normal(size=M)
    masks = np.array(list(itertools.product([0.0, 1.0], repeat=M)))
    probability = np.prod(np.where(masks == 1, 1 - rate, rate), axis=1)
    assert_allclose(probability.sum(), 1)
    assert_allclose(probability @ (masks * x / (1 - rate) @ W), x @ W, atol=1e-13)  # inverted
    assert_allclose(probability @ (masks * x @ W), (1 - rate) * x @ W, atol=1e-13)  # classical


def test_gaussian_noise():
    y = drop(nn.GaussianNoise(2.0), np.zeros((200, 200)))
    assert abs(y.mean()) < 0.05
    assert abs(y.std() - 2) < 0.05


def test_alpha_dropout_keeps_mean_and_variance():
    x = np.random.default_rng(4).normal(size=(400, 400))
    y = drop(nn.AlphaDropout(0.2), x)
    assert abs(y.mean()) < 0.02
    assert abs(y.std() - 1) < 0.02


def test_the_rate_may_be_set_from_outside():
    net = nn.Sequential(("drop", nn.Dropout(0.0)))
    graph = pel.record(
        lambda x, rate, c: net.apply({}, x, noise=True, counter=c, settings={"drop.rate": rate})[0],
        pel.Spec(("n", 10)),
        pel.Spec(()),
        pel.Spec((), np.int64),
    )
    ones = np.ones((500, 10))
    assert np.array_equal(pel.run(graph, ones, 0.0, 0), ones)
    assert abs(np.mean(pel.run(graph, ones, 0.8, 0) == 0) - 0.8) < 0.03


def test_gradients_pass_through_the_same_mask():
    layer = nn.Dropout(0.5)
    gradient = pel.grad(lambda x: np.sum(drop(layer, x, counter=7)))(X)
    assert np.array_equal(gradient != 0, drop(layer, counter=7) != 0)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 2.0, float("nan")])
def test_impossible_rates(rate):
    for kind in (nn.Dropout, nn.AlphaDropout):
        with pytest.raises(ValueError, match="rate is the probability of dropping, in 0"):
            kind(rate)
    with pytest.raises(ValueError, match="sigma"):
        nn.GaussianNoise(-1.0)
    with pytest.raises(ValueError, match="'inverted' or 'classical'"):
        nn.Dropout(0.5, convention="modern")
