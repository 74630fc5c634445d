"""Which engine a run uses. Sizes decide, so that the same call gives the same bits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from pellucid.amounts import is_whole
from pellucid.data.rows import Rows
from pellucid.data.streams import Stream
from pellucid.engine.compile import ENGINES
from pellucid.train.loop.numpy_steps import NumpySteps
from pellucid.train.loop.run import Run
from pellucid.train.loop.steps import Steps


def check_engine(engine: str, threads: int | None) -> None:
    if engine not in ENGINES:
        raise ValueError(f"engine is one of {', '.join(map(repr, ENGINES))}, got {engine!r}")
    if threads is not None and not is_whole(threads):
        raise ValueError(f"threads is a number from 1, or None for all processors, got {threads!r}")


STEP = 1e-3
"""Seconds that the loop around the NumPy executor takes for a step."""


def choose(run: Run, engine: str, threads: int | None, quiet: bool, pays: float) -> Steps:
    """Compiled steps, where they are asked for, or pay (seconds saved), and are possible; else those that the run has.

    A resumed run goes on as it began, though the call may now ask for more epochs.
    """
    first_engine, first_threads = run.resumed
    streamed = isinstance(run.plan.data, Stream)
    unsure = streamed and first_engine == "numpy" and run.total is None  # it may not have gone on for long enough
    if engine == "auto" and first_engine is not None and not unsure:
        engine = first_engine
    if engine == "numpy":
        return run.steps
    from pellucid.engine.native import cache
    from pellucid.engine.native.fallback import numpy_seconds, tell
    from pellucid.engine.native.lower import CannotCompile
    from pellucid.engine.native.processors import default_threads
    from pellucid.train.loop.native_steps import NativeSteps, graph_of
    from pellucid.train.loop.native_stream_steps import LateSteps, NativeStreamSteps

    later = 0  # from how many steps on it pays
    if engine == "auto":
        example = run.plan.data.example
        rows = len(example) if streamed else min(run.plan.batch_size, len(example))
        each = STEP + numpy_seconds(graph_of(run, example), {"n": rows})
        if run.total is not None and run.total * each < pays:
            return run.steps
        later = math.ceil(pays / each) if run.total is None and streamed else 0
    if any(c.handles("gradients") for c in run.callbacks):
        return run.steps if later else NumpySteps(replace(run.trainer, engine="native"), run.now)
    available = threads or first_threads or default_threads()
    if later:
        return LateSteps(run, available, later)
    with cache.silent(quiet):
        try:
            return (NativeStreamSteps if streamed else NativeSteps)(run, available)
        except CannotCompile as error:
            tell("the training step", error)
    return run.steps


def step_program(run: Run, threads: int | None) -> Any:
    """The program that a run would execute."""
    from pellucid.engine.native.processors import default_threads
    from pellucid.engine.native.stepper import program_for
    from pellucid.engine.native.work import threads_for
    from pellucid.train.loop.native_steps import graph_of, roles

    assert isinstance(run.plan.data, Rows)
    sizes = {"n": min(run.plan.batch_size, len(run.plan.data))}
    graph = graph_of(run, run.plan.data)
    count = threads_for(graph, sizes, threads or default_threads())
    return program_for(graph, roles(graph, checked=run.trainer.ours), sizes, count)
