"""The steps of a run on JAX: an epoch is one program on its devices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import jax

from pellucid.data.rows import Rows
from pellucid.data.shared_rows import SharedRows
from pellucid.data.streams import Stream
from pellucid.engine.jax.holdings import even
from pellucid.engine.jax.placement import Placement, Spread
from pellucid.engine.jax.stepper import JaxStepper
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime.work import compiled_seconds
from pellucid.train.loop.compiled_steps import PERIOD, CompiledSteps, graph_of, roles
from pellucid.train.loop.stream_steps import StreamedSteps

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

LONG = 10.0
"""Seconds, about, that an epoch may take as one program; in longer ones the clock and the keyboard are looked at."""


class JaxSteps(CompiledSteps):
    """Programs of XLA."""

    engine = "jax"
    threads = 1
    stepper: JaxStepper

    def __init__(self, run: Run, placement: Placement) -> None:
        self.placement = placement
        super().__init__(run)

    def _bind(self, run: Run, data: Rows, rows: int) -> None:
        self.rows = rows
        graph = graph_of(run, data)
        places = roles(graph, checked=run.trainer.ours)
        self.stepper = JaxStepper(graph, places, rows, self.placement)
        each = compiled_seconds(graph, {"n": rows})
        epoch = -(-len(data) // rows)
        self.chunk = max(1, int(PERIOD / each), epoch if epoch * each < LONG else 1)

    def _suits(self, rows: int) -> bool:
        return True  # another number of rows is another program

    def _release(self) -> None:
        """XLA's memory goes with the arrays."""


class JaxStreamSteps(StreamedSteps, JaxSteps):
    """The same for rows that are not all in memory."""

    def feed(self, data: Rows, used: int | None = None) -> None:
        """Each stretch of rows is split over the devices for itself."""
        if isinstance(self.placement, Spread):
            self.placement = self.stepper.placement = replace(self.placement, holdings=even(len(data), 1))
        super().feed(data, used)


def placement_of(data: Rows | Stream, devices: str | None) -> Placement:
    """One device, or "all" of them: rows of a share stay where they are, others are split evenly."""
    if devices is None:
        return Placement()
    if isinstance(data, Stream):
        if jax.process_count() > 1:
            raise CannotCompile("several processes train on rows in memory, or on a Dataset of distributed.share")
        return Spread(tuple(jax.devices()), even(len(data.example), 1))
    if isinstance(data, SharedRows):
        return Spread(tuple(jax.devices()), data.holdings, whole=False)
    return Spread(tuple(jax.devices()), even(len(data), jax.process_count()))
