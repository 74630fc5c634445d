"""The matrix products of a training step alone, their rows split over threads; no thread waits for another.

What a step cannot do without: for each layer the forward product X W and the weights' gradient X' G, and for all
layers but the first the rows' gradient G W'. Buffers are allocated once; nothing else is done.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from benchmarks.cases import TrainCase
from benchmarks.compiled import calls
from benchmarks.limit import threads_of
from pellucid.engine.native.code.builtin_kernels import GEMM
from pellucid.engine.native.code.llvm.processor import processor
from pellucid.engine.native.code.products.product import kernel
from pellucid.engine.native.code.products.product_plan import Product, room_for, words_for
from pellucid.engine.native.runtime import blas, cache
from pellucid.engine.native.runtime.work import share


class Share:
    """What one thread does of the products of a step: entries (function, table)."""

    def __init__(self, case: TrainCase, arrays: dict[str, list[Any]], thread: int, threads: int) -> None:
        self.case, self.thread, self.threads = case, thread, threads
        self.kept: list[Any] = [arrays]  # tables hold their addresses
        H, G, W, dW = (arrays[name] for name in ("H", "G", "W", "dW"))
        layers = range(len(W))
        products = [(H[i], W[i], H[i + 1], False, False) for i in layers]
        for i in reversed(layers):
            products.append((H[i], G[i + 1], dW[i], True, False))
            if i > 0:
                products.append((G[i + 1], W[i], G[i], False, True))
        self.entries = np.array([self._entry(*product) for product in products], np.int64)

    def _entry(self, a: Any, b: Any, c: Any, turned_a: bool, turned_b: bool) -> tuple[int, int]:
        rows, columns = c.shape
        first, last = share(rows, self.threads, self.thread)
        depth = a.shape[0 if turned_a else 1]
        steps = (array.shape[1] for array in (a, b, c))
        product = Product(last - first, columns, depth, turned_a, turned_b, *steps, a.itemsize)
        left = a.ctypes.data + first * (1 if turned_a else depth) * a.itemsize
        places = (left, b.ctypes.data, c.ctypes.data + first * columns * c.itemsize)
        words = self._words(product, places)
        self.kept.append(words)
        return self._function(), int(words.ctypes.data)

    def _words(self, product: Product, places: tuple[int, int, int]) -> Any:
        room = room_for(product, processor())
        work = [np.zeros(size // 8 + 16, np.int64) for size in room]
        self.kept += work
        at = [-(-w.ctypes.data // 64) * 64 for w in work]
        return np.array(words_for(product, processor(), places, (at[0], at[1], room)), np.int64)

    def _function(self) -> int:
        return cache.addresses([kernel(self.case.dtype)])[0]


class LibraryShare(Share):
    """The same by SciPy's OpenBLAS."""

    def _words(self, product: Product, places: tuple[int, int, int]) -> Any:
        return np.array(blas.gemm(blas.of_scipy(), product, places)[1], np.int64)

    def _function(self) -> int:
        return cache.addresses([GEMM])[0]


def arrays_of(case: TrainCase) -> dict[str, list[Any]]:
    """Layers' values H, their gradients G, weights W and theirs."""
    rng = np.random.default_rng(0)
    pairs = list(zip(case.sizes, case.sizes[1:], strict=False))
    shapes = {"H": [(case.batch, d) for d in case.sizes], "G": [(case.batch, d) for d in case.sizes]}
    shapes |= {"W": pairs, "dW": pairs}
    return {name: [rng.standard_normal(s).astype(case.dtype) for s in sizes] for name, sizes in shapes.items()}


def run(case: TrainCase, kind: type[Share], threads: int) -> Callable[[int], None]:
    """n epochs' worth of products."""
    arrays = arrays_of(case)
    parts = [kind(case, arrays, thread, threads) for thread in range(threads)]

    def work(n: int) -> None:
        with ThreadPoolExecutor(threads) as pool:
            times = n * case.batches
            for future in [pool.submit(calls(), p.entries.ctypes.data, len(p.entries), times) for p in parts]:
                future.result()

    return work


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Callable[[int], None]:
    return run(case, Share, threads_of(case, threads))
