"""Telling the user that kernels are being compiled: a bar on a terminal, at most once in a process, and only where it
takes over a second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

LONG = 1.0
"""Seconds from which a compilation is announced."""

WIDTH = 20
"""Letters of the bar."""

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


@contextmanager
def compiling(kernels: int, folder: Path | None) -> Iterator[Callable[[], None]]:
    """While so many kernels are compiled: call what it gives after each. `folder` is where they will be found again."""
    begin, done, drawn = time.monotonic(), 0, False
    stream = sys.stderr  # the same to the end, whatever others put in its place meanwhile
    place = f"once; kept in {folder}" if folder is not None else "for this process: they cannot be kept"

    def one_more() -> None:
        global _told
        nonlocal done, drawn
        done += 1
        drawn = drawn or (not _told and _is_heard() and time.monotonic() - begin >= LONG)
        if drawn:
            _told = True
            bar = "━" * (WIDTH * done // kernels)
            print(f"\rpellucid: compiling kernels {bar:╌<{WIDTH}} ({place})", end="", file=stream, flush=True)

    try:
        yield one_more
    finally:
        if drawn:
            print(file=stream)


def _is_heard() -> bool:
    """Does the user want to know, and is there a terminal to say it?"""
    return not _quiet.get() and not os.environ.get("PELLUCID_QUIET") and is_terminal()


def is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
