"""Memory that is used again: nothing is written to a place that is still to be read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import nn, optim
from pellucid.optim.rules.rule import Rule
from tests.both_engines import Y, both, same

rng = np.random.default_rng(0)

# rows that are passed over several times, wider than one block


def centred(x, W, b, V, U):
    h = x @ W + b
    n = h - np.mean(h, axis=1, keepdims=True)
    return n @ V + h @ U


def scaled(x, W, b, V, U):
    h = x @ W + b
    n = h / np.sum(h * h, axis=1, keepdims=True)
    return n @ V, np.exp(h @ U)


def standardized(x, W, b, V, U):
    h = x @ W + b
    d = h - np.mean(h, axis=1, keepdims=True)
    n = d / np.sqrt(np.mean(d * d, axis=1, keepdims=True) + 1e-5)
    return n @ V, h @ U, d @ U


def shares(x, W, b, V, U):
    h = x @ W + b
    e = np.exp(h - np.max(h, axis=1, keepdims=True))
    return (e / np.sum(e, axis=1, keepdims=True) + h) @ V, h @ U


def inputs(width, rows=7):
    sizes = [(rows, 5), (5, width), (width,), (width, 3), (width, 3)]
    return [rng.normal(size=size) * (0.1 if len(size) == 2 else 1.0) for size in sizes]


def check(f, *args):
    kept = [a.copy() for a in args]
    native, numpy = pel.compile(f, engine="native")(*args), f(*args)
    assert_allclose(np.hstack(native), np.hstack(numpy), rtol=1e-10, atol=1e-12)
    for a, before in zip(args, kept, strict=True):
        assert np.array_equal(a, before)


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("width", [8, 33, 64, 100])
@pytest.mark.parametrize("f", [centred, scaled, standardized, shares])
def test_a_row_read_again_is_not_overwritten_before(f, width, threads, split, monkeypatch):
    monkeypatch.setenv("PELLUCID_THREADS", threads)
    check(f, *inputs(width))


@pytest.mark.parametrize("f", [centred, standardized])
def test_nor_in_its_gradient(f):
    args = inputs(64)

    def total(x, W, b, V, U):
        out = f(x, W, b, V, U)
        return sum(np.sum(o * o) for o in (out if isinstance(out, tuple) else (out,)))

    slope = pel.grad(total, (1, 2))
    native, numpy = (pel.compile(slope, engine=engine)(*args) for engine in ("native", "numpy"))
    for a, b in zip(native, numpy, strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-11)


# the same in training


@pytest.mark.parametrize("rule", [optim.SGD(0.01), optim.Momentum(0.01)], ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("norm", [nn.RMSNorm, nn.LayerNorm, nn.BatchNorm])
@pytest.mark.parametrize("activation", ["relu", "softmax", "gelu"])
def test_wide_residual_blocks(norm, activation, rule):
    block = nn.Sequential(norm(), nn.Dense(64), activation)
    same(*both(nn.Sequential(nn.Dense(64), nn.Residual(block), nn.Dense(1)), rule))


def test_wide_blocks_with_the_norm_behind():
    block = nn.Sequential(nn.Dense(64), nn.RMSNorm())
    same(*both(nn.Sequential(nn.Dense(64), "relu", nn.Residual(block), nn.Dense(1)), optim.SGD(0.01)))


@dataclass(frozen=True)
class ShortRows(Rule):
    """Momentum, with rows of norm 1 at most."""

    def init(self, w):
        return {"v": np.zeros_like(w)}

    def step(self, w, g, s, lr, t):
        v = 0.9 * s["v"] + g
        w1 = w - lr * v
        norm = np.sqrt(np.sum(w1 * w1, axis=-1, keepdims=True) + 1e-6)
        return w1 * np.minimum(1.0, 1.0 / norm), {"v": v}


def test_a_rule_that_reads_its_rows_twice():
    native, numpy = both(nn.mlp((64, 64), 1), ShortRows(lr=0.05))
    same(native, numpy)
    longest = max(float(np.linalg.norm(w, axis=-1).max()) for w in native.params.values())
    assert_allclose(longest, 1, atol=1e-6)


# rules that pass their arrays on


@dataclass(frozen=True)
class Previous(Rule):
    """The state is the old parameters."""

    def init(self, w):
        return {"prev": np.array(w)}

    def step(self, w, g, s, lr, t):
        return w - lr * g + 0.5 * (w - s["prev"]), {"prev": w}


@dataclass(frozen=True)
class Swap(Rule):
    """Two states change places."""

    def init(self, w):
        return {"a": np.zeros_like(w), "b": np.ones_like(w)}

    def step(self, w, g, s, lr, t):
        return w - lr * (g + s["a"]), {"a": s["b"], "b": s["a"]}


@dataclass(frozen=True)
class Circle(Rule):
    """Three states and the parameters go round."""

    def init(self, w):
        return {"a": np.zeros_like(w), "b": np.ones_like(w), "c": np.full_like(w, -1.0)}

    def step(self, w, g, s, lr, t):
        return w - lr * (g + s["a"]), {"a": s["b"], "b": s["c"], "c": s["a"] + 0.0 * w}


@dataclass(frozen=True)
class Delayed(Rule):
    """Each of the two new arrays needs the other's old one."""

    def init(self, w):
        return {"v": np.zeros_like(w)}

    def step(self, w, g, s, lr, t):
        return w - lr * s["v"], {"v": 0.9 * s["v"] + g + 0.01 * w}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rule", [Previous, Swap, Circle, Delayed])
def test_rules_that_pass_their_arrays_on(rule, threads, split):
    same(*both(nn.mlp((40, 8), 1), rule(lr=0.01), threads=threads))


@pytest.mark.parametrize("threads", [1, 2])
def test_large_arrays_that_wait_for_each_other(threads):
    same(*both(nn.mlp((256, 256), 1), Delayed(lr=0.01), threads=threads, epochs=2))


# places of other sizes


def test_last_batches_of_many_sizes():
    for rest in range(1, 14):
        same(*both(nn.mlp((8,), 2), loss="cross_entropy", y=Y[: 32 + rest], epochs=3))


@pytest.mark.parametrize("rule", [optim.SGD(0.1), optim.Adam(0.1)], ids=["sgd", "adam"])
def test_one_feature_one_output_and_a_penalty(rule):
    """Loss and new weight are numbers of one loop: the weight is not overwritten before the loss is checked."""
    X = np.random.default_rng(0).normal(size=(30, 1))
    found = []
    for engine in ("native", "numpy"):
        model = pel.Model(
            nn.mlp((), 1), "half_squared_error", rule, dtype="float64", engine=engine, penalty=nn.L2(1e-3)
        )
        model.fit(X, 2 * X[:, 0] + 1, epochs=5, batch_size=8, verbose=False)
        found.append(np.concatenate([w.ravel() for w in model.params.values()]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
