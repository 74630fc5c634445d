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
from pathlib import Path
from typing import Any

import numpy as np

from pellucid import blas_threads
from pellucid.engine.native.code.llvm import processor
from pellucid.engine.native.code.products.product_plan import Product
from pellucid.engine.native.code.special import address


@dataclass(frozen=True)
class Library:
    name: str
    sgemm: int
    dgemm: int


def gemm_words(
    used: Library, product: Product, places: tuple[int, int, int]
) -> tuple[list[int], list[tuple[int, int]]]:
    """The table of a call, and which of its words hold the addresses of which others.

    Rows times columns is, column by column as BLAS sees it, the product of the transposed in reverse.
    """
    one = int(np.float32(1).view(np.int32)) if product.item == 4 else int(np.float64(1).view(np.int64))
    values = [
        ord("T" if product.right_turned else "N"),
        ord("T" if product.left_turned else "N"),
        product.columns,
        product.rows,
        product.depth,
        one,
        max(product.right_step, 1),
        max(product.left_step, 1),
        0,
        max(product.result_step, 1),
    ]
    a, b, c = places
    function = used.sgemm if product.item == 4 else used.dgemm
    words = [function, 0, 0, 0, 0, 0, 0, b, 0, a, 0, 0, c, 0]
    pointing = [1, 2, 3, 4, 5, 6, 8, 10, 11, 13]
    return words + values, [(word, len(words) + value) for value, word in enumerate(pointing)]


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


@functools.cache
def of_scipy() -> Library:
    """OpenBLAS, as SciPy brings it."""
    try:  # straight from its file: importing scipy.linalg takes longer than all the rest
        loaded = ctypes.CDLL(str(_file()))
        return Library("OpenBLAS of SciPy", *(_symbol(loaded, name) for name in ("sgemm", "dgemm")))
    except (OSError, AttributeError, StopIteration):
        from scipy.linalg import cython_blas

        table: Any = cython_blas.__pyx_capi__
        return Library("BLAS of SciPy", *(address(table[name]) for name in ("sgemm", "dgemm")))


def _file() -> Path:
    """The file of SciPy's library."""
    import scipy

    folder = Path(scipy.__file__).parent.parent / "scipy.libs"
    return next(p for p in sorted(folder.glob("*openblas*")) if "64_" not in p.name)


def _symbol(loaded: Any, name: str) -> int:
    """A function of OpenBLAS, whatever its prefix (32-bit integers)."""
    for symbol in (f"scipy_{name}_", f"{name}_"):
        if hasattr(loaded, symbol):
            return ctypes.cast(getattr(loaded, symbol), ctypes.c_void_p).value or 0
    raise AttributeError(name)


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
