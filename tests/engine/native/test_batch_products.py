"""Products that sum over the rows of a batch, divided among threads in two ways."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.engine.native.runtime import blas
from pellucid.engine.native.runtime.call import Bound, Function
from pellucid.engine.native.runtime.program import build
from pellucid.graph.core.spec import Spec
from pellucid.graph.record import record

pytestmark = pytest.mark.usefixtures("split")


def gradient(x, g):
    return np.tanh(x).T @ (2 * g)


def graph(rows, columns, dtype="float64"):
    return record(gradient, Spec(("n", rows), dtype), Spec(("n", columns), dtype))


def made(rows, columns, n, threads, dtype="float64"):
    rng = np.random.default_rng(n)
    x, g = (rng.normal(size=(n, k)).astype(dtype) for k in (rows, columns))
    sizes = {"n": n}
    program = build(graph(rows, columns, dtype), sizes, threads)
    outcomes = [Bound(program, sizes)([x, g])[0] for _ in range(2)]
    assert_array_equal(*outcomes)
    assert_allclose(outcomes[0], gradient(*(a.astype("float64") for a in (x, g))), rtol=1e-4, atol=1e-4)
    return program


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("columns", [1, 10, 40])
@pytest.mark.parametrize(("rows", "n"), [(7, 1), (2, 50), (30, 3), (30, 200), (64, 333)])
def test_both_ways_give_the_product(rows, columns, n, threads):
    made(rows, columns, n, threads)
    made(rows, columns, n, threads, "float32")


def test_the_depth_is_divided_where_fewer_numbers_change_hands():
    assert [c.by_depth for c in made(30, 40, 200, 2).batch_products] == [True]
    assert [c.by_depth for c in made(200, 300, 16, 2).batch_products] == [False]
    assert made(30, 40, 200, 1).batch_products == []


def test_sizes_alone_decide_whatever_was_compiled_before():
    both = graph(30, 40)
    large, small = build(both, {"n": 200}, 2), build(both, {"n": 4}, 2)
    assert [large.is_for({"n": n}, threads) for n, threads in ((300, 2), (4, 2), (300, 3))] == [True, False, False]
    assert [small.is_for({"n": n}, 2) for n in (5, 200)] == [True, False]
    assert large.suits({"n": 4})  # the last batch of an epoch goes the way of the others
    rng = np.random.default_rng(0)
    few, many = ([rng.normal(size=(n, k)) for k in (30, 40)] for n in (4, 300))
    first, second = Function(both, 2), Function(both, 2)
    first(*few)
    assert_array_equal(first(*many), second(*many))


def test_sums_of_others_are_written_over():
    def rule(w, x, g):
        return w - 0.1 * (x.T @ g)

    program = build(record(rule, *(Spec(s, "float32") for s in ((64, 96), ("n", 64), ("n", 96)))), {"n": 500}, 2)
    shifted = [x.number for x in program.lowered.values if x.settings.get("shift")]
    assert [x.number for x in program.overwrites.values() if x.number in shifted] == shifted


def test_a_library_makes_the_parts_too(monkeypatch):
    monkeypatch.setenv("PELLUCID_BLAS", "scipy")
    blas.library.cache_clear()
    try:
        made(30, 40, 200, 2)
    finally:
        monkeypatch.undo()
        blas.library.cache_clear()
