"""Where the arrays of a program lie: some for all threads, and a zone for each thread."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from pellucid.engine.native.code.products.product_plan import Room
from pellucid.engine.native.passes.instructions import Loop
from pellucid.engine.native.passes.memory import ALIGN, plan, up
from pellucid.engine.native.passes.schedule import by_rows, extent, in_parts, place_of
from pellucid.engine.native.passes.values import Value, size_of
from pellucid.engine.native.runtime.arrays import aligned, as_read
from pellucid.engine.native.runtime.product_share import room_of
from pellucid.engine.native.runtime.program import Program
from pellucid.engine.native.runtime.work import share
from pellucid.graph.core.dims import product, resolve

PRIVATE = 64
"""Between the copies of a number that each thread has for itself."""

GAP = 1 << 16
"""Between zones: further than a processor fetches ahead."""

EMPTY: Mapping[int, int] = MappingProxyType({})


class Memory:
    """The places, for sizes up to a largest one, and the counter of the barriers.

    A thread's zone has what no other thread reads: its rows of arrays of which each thread uses its own only, its
    copies of single numbers and of sums, working space; and its parts of sums, which others read. Processors fetch
    ahead what lies behind the last thing that they have read or written. Where another thread works there, it would
    have to call every line back.

    `outside` has the addresses of arrays from outside; of those in `between` each thread has its own, so many bytes
    apart.
    """

    def __init__(
        self,
        program: Program,
        largest: Mapping[str, int],
        outside: Mapping[int, int],
        between: Mapping[int, int] = EMPTY,
    ) -> None:
        self.program, self.outside, self.between, threads = program, outside, between, program.threads
        steps, overwrites = program.steps, program.overwrites
        several = threads > 1
        made = {x.number: x for step in steps for x in step.writes}
        outputs = {place_of(x, overwrites).number for x in program.lowered.outputs}
        self.by_rows = by_rows(steps, overwrites) - outputs if several else set()
        own_copies = program.private if several else set()  # thread 0 may use an array from outside
        inside = [n for n in made if n not in overwrites and (n not in outside or n in own_copies)]
        in_zones = {n for n in inside if n in own_copies or n in self.by_rows}
        sizes = {n: self._most_bytes(made[n], largest, n in self.by_rows) for n in inside}
        self.in_zone, self.zone = plan(steps, overwrites, {n: sizes[n] for n in inside if n in in_zones}, 1, outputs)
        loops = [step for step in steps if isinstance(step, Loop)]
        partial = {x.number: x for loop in loops for x in in_parts(loop)} if several else {}
        self.parts = {n: self._more(self._most_bytes(x, largest)) for n, x in partial.items()}
        self.scratch = {
            (loop, i): self._more(scratch.bytes(_columns(loop, largest)))
            for loop in loops
            for i, scratch in enumerate(program.kernels[loop].plan.scratch)
        }
        self.room = room_of(program, largest)
        self.panel, self.copies = (self._more(size) for size in self.room)  # where products put them
        shared = {n: sizes[n] for n in inside if n not in in_zones}
        self.places, size = plan(steps, overwrites, shared, threads, outputs)
        step = self.zone + GAP * several  # from zone to zone
        self.size = size + ALIGN + self.zone * threads
        self.arena = aligned((size + ALIGN + step * threads,), np.uint8)
        self.counter = int(self.arena.ctypes.data)  # where threads meet
        self.start = self.counter + ALIGN
        self.zones = [self.start + size + thread * step for thread in range(threads)]
        constants = [x for x in program.lowered.values if x.op == "constant"]
        self.constants = {x.number: as_read(x.settings["array"], x.dtype) for x in constants}

    def _most_bytes(self, x: Value, largest: Mapping[str, int], by_rows: bool = False) -> int:
        """Of an array, or of a thread's rows of it."""
        if not by_rows:
            return size_of(x.shape, largest) * x.dtype.itemsize
        return -(-int(resolve(extent(x), largest)) // self.program.threads) * _row_bytes(x, largest)

    def _more(self, size: int) -> int:
        """Where so many bytes lie in a zone, behind all others."""
        at = self.zone
        self.zone += up(size) if size else 0
        return at

    def address(self, x: Value, thread: int, sizes: Mapping[str, int]) -> int:
        """Where an array begins for a thread; one in a zone has that thread's rows only."""
        x = place_of(x, self.program.overwrites)
        if x.number in self.outside and (thread == 0 or x.number not in self.program.private or x.op == "input"):
            return self.outside[x.number] + thread * self.between.get(x.number, 0)
        if x.op == "constant":
            return int(self.constants[x.number].ctypes.data)
        if x.number in self.places:
            return self.start + self.places[x.number]
        place = self.zones[thread] + self.in_zone[x.number]
        if x.number not in self.by_rows:
            return place
        first, _ = share(int(resolve(extent(x), sizes)), self.program.threads, thread)
        return place - first * _row_bytes(x, sizes)

    def part(self, x: Value, thread: int, sizes: Mapping[str, int]) -> int:
        """Where a thread puts its part of a reduction."""
        if self.program.threads == 1:
            return self.address(x, thread, sizes)
        return self.zones[thread] + self.parts[x.number]

    def scratch_of(self, loop: Loop, thread: int) -> list[int]:
        """A thread's working space for a loop."""
        count = len(self.program.kernels[loop].plan.scratch)
        return [self.zones[thread] + self.scratch[loop, i] for i in range(count)]

    def workspace(self, thread: int) -> tuple[int, int, Room]:
        """Where a thread's products put panels and copies, and how much room there is."""
        return self.zones[thread] + self.panel, self.zones[thread] + self.copies, self.room


def _row_bytes(x: Value, sizes: Mapping[str, int]) -> int:
    """To each of the rows that threads divide."""
    inside = x.shape[x.shape.index(extent(x)) + 1 :]
    return int(resolve(product(inside), sizes)) * x.dtype.itemsize


def _columns(loop: Loop, sizes: Mapping[str, int]) -> int:
    return 1 if loop.cut is None else int(resolve(product(loop.space[loop.cut :]), sizes))
