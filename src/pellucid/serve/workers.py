"""Several processes behind one socket: started, watched, and ended together."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from types import FrameType

from pellucid.errors import PellucidError

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class WorkerError(PellucidError):
    """A process has ended that was to go on."""


def run_workers(serve: Callable[[socket.socket], None], listener: socket.socket, count: int, patience: float) -> int:
    """Run so many processes until SIGINT or SIGTERM, or until one of them ends by itself, which is an error.

    Gives the number of the signal.

    serve: what each does; it can be pickled; patience: seconds that they have to end
    """
    context = multiprocessing.get_context("spawn")  # a fork would have half of what the threads were doing
    workers = [context.Process(target=serve, args=(listener,), name=f"worker {i}") for i in range(1, count + 1)]
    with _noted_signals() as (received, alarm):
        for worker in workers:
            worker.start()
        try:
            wait([alarm, *(worker.sentinel for worker in workers)])
            ended = [] if received else [worker for worker in workers if worker.exitcode is not None]
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join(patience)
                if worker.exitcode is None:
                    worker.kill()
    if received:
        return received[0]
    code = next((worker.exitcode for worker in ended), None)
    raise WorkerError(f"a worker has ended by itself, with the exit code {code}: its words are above")


@contextmanager
def _noted_signals() -> Iterator[tuple[list[int], int]]:
    """The signals that came, and what can be waited for until the first does."""
    received: list[int] = []
    alarm, bell = os.pipe()

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        os.write(bell, b"!")

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield received, alarm
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(alarm)
        os.close(bell)
