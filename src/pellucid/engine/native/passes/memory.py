"""The memory plan: every kept array gets a place, which is used again as soon as it is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pellucid.engine.native.passes.schedule import Barrier, Step, place_of
from pellucid.engine.native.passes.values import Value

ALIGN = 64


def up(size: int) -> int:
    """Bytes of whole lines of the cache, at least one."""
    return -(-max(size, 1) // ALIGN) * ALIGN


def plan(
    steps: Sequence[Step],
    overwrites: Mapping[int, Value],
    sizes_of: Mapping[int, int],
    threads: int,
    to_the_end: set[int],
) -> tuple[dict[int, int], int]:
    """Where each array in `sizes_of` (bytes) begins, and the size of all; so many threads read what others have made.

    What is read after the last step (`to_the_end`) shares its place with nothing: another thread may be in the next run
    already.
    """
    life = _lifetimes(steps, overwrites, sizes_of, threads)
    life |= {number: (0, len(steps)) for number in to_the_end if number in life}
    places: dict[int, int] = {}
    for number in sorted(sizes_of, key=lambda n: (-sizes_of[n], life[n][0])):  # large ones first
        begin, end = life[number]
        taken = sorted(
            (place, place + up(sizes_of[other]))
            for other, place in places.items()
            if life[other][0] <= end and begin <= life[other][1]
        )
        offset = 0
        for start, stop in taken:
            if start - offset >= up(sizes_of[number]):
                break
            offset = max(offset, stop)
        places[number] = offset
    return places, max((place + up(sizes_of[number]) for number, place in places.items()), default=0)


def _lifetimes(
    steps: Sequence[Step], overwrites: Mapping[int, Value], wanted: Mapping[int, int], threads: int
) -> dict[int, tuple[int, int]]:
    """From the first write to the last read; with threads to the next barrier, for others may be slower."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for i, step in enumerate(steps):
        for x in (*step.writes, *step.reads):
            number = place_of(x, overwrites).number
            first.setdefault(number, i)
            last[number] = i
    end = len(steps)
    barriers = [i for i, step in enumerate(steps) if isinstance(step, Barrier)]
    out: dict[int, tuple[int, int]] = {}
    for number in wanted:
        begin, stop = first.get(number, 0), last.get(number, end)
        if threads > 1:
            begin = max((b for b in barriers if b <= begin), default=0)
            stop = next((b for b in barriers if b >= stop), end)
        out[number] = (begin, stop)
    return out
