"""The steps of a run on the native engine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from pellucid.data.rows import Rows
from pellucid.engine.native.runtime import stepper as native
from pellucid.engine.native.runtime.program import Program
from pellucid.engine.native.runtime.row_orders import row_orders
from pellucid.engine.native.runtime.work import compiled_seconds, threads_for
from pellucid.processors import default_threads
from pellucid.train.loop.compiled_steps import PERIOD, CompiledSteps, graph_of, roles
from pellucid.train.loop.stream_steps import StreamedSteps

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run


class NativeSteps(CompiledSteps):
    """Machine code for this processor, on some of its threads."""

    engine = "native"
    stepper: native.Stepper

    def __init__(self, run: Run, threads: int) -> None:
        self.available = threads
        super().__init__(run)

    def _bind(self, run: Run, data: Rows, rows: int) -> None:
        self.rows = rows
        graph = graph_of(run, data)
        sizes = {"n": rows}
        places = roles(graph, check=run.plan.on_divergence != "ignore", checked=run.trainer.ours)
        self.stepper = native.stepper(graph, places, rows, threads_for(graph, sizes, self.available))
        self.threads = self.stepper.threads
        self.chunk = max(1, int(PERIOD / compiled_seconds(graph, sizes)))

    def _run(self, orders: Any, first: int, last: int, words: Any) -> tuple[Any, int]:
        """How long steps take tells how many there may be next time: threads begin and end late."""
        begin = time.perf_counter()
        made = super()._run(orders, first, last, words)
        self.chunk = max(1, int(PERIOD * (last - first) / (time.perf_counter() - begin)))
        return made

    def _orders(self, run: Run, first: int, count: int) -> Any:
        if not run.plan.shuffle:
            return super()._orders(run, first, count)
        return row_orders(len(self.source), run.plan.seed, first - 1, count)

    def _suits(self, rows: int) -> bool:
        return self.stepper.program.suits({"n": rows})

    def _release(self) -> None:
        native.release(self.stepper)


class NativeStreamSteps(StreamedSteps, NativeSteps):
    """The same for rows that are not all in memory."""


def step_program(run: Run, threads: int | None) -> Program:
    """The program that a run would execute."""
    assert isinstance(run.plan.data, Rows)
    sizes = {"n": min(run.plan.batch_size, len(run.plan.data))}
    graph = graph_of(run, run.plan.data)
    count = threads_for(graph, sizes, threads or default_threads())
    return native.step_program(graph, roles(graph, checked=run.trainer.ours), sizes, count)
