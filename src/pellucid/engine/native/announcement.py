"""Telling the user that kernels are being compiled: one line at most in a process, and only where it takes a while."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

START, KERNEL, LONG = 1.0, 0.3, 1.0
"""Seconds, about: until the compiler is in memory, for a kernel, and from which a compilation is announced."""

_quiet: ContextVar[bool | None] = ContextVar("pellucid_quiet", default=None)
_told = False


@contextmanager
def silent(on: bool = True) -> Iterator[None]:
    """No message while kernels are compiled. What the user called decides: inside of another one it has no effect."""
    token = _quiet.set(on) if _quiet.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _quiet.reset(token)


def announce(kernels: int, folder: Path | None) -> None:
    """Say that so many kernels are about to be compiled, and in which folder they will be found again."""
    global _told
    seconds = KERNEL * kernels + (START if "numba" not in sys.modules else 0.0)
    if _told or _quiet.get() or seconds < LONG or sys.stderr is None:
        return
    _told = True
    place = f"once; kept in {folder}" if folder is not None else "for this process: they cannot be kept"
    print(f"pellucid: compiling kernels for this machine, which takes some seconds ({place})", file=sys.stderr)
