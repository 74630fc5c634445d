"""The engine's own form of a graph: few kinds of operations, every equal value once.

A `Value` is an array that some instruction will make. Kinds of operations:

    input, constant            arrays from outside
    number, size               a scalar known when the program is built, or once the open sizes are
    elementwise names          add, exp, where, ... ; `iota` (the position along the last axis), `uniform` (random)
    reduce                     over some axes, which stay as axes of size 1
    view                       the same elements in another shape
    everything else            matrix products and moves, one instruction each
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.engine.native.code.expressions import FORMULAS
from pellucid.graph.core.dims import Dim, Shape, product, resolve
from pellucid.graph.core.primitive import REGISTRY
from pellucid.graph.core.spec import broadcast


class Value:
    """One array of the program. Two values are equal only if they are the same object."""

    __slots__ = ("args", "dtype", "name", "number", "op", "scope", "settings", "shape", "weak")

    def __init__(
        self,
        op: str,
        args: tuple[Value, ...],
        shape: Shape,
        dtype: Any,
        settings: Mapping[str, Any] | None = None,
        weak: bool = False,
    ) -> None:
        self.op, self.args, self.shape = op, args, shape
        self.dtype: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
        self.settings: Mapping[str, Any] = settings or {}
        self.weak = weak  # a Python number: it takes the dtype of the array it meets
        self.number = -1  # in order of creation
        self.name = self.scope = ""

    def __repr__(self) -> str:
        return f"<{self.op} {self.shape} {self.dtype.name}>"

    @property
    def known(self) -> bool:
        """A scalar that needs no array to be known?"""
        return self.op in ("number", "size")

    @property
    def single(self) -> bool:
        """One number, whatever its axes?"""
        return not real(self.shape)


LEAVES = ("input", "constant", "number", "size")

NEUTRAL = {"add": 0, "subtract": 0, "multiply": 1, "divide": 1}
"""What changes nothing on the right side of an operation."""


class Builder:
    """Makes values: each only once, and simpler where that is plain to see."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.values: list[Value] = []
        self.sizes = sizes
        self.guards: list[tuple[Value, bool]] = []  # answers that depend on the open sizes, such as n > 1
        self.scope = ""
        self.checked = False
        self._seen: dict[Any, Value] = {}

    def new(
        self, op: str, args: Sequence[Value], shape: Shape, dtype: Any, settings: Any = None, weak: bool = False
    ) -> Value:
        key = (op, tuple(a.number for a in args), shape, np.dtype(dtype), _frozen(settings or {}), weak)
        found = self._seen.get(key)
        if found is None:
            found = Value(op, tuple(args), shape, dtype, settings, weak)
            found.number, found.scope = len(self.values), self.scope
            self.values.append(found)
            self._seen[key] = found
        return found

    # leaves

    def literal(self, value: Any) -> Value:
        """A constant of the graph: a number, an open size, an array."""
        if isinstance(value, Dim):
            return self.new("size", (), (), np.int64, {"expression": value}, weak=True)
        if type(value) in (bool, int, float):
            kind = np.dtype(type(value))
            return self.new("number", (), (), kind, {"value": value, "kind": type(value).__name__}, weak=True)
        array = np.asarray(value, np.asarray(value).dtype.newbyteorder("="))
        if not array.shape:
            return self.new("number", (), (), array.dtype, {"value": array.item(), "kind": array.dtype.name})
        return self.new("constant", (), array.shape, array.dtype, {"array": array})

    # operations

    def elementwise(
        self,
        op: str,
        args: Sequence[Value],
        dtype: Any,
        shape: Shape | None = None,
        weak: bool = False,
    ) -> Value:
        if shape is None:
            shape = broadcast([a.shape for a in args], op)
        if op == "astype" and args[0].op == "number" and not shape:
            return self.literal(np.dtype(dtype).type(args[0].settings["value"]))
        simpler = self._simpler(op, args, shape, np.dtype(dtype))
        if simpler is not None:
            return simpler
        if args and all(a.known for a in args) and not shape and op in REGISTRY:
            return self._known(op, args, np.dtype(dtype), weak)
        return self._under_views(op, args, shape, dtype) or self._plain(op, args, shape, dtype, weak)

    def _plain(self, op: str, args: Sequence[Value], shape: Shape, dtype: Any, weak: bool = False) -> Value:
        if pattern(shape, [a.shape for a in args]) is None:  # no two-dimensional loop reads them all: copy some
            args = [
                self.new("spread", (a,), shape, a.dtype) if real(a.shape) not in ((), real(shape)) else a for a in args
            ]
        return self.new(op, args, shape, dtype, weak=weak)

    def reduce(self, kind: str, x: Value, axes: Sequence[int], dtype: Any) -> Value:
        """Over `axes`, which stay with size 1."""
        if x.op == "view" and real(x.shape) == real(x.args[0].shape):
            base = x.args[0]
            place = dict(
                zip(*([i for i, s in enumerate(shape) if s != 1] for shape in (x.shape, base.shape)), strict=True)
            )
            inner = self.reduce(kind, base, [place[a] for a in axes if a in place], dtype)
            return self.view(inner, tuple(1 if i in axes else s for i, s in enumerate(x.shape)))
        axes = tuple(a for a in axes if x.shape[a] != 1)
        if not axes:
            return self.elementwise("astype", (x,), dtype)
        shape = tuple(1 if i in axes else s for i, s in enumerate(x.shape))
        present = [i for i, s in enumerate(x.shape) if s != 1]
        if axes not in (tuple(present[: len(axes)]), tuple(present[len(axes) * -1 :])):  # bring them to the end
            order = (*(i for i in range(len(x.shape)) if i not in axes), *axes)
            moved = self.new("transpose", (x,), tuple(x.shape[i] for i in order), x.dtype, {"axes": order})
            inner = self.reduce(kind, moved, tuple(range(len(order) - len(axes), len(order))), dtype)
            return self.view(inner, shape)
        if len(axes) == len(present):
            return self.view(self.new("reduce", (x,), (), dtype, {"kind": kind, "axes": axes}), shape)
        return self.new("reduce", (x,), shape, dtype, {"kind": kind, "axes": axes})

    def view(self, x: Value, shape: Shape) -> Value:
        """The same elements in another shape."""
        while x.op == "view":
            x = x.args[0]
        if x.shape == shape:
            return x
        if not real(x.shape):  # a single number is in a register, whatever its shape
            while x.op == "broadcast_to" and x.args[0].shape == ():
                x = x.args[0]
            return x if x.shape == shape else self.new("broadcast_to", (x,), shape, x.dtype)
        alike = x.op in FORMULAS and x.args and real(x.shape) == real(shape)
        if alike and all(a.shape in ((), x.shape) for a in x.args):  # towards the leaves, where a view costs nothing
            args = [self.view(a, shape) if a.shape else a for a in x.args]
            return self.new(x.op, args, shape, x.dtype, dict(x.settings), x.weak)
        return self.new("view", (x,), shape, x.dtype)

    def _under_views(self, op: str, args: Sequence[Value], shape: Shape, dtype: Any) -> Value | None:
        """f(view(x)) = view(f(x)), where only axes of size 1 differ: so a row's sum stays beside its row."""
        bases = [
            a.args[0]
            for a in args
            if a.op == "view"
            and (a.args[0].op == "reduce" or a.args[0].op in FORMULAS)
            and real(a.shape) == real(a.args[0].shape)
        ]
        if not bases or any(a.shape not in ((), shape) for a in args):
            return None
        inner = bases[0].shape
        moved = [self.view(a, inner) if a.shape else a for a in args]
        return self.new("view", (self._plain(op, moved, inner, dtype),), shape, dtype)

    def _known(self, op: str, args: Sequence[Value], dtype: np.dtype[Any], weak: bool) -> Value:
        if all(a.op == "number" for a in args):
            value = REGISTRY[op].value(*(_number(a) for a in args))
            made = self.literal(value if weak or not isinstance(value, np.generic) else dtype.type(value))
            if made.dtype == dtype:
                return made
        made = self.new("size", args, (), dtype, {"f": op}, weak)
        if dtype.kind != "b":
            return made
        self.guards.append((made, bool(evaluate(made, self.sizes))))
        return self.literal(self.guards[-1][1])

    def _simpler(self, op: str, args: Sequence[Value], shape: Shape, dtype: np.dtype[Any]) -> Value | None:
        def same(x: Value) -> Value | None:
            return x if x.dtype == dtype and x.shape == shape and not x.weak else None

        if op in ("stop_gradient", "positive", "astype", "broadcast_to") and args[0].dtype == dtype:
            return same(args[0])
        if op == "multiply" and any(_is_zero_array(a) for a in args):  # the share of a branch that is not taken
            return self.elementwise("broadcast_to", (self.literal(dtype.type(0)),), dtype, shape)
        if op == "add" and any(_is_zero_array(a) for a in args):
            kept = args[1] if _is_zero_array(args[0]) else args[0]
            if kept.dtype == dtype and kept.shape == shape:
                return kept
        if op in NEUTRAL and _is(args[1], NEUTRAL[op]):
            return same(args[0])
        if op in ("add", "multiply"):
            return same(args[1]) if _is(args[0], NEUTRAL[op]) else None
        if op == "divide" and dtype.kind == "f" and shape and not args[0].known and args[1].shape != shape:
            one = self.literal(1.0)  # one division for all that share the divisor
            return self.elementwise("multiply", (args[0], self.elementwise("divide", (one, args[1]), dtype)), dtype)
        if op == "negative" and args[0].op == "negative":
            return args[0].args[0]
        if op == "where" and args[0].op == "number":
            chosen = args[1] if args[0].settings["value"] else args[2]
            return self.elementwise("broadcast_to", (self.elementwise("astype", (chosen,), dtype),), dtype, shape)
        if op == "greater" and args[1].op == "number":  # max(x, c) > c says the same, and is kept anyway
            key = ("maximum", (args[0].number, args[1].number), shape, args[0].dtype, _frozen({}), False)
            larger = self._seen.get(key)
            if larger is not None and larger is not args[0]:
                return self.new("greater", (larger, args[1]), shape, dtype)
        return None


def real(shape: Shape) -> Shape:
    """The axes that are not of size 1."""
    return tuple(s for s in shape if s != 1)


def pattern(space: Shape, shapes: Sequence[Shape]) -> tuple[int | None] | None:
    """Where to cut the axes of `space` into rows and columns, so that each shape is all of it, rows, columns or one.

    (None,) if any cut will do, None if there is no such cut.
    """
    axes = [i for i, s in enumerate(space) if s != 1]
    cut: int | None = None
    for shape in shapes:
        lead = len(space) - len(shape)
        present = [i for i in axes if i >= lead and shape[i - lead] != 1]
        if not present or len(present) == len(axes):
            continue
        if present == axes[: len(present)]:
            found = axes[len(present)]
        elif present == axes[-len(present) :]:
            found = present[0]
        else:
            return None
        if cut is not None and cut != found:
            return None
        cut = found
    return (cut,)


def evaluate(x: Value, sizes: Mapping[str, int]) -> Any:
    """The number that a scalar has once the open sizes are known."""
    if x.op == "number":
        return _number(x)
    if "expression" in x.settings:
        return resolve(x.settings["expression"], sizes)
    if x.settings["f"] == "astype":
        return x.dtype.type(evaluate(x.args[0], sizes))
    numbers = [evaluate(a, sizes) for a in x.args]
    if x.settings["f"] == "divide" and not numbers[1]:  # Python's numbers would raise: the mean of nothing
        numbers = [np.float64(number) for number in numbers]
    with np.errstate(all="ignore"):
        return REGISTRY[x.settings["f"]].value(*numbers)


def parents_first(roots: Sequence[Value]) -> Iterator[Value]:
    """All values that the roots need, each after those it is made of."""
    needed: set[int] = set()
    stack = list(roots)
    found: dict[int, Value] = {}
    while stack:
        x = stack.pop()
        if x.number not in needed:
            needed.add(x.number)
            found[x.number] = x
            stack.extend(x.args)
    return (found[number] for number in sorted(found))


def size_of(shape: Shape, sizes: Mapping[str, int]) -> int:
    return int(resolve(product(shape), sizes))


def _number(x: Value) -> Any:
    value = x.settings["value"]
    return value if x.weak else x.dtype.type(value)


def _is(x: Value, value: float) -> bool:
    return x.op == "number" and x.settings["value"] == value


def _is_zero_array(x: Value) -> bool:
    return x.op == "broadcast_to" and bool(x.shape) and _is(x.args[0], 0)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return tuple((k, _frozen(v)) for k, v in sorted(value.items()))
    if isinstance(value, tuple | list):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, slice):
        return ("slice", _frozen(value.start), _frozen(value.stop), _frozen(value.step))
    if isinstance(value, np.ndarray):
        return ("array", id(value))
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str | Dim) or value is None else (type(value).__name__, value)
