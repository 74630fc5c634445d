"""SIGINT and SIGTERM: the first one ends a training with its best epoch, the second one ends the command at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pellucid.cli.failures import Interrupted
from pellucid.train.loop.loop import HALT

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether a signal has come, and which."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.halt = threading.Event()

    def check(self) -> None:
        """Raise `Interrupted` where a signal has come."""
        if self.signal is not None:
            raise Interrupted(self.signal)


@contextmanager
def stoppable(*, raising: bool = False) -> Iterator[Stop]:
    """Trainings inside end with what they have when a signal comes; with `raising`, by a KeyboardInterrupt.

    The first signal puts the system's own handling back, so that a second one ends the process whatever it does.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread hears of signals
        return

    def heard(number: int, frame: FrameType | None) -> None:
        stop.signal = number
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        if raising:
            raise KeyboardInterrupt
        stop.halt.set()

    before = {each: signal.signal(each, heard) for each in SIGNALS}
    token = HALT.set(stop.halt)
    try:
        yield stop
    finally:
        HALT.reset(token)
        for each, handler in before.items():
            signal.signal(each, handler)
