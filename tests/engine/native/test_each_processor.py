"""The kernels as each kind of processor has them: verified by LLVM, and run where this machine can run them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid.engine.native.code import builtin_kernels, run_loop, summaries
from pellucid.engine.native.code.llvm.module import Kernel, assembly, machine_code
from pellucid.engine.native.code.llvm.processor import AARCH64, SETTINGS, Processor, executable
from pellucid.engine.native.runtime.call import Function
from pellucid.graph.record import record

ROWS = 37  # neither whole vectors nor whole blocks


def softmax_step(X: Any, labels: Any, W: Any, b: Any) -> Any:
    """A layer, its loss over few classes or many, and the gradients."""

    def loss(W: Any, b: Any) -> Any:
        scores = np.tanh(X @ W + b)
        shifted = scores - np.max(scores, axis=1, keepdims=True)
        logarithm = np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
        hit = (labels[:, None] == np.arange(scores.shape[1])).astype(X.dtype)
        return -np.mean(np.sum(hit * (shifted - logarithm), axis=1))

    return pel.value_and_grad(loss, argnums=(0, 1))(W, b)


def normalised(X: Any, labels: Any, W: Any, b: Any) -> Any:
    """Columns of many rows, questions, whole numbers, sums of all kinds."""
    H = X @ W
    centred = (H - np.mean(H, axis=0)) / np.sqrt(np.var(H, axis=0) + 1e-3)
    powers = np.maximum(centred, 0) ** 1.7 + np.abs(b) ** 0.5
    return centred, np.sum(powers, axis=1), np.max(H, axis=0), np.min(H), (labels * 7 % 3), np.isfinite(H).all()


def arguments(columns: int, dtype: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(columns)
    X, W = rng.normal(size=(ROWS, 5)), rng.normal(size=(5, columns))
    return X.astype(dtype), rng.integers(0, columns, ROWS), W.astype(dtype), rng.normal(size=columns).astype(dtype)


def results(f: Callable[..., Any], given: tuple[Any, ...], threads: int) -> list[Any]:
    graph = record(f, *given)
    leaves = Function(graph, threads)(*given)
    return [np.asarray(x) for part in leaves for x in (part if isinstance(part, tuple) else (part,))]


@pytest.mark.usefixtures("split")
@pytest.mark.parametrize("name", executable())
@pytest.mark.parametrize("columns", [1, 3, 16, 33, 70])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f", [softmax_step, normalised])
def test_every_setting_computes_the_same(monkeypatch, f, dtype, columns, name):
    given = arguments(columns, dtype)
    expected = f(*given)
    expected = [np.asarray(x) for part in expected for x in (part if isinstance(part, tuple) else (part,))]
    monkeypatch.setenv("PELLUCID_PROCESSOR", name)
    rtol = 1e-4 if dtype == np.float32 else 1e-11
    for threads in (1, 2):
        first, again = (results(f, given, threads) for _ in range(2))
        for got, twice, wanted in zip(first, again, expected, strict=True):
            assert_array_equal(got, twice)
            assert_allclose(got, wanted, rtol=rtol, atol=rtol)


def column_sums(X: Any, Y: Any) -> Any:
    """Sums of columns beside whole arrays, a number of each column and a total."""
    G = np.where(Y > 0, X, 0)
    return G, np.sum(G, axis=0), np.max(X + Y, axis=0), np.sum(X * Y)


@pytest.mark.parametrize("name", executable())
@pytest.mark.parametrize("columns", [1, 5, 16, 20, 32, 100, 128, 129, 150, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_the_columns_of_short_rows_and_long_ones(monkeypatch, dtype, columns, name):
    X, Y = np.random.default_rng(columns).standard_normal((2, ROWS, columns)).astype(dtype)
    monkeypatch.setenv("PELLUCID_PROCESSOR", name)
    expected, bound = column_sums(X, Y), 1e-4 if dtype == np.float32 else 1e-12
    for threads in (1, 2):
        for result, wanted in zip(results(column_sums, [X, Y], threads), expected, strict=True):
            assert_allclose(result, wanted, rtol=bound, atol=bound)


def kernels() -> Iterator[Kernel]:
    """Those of the two functions, and all that never change."""
    for dtype in (np.float32, np.float64):
        for f in (softmax_step, normalised):
            given = arguments(16, dtype)
            graph = record(f, *given)
            yield from Function(graph, 1).program({}).kernels.values()
        name = np.dtype(dtype).name
        yield from (builtin_kernels.combine(kind, name) for kind in ("sum", "prod", "max", "min"))
        yield from (builtin_kernels.along(op, name) for op in ("argmax", "argmin", "cumsum"))
        yield from (builtin_kernels.move(name, scatter) for scatter in (False, True))
        yield from (summaries.distribution(name, 16), summaries.column_moments(name), summaries.likeness(name))
    yield from (builtin_kernels.combine(kind, "bool") for kind in ("any", "all"))
    yield from (builtin_kernels.move(f"int{bits}", scatter=False) for bits in (8, 16, 32, 64))
    yield from (builtin_kernels.check_range("int64"), builtin_kernels.ZERO, builtin_kernels.COPY, builtin_kernels.GEMM)
    yield from (run_loop.RUN, run_loop.BARRIER, builtin_kernels.check_finite(name))


@pytest.mark.parametrize("target", [*SETTINGS.values(), AARCH64], ids=lambda p: p.name + p.triple)
def test_llvm_verifies_every_kernel_for_every_processor(target: Processor) -> None:
    """Also for those that this machine is not: 64-bit ARM is compiled here, and nobody has run it."""
    for kernel in kernels():
        text = kernel.write("kernel", target)
        assert machine_code(text, target).binary, kernel.key
        assert not re.search(r"\b(nnan|ninf|fast)\b", text), kernel.key  # NaN is looked for on purpose


def test_vectors_are_as_wide_as_the_processor_and_arrays_are_told_apart():
    loop = next(iter(kernels()))
    for name, register in (("avx2", "ymm"), ("avx512", "zmm")):
        text = loop.write("kernel", SETTINGS[name])
        assert f"<{SETTINGS[name].lanes(4)} x float>" in text
        assert "!alias.scope" in text
        assert "!noalias" in text
        assert register in assembly(text, SETTINGS[name])
