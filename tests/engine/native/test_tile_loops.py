"""Loops that are run with a matrix product, tile by tile: the values of NumPy, whatever the tiles are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import Model, nn, optim
from pellucid.engine.native.code.llvm.processor import executable
from pellucid.engine.native.passes.instructions import Loop
from pellucid.engine.native.runtime.call import Function
from pellucid.engine.native.runtime.program import Program, build
from pellucid.graph.record import record

pytestmark = pytest.mark.usefixtures("split")

F = Callable[..., Any]


def forward(A: Any, B: Any, M: Any, b: Any, r: Any, s: Any) -> Any:
    """Whole arrays, rows, columns and a number; sums of columns, and totals."""
    H = np.maximum((A @ B + b) * M - r, s * s)
    return H, np.sum(H, axis=0), np.max(H * b, axis=0), np.sum(H * M), np.min(H)


def turned_left(A: Any, B: Any, M: Any, b: Any, r: Any, s: Any) -> Any:
    return forward(A.T, B, M, b, r, s)


def turned_right(A: Any, B: Any, M: Any, b: Any, r: Any, s: Any) -> Any:
    return forward(A, B.T, M, b, r, s)


def with_operand(A: Any, B: Any, M: Any, b: Any, r: Any, s: Any) -> Any:
    """What is multiplied is read again behind the product: it is not to be written over."""
    E = np.tanh(A)
    return np.exp(E @ B + np.sum(E) * b), np.tanh(M @ np.tanh(B.T @ B) + M) * s


LAYOUTS = {forward: (False, False), turned_left: (True, False), turned_right: (False, True)}


def arguments(f: F, rows: int, depth: int, columns: int, dtype: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(rows + depth + columns)
    left, right = LAYOUTS.get(f, (False, False))
    shapes: list[tuple[int, ...]] = [
        (depth, rows) if left else (rows, depth),
        (columns, depth) if right else (depth, columns),
    ]
    shapes += [(rows, columns), (columns,), (rows, 1), ()]
    return tuple(np.asarray(rng.normal(size=shape) / np.sqrt(depth), dtype) for shape in shapes)


def with_tiles(program: Program) -> list[Loop]:
    return [s for s in program.steps if isinstance(s, Loop) and s.product is not None]


def compared(f: F, given: tuple[Any, ...], threads: int) -> list[Any]:
    graph = record(f, *given)
    assert with_tiles(build(graph, {}, threads))
    out = Function(graph, threads)(*given)
    exact = f(*(x.astype(np.float64) for x in given))
    tolerance = 1e-11 if given[0].dtype == np.float64 else 2e-4
    for value, right in zip(out, exact, strict=True):
        assert_allclose(value, right, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(right).max())))
    return list(out)


@pytest.mark.parametrize("name", executable())
@pytest.mark.parametrize("f", [*LAYOUTS, with_operand])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_processor(monkeypatch, name, f, dtype):
    monkeypatch.setenv("PELLUCID_PROCESSOR", name)
    compared(f, arguments(f, 37, 130, 75, dtype), 2)


@pytest.mark.parametrize("f", list(LAYOUTS))
@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize(
    ("rows", "depth", "columns"),
    [(2, 100, 32), (5, 97, 33), (13, 96, 64), (64, 128, 100), (50, 200, 130), (20, 2100, 40), (7, 5000, 66)],
)
def test_sizes(f, threads, rows, depth, columns):
    """Tiles of every width and height, a depth in several blocks, products that loops wait for; idle threads."""
    compared(f, arguments(f, rows, depth, columns, np.float64), threads)


def test_the_same_bits_every_time():
    given = arguments(forward, 64, 128, 100, np.float32)
    first, second = (compared(forward, given, 2) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        assert_array_equal(a, b)


def test_one_thread_has_loops_of_their_own():
    given = arguments(forward, 64, 128, 100, np.float32)
    assert not with_tiles(build(record(forward, *given), {}, 1))


def parts(A: Any, B: Any, M: Any, b: Any, r: Any, s: Any) -> Any:
    """Two readers; a row that is needed whole; an output."""
    P, Q, R = A @ B, A @ (B + 1.0), A @ (B * 2.0)
    return np.sum(P + b), P @ np.ones((48, 1)), Q / np.sum(Q, axis=1, keepdims=True), R + 1.0, R


def test_what_is_read_elsewhere_or_needs_a_whole_row_or_is_soon_made_is_no_tile_loop():
    given = arguments(parts, 40, 100, 48, np.float64)
    program = build(record(parts, *given), {}, 2)
    assert not with_tiles(program)
    for depth, columns in ((100, 10), (20, 100)):
        given = arguments(forward, 40, depth, columns, np.float64)
        assert not with_tiles(build(record(forward, *given), {}, 2))  # not worth it


@pytest.mark.parametrize("rule", [optim.Adam(1e-2), optim.Momentum(1e-2), optim.AdamW(1e-2)])
def test_training_is_that_of_numpy(rule):
    """Rules that overwrite weights while a product is made; batches of which the last is short."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 100)), rng.integers(0, 3, 300)
    trained = []
    for engine in ("numpy", "native"):
        net = nn.mlp((100, 100), 3, activation="gelu", dropout=0.1)
        model = Model(net, "cross_entropy", rule, dtype=np.float64, engine=engine, threads=2)
        model.fit(X, y, epochs=2, batch_size=128, seed=1, verbose=False)
        trained.append(model)
    program = trained[1].program(X, y, batch_size=128)
    assert len(with_tiles(program)) >= 3  # to the layer below, and updates of two; the last batch has few rows
    for name, value in trained[0].params.items():
        assert_allclose(trained[1].params[name], value, rtol=1e-9, atol=1e-11, err_msg=name)


def test_a_listing_names_product_and_loop():
    given = arguments(forward, 64, 128, 100, np.float32)
    program = build(pel.record(forward, *given), {}, 2)
    assert "A @ B, tile by tile" in str(program)
    row = next(r for r in program.explain().rows if "tile by tile" in r.what)
    assert row.flops > 2 * 64 * 128 * 100
