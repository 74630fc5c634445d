"""Matrix products by address: SciPy's BLAS, or MKL where it is installed.

All calls come from our own threads, so the library itself is held to one thread while a program runs. OpenBLAS takes a
lock in every call, and a thread that finds it taken goes to sleep, for longer than a small product takes. So every
thread has an instance of its own: the library once more, loaded from a copy of its file.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.engine.native.private_folder import UntrustedError
from pellucid.engine.native.special import address
from pellucid.locks import forkable


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


LANE: ContextVar[int] = ContextVar("pellucid_lane", default=0)
"""The first instance for programs that are bound now: models that train side by side take different ones."""

MOST = 16
"""Instances at most; further threads share them."""


def instance(thread: int) -> Library:
    """The library for a thread of the program that is being bound."""
    number = (LANE.get() + thread) % MOST
    first = library()
    return first if number == 0 or first.name == "MKL" else _copy(number)


@functools.cache
def _copy(number: int) -> Library:
    """The library once more, or the first one where that is not possible."""
    first = library()
    try:
        loaded = _loaded(_copied(number))
        return Library(first.name, *(_symbol(loaded, name) for name in ("sgemm", "dgemm")))
    except (OSError, AttributeError, StopIteration):
        return first


def _loaded(path: Path) -> Any:
    """Without worker threads: they would only sleep."""
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        return ctypes.CDLL(str(path))
    finally:
        if before is None:
            del os.environ["OPENBLAS_NUM_THREADS"]
        else:
            os.environ["OPENBLAS_NUM_THREADS"] = before


def _symbol(loaded: Any, name: str) -> int:
    """A function of OpenBLAS, whatever its prefix (32-bit integers)."""
    for symbol in (f"scipy_{name}_", f"{name}_"):
        if hasattr(loaded, symbol):
            return ctypes.cast(getattr(loaded, symbol), ctypes.c_void_p).value or 0
    raise AttributeError(name)


def _copied(number: int) -> Path:
    """A copy of SciPy's library in the cache folder, made once; shared objects are told apart by their files."""
    from pellucid.engine.native import cache

    source = _file()
    facts, content = source.stat(), source.read_bytes()
    name = f"{source.stem}-{facts.st_size}-{facts.st_mtime_ns}-{number}{source.suffix}"
    folder = cache.shelf("blas")
    if folder is None:
        raise FileNotFoundError("there is no folder for copies of the library")
    try:
        if folder.read(name) != content:  # missing or damaged
            folder.write(name, content)
    except UntrustedError as error:
        cache.refuse(error)
        raise
    return folder.path / name


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
            symbol = c._get_symbol  # noqa: SLF001 (it knows the prefix and suffix of the library)
            found.append((symbol("openblas_get_num_threads"), symbol("openblas_set_num_threads")))
        elif c.user_api == "blas" and c.internal_api != "mkl":
            found.append((c.get_num_threads, c.set_num_threads))
    return [(get, put) for get, put in found if get is not None and put is not None]


_lock = forkable()
_users = 0
_before: list[tuple[Any, int]] = []


def _without_users() -> None:
    """In a forked child: the threads that used the library are not there."""
    global _users
    if _users:
        _users = 0
        _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_without_users)


def _restore() -> None:
    for put, number in _before:
        if number != 1:
            put(number)


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
                _restore()
