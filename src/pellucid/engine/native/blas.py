"""Matrix products by address: SciPy's BLAS, or MKL where it is installed.

All calls come from our own threads, so the library itself is held to one thread while a program runs.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
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
def _pools() -> list[tuple[Any, Any]]:
    """(get, set) for the number of threads of each pool that a BLAS has."""
    from threadpoolctl import ThreadpoolController

    found = []
    for c in ThreadpoolController().lib_controllers:
        if c.user_api == "blas" and c.internal_api == "openblas":
            found.append((c._get_symbol("openblas_get_num_threads"), c._get_symbol("openblas_set_num_threads")))
        elif c.user_api == "blas" and c.internal_api != "mkl":
            found.append((c.get_num_threads, c.set_num_threads))
    return [(get, put) for get, put in found if get is not None and put is not None]


_lock = threading.Lock()
_users = 0
_before: list[tuple[Any, int]] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """The library runs on the threads that call it; when the last of them leaves, what was set before comes back."""
    global _users
    if library().name == "MKL":
        yield
        return
    with _lock:
        _users += 1
        if _users == 1:
            _before[:] = [(put, get()) for get, put in _pools()]
            for put, number in _before:
                if number != 1:
                    put(1)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for put, number in _before:
                    if number != 1:
                        put(number)
