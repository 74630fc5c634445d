"""Every activation with every loss and every normalisation in a network with two hidden layers: right gradients."""

import zlib

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn

ACTIVATIONS = [*sorted({record.name for record in nn.ACTIVATIONS.values() if "example" not in record.name})]
HIDDEN = [*ACTIVATIONS, "maxout", "glu", "reglu", "geglu", "swiglu"]
LOSSES = sorted({record.name for record in nn.LOSSES.values() if "example" not in record.name})
NORMS = [None, "batch", "layer", "rms"]
STRAIGHT_THROUGH = {"straight_through_step"}  # its rule is not its derivative, on purpose


def target(loss, n, rng):
    """Two outputs (three classes) where the loss allows it."""
    return {
        "cross_entropy": rng.integers(0, 3, n),
        "focal": rng.integers(0, 3, n),
        "binary_cross_entropy": rng.integers(0, 2, n),
        "multilabel": rng.integers(0, 2, (n, 2)),
        "hinge": rng.choice([-1, 1], n),
        "squared_hinge": rng.choice([-1, 1], n),
        "perceptron": rng.choice([-1, 1], n),
        "poisson": rng.integers(0, 5, (n, 2)),
        "gamma": rng.gamma(2.0, size=(n, 2)),
    }.get(loss, rng.normal(size=(n, 2)))


def check(activation, loss, norm, order):
    rng = np.random.default_rng(zlib.crc32(f"{activation} {loss} {norm}".encode()))
    objective = nn.loss(loss)
    given = target(loss, 4, rng)
    y = objective.prepare(given)
    net = nn.mlp((3, 3), objective.outputs(given), activation=activation, norm=norm)
    params, state = net.initialize(2, seed=int(rng.integers(1000)))
    params = {k: v + 0.2 * rng.normal(size=v.shape) for k, v in params.items()}
    X, weights = rng.normal(size=(4, 2)), rng.uniform(0.5, 2, 4)
    f = lambda p, x: objective(net.apply(p, x, state, training=True)[0], y, weights)
    # steps so small that no unit crosses a kink
    pel.check_grads(f, (params, X), order=order, step=1e-6, rtol=3e-6, seed=1)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_first_order(loss, norm):
    for activation in set(HIDDEN) - STRAIGHT_THROUGH:
        check(activation, loss, norm, order=1)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("activation", sorted(set(HIDDEN) - STRAIGHT_THROUGH))
def test_second_order_of_every_activation(activation, norm):
    check(activation, "cross_entropy", norm, order=2)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_second_order_of_every_loss(loss, norm):
    check("tanh", loss, norm, order=2)
