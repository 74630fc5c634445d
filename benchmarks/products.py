"""The matrix products of a training step alone: the same BLAS as our engine's, called from one compiled loop.

What a step cannot do without: for each layer the forward product X W and the weights' gradient X' G, and for all
layers but the first the rows' gradient G W'. Buffers are allocated once; nothing else is done.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from benchmarks.cases import TrainCase
from pellucid.engine.native import blas

ARGUMENTS = 13


def gemm(dtype: str, threads: int) -> int:
    """The address of sgemm or dgemm in the library that our engine uses: Fortran's, all arguments by address."""
    path = blas._mkl_path()
    if path is not None and threads > 1:
        ctypes.CDLL(path).MKL_Set_Threading_Layer(0)  # the first word counts: the engine's would make it sequential
    chosen = blas.library()
    return {"float32": chosen.sgemm, "float64": chosen.dgemm}[dtype]


class Step:
    """The products of one step of a case as a table of arguments for gemm; `kept` holds what they point to."""

    def __init__(self, case: TrainCase) -> None:
        rng = np.random.default_rng(0)
        self.kept: list[Any] = []
        self.dtype = np.dtype(case.dtype)
        self.one, self.zero = self._address(np.ones(1, self.dtype)), self._address(np.zeros(1, self.dtype))
        self.letters = {c: self._address(np.frombuffer(c.encode(), np.uint8).copy()) for c in "NT"}
        n, pairs = case.batch, list(zip(case.sizes, case.sizes[1:], strict=False))
        H, G = ([self._address(rng.standard_normal((n, d)).astype(self.dtype)) for d in case.sizes] for _ in range(2))
        W, dW = ([self._address(rng.standard_normal(pair).astype(self.dtype)) for pair in pairs] for _ in range(2))
        rows = [self._product("N", "N", b, n, a, W[i], b, H[i], a, H[i + 1], b) for i, (a, b) in enumerate(pairs)]
        for i, (a, b) in reversed(list(enumerate(pairs))):
            rows.append(self._product("N", "T", b, a, n, G[i + 1], b, H[i], a, dW[i], b))
            if i > 0:
                rows.append(self._product("T", "N", a, n, b, W[i], b, G[i + 1], b, G[i], a))
        self.table = np.array(rows, np.int64)

    def _address(self, array: Any) -> int:
        self.kept.append(array)
        return int(array.ctypes.data)

    def _product(
        self, ta: str, tb: str, m: int, n: int, k: int, A: int, lda: int, B: int, ldb: int, C: int, ldc: int
    ) -> list[int]:
        """C = op(A) op(B) in Fortran's order, which is the transpose of ours."""
        m_, n_, k_, lda_, ldb_, ldc_ = (self._address(np.array([v], np.int32)) for v in (m, n, k, lda, ldb, ldc))
        t = self.letters
        return [t[ta], t[tb], m_, n_, k_, self.one, A, lda_, B, ldb_, self.zero, C, ldc_]


def looped(address: int) -> Callable[[Any, int], None]:
    """A compiled loop over the table."""
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * ARGUMENTS)(address)

    @numba.njit(nogil=True)
    def loop(t: Any, steps: int) -> None:
        for _ in range(steps):
            for i in range(t.shape[0]):
                call(
                    t[i, 0], t[i, 1], t[i, 2], t[i, 3], t[i, 4], t[i, 5], t[i, 6],
                    t[i, 7], t[i, 8], t[i, 9], t[i, 10], t[i, 11], t[i, 12],
                )  # fmt: skip

    return loop


def train(case: TrainCase, X: Any, y: Any, threads: int) -> Callable[[int], None]:
    """n epochs' worth of products. The number of threads is set by the process's environment."""
    step, loop = Step(case), looped(gemm(case.dtype, threads))
    return lambda n: loop(step.table, n * case.batches)
