"""Ctrl-C, heard at a moment when nothing is half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until what is done inside is complete or has failed, then it is raised.

    Raised inside, it could be lost: Python drops what is raised in a finalizer or in a callback from C, and compilers
    run many of both.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or isinstance(before, _Later):  # ignored, or waiting already
        yield
        return
    later = _Later()
    signal.signal(signal.SIGINT, later)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if later.heard:
            before(signal.SIGINT, None)


class _Later:
    """Notes an interrupt."""

    heard = False

    def __call__(self, number: int, frame: Any) -> None:
        self.heard = True
