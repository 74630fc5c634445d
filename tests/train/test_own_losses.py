"""Losses of one's own in a training, on both engines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import Model, nn, optim
from pellucid.nn.losses.loss import Loss
from tests.both_engines import X, Y, each_engine, fitted


def picked(s, y):
    return np.sum(s * s, axis=1) - np.sum(pel.one_hot(y[:, 0].astype(np.int64), 2) * s, axis=1)


@dataclass(frozen=True)
class Picked(Loss):
    """One label for two scores, not validated."""

    name = "picked"
    per_output = 2

    def each(self, s, y):
        return picked(s, y)


@pytest.mark.parametrize("threads", [1, 2])
@each_engine
@pytest.mark.parametrize("label", [7, 2, -1])
def test_a_label_out_of_range_is_an_error_in_every_loss(engine, label, threads, split):
    labels = Y.astype(float)
    call = {"rule": optim.SGD(0.01), "threads": threads, "epochs": 2}
    fitted(engine, nn.mlp((8,), 2), loss=Picked(), y=labels, **call)
    labels[50] = label
    with pytest.raises(ValueError, match="label"):
        fitted(engine, nn.mlp((8,), 2), loss=Picked(), y=labels, **call)
    with pytest.raises(ValueError, match="label"):
        fitted(engine, nn.mlp((8,), 2), loss=picked, y=np.stack([labels, labels], axis=1), **call)


@each_engine
def test_a_function_is_recorded_with_the_values_it_closes_over(engine):
    """Two models, one function, whose variable changes in between."""
    box = {"c": 1.0}

    def squared(s, y):
        return box["c"] * (s - y) ** 2

    def first_loss(c):
        box["c"] = c
        made = fitted(engine, loss=squared, epochs=1, batch_size=70, shuffle=False)
        start = Model(made.net, squared, dtype=np.float64, engine="numpy").initialize(5, seed=0)
        assert_allclose(made.history.epochs[0]["loss"], start.evaluate(X, X[:, 0])["loss"], rtol=1e-9)
        return made.history.epochs[0]["loss"]

    one, hundred, again = (first_loss(c) for c in (1.0, 100.0, 1.0))
    assert_allclose(hundred, 100 * one, rtol=1e-9)
    assert_allclose(again, one, rtol=1e-12)
