"""Small products on one thread: many short trials are slower, not faster, if a library wakes its threads for each."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@functools.cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS runs on the thread that calls it; afterwards all is as before."""
    with _controller().limit(limits=1, user_api="blas"):
        yield
