"""What trials and references rest on: steps that equal those of training, chance, learners in closed form, surgery."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import Model, nn, optim
from pellucid.data.rows import Rows
from pellucid.inspect.diagnosis import remedies
from pellucid.inspect.diagnosis.chance import best_constant, chance_losses, floor_losses
from pellucid.inspect.diagnosis.reference import best_reference
from pellucid.inspect.diagnosis.stepper import trained
from pellucid.inspect.diagnosis.trials import gain


def rows(count: int = 64) -> Rows:
    X = np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)
    return Rows(X, (X[:, :1] * X[:, 1:2]).astype(np.float64))


@pytest.mark.parametrize("rule", ["sgd", "momentum", "adam", "adamw", "rmsprop", "lion", "radam"])
def test_steps_are_those_of_training_to_the_bit(rule):
    data = rows()
    parts = (optim.ClipNorm(1.0), rule, optim.EMA(0.9))
    net = nn.mlp((8,), 1, norm="batch", dropout=0.2)
    model = Model(net, "squared_error", optim.chain(*parts), penalty=nn.L2(0.01), engine="numpy").initialize(data.X)
    quick = trained(model, data, steps=10, batch=16, rate=model.optimizer.rule.lr)
    model.fit(data.X, data.y, steps=10, batch_size=16, seed=0, verbose=False)
    assert not quick.diverged
    for name, array in model.params.items():
        assert_array_equal(quick.params[name], array)
    for name, array in model.state.items():
        assert_array_equal(quick.state[name], array)


def test_steps_that_break_are_told():
    data = rows()
    model = Model(nn.mlp((8,), 1), "squared_error", "sgd", engine="numpy").initialize(data.X)
    with np.errstate(all="ignore"):
        assert trained(model, data, steps=30, batch=16, rate=1e20).diverged


@pytest.mark.parametrize(
    ("loss", "y", "chance"),
    [
        ("squared_error", [1.0, 3.0], 1.0),
        ("half_squared_error", [1.0, 3.0], 0.5),
        ("absolute_error", [1.0, 3.0], 1.0),
        ("binary_cross_entropy", [0, 0, 1, 1], np.log(2.0)),
        ("cross_entropy", [0, 1, 2], np.log(3.0)),
        ("hinge", [-1, 1], 1.0),
    ],
)
def test_chance_is_the_best_constant(loss, y, chance):
    loss = nn.loss(loss)
    target = loss.prepare(y)
    outputs = loss.outputs(y)
    assert_allclose(np.mean(chance_losses(loss, target, outputs)), chance, rtol=1e-4)
    scores = best_constant(loss, target, outputs)
    for shift in (-0.1, 0.1):
        moved = np.broadcast_to(np.asarray(scores) + shift * np.eye(outputs)[0], (len(y), outputs))
        assert np.mean(loss.per_sample(np.array(moved, float), target)) >= chance - 1e-6


def test_counts_have_a_floor_of_their_own():
    loss = nn.loss("poisson")
    y = loss.prepare([1.0, 4.0])
    assert_allclose(floor_losses(loss, y, 1), [1.0, 4.0 - 4.0 * np.log(4.0)])


def test_leave_one_out_is_what_it_says():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 1))
    linear = next(one for one in best_reference(X, y) if one.kind == "linear")
    nearest = next(one for one in best_reference(X, y) if one.kind == "neighbours")
    U = (X - X.mean(0)) / X.std(0)
    others = np.argsort(((U - U[0]) ** 2).sum(1))[1:11]
    assert_allclose(nearest.loo[0], y[others].mean(0))
    assert linear.loo.shape == y.shape
    assert np.mean((linear.loo - y) ** 2) >= np.mean((linear.fit(X) - y) ** 2)


def test_references_know_what_there_is_to_know():
    X = np.random.default_rng(0).uniform(-2, 2, (300, 2))
    target = np.sin(2 * X[:, :1]) * X[:, 1:]
    best = best_reference(X, target)[0]
    assert best.kind != "linear"
    assert np.mean(best.errors(target)) < 0.15 * np.var(target)


def test_a_gain_counts_in_standard_errors():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400)
    assert gain(noise + 1.0, noise, 1.0).beyond(0.5)
    assert not gain(rng.normal(size=400), rng.normal(size=400), 1.0).beyond(0.2)
    assert gain(np.ones(3), np.full(3, np.inf), 1.0).size == -np.inf


# surgery


def test_another_start_and_activation_keep_names():
    net = nn.mlp((8, 8), 2, activation="sigmoid", init=nn.normal(3.0), bias=-5.0, norm="batch", dropout=0.5)
    usual = remedies.with_usual_start(net)
    assert [name for name, _ in usual.children] == [name for name, _ in net.children]
    assert np.all(usual.initialize(4).params["hidden1.bias"] == 0)
    relu = remedies.with_activation(net, "relu")
    assert [layer.activation.name for _, layer in relu.children if isinstance(layer, nn.Activate)] == ["relu", "relu"]
    assert not any(isinstance(layer, nn.Dropout) for _, layer in remedies.without_noise(net).children)
    assert {layer.rate for _, layer in remedies.with_dropout(net, 0.2).children if isinstance(layer, nn.Dropout)} == {
        0.2
    }


def test_activations_between_layers_that_lack_them():
    net = remedies.with_activations_between(nn.Sequential(nn.Dense(4), nn.Dense(3), "relu", nn.Dense(1)))
    kinds = [type(layer).__name__ for _, layer in net.children]
    assert kinds == ["Dense", "Activate", "Dense", "Activate", "Dense"]
    collapsed = remedies.with_activations_between(nn.mlp((4, 4), 1, activation="identity"))
    assert sum(isinstance(layer, nn.Activate) for _, layer in collapsed.children) == 2


def test_wider_networks():
    assert remedies.wider(nn.mlp((4,), 3), 3).initialize(2).params["hidden1.weight"].shape == (2, 32)
    assert remedies.wider(nn.mlp((), 3), 3).output((2,)) == (3,)


def test_inside_residual_blocks():
    block = nn.Residual(nn.Sequential(nn.Dense(4, init=0.5), "tanh"))
    net = remedies.with_activation(nn.Sequential(nn.Dense(4), block, nn.Dense(1)), "relu")
    assert net.initialize(4).params["residual1.layer.dense1.weight"].std() > 0


def test_a_standardised_target_predicts_in_its_own_units():
    loss = remedies.Standardised(nn.loss("squared_error"), 100.0, 10.0)
    assert_allclose(loss.link(np.array([[0.0], [2.0]])), [[100.0], [120.0]])
