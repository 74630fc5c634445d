"""The threads of the libraries behind NumPy's and SciPy's products.

They wait for the next product by turning in circles: where threads of ours are at work, theirs take the processor away.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pellucid.locks import forkable


@functools.cache
def _pools() -> list[tuple[Any, Any]]:
    """(get, set) for the number of threads of each pool that a BLAS has."""
    from scipy import linalg as linalg  # has one of its own, which is to be found too
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
    """Products run on the threads that ask for them; when the last user leaves, what was set before comes back."""
    global _users
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
