"""Rows that are passed over several times, wider than one block: a result takes no place that is read again."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel

rng = np.random.default_rng(0)


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


def test_passing_callers_leave_no_threads_behind(split, monkeypatch):
    """A caller's helpers end with it."""
    monkeypatch.setenv("PELLUCID_THREADS", "2")
    args, wrong = inputs(64, rows=40), []
    compiled, expected = pel.compile(centred, engine="native"), centred(*args)

    def call():
        if not np.allclose(compiled(*args), expected):
            wrong.append(threading.current_thread().name)

    call()
    before = threading.active_count()
    for _ in range(20):
        caller = threading.Thread(target=call)
        caller.start()
        caller.join()
    assert threading.active_count() <= before + 3
    assert not wrong
