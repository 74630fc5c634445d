"""Every activation with every loss and every normalisation in a network with two hidden layers: right gradients."""

import zlib

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn
from tests.nn.table_cases import ACTIVATIONS, GATES, LOSSES, target

HIDDEN = [*ACTIVATIONS, *GATES]
NORMS = [None, "batch", "layer", "rms"]
STRAIGHT_THROUGH = {"straight_through_step"}  # its rule is not its derivative, on purpose


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
