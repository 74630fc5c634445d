"""What a run makes its steps with: one protocol, whatever computes them; the plain way, step by step; and the choice.

The plain way runs the recorded graph of a step by an executor for every batch; `compiled_steps` has compiled ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pellucid.data.rows import Rows
from pellucid.data.streams import Stream
from pellucid.processors import default_threads
from pellucid.train.loop.divergence import locate
from pellucid.train.loop.step import Snapshot, Trainer, float64s, measured

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

STEP = 1e-3
"""Seconds that the loop around the NumPy executor takes for a step."""


class Steps(Protocol):
    """The steps of a run, and the state that they change: parameters, statistics, rule state.

    The run has the position (epoch, step, batch) and what was measured; the steps bring it up to date by `run.note`.
    """

    @property
    def engine(self) -> str:
        """The name of the engine that computes them."""

    @property
    def threads(self) -> int:
        """How many threads a step runs on."""

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        """The rest of the epoch: batch by batch, or in larger parts where nobody listens to single batches.

        Was the last step of each part made? One that is not finite is not.
        """

    def catch_up(self, run: Run) -> None:
        """Tell the run of epochs that were computed ahead of time (the user pressed Ctrl-C between them)."""

    def snapshot(self, run: Run) -> Snapshot:
        """The state as it is now, to be kept."""

    def view(self, run: Run) -> Snapshot:
        """The state where it lies: to be read at once, not kept."""

    def mark(self, run: Run) -> Snapshot | None:
        """The state as it is now, for a mark; None where a copy would have to be made, and it can be found again."""

    def load(self, state: Snapshot | None, run: Run) -> None:
        """Go on from this state; without one, from that which the run had where it says that it stands."""

    def last(self, run: Run) -> Snapshot:
        """The state that the run ends with, to be kept. After it there is only `close`."""

    def close(self) -> None:
        """The run is over: memory is given back."""


class NumpySteps:
    """A new snapshot for every step. Callbacks that want its objective or gradients get them between its two halves."""

    threads = 1

    def __init__(self, trainer: Trainer, start: Snapshot) -> None:
        self.trainer, self.now = trainer, start

    @property
    def engine(self) -> str:
        """The executor of the graphs; callbacks may want gradients of compiled code."""
        return self.trainer.engine

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        plan = run.plan
        seed = plan.seed if plan.shuffle else None
        split = listening["forward"] or listening["gradients"] or self.engine == "native"
        for batch in plan.data.batches(plan.batch_size, seed=seed, epoch=run.epoch - 1, start=run.batch):
            run.look(batch.dense)
            yield self.step(run, batch, split)

    def step(self, run: Run, batch: Rows, split: bool = False) -> bool:
        """One step; the old parameters stay if the result is not finite. Was it made?"""
        trainer, now, t = self.trainer, self.now, run.step
        numbers, settings = run.rule_numbers(t), run.settings(t)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite is looked for below
            if split:
                (objective, (state, parts)), gradients = trainer.gradients(now, batch, t, settings)
                run.emit("forward", float(objective))
                gradients = run.changed_gradients(gradients)
                (params, rule), size, total = trainer.update(now, gradients, t, float64s(numbers))
                new = Snapshot(params, state, rule)
                step = measured(objective, size, total, parts)
            else:
                new, step = trainer.step(now, batch, t, float64s(numbers), settings)
        if not step.finite and run.plan.on_divergence != "ignore":
            run.diverge(locate(trainer, now, batch, t, settings, step.objective), batch)
            return False
        self.now, run.numbers = new, numbers
        means, weight = step.means, batch.weight
        sums = {name: run.sums[name] + mean * weight for name, mean in means.items()}
        run.note(1, sums, run.weight + weight, means["loss"], step.objective, step.gradient_norm)
        return True

    def catch_up(self, run: Run) -> None:
        """Nothing is computed ahead of time."""

    def snapshot(self, run: Run) -> Snapshot:
        """The state itself: the next step makes a new one."""
        return self.now

    view = mark = last = snapshot

    def load(self, state: Snapshot | None, run: Run) -> None:
        assert state is not None, "marks of these steps have their snapshots"
        self.now = state

    def close(self) -> None:
        """No memory but that of the snapshot."""


def choose(run: Run, engine: str, threads: int | None, pays: float, devices: str | None = None) -> Steps:
    """Compiled steps, where they are asked for, or pay (seconds saved), and are possible; else those that the run has.

    Sizes decide, so that the same call gives the same bits. A resumed run goes on as it began, though the call may now
    ask for more epochs.
    """
    first_engine, first_threads = run.resumed
    streamed = isinstance(run.plan.data, Stream)
    unsure = streamed and first_engine == "numpy" and run.total is None  # it may not have gone on for long enough
    if engine == "auto" and first_engine is not None and not unsure:
        engine = first_engine
    if engine == "numpy":
        return run.steps
    if engine == "jax":
        return _on_jax(run, devices)
    from pellucid.engine.native.passes.lower import CannotCompile
    from pellucid.engine.native.runtime.fallback import numpy_seconds, tell
    from pellucid.engine.native.runtime.work import compiled_seconds
    from pellucid.train.loop.compiled_steps import graph_of
    from pellucid.train.loop.late_steps import LateSteps, threads_beside_reading
    from pellucid.train.loop.native_steps import NativeSteps, NativeStreamSteps

    later = 0  # from how many steps on it pays
    if engine == "auto":
        example = run.plan.data.example
        rows = run.plan.data.step_rows(run.plan.batch_size)
        graph = graph_of(run, example)
        if example.sparse:  # what counts is the update of a large weight, and that is limited by memory
            each = STEP + compiled_seconds(graph, {"n": rows, "m": example.X.nnz * rows // len(example)})
        else:
            each = STEP + numpy_seconds(graph, {"n": rows})
        if run.total is not None and run.total * each < pays:
            return run.steps
        later = math.ceil(pays / each) if run.total is None and streamed else 0
    split = any(c.handles("forward") or c.handles("gradients") for c in run.callbacks)
    if split or run.plan.data.example.sparse:  # in two halves: of sparse rows the update alone is compiled
        return run.steps if later else NumpySteps(replace(run.trainer, engine="native"), run.now)
    available = threads or first_threads or threads_beside_reading(run, default_threads())
    if later:
        return LateSteps(run, available, later)
    try:
        return (NativeStreamSteps if streamed else NativeSteps)(run, available)
    except CannotCompile as error:
        tell("the training step", error)
    return run.steps


def _on_jax(run: Run, devices: str | None) -> Steps:
    """Steps on JAX's devices, where they are possible; in two halves where callbacks want gradients."""
    from pellucid.engine.jax.library import require_jax

    require_jax()
    from pellucid.engine.jax.processes import count
    from pellucid.engine.native.passes.lower import CannotCompile
    from pellucid.engine.native.runtime.fallback import tell
    from pellucid.train.loop.jax_steps import JaxSteps, JaxStreamSteps, placement_of

    try:
        if run.plan.data.example.sparse:
            raise CannotCompile("batches of sparse rows have different numbers of entries, and XLA wants one")
        placement = placement_of(run.plan.data, devices)
        if any(c.handles("forward") or c.handles("gradients") for c in run.callbacks):  # each process takes all rows
            return NumpySteps(replace(run.trainer, engine="jax"), run.now)
        streamed = isinstance(run.plan.data, Stream)
        return (JaxStreamSteps if streamed else JaxSteps)(run, placement)
    except CannotCompile as error:
        if devices is not None and count() > 1:  # each alone would train another model
            raise
        tell("the training step", error)
    return run.steps
