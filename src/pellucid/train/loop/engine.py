"""Which engine a run uses. Sizes decide, so that the same call gives the same bits."""

from __future__ import annotations

import math
from typing import Any

from pellucid.amounts import is_whole
from pellucid.data.rows import Rows
from pellucid.data.streams import Stream
from pellucid.engine.compile import ENGINES
from pellucid.train.loop.loop import Run


def check_engine(engine: str, threads: int | None) -> None:
    if engine not in ENGINES:
        raise ValueError(f"engine is one of {', '.join(map(repr, ENGINES))}, got {engine!r}")
    if threads is not None and not is_whole(threads):
        raise ValueError(f"threads is a number from 1, or None for all processors, got {threads!r}")


STEP = 1e-3
"""Seconds that the loop around the NumPy executor takes for a step."""


def choose(run: Run, engine: str, threads: int | None, total: int | None, quiet: bool, pays: float) -> None:
    """Put the run on the native engine where that is asked for, or pays (seconds saved), and is possible.

    A resumed run goes on as it began, though the call may now ask for more epochs.
    """
    before, count = run.resumed
    streamed = isinstance(run.plan.data, Stream)
    unsure = streamed and before == "numpy" and run.total is None  # it may not have been going on for long enough
    if engine == "auto" and before is not None and not unsure:
        engine = before
    threads = count if threads is None and count is not None else threads
    if engine == "numpy":
        return
    from pellucid.engine.native import cache
    from pellucid.engine.native.fallback import seconds, tell
    from pellucid.engine.native.lower import CannotCompile
    from pellucid.engine.native.processors import default_threads
    from pellucid.train.loop.native import Compiled, graph_of
    from pellucid.train.loop.native_stream import Streamed

    later = 0  # from how many steps on it pays
    if engine == "auto":
        example = run.plan.data.example
        rows = len(example) if streamed else min(run.plan.batch_size, len(example))
        each = STEP + seconds(graph_of(run, example), {"n": rows})
        if total is not None and total * each < pays:
            return
        later = math.ceil(pays / each) if total is None and streamed else 0
    if any(c.handles("gradients") for c in run.callbacks):
        run.trainer.engine = "numpy" if later else "native"
        return
    with cache.silent(quiet):
        try:
            available = threads or default_threads()
            run.compiled = Streamed(run, available, later) if streamed else Compiled(run, available)
        except CannotCompile as error:
            tell("the training step", error)


def step_program(run: Run, threads: int | None) -> Any:
    """The program that a run would execute."""
    from pellucid.engine.native.processors import default_threads
    from pellucid.engine.native.stepper import program_for
    from pellucid.engine.native.work import threads_for
    from pellucid.train.loop.native import graph_of, roles

    assert isinstance(run.plan.data, Rows)
    sizes = {"n": min(run.plan.batch_size, len(run.plan.data))}
    graph = graph_of(run, run.plan.data)
    count = threads_for(graph, sizes, threads or default_threads())
    return program_for(graph, roles(graph, checked=run.trainer.ours), sizes, count)
