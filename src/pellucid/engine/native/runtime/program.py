"""A program: the instructions of a graph for a number of threads, ready to be bound to sizes and arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.engine.native.loops.loop_code import LoopKernel, kernel_of
from pellucid.engine.native.passes.divided_products import Choice, divide
from pellucid.engine.native.passes.fuse import fuse
from pellucid.engine.native.passes.instructions import Instruction, Loop, base
from pellucid.engine.native.passes.lower import Lowered, lower
from pellucid.engine.native.passes.overwriting import overwrites_of
from pellucid.engine.native.passes.product_loops import with_products
from pellucid.engine.native.passes.schedule import Check, Step, in_parts, schedule
from pellucid.engine.native.passes.values import Value, evaluate
from pellucid.engine.native.runtime import blas, cache
from pellucid.graph.graph import Graph
from pellucid.markup import folded


@dataclass
class Program:
    """What the passes made of a graph. Print it to read it; `explain()` counts its work."""

    graph: Graph
    lowered: Lowered
    threads: int
    instructions: list[Instruction]
    steps: list[Step]
    kernels: dict[Loop, LoopKernel]
    overwrites: dict[int, Value]  # value -> the array in whose place it is written
    private: set[int]  # arrays of which each thread has its own
    choices: list[Choice]  # how products are divided

    def suits(self, sizes: Mapping[str, int]) -> bool:
        """Does it hold for these sizes?"""
        return all(bool(evaluate(question, sizes)) == answer for question, answer in self.lowered.guards)

    def is_for(self, sizes: Mapping[str, int], threads: int) -> bool:
        """Is it what would be built for these sizes?"""
        return threads == self.threads and self.suits(sizes) and all(c.holds(sizes, threads) for c in self.choices)

    def __str__(self) -> str:
        from pellucid.engine.native.runtime.show import listing

        return listing(self)

    def __repr__(self) -> str:
        from pellucid.engine.native.runtime.show import title

        return f"<Program {title(self)}; print it to read it>"

    def _repr_html_(self) -> str:
        """Notebooks show a line that opens."""
        from pellucid.engine.native.runtime.show import title

        return folded(f"Program {title(self)}", str(self))

    def explain(self, **sizes: int) -> Any:
        """Kernels, buffers, floating-point operations and bytes of each instruction, for given open sizes."""
        from pellucid.engine.native.runtime.show import explanation

        return explanation(self, sizes)


def program_for(
    graph: Graph,
    sizes: Mapping[str, int],
    threads: int,
    updates: Mapping[int, int] | None = None,
    check: Sequence[int] = (),
    checked: bool = False,
) -> Program:
    """What `build` makes: kept with the graph, one for all sizes that give the same answers."""
    roles = updates or {}, tuple(check), checked
    programs: list[tuple[Any, Program]] = graph.kept.setdefault(Program, [])
    for used, program in programs:
        if used == roles and program.is_for(sizes, threads):
            return program
    programs.append((roles, build(graph, sizes, threads, updates, check, checked)))
    return programs[-1][1]


def build(
    graph: Graph,
    sizes: Mapping[str, int],
    threads: int = 1,
    updates: Mapping[int, int] | None = None,
    check: Sequence[int] = (),
    checked: bool = False,
) -> Program:
    """All passes.

    `updates` pairs outputs with the inputs that they replace in the next step (parameters, rule state): these are
    written over. `check` are outputs that must be finite before that happens; `checked`: see `lower`.
    """
    cache.target_processor()  # where nothing can be compiled, nothing is planned
    lowered = lower(graph, sizes, checked)
    choices = divide(lowered, sizes, threads, [lowered.inputs[i] for i in (updates or {}).values()])
    instructions = fuse(lowered)
    alone = threads == 1  # waits for nobody, and runs a loop of its own somewhat faster
    if not alone and blas.library() is None:
        instructions = with_products(lowered, instructions)
    finite = Check([base(lowered.outputs[i]) for i in check if not lowered.outputs[i].known]) if check else None
    overwrites = overwrites_of(lowered, instructions, updates or {}, finite)
    steps = schedule(instructions, overwrites, finite, threads)
    kernels = {step: kernel_of(step, overwrites) for step in steps if isinstance(step, Loop)}
    private = {x.number for x in lowered.values if x.single}
    if threads > 1:
        private |= {x.number for s in steps if isinstance(s, Loop) for x in in_parts(s)}
    return Program(graph, lowered, threads, instructions, steps, kernels, overwrites, private, choices)
