"""Running a bound program: jobs of the compiled loop, and the threads that execute them."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from pellucid.engine.native.code import builtin_kernels
from pellucid.engine.native.code.run_loop import RUN
from pellucid.engine.native.code.words import Table
from pellucid.engine.native.runtime import blas, cache
from pellucid.errors import IndexRangeError, ShapeError
from pellucid.interrupts import uninterrupted


@functools.cache
def runner() -> Any:
    """The compiled loop over steps and instructions."""
    return cache.function(RUN)


def check_status(status: int, name: str) -> None:
    """An error for a run that met an index or a label out of range: what it wrote is not a result."""
    if status == builtin_kernels.BAD_LABEL:
        raise ShapeError(f"{name}: labels must lie in 0 ... classes - 1")
    if status == builtin_kernels.NOT_FINITE:
        raise NotFinite(f"{name}: an input is NaN or infinite")
    if status == builtin_kernels.BAD_INDEX:
        raise IndexRangeError(f"{name}: an index array holds a number that is out of range")


class NotFinite(ValueError):
    """An input of a program that looks for such is NaN or infinite."""


class Crew:
    """Threads that wait for work. Thread 0 is the caller itself."""

    def __init__(self) -> None:
        self.queues: list[Any] = []
        self.done: SimpleQueue[int] = SimpleQueue()
        self.pid = os.getpid()

    def run(self, jobs: Sequence[Table]) -> int:
        """Execute one job on each thread; 0 if all is well."""
        run = runner()
        while len(self.queues) < len(jobs) - 1:
            queue: SimpleQueue[Any] = SimpleQueue()
            threading.Thread(target=self._work, args=(queue, run), daemon=True).start()
            self.queues.append(queue)
        for queue, job in zip(self.queues, jobs[1:], strict=False):
            queue.put(job.address)
        status = int(run(jobs[0].address))
        return max(status, *(self.done.get() for _ in jobs[1:]))

    def _work(self, queue: Any, run: Any) -> None:
        while True:
            self.done.put(run(queue.get()))


_free: list[Crew] = []  # those without work: as many as ever worked at the same time


def execute(jobs: Sequence[Table], name: str) -> None:
    """Run one job on each thread. Ctrl-C is heard when all have finished; `check_status` looks at how it went."""
    with blas.one_thread():  # a library, if one makes the products, stays on its thread
        if len(jobs) == 1:
            check_status(int(runner()(jobs[0].address)), name)
            return
        with uninterrupted():
            crew = next((c for c in (_free.pop() for _ in range(len(_free))) if c.pid == os.getpid()), None) or Crew()
            status = crew.run(jobs)
            _free.append(crew)
    check_status(status, name)
