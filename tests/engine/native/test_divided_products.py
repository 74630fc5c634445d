"""Matrix products, divided among threads in several ways."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import nn, optim
from pellucid.engine.native.passes.instructions import operands
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
    assert [c.divided for c in made(30, 40, 200, 2).choices] == [True]
    assert [c.divided for c in made(200, 300, 16, 2).choices] == [False]
    assert made(30, 40, 200, 1).choices == []


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


ROWS = np.random.default_rng(0).normal(size=(60, 201))
CLASSES = np.random.default_rng(1).integers(0, 3, 60)


def network(hidden, threads=1, engine="native"):
    return pel.Model(
        nn.mlp(hidden, 3), "cross_entropy", optim.Adam(0.01), engine=engine, threads=threads, dtype=np.float64
    )


def trained(hidden, batch_size, **settings):
    model = network(hidden, **settings)
    model.fit(ROWS, CLASSES, epochs=3, batch_size=batch_size, seed=1, verbose=False)
    return model.params


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize(("hidden", "batch_size"), [((96, 64), 16), ((77, 53), 7), ((90, 1, 70), 25), ((64,), 1)])
def test_networks_whose_weights_stay_with_their_threads_learn_the_same(hidden, batch_size, threads):
    expected = trained(hidden, batch_size, engine="numpy")
    first, second = (trained(hidden, batch_size, threads=threads) for _ in range(2))
    for name, weights in expected.items():
        assert_allclose(first[name], weights, rtol=1e-8, atol=1e-10)
        assert_array_equal(first[name], second[name])


def divisions(hidden, batch_size):
    """Of a step on two threads: how the products are divided that read hidden weights, by the weights' shapes."""
    program = network(hidden, threads=2).program(ROWS, CLASSES, batch_size=batch_size)
    found: dict[tuple[int, ...], set[str]] = {}
    for x in (x for x in program.lowered.values if x.op == "matmul"):
        weights = operands(x)[1]
        if "hidden" in weights.name:
            way = "columns" if "columns" in x.settings else x.settings.get("shift", "rows")
            found.setdefault(weights.shape, set()).add(way)
    return found


def test_weights_stay_where_they_are_more_than_activations():
    assert divisions((96, 64), 8) == {(201, 96): {0, 1}, (96, 64): {0, 1, "columns"}}
    assert divisions((96, 20), 60) == {(201, 96): {0, 1}, (96, 20): {"rows"}}


def test_weights_that_are_not_trained_may_be_read_by_all():
    program = build(record(lambda x, w: np.tanh(x @ w), Spec(("n", 500)), Spec((500, 400))), {"n": 4}, 2)
    assert program.choices == []


def test_a_library_makes_the_parts_too(monkeypatch):
    monkeypatch.setenv("PELLUCID_BLAS", "scipy")
    blas.library.cache_clear()
    try:
        made(30, 40, 200, 2)
        expected = trained((96, 64), 8, engine="numpy")
        for name, weights in trained((96, 64), 8, threads=2).items():
            assert_allclose(weights, expected[name], rtol=1e-8, atol=1e-10)
    finally:
        monkeypatch.undo()
        blas.library.cache_clear()
