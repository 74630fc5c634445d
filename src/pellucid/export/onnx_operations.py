"""Operations in the words of ONNX: one table from the name of a primitive to what computes it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.errors import ExportError
from pellucid.export.values import gathered_axis, index_parts
from pellucid.graph.core.dims import is_open
from pellucid.graph.node import Node
from pellucid.graph.primitives.indexing import SLOT

if TYPE_CHECKING:
    from pellucid.export.onnx_file import Writer

Translation = Callable[["Writer", Node, list[str]], str]
"""(writer, node, names of its arguments) -> the name of its result."""

SAME = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "power": "Pow",
    "maximum": "Max",
    "minimum": "Min",
    "matmul": "MatMul",
    "greater": "Greater",
    "greater_equal": "GreaterOrEqual",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "equal": "Equal",
    "negative": "Neg",
    "reciprocal": "Reciprocal",
    "sqrt": "Sqrt",
    "exp": "Exp",
    "log": "Log",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "arcsin": "Asin",
    "arccos": "Acos",
    "arctan": "Atan",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "tanh": "Tanh",
    "arcsinh": "Asinh",
    "arccosh": "Acosh",
    "arctanh": "Atanh",
    "absolute": "Abs",
    "fabs": "Abs",
    "sign": "Sign",
    "floor": "Floor",
    "ceil": "Ceil",
    "rint": "Round",
    "isnan": "IsNaN",
    "isinf": "IsInf",
    "erf": "Erf",
    "expit": "Sigmoid",
}
"""Operations that ONNX has, of arrays of one dtype."""

REDUCTIONS = {
    "sum": "ReduceSum",
    "mean": "ReduceMean",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "prod": "ReduceProd",
    "logsumexp": "ReduceLogSumExp",
}

END = np.iinfo(np.int64).max


def translate(write: Writer, node: Node, args: list[str]) -> str | None:
    """The name of the result; None where there is no translation."""
    assert node.op is not None
    name = node.op.name
    if name in SAME:
        return write.node(SAME[name], write.alike(node, args))
    if name in REDUCTIONS:
        return _reduced(write, node, REDUCTIONS[name], write.cast(args[0], node.dtype))
    rule = RULES.get(name)
    return None if rule is None else rule(write, node, args)


def _reduced(write: Writer, node: Node, op: str, x: str) -> str:
    axes = node.settings["axis"]
    return write.node(op, [x, write.integers(axes)], keepdims=int(node.settings["keepdims"])) if axes else x


# by other operations


def _number(write: Writer, node: Node, value: float) -> str:
    return write.constant(np.asarray(value, node.dtype))


def _expm1(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Sub", [write.node("Exp", args), _number(write, node, 1)])


def _log1p(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Log", [write.node("Add", [*args, _number(write, node, 1)])])


def _log_expit(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Neg", [write.node("Softplus", [write.node("Neg", args)])])


def _square(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Mul", [args[0], args[0]])


def _logarithm(base: float) -> Translation:
    return lambda write, node, args: write.node("Div", [write.node("Log", args), _number(write, node, np.log(base))])


def _ndtr(write: Writer, node: Node, args: list[str]) -> str:
    """(1 + erf(x / √2)) / 2"""
    erf = write.node("Erf", [write.node("Mul", [*args, _number(write, node, np.sqrt(0.5))])])
    return write.node("Mul", [write.node("Add", [erf, _number(write, node, 1)]), _number(write, node, 0.5)])


def _clip(write: Writer, node: Node, args: list[str]) -> str:
    x, low, high = write.alike(node, args)
    return write.node("Min", [write.node("Max", [x, low]), high])


def _where(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Where", [write.cast(args[0], np.bool_), *(write.cast(a, node.dtype) for a in args[1:])])


def _heaviside(write: Writer, node: Node, args: list[str]) -> str:
    x, at_zero = write.alike(node, args)
    zero, one = _number(write, node, 0), _number(write, node, 1)
    beyond = write.node("Where", [write.node("Greater", [x, zero]), one, zero])
    return write.node("Where", [write.node("Equal", [x, zero]), at_zero, beyond])


def _not_equal(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Not", [write.node("Equal", write.alike(node, args))])


def _isfinite(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Not", [write.node("Or", [write.node("IsNaN", args), write.node("IsInf", args)])])


def _trunc(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Mul", [write.node("Sign", args), write.node("Floor", [write.node("Abs", args)])])


def _logical(op: str) -> Translation:
    return lambda write, node, args: write.node(op, [write.cast(a, np.bool_) for a in args])


def _bits(boolean: str) -> Translation:
    """Of truth values: ONNX has other words for the bits of integers."""

    def rule(write: Writer, node: Node, args: list[str]) -> str:
        if node.dtype != np.bool_:
            raise ExportError(f"the operation {node.op.name!r} of integers has no translation to ONNX")  # type: ignore[union-attr]
        return write.node(boolean, args)

    return rule


def _some(reduction: str) -> Translation:
    """Any or all of truth values, as the largest or smallest of zeros and ones."""

    def rule(write: Writer, node: Node, args: list[str]) -> str:
        truths = write.cast(write.cast(args[0], np.bool_), np.int64)
        best = _reduced(write, node, reduction, truths)
        return write.cast(best, np.bool_)

    return rule


def _first(op: str) -> Translation:
    def rule(write: Writer, node: Node, args: list[str]) -> str:
        axis = node.settings["axis"]
        if axis is None:
            args, axis = [write.node("Reshape", [args[0], write.integers((-1,))])], 0
        return write.node(op, args, axis=int(axis), keepdims=0)

    return rule


def _argsort(write: Writer, node: Node, args: list[str]) -> str:
    """The places of the k smallest, k being all of them."""
    axis, shape = node.settings["axis"], write.spec(node.args[0]).shape
    count = write.sizes((shape[axis],))
    return write.second("TopK", [args[0], count], np.int64, axis=int(axis), largest=0, sorted=1)


def _reorder(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("GatherElements", [args[0], write.cast(args[1], np.int64)], axis=int(node.settings["axis"]))


# shapes


def _reshape(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Reshape", [args[0], write.shape(node.settings["shape"])])


def _transpose(write: Writer, node: Node, args: list[str]) -> str:
    axes = list(node.settings["axes"])
    return write.node("Transpose", args, perm=axes) if axes else args[0]


def _broadcast_to(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Expand", [args[0], write.sizes(node.settings["shape"])])


def _full_like(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Expand", [write.cast(args[1], node.dtype), write.node("Shape", [args[0]])])


def _concatenate(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Concat", [write.cast(a, node.dtype) for a in args], axis=int(node.settings["axis"]))


def _flip(write: Writer, node: Node, args: list[str]) -> str:
    axis = node.settings["axis"]
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)
    ends = [write.integers((value,) * len(axes)) for value in (-1, -END, -1)]
    return write.node("Slice", [args[0], ends[0], ends[1], write.integers(axes), ends[2]])


def _pad(write: Writer, node: Node, args: list[str]) -> str:
    before, after = zip(*node.settings["width"], strict=True)
    return write.node("Pad", [args[0], write.integers((*before, *after))])


def _one_hot(write: Writer, node: Node, args: list[str]) -> str:
    column = write.node("Unsqueeze", [args[0], write.integers((-1,))])
    places = write.constant(np.arange(node.settings["classes"], dtype=np.int64))
    return write.cast(write.node("Equal", [write.cast(column, np.int64), places]), node.dtype)


def _einsum(write: Writer, node: Node, args: list[str]) -> str:
    return write.node("Einsum", write.alike(node, args), equation=node.settings["subscripts"])


def _getitem(write: Writer, node: Node, args: list[str]) -> str:
    parts = index_parts(node.settings["spec"], len(write.spec(node.args[0]).shape))
    axis = gathered_axis(parts)
    if axis is not None:
        return write.node("Gather", [args[0], write.cast(args[1], np.int64)], axis=axis)
    if SLOT in parts or is_open(tuple(parts)):
        raise ExportError(f"the index {node.settings['spec']} (operation 'getitem') has no translation to ONNX")
    return _sliced(write, args[0], parts)


def _sliced(write: Writer, x: str, parts: list[Any]) -> str:
    """Slices, numbers and new axes."""
    slices: list[tuple[int, int, int, int]] = []
    gone: list[int] = []
    for axis, part in enumerate(p for p in parts if p is not None):
        if isinstance(part, slice):
            step = 1 if part.step is None else part.step
            first, last = (0, END) if step > 0 else (-1, -END)
            ends = first if part.start is None else part.start, last if part.stop is None else part.stop
            if part != slice(None):
                slices.append((axis, *ends, step))
        else:
            slices.append((axis, part, END if part == -1 else part + 1, 1))
            gone.append(axis)
    if slices:
        axes, starts, stops, steps = (write.integers(column) for column in zip(*slices, strict=True))
        x = write.node("Slice", [x, starts, stops, axes, steps])
    if gone:
        x = write.node("Squeeze", [x, write.integers(gone)])
    kept = [part for part in parts if part is None or isinstance(part, slice)]
    fresh = [axis for axis, part in enumerate(kept) if part is None]
    return write.node("Unsqueeze", [x, write.integers(fresh)]) if fresh else x


RULES: Mapping[str, Translation] = {
    "expm1": _expm1,
    "log1p": _log1p,
    "log2": _logarithm(2.0),
    "log10": _logarithm(10.0),
    "log_expit": _log_expit,
    "square": _square,
    "ndtr": _ndtr,
    "clip": _clip,
    "where": _where,
    "heaviside": _heaviside,
    "not_equal": _not_equal,
    "isfinite": _isfinite,
    "trunc": _trunc,
    "logical_and": _logical("And"),
    "logical_or": _logical("Or"),
    "logical_xor": _logical("Xor"),
    "logical_not": _logical("Not"),
    "bitwise_and": _bits("And"),
    "bitwise_or": _bits("Or"),
    "bitwise_xor": _bits("Xor"),
    "invert": _bits("Not"),
    "any": _some("ReduceMax"),
    "all": _some("ReduceMin"),
    "argmax": _first("ArgMax"),
    "argmin": _first("ArgMin"),
    "astype": lambda write, node, args: write.cast(args[0], node.dtype),
    "argsort": _argsort,
    "reorder": _reorder,
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_to": _broadcast_to,
    "full_like": _full_like,
    "concatenate": _concatenate,
    "flip": _flip,
    "pad": _pad,
    "one_hot": _one_hot,
    "einsum": _einsum,
    "getitem": _getitem,
}

OPERATIONS = frozenset({*SAME, *REDUCTIONS, *RULES})
"""All that ONNX has a translation for."""
