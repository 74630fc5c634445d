"""Matrix products of a library, by address: what `PELLUCID_BLAS` asks for in place of our own.

All calls come from our own threads, so the library itself is held to one thread while a program runs. OpenBLAS takes a
lock in every call: threads that call it at the same time wait for each other.
"""

from __future__ import annotations

import ctypes
import functools
import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid import blas_threads
from pellucid.engine.native.code.builtin_kernels import GEMM
from pellucid.engine.native.code.llvm import processor
from pellucid.engine.native.code.llvm.loader import address
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.code.products.product_plan import Product


@dataclass(frozen=True)
class Library:
    name: str
    sgemm: int
    dgemm: int


def gemm(used: Library, product: Product, places: tuple[int, int, int]) -> tuple[Kernel, list[int]]:
    """A call, and its table.

    Rows times columns is, column by column as BLAS sees it, the product of the transposed in reverse.
    """
    single = product.item == 4
    a, b, c = places
    return GEMM(
        function=used.sgemm if single else used.dgemm,
        transb=ord("T" if product.right_turned else "N"),
        transa=ord("T" if product.left_turned else "N"),
        columns=product.columns,
        rows=product.rows,
        depth=product.depth,
        alpha=int(np.float32(1).view(np.int32) if single else np.float64(1).view(np.int64)),
        b=b,
        ldb=max(product.right_step, 1),
        a=a,
        lda=max(product.left_step, 1),
        beta=0,
        c=c,
        ldc=max(product.result_step, 1),
    )


@functools.cache
def library() -> Library | None:
    """The library that `PELLUCID_BLAS` names, "scipy" or "mkl"; None: products are our own.

    On processors that our products were not written for, SciPy's is taken.
    """
    wanted = os.environ.get("PELLUCID_BLAS", "")
    if wanted not in ("", "mkl", "scipy"):
        raise ValueError(f"PELLUCID_BLAS is 'mkl', 'scipy' or not set, got {wanted!r}")
    if not wanted:
        return None if processor.IS_KNOWN else of_scipy()
    return _mkl() if wanted == "mkl" else of_scipy()


def of_scipy() -> Library:
    """The one that SciPy brings."""
    from scipy.linalg import cython_blas

    table: Any = cython_blas.__pyx_capi__
    return Library("BLAS of SciPy", *(address(table[name]) for name in ("sgemm", "dgemm")))


def _mkl() -> Library:
    path = _mkl_path()
    if path is None:
        raise ImportError("PELLUCID_BLAS=mkl, but MKL is not installed: pip install mkl")
    loaded = ctypes.CDLL(path)
    loaded.MKL_Set_Threading_Layer(1)  # sequential: the threads are ours
    places = [ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value or 0 for name in ("sgemm", "dgemm")]
    return Library("MKL", *places)


def _mkl_path() -> str | None:
    """Where pip's package `mkl` puts its library."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = files("mkl") or []
    except PackageNotFoundError:
        return None
    for file in listed:
        if file.name.startswith(("libmkl_rt.so", "mkl_rt.", "libmkl_rt.")):
            return str(file.locate())
    return None


def one_thread() -> AbstractContextManager[None]:
    """The library that is used, if there is one, runs on the threads that call it."""
    used = library()
    return nullcontext() if used is None or used.name == "MKL" else blas_threads.one_thread()
