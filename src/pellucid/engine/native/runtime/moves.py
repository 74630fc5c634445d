"""Elements in other places: transposing, slicing, joining, gathering. Each is a few words for a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from pellucid.engine.native.code import builtin_kernels as kernels
from pellucid.engine.native.code import summaries
from pellucid.engine.native.code.llvm.module import Kernel
from pellucid.engine.native.passes.instructions import base
from pellucid.engine.native.passes.values import Value
from pellucid.engine.native.runtime.work import share
from pellucid.graph.core.dims import resolve
from pellucid.graph.primitives.indexing import SLOT

Work = list[tuple[Kernel, list[int]]]
"""Kernels, and the words of their tables."""

LOOKING = ("distribution", "column_moments", "likeness")
"""What only looks at an array: results that nothing else in a program reads."""


def work_of(x: Value, sizes: Mapping[str, int], address: Callable[[Value], int], thread: int, threads: int) -> Work:
    """What one thread does. A bad index is found by all of them, so that none waits for the others at a barrier."""

    def array(a: Value) -> Any:
        return _array(address(base(a)), resolve(a.shape, sizes), a.dtype)

    settings = {name: resolve(setting, sizes) for name, setting in x.settings.items()}
    target, sources = array(x), [array(a) for a in x.args]
    if x.op == "in_range":
        return _in_range(target, sources[0], int(settings["end"]), thread, threads)
    checks: Work = []
    if x.op in ("getitem", "scatter_add") and len(sources) > 1:
        outer = sources[0].shape if x.op == "getitem" else target.shape
        ends = [size for part, size in _parts(settings["spec"], outer) if part is SLOT]
        for index, end in zip(sources[1:], ends, strict=True):
            checks.append(_range_check(index, -end, end, kernels.BAD_INDEX))
    # a number of which each thread has its own is made by each; those who look on take turns
    maker = x.number % threads if x.op in LOOKING else 0
    return checks + (moves(x.op, settings, target, *sources) if thread == maker or x.single else [])


def _array(address: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of which only place, shape and steps are ever used: there need not be any memory."""
    facts = {"data": (address, False), "shape": shape, "typestr": np.dtype(dtype).str, "version": 3}
    return np.asarray(SimpleNamespace(__array_interface__=facts))


def _place(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _in_range(target: Any, labels: Any, end: int, thread: int, threads: int) -> Work:
    """Labels as they are, once all of them are known to be right; each thread copies those of its own rows."""
    axis = next((i for i, size in enumerate(labels.shape) if size != 1), None)
    own = () if axis is None else (slice(None),) * axis + (slice(*share(labels.shape[axis], threads, thread)),)
    source, place = _part(labels, own), _part(target, own)
    copy = kernels.COPY(bytes=source.nbytes, source=_place(source), target=_place(place))
    return [_range_check(labels, 0, end, kernels.BAD_LABEL), copy]


def _range_check(values: Any, begin: int, end: int, status: int) -> tuple[Kernel, list[int]]:
    check = kernels.check_range(values.dtype.name)
    return check(begin=begin, end=end, count=values.size, values=_place(values), status=status)


def _parts(spec: tuple[Any, ...], outer: tuple[int, ...]) -> list[tuple[Any, int]]:
    """The parts of an index with slices in place of the dots, and the size of the axis that each stands for; 1 for a
    new axis."""
    consumed = sum(p is not None and p is not Ellipsis for p in spec)
    parts: list[Any] = []
    for p in spec if any(p is Ellipsis for p in spec) else (*spec, Ellipsis):
        parts += [slice(None)] * (len(outer) - consumed) if p is Ellipsis else [p]
    sizes = iter(outer)
    return [(p, 1 if p is None else next(sizes)) for p in parts]


def moves(op: str, settings: Mapping[str, Any], target: Any, source: Any, *others: Any) -> Work:
    """What is to do, one thing after the other."""
    if op in ("argmax", "argmin", "cumsum"):
        columns = source.shape[-1]
        sizes = {"rows": int(np.prod(source.shape[:-1], dtype=np.int64)), "columns": columns}
        return [kernels.along(op, source.dtype.name)(**sizes, source=_place(source), target=_place(target))]
    if op in LOOKING:
        return [_look(op, settings, target, source)]
    if op == "concatenate":
        arrays, axis = (source, *others), settings["axis"]
        ends = np.cumsum([array.shape[axis] for array in arrays])
        parts = np.split(target, ends[:-1], axis)
        return [entry for array, part in zip(arrays, parts, strict=True) for entry in _copy(array, part)]
    if op == "pad":
        inside = tuple(slice(b, b + s) for s, (b, _) in zip(source.shape, settings["width"], strict=True))
        return [_zero(target), *_copy(source, target[inside])]
    if others:
        return _indexed(settings["spec"], target, source, others, op == "scatter_add")
    if op == "scatter_add":
        return [_zero(target), *_copy(source, _part(target, settings["spec"]))]
    views: dict[str, Callable[[], Any]] = {
        "spread": lambda: np.broadcast_to(source, target.shape),
        "transpose": lambda: np.transpose(source, settings["axes"]),
        "flip": lambda: np.flip(source, settings["axis"]),
        "getitem": lambda: _part(source, settings["spec"]),
    }
    return _copy(views[op](), target)


def _look(op: str, settings: Mapping[str, Any], target: Any, source: Any) -> tuple[Kernel, list[int]]:
    dtype, places = source.dtype.name, {"source": _place(source), "target": _place(target)}
    if op == "distribution":
        return summaries.distribution(dtype, **settings)(count=source.size, **places)
    if op == "likeness":
        return summaries.likeness(dtype)(columns=len(source), **places)
    rows, columns = source.shape
    return summaries.column_moments(dtype)(rows=rows, columns=columns, **places)


def _part(array: Any, spec: tuple[Any, ...]) -> Any:
    """array[spec] as a view, also where a single element is left."""
    return array[spec if any(p is Ellipsis for p in spec) else (*spec, Ellipsis)]


def _steps(array: Any) -> list[int]:
    """From element to element along each axis, in elements."""
    return [step // array.itemsize for step in array.strides]


def _copy(source: Any, target: Any) -> Work:
    """From a view of one array into a view of another."""
    if not source.size:
        return []
    axes = list(zip(source.shape, _steps(source), _steps(target), strict=True)) or [(1, 1, 1)]
    places = {"source": _place(source), "target": _place(target)}
    move = kernels.move(f"int{8 * source.itemsize}", scatter=False)
    return [move(*axes, indexes=0, count=1, axes=len(axes), step=0, **places)]


def _zero(target: Any) -> tuple[Kernel, list[int]]:
    return kernels.ZERO(bytes=target.nbytes, target=_place(target))


def _indexed(spec: Any, target: Any, source: Any, arrays: tuple[Any, ...], scatter: bool) -> Work:
    """getitem and scatter_add with index arrays, of one common shape; slices and numbers beside them."""
    outer, flat = (target, source) if scatter else (source, target)  # the array that is indexed, and the other side
    parts = [p for p, _ in _parts(spec, outer.shape)]
    advanced = [i for i, p in enumerate(parts) if p is SLOT or isinstance(p, int)]
    together = advanced[-1] - advanced[0] + 1 == len(advanced)
    first, count = advanced[0] if together else 0, arrays[0].ndim  # the axes of the indexes on the other side
    steps, numbers = _steps(flat), iter(arrays)
    others = iter(steps[:first] + steps[first + count :])
    view = outer[tuple(slice(None) if p is SLOT else p for p in parts)]
    indexes, axes = [], []
    for p, size, step in zip((p for p in parts if not isinstance(p, int)), view.shape, _steps(view), strict=True):
        if p is SLOT:
            indexes.append((_place(next(numbers)), size, step))
            continue
        other = next(others)
        if p is not None:
            axes.append((size, step, other))
    axes = axes or [(1, 1, 1)]
    ends = (flat, view) if scatter else (view, flat)
    places = dict(zip(("source", "target"), map(_place, ends), strict=True))
    along = steps[first + count - 1] if count else 0
    counts = {"indexes": len(indexes), "count": arrays[0].size, "axes": len(axes), "step": along}
    move = kernels.move(outer.dtype.name, scatter)(*indexes, *axes, **counts, **places)
    return [_zero(target), move] if scatter else [move]
