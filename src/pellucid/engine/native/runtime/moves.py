"""Elements in other places: transposing, slicing, joining, gathering. Each is a few words for a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pellucid.engine.native.code import builtin_kernels as kernels
from pellucid.engine.native.code import summaries
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.passes.instructions import base
from pellucid.engine.native.passes.schedule import is_single
from pellucid.engine.native.passes.values import Value, size_of
from pellucid.graph.core.dims import resolve
from pellucid.graph.core.primitive import REGISTRY
from pellucid.graph.primitives.indexing import SLOT

Work = list[tuple[Kernel, list[int]]]
"""Kernels, and the words of their tables."""

LOOKING = ("distribution", "column_moments", "likeness")
"""What only looks at an array: results that nothing else in a program reads."""


def work_of(x: Value, sizes: Mapping[str, int], address: Callable[[Value], int], thread: int, threads: int) -> Work:
    """What one thread does. A bad index is found by all of them, so that none waits for the others at a barrier."""
    if x.op == "in_range":
        return _in_range(x, sizes, address, thread, threads)
    checks: Work = []
    if x.op in ("getitem", "scatter_add") and len(x.args) > 1:
        outer = x.args[0].shape if x.op == "getitem" else x.shape
        for a, size in zip(x.args[1:], _indexed_sizes(x.settings["spec"], outer), strict=True):
            end = int(resolve(size, sizes))
            checks.append(_range_check(a, -end, end, address(base(a)), sizes, kernels.BAD_INDEX))
    # a number of which each thread has its own is made by each; those who look on take turns
    maker = x.number % threads if x.op in LOOKING else 0
    return checks + (moves(x, sizes, address) if thread == maker or is_single(x) else [])


def _in_range(x: Value, sizes: Mapping[str, int], address: Callable[[Value], int], thread: int, threads: int) -> Work:
    """Labels as they are, once all of them are known to be right; each thread copies those of its own rows."""
    count, end = size_of(x.shape, sizes), int(resolve(x.settings["end"], sizes))
    source = address(base(x.args[0]))
    check = _range_check(x, 0, end, source, sizes, kernels.BAD_LABEL)
    axis = next((i for i, s in enumerate(x.shape) if s != 1), None)
    first, last = 0, count
    if axis is not None:
        size = int(resolve(x.shape[axis], sizes))
        unit = count // max(size, 1)
        first, last = size * thread // threads * unit, size * (thread + 1) // threads * unit
    item = x.dtype.itemsize
    words = kernels.COPY_WORDS(
        bytes=(last - first) * item, source=source + first * item, target=address(x) + first * item
    )
    return [check, (kernels.COPY, words)]


def _range_check(
    x: Value, begin: int, end: int, source: int, sizes: Mapping[str, int], status: int
) -> tuple[Kernel, list[int]]:
    count = size_of(x.shape, sizes)
    words = kernels.RANGE_WORDS(begin=begin, end=end, count=count, values=source, status=status)
    return kernels.check_range(x.dtype.name), words


def _indexed_sizes(spec: tuple[Any, ...], outer: Any) -> list[Any]:
    """The sizes of the axes that index arrays stand for."""
    return [size for part, size in zip(_parts(spec, outer), _axes(spec, outer), strict=True) if part is SLOT]


def _parts(spec: tuple[Any, ...], outer: Any) -> list[Any]:
    """The index with slices in place of the dots."""
    consumed = sum(p is not None and p is not Ellipsis for p in spec)
    parts: list[Any] = []
    for p in spec if any(p is Ellipsis for p in spec) else (*spec, Ellipsis):
        parts += [slice(None)] * (len(outer) - consumed) if p is Ellipsis else [p]
    return parts


def _axes(spec: tuple[Any, ...], outer: Any) -> list[Any]:
    """The size of the axis that each part stands for; 1 for a new axis."""
    sizes = iter(outer)
    return [1 if p is None else next(sizes) for p in _parts(spec, outer)]


def moves(x: Value, sizes: Mapping[str, int], address: Callable[[Value], int]) -> Work:
    """What is to do, one thing after the other."""
    shape = tuple(int(resolve(s, sizes)) for s in x.shape)
    settings = {k: resolve(v, sizes) for k, v in x.settings.items()}
    target = address(x)
    if x.op in ("argmax", "argmin", "cumsum"):
        source = x.args[0]
        *lead, columns = (int(resolve(s, sizes)) for s in source.shape)
        rows = int(np.prod(lead, dtype=np.int64))
        words = kernels.ALONG_WORDS(rows=rows, columns=columns, source=address(base(source)), target=target)
        return [(kernels.along(x.op, source.dtype.name), words)]
    if x.op in LOOKING:
        return [_look(x, settings, sizes, address(base(x.args[0])), target)]
    if x.op == "concatenate":
        return _concatenated(x, shape, settings["axis"], sizes, address)
    source = x.args[0]
    inside = tuple(int(resolve(s, sizes)) for s in source.shape)
    array = _phantom(inside, source.dtype)
    start = address(base(source))
    if x.op == "pad":
        whole = _phantom(shape, x.dtype)
        part = whole[tuple(slice(b, b + s) for s, (b, _) in zip(inside, settings["width"], strict=True))]
        return [_zero(x, sizes, target), *_copy(array, start, part, target, whole, array)]
    if x.op in ("getitem", "scatter_add") and len(x.args) > 1:
        return _indexed(x, shape, inside, settings["spec"], sizes, address)
    if x.op == "scatter_add":
        whole = _phantom(shape, x.dtype)
        part = _part(whole, settings["spec"])
        return [_zero(x, sizes, target), *_copy(array, start, part, target, whole, array)]
    if x.op == "spread":
        taken = np.broadcast_to(array, shape)
    elif x.op == "transpose":
        taken = np.transpose(array, settings["axes"])
    elif x.op == "flip":
        taken = np.flip(array, settings["axis"])
    elif x.op == "getitem":
        taken = _part(array, settings["spec"])
    else:
        taken = REGISTRY[x.op].value(array, **settings)
    made = _phantom(shape, x.dtype)
    return _copy(taken, start, made, target, made, array)


def _look(
    x: Value, settings: Mapping[str, Any], sizes: Mapping[str, int], source: int, target: int
) -> tuple[Kernel, list[int]]:
    values = x.args[0]
    dtype, shape = values.dtype.name, [int(resolve(s, sizes)) for s in values.shape]
    if x.op == "distribution":
        count = size_of(values.shape, sizes)
        words = summaries.DISTRIBUTION_WORDS(count=count, source=source, target=target)
        return summaries.distribution(dtype, **settings), words
    if x.op == "likeness":
        return summaries.likeness(dtype), summaries.LIKENESS_WORDS(columns=shape[0], source=source, target=target)
    rows, columns = shape
    words = summaries.MOMENT_WORDS(rows=rows, columns=columns, source=source, target=target)
    return summaries.column_moments(dtype), words


def _phantom(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of which only shape and steps are ever used."""
    size, steps = np.dtype(dtype).itemsize, []
    for s in reversed(shape):
        steps.append(size)
        size *= max(s, 1)
    return np.lib.stride_tricks.as_strided(np.zeros(1, dtype), shape, tuple(reversed(steps)))


def _part(array: Any, spec: tuple[Any, ...]) -> Any:
    """array[spec] as a view, also where a single element is left."""
    return array[spec if any(p is Ellipsis for p in spec) else (*spec, Ellipsis)]


def _offset(view: Any, whole: Any) -> int:
    return int(view.__array_interface__["data"][0] - whole.__array_interface__["data"][0])


def _copy(taken: Any, start: int, made: Any, target: int, made_whole: Any, taken_whole: Any) -> Work:
    """From a view of one array into a view of another."""
    item = taken.itemsize
    if not taken.size:
        return []
    shape = taken.shape or (1,)
    steps_in = taken.strides or (item,)
    steps_out = made.strides or (item,)
    words = kernels.MOVE_WORDS(
        shape,
        (s // item for s in steps_in),
        (s // item for s in steps_out),
        axes=len(shape),
        source=start + _offset(taken, taken_whole),
        target=target + _offset(made, made_whole),
    )
    return [(kernels.move(item), words)]


def _zero(x: Value, sizes: Mapping[str, int], target: int) -> tuple[Kernel, list[int]]:
    return kernels.ZERO, kernels.ZERO_WORDS(bytes=size_of(x.shape, sizes) * x.dtype.itemsize, target=target)


def _concatenated(x: Value, shape: Any, axis: int, sizes: Mapping[str, int], address: Callable[[Value], int]) -> Work:
    whole, at, work = _phantom(shape, x.dtype), 0, []
    for a in x.args:
        inside = tuple(int(resolve(s, sizes)) for s in a.shape)
        array = _phantom(inside, a.dtype)
        part = whole[(slice(None),) * axis + (slice(at, at + inside[axis]),)]
        at += inside[axis]
        work += _copy(array, address(base(a)), part, address(x), whole, array)
    return work


def _indexed(
    x: Value, shape: Any, inside: Any, spec: Any, sizes: Mapping[str, int], address: Callable[[Value], int]
) -> Work:
    """getitem and scatter_add with index arrays, of one common shape; slices and numbers beside them."""
    outer = inside if x.op == "getitem" else shape  # the array that is indexed
    array = _phantom(outer, x.dtype)
    item = array.itemsize
    parts = _parts(spec, outer)
    arrays = list(x.args[1:])
    gathered = tuple(int(resolve(s, sizes)) for s in arrays[0].shape)  # lowering has given all of them one shape
    advanced = [i for i, p in enumerate(parts) if p is SLOT or isinstance(p, int)]
    together = advanced[-1] - advanced[0] + 1 == len(advanced)
    start, axis, rest, indexes = 0, 0, [], []
    position: list[tuple[str, int]] = []  # the axes of the other side, in order
    if not together:
        position.append(("gathered", 0))
    numbers = iter(arrays)
    for i, p in enumerate(parts):
        if together and i == advanced[0]:
            position.append(("gathered", 0))
        if p is None:
            position.append(("new", 0))
            continue
        step = array.strides[axis] // item
        if p is SLOT:
            indexes.append((address(base(next(numbers))), outer[axis], step))
        elif isinstance(p, int):
            if not -outer[axis] <= p < outer[axis]:
                raise IndexError(f"index {p} is out of range for axis {axis} of size {outer[axis]}")
            start += (p % outer[axis]) * step
        else:
            first, stop, by = p.indices(outer[axis])
            start += first * step
            rest.append([len(range(first, stop, by)), step * by, 0])
            position.append(("rest", len(rest) - 1))
        axis += 1
    count = int(np.prod(gathered, dtype=np.int64))
    stride, along = 1, 0
    for what, which in reversed(position):
        if what == "gathered":
            along, stride = stride, stride * count
        elif what == "rest":
            rest[which][2] = stride
            stride *= rest[which][0]
    other = x.args[0] if x.op == "scatter_add" else x
    indexed, flat = (
        (address(x), address(base(other))) if x.op == "scatter_add" else (address(base(x.args[0])), address(x))
    )
    indexed += start * item
    source, target = (flat, indexed) if x.op == "scatter_add" else (indexed, flat)
    words = kernels.GATHER_WORDS(
        *indexes, *rest, indexes=len(indexes), count=count, axes=len(rest), source=source, target=target, step=along
    )
    kernel = (kernels.gather(x.dtype.name, x.op == "scatter_add"), words)
    return [_zero(x, sizes, address(x)), kernel] if x.op == "scatter_add" else [kernel]
