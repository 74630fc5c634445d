"""Kernels that are the same for every program: products, barriers, sums of parts, moves."""

from __future__ import annotations

from pellucid.engine.native.expressions import NAMES
from pellucid.engine.native.values import REDUCTIONS
from pellucid.graph.primitives.statistics import REACH, SAME, STILL

_HEAD = "from pellucid.engine.native.kernel_parts import {names}\n\n\ndef kernel(a):\n"

GEMM = _HEAD.format(names="call_gemm") + "    call_gemm(a)\n    return 0\n"

# [counter, threads]: the last to arrive opens the barrier for all. The others look for some 100 microseconds, longer
# than threads with a processor each wait, and then nap between looks: somebody may need theirs
BARRIER = (
    _HEAD.format(names="atomic_add, atomic_load, rest, word")
    + """    counter, threads = word(a, 0), word(a, 1)
    target = (atomic_add(counter, 1) // threads + 1) * threads
    turns = 0
    while atomic_load(counter) < target:
        turns += 1
        if turns > 100000:
            rest()
    return 0
"""
)

# [count, (address, is float64) ...]: 1 if one of the numbers is not finite
CHECK = (
    _HEAD.format(names="INFINITY, f64, load_f32, load_f64, magnitude, word")
    + """    for i in range(word(a, 0)):
        place = word(a, 1 + 2 * i)
        x = load_f64(place, 0, 1) if word(a, 2 + 2 * i) else f64(load_f32(place, 0, 2))
        if not (magnitude(x) < INFINITY):
            return 1
    return 0
"""
)

# [bytes, target]
ZERO = (
    _HEAD.format(names="store_i8, i8, word")
    + """    for i in range(word(a, 0)):
        store_i8(word(a, 1), i, i8(0), 0)
    return 0
"""
)


def combine(kind: str, dtype: str) -> str:
    """[first, last, parts, address of the first part, bytes between parts, target]: all parts, in their order."""
    T = NAMES[dtype]
    step = {
        "sum": "x + y",
        "prod": "x * y",
        "any": "x | y",
        "all": "x & y",
        "max": "y if (y > x) | (y != y) else x",
        "min": "y if (y < x) | (y != y) else x",
    }[kind]
    assert kind in REDUCTIONS
    return (
        _HEAD.format(names=f"load_{T}, store_{T}, word")
        + f"""    first, last, parts = word(a, 0), word(a, 1), word(a, 2)
    source, step, target = word(a, 3), word(a, 4), word(a, 5)
    for i in range(first, last):
        store_{T}(target, i, load_{T}(source, i, 1), 0)
    for part in range(1, parts):
        place = source + part * step
        for i in range(first, last):
            x = load_{T}(target, i, 0)
            y = load_{T}(place, i, 1)
            store_{T}(target, i, {step}, 0)
    return 0
"""
    )


def move(itemsize: int) -> str:
    """[axes, source, target, sizes, steps in the source, steps in the target (in elements)]"""
    T = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}[itemsize]
    return (
        _HEAD.format(names=f"load_{T}, store_{T}, word")
        + f"""    axes, source, target = word(a, 0), word(a, 1), word(a, 2)
    total = 1
    for d in range(axes - 1):
        total *= word(a, 3 + d)
    inner = word(a, 2 + axes)
    step_in, step_out = word(a, 2 + 2 * axes), word(a, 2 + 3 * axes)
    for number in range(total):
        rest, at, to = number, 0, 0
        for back in range(axes - 1):
            d = axes - 2 - back
            size = word(a, 3 + d)
            at += (rest % size) * word(a, 3 + axes + d)
            to += (rest % size) * word(a, 3 + 2 * axes + d)
            rest //= size
        for i in range(inner):
            store_{T}(target, to + i * step_out, load_{T}(source, at + i * step_in, 1), 0)
    return 0
"""
    )


BAD_INDEX, BAD_LABEL = 2, 3
"""What a program returns that met an index or a label out of range."""


def check_range(dtype: str) -> str:
    """[begin, count, address, end, status]: the status if a whole number is outside begin ... end - 1."""
    T = NAMES[dtype]
    return (
        _HEAD.format(names=f"i64, load_{T}, word")
        + f"""    begin, end = word(a, 0), word(a, 3)
    for i in range(word(a, 1)):
        x = i64(load_{T}(word(a, 2), i, 1))
        if x < begin or x >= end:
            return word(a, 4)
    return 0
"""
    )


def gather(dtype: str, scatter: bool) -> str:
    """Elements by index arrays, out of an array or (adding) into one.

    [index arrays k, gathered elements, rest axes r, source, target, k x (address, size, step),
     r x (size, step in the array, step on the other side), step of a gathered element on the other side]
    """
    T = NAMES[dtype]
    action = (
        f"store_{T}(target, at + there, load_{T}(target, at + there, 0) + load_{T}(source, to + here, 1), 0)"
        if scatter
        else f"store_{T}(target, to + here, load_{T}(source, at + there, 1), 0)"
    )
    return (
        _HEAD.format(names=f"load_{T}, store_{T}, load_i64, word")
        + f"""    k, count, r, source, target = word(a, 0), word(a, 1), word(a, 2), word(a, 3), word(a, 4)
    rest_at = 5 + 3 * k
    total = 1
    for d in range(r):
        total *= word(a, rest_at + 3 * d)
    step = word(a, rest_at + 3 * r)
    for g in range(count):
        at = 0
        for i in range(k):
            index = load_i64(word(a, 5 + 3 * i), g, 2)
            size = word(a, 6 + 3 * i)
            index = index + size if index < 0 else index
            at += index * word(a, 7 + 3 * i)
        to = g * step
        for number in range(total):
            rest, there, here = number, 0, 0
            for back in range(r):
                d = r - 1 - back
                size = word(a, rest_at + 3 * d)
                there += (rest % size) * word(a, rest_at + 3 * d + 1)
                here += (rest % size) * word(a, rest_at + 3 * d + 2)
                rest //= size
            {action}
    return 0
"""
    )


def along(op: str, dtype: str) -> str:
    """argmax, argmin, cumsum along rows: [rows, columns, source, target]"""
    T = NAMES[dtype]
    sign = ">" if op == "argmax" else "<"
    body = {
        "cumsum": f"""        total = load_{T}(source, i * columns, 1) if columns > 0 else load_{T}(source, 0, 1)
        for j in range(columns):
            total = load_{T}(source, i * columns + j, 1) if j == 0 else total + load_{T}(source, i * columns + j, 1)
            store_{T}(target, i * columns + j, total, 0)
"""
    }.get(
        op,
        f"""        best, place = load_{T}(source, i * columns, 1), 0
        for j in range(1, columns):
            x = load_{T}(source, i * columns + j, 1)
            if (x {sign} best) | ((x != x) & (best == best)):
                best, place = x, j
        store_i64(target, i, place, 0)
""",
    )
    names = f"load_{T}, store_{T}" + ("" if T == "i64" else ", store_i64")
    return (
        _HEAD.format(names=f"{names}, word")
        + f"""    rows, columns, source, target = word(a, 0), word(a, 1), word(a, 2), word(a, 3)
    for i in range(rows):
{body}    return 0
"""
    )


BLOCK = 1024
"""Numbers that are put into bins at a time."""


def distribution(dtype: str, bins: int) -> str:
    """[count, source, target]: mean, deviation, smallest, largest, share of zeros, count, histogram, float64.

    Smallest and largest are looked for among the bits, turned into whole numbers of the same order: those can be
    compared many at a time, while numbers that may be NaN cannot. The histogram goes by blocks: bins first, many at a
    time; then they are counted in four places by turns, for a count that was just written is slow to be read again.
    """
    T, B, last = {"float32": ("f32", "i32", 31), "float64": ("f64", "i64", 63)}[dtype]
    parts = ["f64", "i32", "i64", f"load_{T}", f"load_{B}", "load_i32", "load_i64", "magnitude", "root", "scratch"]
    parts += ["store_f64", "store_i32", "store_i64", "word"]
    return (
        _HEAD.format(names=", ".join(dict.fromkeys(["INFINITY", *parts])))
        + f"""    count, source, target, bins = word(a, 0), word(a, 1), word(a, 2), {bins}
    total, squares, zeros = 0.0, 0.0, 0.0
    for i in range(count):
        x = f64(load_{T}(source, i, 1))
        total += x
        squares += x * x
        zeros += 1.0 if x == 0.0 else 0.0
    mask = {B}({2**last - 1})
    least, most = mask, {B}(-mask - 1)
    for i in range(count):
        key = load_{B}(source, i, 1)
        key = {B}(key ^ ((key >> {B}({last})) & mask))
        least = key if key < least else least
        most = key if key > most else most
    store_{B}(target, 0, {B}(least ^ ((least >> {B}({last})) & mask)), 0)
    store_{B}(target, 1, {B}(most ^ ((most >> {B}({last})) & mask)), 0)
    low, high = f64(load_{T}(target, 0, 0)), f64(load_{T}(target, 1, 0))
    mean = total / count
    variance = squares / count - mean * mean
    std = root(variance) if variance > 0.0 else variance * 0.0
    store_f64(target, 0, mean, 0)
    store_f64(target, 1, std, 0)
    store_f64(target, 2, low + mean * 0.0, 0)
    store_f64(target, 3, high + mean * 0.0, 0)
    store_f64(target, 4, zeros / count, 0)
    store_f64(target, 5, f64(count), 0)
    for k in range(bins):
        store_f64(target, 6 + k, 0.0, 0)
    if not (magnitude(mean) + magnitude(std) < INFINITY):
        return 0
    lower, upper = mean - {REACH} * std, mean + {REACH} * std
    lower = low if low > lower else lower
    upper = high if high < upper else upper
    if not upper > lower:
        lower, upper = lower - 0.5, lower + 0.5
    scale, top = bins / (upper - lower), f64(bins - 1)
    places, lanes = scratch({BLOCK // 2}), scratch({4 * bins})
    for k in range(4 * bins):
        store_i64(lanes, k, 0, 3)
    start = 0
    while start < count:
        block = count - start if count - start < {BLOCK} else {BLOCK}
        for i in range(block):
            place = (f64(load_{T}(source, start + i, 1)) - lower) * scale
            place = place if place > 0.0 else 0.0
            store_i32(places, i, i32(place if place < top else top), 2)
        for i in range(block // 4):
            for lane in range(4):
                k = 4 * i64(load_i32(places, 4 * i + lane, 2)) + lane
                store_i64(lanes, k, load_i64(lanes, k, 3) + 1, 3)
        for i in range(block // 4 * 4, block):
            k = 4 * i64(load_i32(places, i, 2))
            store_i64(lanes, k, load_i64(lanes, k, 3) + 1, 3)
        start += block
    for k in range(bins):
        counted = load_i64(lanes, 4 * k, 3) + load_i64(lanes, 4 * k + 1, 3)
        counted += load_i64(lanes, 4 * k + 2, 3) + load_i64(lanes, 4 * k + 3, 3)
        store_f64(target, 6 + k, f64(counted), 0)
    return 0
"""
    )


def column_moments(dtype: str) -> str:
    """[rows, columns, source, target]: mean, deviation, smallest and largest of each column, in float64."""
    T = NAMES[dtype]
    return (
        _HEAD.format(names=f"f64, load_{T}, load_f64, root, store_f64, word")
        + f"""    rows, columns, source, target = word(a, 0), word(a, 1), word(a, 2), word(a, 3)
    for j in range(columns):
        x = f64(load_{T}(source, j, 1))
        store_f64(target, j, x, 0)
        store_f64(target, columns + j, x * x, 0)
        store_f64(target, 2 * columns + j, x, 0)
        store_f64(target, 3 * columns + j, x, 0)
    for i in range(1, rows):  # the four rows of the target do not overlap
        for j in range(columns):
            x = f64(load_{T}(source, i * columns + j, 1))
            low, high = load_f64(target, 2 * columns + j, 3), load_f64(target, 3 * columns + j, 4)
            store_f64(target, j, load_f64(target, j, 0) + x, 0)
            store_f64(target, columns + j, load_f64(target, columns + j, 2) + x * x, 2)
            store_f64(target, 2 * columns + j, x if x < low else low, 3)
            store_f64(target, 3 * columns + j, x if x > high else high, 4)
    for j in range(columns):
        mean = load_f64(target, j, 0) / rows
        variance = load_f64(target, columns + j, 0) / rows - mean * mean
        store_f64(target, j, mean, 0)
        store_f64(target, columns + j, root(variance) if variance > 0.0 else variance * 0.0, 0)
        store_f64(target, 2 * columns + j, load_f64(target, 2 * columns + j, 0) + mean * 0.0, 0)
        store_f64(target, 3 * columns + j, load_f64(target, 3 * columns + j, 0) + mean * 0.0, 0)
    return 0
"""
    )


def likeness(dtype: str) -> str:
    """[columns, source, target]: (trace)^2 / sum of squares, and for each column the first that it is a copy of."""
    T = NAMES[dtype]
    return (
        _HEAD.format(names=f"f64, load_{T}, load_f64, root, store_f64, word")
        + f"""    columns, source, target = word(a, 0), word(a, 1), word(a, 2)
    trace, total, largest = 0.0, 0.0, 0.0
    for j in range(columns):
        square = f64(load_{T}(source, j * columns + j, 1))
        size = root(square) if square > 0.0 else 0.0
        store_f64(target, 1 + j, size, 0)
        trace += size * size
        largest = size if size > largest else largest
    for i in range(columns * columns):
        x = f64(load_{T}(source, i, 1))
        total += x * x
    store_f64(target, 0, trace * trace / total if total > 0.0 else 0.0, 0)
    least = {STILL} * largest
    for back in range(columns):
        j = columns - 1 - back
        size = load_f64(target, 1 + j, 0)
        first = j
        if size > least:
            for i in range(j):
                other = load_f64(target, 1 + i, 0)
                if (other > least) & (f64(load_{T}(source, i * columns + j, 1)) >= {1 - SAME!r} * other * size):
                    first = i
                    break
        store_f64(target, 1 + j, f64(first), 0)
    return 0
"""
    )


# the loop that never returns to the interpreter: see run.py for the words. Numbers too small to be normal are taken
# for zero if word 22 says so: momenta of dead units would otherwise stay tiny for ever, and are very slow
RUN = (
    _HEAD.format(names="call_kernel, copy_memory, load_i64, set_float_mode, store_i64, word")
    + """    batch = word(a, 13)
    order = word(a, 12)
    reached = word(a, 1)
    status = 0
    mode = set_float_mode(word(a, 22)) if word(a, 22) else 0
    per_epoch = word(a, 23)
    for k in range(word(a, 0), word(a, 1)):
        inside = k % per_epoch
        rows_at = k // per_epoch * word(a, 24) + inside * batch
        short = inside == word(a, 2)
        entries = word(a, 5) if short else word(a, 3)
        count = word(a, 6) if short else word(a, 4)
        first = word(a, 16) if short else word(a, 14)
        last = word(a, 17) if short else word(a, 15)
        given = word(a, 7)
        for s in range(given):
            store_i64(word(word(a, 9), s), 0, load_i64(word(a, 8), k * given + s, 1), 0)
        for g in range(word(a, 10)):
            source = word(word(a, 11), 3 * g)
            target = word(word(a, 11), 3 * g + 1)
            size = word(word(a, 11), 3 * g + 2)
            if size == 8:
                for r in range(first, last):
                    store_i64(target, r, load_i64(source, load_i64(order, rows_at + r, 1), 2), 3)
            else:
                for r in range(first, last):
                    copy_memory(target + r * size, source + load_i64(order, rows_at + r, 1) * size, size)
        for e in range(count):
            status = call_kernel(load_i64(entries, 2 * e, 4), load_i64(entries, 2 * e + 1, 4))
            if status != 0:
                break
        results = word(a, 18)
        for s in range(results):
            store_i64(word(a, 20), k * results + s, load_i64(word(word(a, 19), s), 0, 1), 0)
        if status != 0:
            reached = k
            break
    if word(a, 22):
        set_float_mode(mode)
    store_i64(a, 21, reached, 63)
    return status
"""
)

# [bytes, source, target]
COPY = _HEAD.format(names="copy_memory, word") + "    copy_memory(word(a, 2), word(a, 1), word(a, 0))\n    return 0\n"
