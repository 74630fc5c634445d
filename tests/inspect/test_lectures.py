"""What the lectures say of signals, seen through `inspect`: zeros, dead units, saturation, stored statistics."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid import Model, inspect, nn, optim

rng = np.random.default_rng(0)


def deep(activation, sigma, layers=10, width=200):
    """Ten layers of tanh or ReLU with weights N(0, sigma²), as on the slides."""
    net = nn.mlp((width,) * layers, width, activation=activation, init=nn.normal(sigma), output_init=nn.normal(sigma))
    return Model(net, "squared_error", optim.SGD(0.01), dtype=np.float64).initialize(width, seed=1)


@pytest.mark.parametrize(("sigma", "shrinks"), [(0.01, True), (1.0, False)])
def test_half_of_relu_activations_are_zero_and_the_others_shrink_or_explode(sigma, shrinks):
    X = rng.normal(size=(300, 200))
    look = inspect.run(deep("relu", sigma), X, rng.normal(size=(300, 200)))
    hidden = look.layers[:-1]
    assert all(0.35 < layer.a.zeros < 0.65 for layer in hidden)
    ratio = hidden[-1].a.std / hidden[0].a.std
    assert ratio < 1e-8 if shrinks else ratio > 1e8
    gradients = [layer.dweight.rms for layer in hidden]
    assert max(gradients) / min(gradients) < 100  # about the same range in all layers, though far too small or large
    assert max(gradients) < 1e-6 or min(gradients) > 1e3


@pytest.mark.parametrize(("sigma", "means"), [(0.01, "vanish"), (1.0, "saturate"), (200**-0.5, "keep")])
def test_tanh_at_three_scales(sigma, means):
    look = inspect.run(deep("tanh", sigma), rng.normal(size=(300, 200)), rng.normal(size=(300, 200)))
    last = look["hidden10"]
    if means == "vanish":
        assert last.a.std < 1e-6
    elif means == "saturate":
        assert last.saturated > 0.5
        assert sum(last.a.counts[:3]) + sum(last.a.counts[-3:]) > 0.5 * last.a.count  # a histogram with two towers
    else:
        assert 0.2 < last.a.std < 0.8
        assert last.saturated < 0.05


def test_positive_biases_keep_units_alive():
    X = rng.normal(size=(400, 20))
    dead = {}
    for bias in (-3.0, 0.0, 0.1, 1.0):
        model = Model(nn.mlp((200,), 1, bias=bias, init=nn.normal(0.5 / 20**0.5)), "squared_error").initialize(
            20, seed=2
        )
        dead[bias] = len(inspect.run(model, X)["hidden1"].dead)
    assert dead[-3.0] > 100 > dead[0.0] >= dead[0.1] == dead[1.0] == 0


@pytest.mark.parametrize(("activation", "recovers"), [("relu", False), ("leaky_relu", True), ("elu", True)])
def test_a_unit_that_was_pushed_below_zero_comes_back_or_does_not(activation, recovers):
    X = rng.uniform(-1.0, 1.0, size=(500, 3))
    y = np.maximum(X[:, 0], 0.0)
    model = Model(nn.mlp((1,), 1, activation=activation, init=1.0, output_init=1.0), optimizer=optim.Adam(0.05))
    model.initialize(3, seed=0)
    model.params["hidden1.bias"][:] = -4.0
    before, weight = inspect.run(model, X, y), model.params["hidden1.weight"].copy()
    assert before["hidden1"].z.high < 0.0
    assert (before["hidden1"].dweight.rms > 0.0) == recovers
    model.fit(X, y, epochs=60, verbose=False)
    after = inspect.run(model, X, y)
    assert bool(after["hidden1"].dead) == (not recovers)
    assert (np.abs(model.params["hidden1.weight"] - weight).max() > 0.1) == recovers
    assert (after.loss < 0.5 * np.var(y) / 2) == recovers  # half a square: chance is half the variance


def test_elu_is_closer_to_zero_mean_than_relu():
    x = rng.normal(size=(4000, 50))
    means = {}
    for name in ("elu", "relu"):
        model = Model(nn.Sequential(nn.Dense(50), name, nn.Dense(1))).initialize(50)
        model.params["dense1.weight"][:] = np.eye(50)
        means[name] = inspect.run(model, x)["dense1"].a.mean
    assert means["elu"] == pytest.approx(0.158, abs=0.01)
    assert means["relu"] == pytest.approx(0.397, abs=0.01)


def test_running_averages_against_statistics_of_the_population():
    """A momentum too small for the number of steps leaves the stored statistics behind; recomputing them mends it."""
    X = rng.normal(3.0, 2.0, size=(600, 5))
    y = X[:, 0] - X[:, 1]
    net = nn.Sequential(nn.Dense(16), nn.BatchNorm(momentum=0.001), nn.ReLU(), nn.Dense(1))
    model = Model(net, optimizer=optim.Adam(0.01))
    model.fit(X, y, epochs=10, verbose=False)
    stale = inspect.run(model, X, y)["dense1"]
    assert stale.norm_shift > 0.5
    exact = nn.population_statistics(model.net, nn.Variables(model.params, model.state), [X])
    model.state = dict(exact.state)
    mended = inspect.run(model, X, y)["dense1"]
    assert mended.norm_shift < 0.01
    assert mended.norm_ratio == pytest.approx(1.0, abs=0.02)
