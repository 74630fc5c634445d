"""Matrix products by address: SciPy's BLAS, or MKL where it is installed.

All calls come from our own threads, so the library itself is held to one thread while a program runs.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Library:
    name: str
    sgemm: int
    dgemm: int


@functools.cache
def library() -> Library:
    """The library in use. `PELLUCID_BLAS` is "mkl" or "scipy".

    Without it MKL is taken where its package is installed and the processor is Intel's: on others OpenBLAS is faster.
    """
    wanted = os.environ.get("PELLUCID_BLAS", "")
    if wanted not in ("", "mkl", "scipy"):
        raise ValueError(f"PELLUCID_BLAS is 'mkl' or 'scipy', got {wanted!r}")
    if wanted == "mkl" or (not wanted and _is_intel()):
        found = _mkl()
        if found is not None:
            return found
        if wanted == "mkl":
            raise ImportError("PELLUCID_BLAS=mkl, but MKL is not installed: pip install mkl")
    return Library("OpenBLAS of SciPy", *(_cython("scipy.linalg.cython_blas", name) for name in ("sgemm", "dgemm")))


def special(name: str) -> int:
    """The address of one of SciPy's special functions of doubles."""
    return _cython("scipy.special.cython_special", SPECIAL[name])


SPECIAL = {
    "erfinv": "erfinv",
    "log_ndtr": "log_ndtr",
    "ndtri": "ndtri",
    "gammaln": "gammaln",
    "psi": "psi",
    "zeta": "zeta",
}


@functools.cache
def _cython(module: str, name: str) -> int:
    """The address behind a Cython function: a capsule in the module's table."""
    import importlib

    table = importlib.import_module(module).__pyx_capi__
    capsule = next(table[key] for key in (name, f"__pyx_fuse_1{name}", f"__pyx_fuse_0{name}") if key in table)
    get_name, get = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, get_name(capsule)))


def _is_intel() -> bool:
    from pellucid.engine.native.loader import processor_name

    return not processor_name().startswith(("znver", "bdver", "btver", "amdfam", "apple", "generic", "neoverse"))


def _mkl() -> Library | None:
    path = _mkl_path()
    if path is None:
        return None
    try:
        loaded = ctypes.CDLL(path)
        loaded.MKL_Set_Threading_Layer(1)  # sequential: the threads are ours
    except OSError:
        return None
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


@functools.cache
def _pools() -> list[Any]:
    """The thread pools of the BLAS in use."""
    from threadpoolctl import ThreadpoolController

    return [c for c in ThreadpoolController().lib_controllers if c.user_api == "blas" and c.internal_api != "mkl"]


@contextmanager
def one_thread() -> Iterator[None]:
    """The library runs on the thread that calls it; what was set before comes back."""
    if library().name == "MKL":
        yield
        return
    before = [(pool, pool.num_threads) for pool in _pools()]
    for pool, number in before:
        if number != 1:
            pool.set_num_threads(1)
    try:
        yield
    finally:
        for pool, number in before:
            if number != 1:
                pool.set_num_threads(number)
