"""SIGINT and SIGTERM: the first one ends a training with its best epoch, the second one ends the command at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Which signal has come; None as long as there was none."""

    def __init__(self) -> None:
        self.signal: int | None = None


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Both signals are a KeyboardInterrupt inside, which trainings take for their end.

    The first one puts the system's own handling back, so that a second one ends the process whatever it does.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread hears of signals
        return

    def heard(number: int, frame: FrameType | None) -> None:
        stop.signal = number
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        raise KeyboardInterrupt

    before = {each: signal.signal(each, heard) for each in SIGNALS}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
