"""The loop that never returns to the interpreter, and the barriers that it calls between kernels.

A job is one thread's part of some training steps, or of a single call: batches are gathered, numbers of the step put
in their places, the entries (function, table) of the program called one after the other, results collected.
"""

from __future__ import annotations

import os
from typing import Any

from pellucid.engine.native.code.builtin_kernels import builtin
from pellucid.engine.native.code.llvm.code import INT32, INT64, Code, Lanes
from pellucid.engine.native.code.vectormath.operations import select
from pellucid.engine.native.code.words import BYTES, Reader, Words

JOB_WORDS = (
    "first last reached"  # steps, counted through the epochs; the one that was not made
    " counter"  # of steps that threads take from one another, 0 where each makes all
    " batch per_epoch epoch_rows short"  # rows and batches; which batch of an epoch is the short one, or -1
    " entries entry_count first_row last_row"  # of a whole batch, for this thread
    " short_entries short_entry_count short_first_row short_last_row"
    " order gathers gather_count"  # rows in the order of the epochs; arrays that batches are gathered from
    " numbers slots number_count"  # of each step, and where they go
    " results places result_count"  # of each step, and where they are found
    " float_mode"  # bits of the processor's mode while the job runs; 0: as it is
)

ENTRY_WORDS = Words("function table")
GATHER_WORDS = Words("source target size")
"""An array, the place of its batch, bytes of a row."""


def _run(code: Code, w: Reader) -> Lanes:
    status, reached = code.variable(INT32, 0), code.variable(INT64, w.last)
    mode = code.variable(INT64, 0)
    with code.when(w.float_mode != 0):  # numbers too small to be normal count as zero: momenta of dead units would
        mode.set(code.float_mode(w.float_mode))  # otherwise stay tiny for ever, and are very slow
    step, shared = code.variable(INT64, w.first), w.counter != 0
    with code.when(shared):
        step.set(code.atomic_add(w.counter, 1))
    with code.repeat(lambda: (step.get() < w.last) & (status.get() == 0)):
        k = step.get()
        inside = k.rest(w.per_epoch)
        rows_at = k.quotient(w.per_epoch) * w.epoch_rows + inside * w.batch
        short = inside == w.short
        entries, count = select(short, w.short_entries, w.entries), select(short, w.short_entry_count, w.entry_count)
        rows = select(short, w.short_first_row, w.first_row), select(short, w.short_last_row, w.last_row)
        _put_numbers(code, w, k)
        _gather(code, w, rows_at, *rows)
        status.set(_call_entries(code, entries, count))
        _collect(code, w, k)
        with code.when(status.get() != 0):
            reached.set(k)
        step.set(k + 1)
        with code.when(shared):
            step.set(code.atomic_add(w.counter, 1))
    with code.when(w.float_mode != 0):
        code.float_mode(mode.get())
    w.put("reached", reached.get())
    return status.get()


def _put_numbers(code: Code, w: Reader, k: Lanes) -> None:
    numbers, slots = code.anywhere(w.numbers, INT64), code.anywhere(w.slots, INT64)
    with code.loop(0, w.number_count) as s:
        code.anywhere(slots.load(s), INT64).store(0, numbers.load(k * w.number_count + s))


def _gather(code: Code, w: Reader, rows_at: Lanes, first: Lanes, last: Lanes) -> None:
    """Rows of whole numbers of 4 bytes by vectors, others as bytes."""
    order, lanes = code.array(w.order, INT64), code.processor.lanes(INT32.itemsize)
    with code.loop(0, w.gather_count) as g:
        array = GATHER_WORDS.read(code, w.gathers + g * (BYTES * len(GATHER_WORDS.names)))
        by_vectors, count = (array.size & (INT32.itemsize - 1)) == 0, array.size >> 2
        with code.when(by_vectors):
            source, target = code.array(array.source, INT32), code.array(array.target, INT32)
            with code.loop(first, last) as r:
                here, there = source.after(order.load(rows_at + r) * count), target.after(r * count)

                def move(j: Lanes, lanes: int, mask: Lanes | None, here: Any = here, there: Any = there) -> None:
                    there.store(j, here.load(j, lanes, mask), mask)

                code.span(0, count, lanes, move, code.processor.masked)
        with code.when(~by_vectors), code.loop(first, last) as r:
            code.copy(array.target + r * array.size, array.source + order.load(rows_at + r) * array.size, array.size)


def _call_entries(code: Code, entries: Lanes, count: Lanes) -> Lanes:
    """One after the other, until one says that something is wrong."""
    status, number = code.variable(INT32, 0), code.variable(INT64, 0)
    with code.repeat(lambda: (number.get() < count) & (status.get() == 0)):
        e = number.get()
        entry = ENTRY_WORDS.read(code, entries + e * (BYTES * len(ENTRY_WORDS.names)))
        status.set(code.by_address(entry.function, INT32, entry.table))
        number.set(e + 1)
    return status.get()


def _collect(code: Code, w: Reader, k: Lanes) -> None:
    results, places = code.anywhere(w.results, INT64), code.anywhere(w.places, INT64)
    with code.loop(0, w.result_count) as s:
        results.store(k * w.result_count + s, code.anywhere(places.load(s), INT64).load(0))


RUN = builtin("run", JOB_WORDS, _run)
Job = RUN.words.table
"""What a thread is told, in memory."""

LOOKS, OFFERS = 150, 2_000
"""How often a thread looks while its core rests, some microseconds, and how often it offers its processor to others,
about a millisecond if nobody takes it."""

YIELD, NAP = ("sched_yield", "usleep") if os.name == "posix" else ("SwitchToThread", "Sleep")


def _barrier(code: Code, w: Reader) -> None:
    """The last to arrive opens it for all. The others look; soon they offer the processor to others between looks: the
    thread that they wait for may have none, and be beside them. After a while they nap: a thread that sleeps leaves its
    processor to one beside another, and is woken on a free one.

    Who naps is late, and then the others wait for it: where naps begin too soon, one interrupt is followed by many. The
    rest between looks is for the other thread of a core, which may be the one that is waited for.
    """
    target = (code.atomic_add(w.counter, 1).quotient(w.threads) + 1) * w.threads
    looks = code.variable(INT64, 0)
    with code.repeat(lambda: code.atomic_load(w.counter) < target):
        code.rest()
        looks.set(looks.get() + 1)
        with code.when((looks.get() > LOOKS) & (looks.get() <= LOOKS + OFFERS)):
            code.by_name(YIELD, INT32)
        with code.when(looks.get() > LOOKS + OFFERS):
            code.by_name(NAP, INT32, code.constant(1, INT32))


BARRIER = builtin("barrier", "counter threads", _barrier)
