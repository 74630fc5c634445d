"""Operations on whole arrays as loops in C: products, reductions, shapes. One table by the names of primitives."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pellucid.errors import ExportError
from pellucid.export.c_operations import STARTS, STEPS
from pellucid.export.c_text import c_type
from pellucid.export.c_values import Expression, Shape, Value, View, bare, element, loops, place, steps_of, strides
from pellucid.export.values import gathered_axis, index_parts
from pellucid.graph import Node
from pellucid.graph.node import Literal
from pellucid.graph.primitives.indexing import SLOT

if TYPE_CHECKING:
    from pellucid.export.c_body import Body

Rule = Callable[["Body", int, Node], Value]
"""(body, number of the node, node) -> its value, written down."""


# products and reductions


def _matmul(body: Body, i: int, node: Node) -> View:
    a, b = body.views(node)
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise ExportError("the operation 'matmul' of single vectors has no translation to C: give them two axes")
    out = body.memory.new(c_type(node.dtype), tuple(node.shape))
    lead, (inner, columns) = out.shape[:-2], b.shape[-2:]
    of_a, of_b = (strides(v.shape, (*lead, *v.shape[-2:])) for v in (a, b))
    of_out = steps_of(out.shape)
    bias = _bias(body, i)

    def product(at: list[str]) -> list[str]:
        into = out.at(place(of_out, [*at, "j"]))
        return [
            f"for (int j = 0; j < {columns}; j++) {into} = {'0' if bias is None else bias.at('j')};",
            f"for (int k = 0; k < {inner}; k++) {{",
            f"    const {out.type} x = {a.at(place(of_a, [*at, 'k']))};",
            f"    for (int j = 0; j < {columns}; j++) {into} += x * {b.at(place(of_b, [*at[:-1], 'k', 'j']))};",
            "}",
        ]

    body.memory.blocks.append(loops((*lead, a.shape[-2]), product))
    return out


def _bias(body: Body, i: int) -> View | None:
    """What is added to a product, where that is done with it."""
    if i not in body.biases:
        return None
    (constant,) = (a for a in body.graph.nodes[body.biases[i]].args if isinstance(a, Literal))
    return body.constant(np.asarray(constant.value))


def _reduced(body: Body, i: int, node: Node) -> View:
    assert node.op is not None
    (x,), name = body.views(node), node.op.name
    axes = set(node.settings["axis"])
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    gone = tuple(size if axis in axes else 1 for axis, size in enumerate(x.shape))
    out = body.memory.new(c_type(node.dtype), kept)
    of_x, of_out, f = steps_of(x.shape), steps_of(kept), "f" * (out.type == "float")

    def reduction(at: list[str]) -> list[str]:
        def over(line: str) -> list[str]:
            return loops(gone, lambda inner: [line.replace("{x}", member([*zip(at, inner, strict=True)]))], "j")

        def member(pairs: list[tuple[str, str]]) -> str:
            return x.at(place(of_x, [inner if axis in axes else outer for axis, (outer, inner) in enumerate(pairs)]))

        first, into = member([(outer, "0") for outer in at]), out.at(place(of_out, at))
        step = STEPS["max" if name == "logsumexp" else name].replace("{f}", f)
        if name == "logsumexp":
            return [
                "{",
                f"    {out.type} top = {first}, total = 0;",
                *(f"    {line}" for line in over(step.replace("{a}", "top"))),
                *(f"    {line}" for line in over(f"total += exp{f}({{x}} - top);")),
                f"    {into} = top + log{f}(total);",
                "}",
            ]
        lines = [f"{into} = {STARTS.get(name, first)};", *over(step.replace("{a}", into))]
        return [*lines, f"{into} /= {math.prod(gone)};"] if name == "mean" else lines

    body.memory.blocks.append(loops(kept, reduction))
    return View(out.base, tuple(node.shape), out.type)


def _place_of_best(body: Body, i: int, node: Node) -> View:
    """argmax and argmin: of equals the first."""
    assert node.op is not None
    (x,), sign, axis = body.views(node), ">" if node.op.name == "argmax" else "<", node.settings["axis"]
    sizes = (1, x.size, 1) if axis is None else _around(x.shape, axis)
    out, kept = body.memory.new("int", tuple(node.shape)), (sizes[0], 1, sizes[2])
    steps = [sizes[1] * sizes[2], sizes[2], 1]

    def search(at: list[str]) -> list[str]:
        best = out.at(place(steps_of(kept), at))
        here, there = (x.at(place(steps, [at[0], one, at[2]])) for one in ("j", best))
        return [f"{best} = 0;", f"for (int j = 1; j < {sizes[1]}; j++)", f"    if ({here} {sign} {there}) {best} = j;"]

    body.memory.blocks.append(loops(kept, search))
    return out


def _argsort(body: Body, i: int, node: Node) -> View:
    """Places in order, by insertion: rows of quantiles are short."""
    (x,), sizes = body.views(node), _around(tuple(node.shape), node.settings["axis"])
    out, kept, steps = body.memory.new("int", tuple(node.shape)), (sizes[0], 1, sizes[2]), steps_of(sizes)

    def insertion(at: list[str]) -> list[str]:
        def into(one: str, view: View = out) -> str:
            return view.at(place(steps, [at[0], one, at[2]]))

        return [
            f"for (int j = 0; j < {sizes[1]}; j++) {{",
            "    int k = j;",
            f"    for (; k > 0 && {into(into('(k - 1)'), x)} > {into('j', x)}; k--) {into('k')} = {into('(k - 1)')};",
            f"    {into('k')} = j;",
            "}",
        ]

    body.memory.blocks.append(loops(kept, insertion))
    return out


def _reorder(body: Body, i: int, node: Node) -> View:
    (x, order), shape, axis = body.views(node), tuple(node.shape), node.settings["axis"]
    out, steps = body.memory.new(x.type, shape), steps_of(shape)

    def taken(at: list[str]) -> str:
        return x.at(place(steps, [*at[:axis], order.at(place(steps, at)), *at[axis + 1 :]]))

    body.fill(out, taken)
    return out


def _around(shape: Shape, axis: int) -> Shape:
    """An axis, and all before and behind it as one each."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


# shapes


def _strided(body: Body, node: Node, x: View, steps: list[int], start: int = 0) -> View:
    """Elements of x that lie `steps` apart along each axis; not copied where they lie in order already."""
    shape = tuple(node.shape)
    in_order = all(step == near for step, near, size in zip(steps, steps_of(shape), shape, strict=True) if size > 1)
    if x.single or in_order:
        return View(x.base, shape, x.type, x.offset + start, x.single and in_order)
    out, source = body.memory.new(x.type, shape), View(x.base, x.shape, x.type, x.offset + start)
    body.fill(out, lambda at: source.at(place(steps, at)))
    return out


def _spread(body: Body, node: Node, x: View) -> View:
    out = body.memory.new(x.type, tuple(node.shape))
    body.fill(out, lambda at: x.at(place(strides(x.shape, out.shape), at)))
    return out


def _reshape(body: Body, i: int, node: Node) -> View:
    (x,) = body.views(node)
    return View(x.base, tuple(node.shape), x.type, x.offset, x.single)


def _transpose(body: Body, i: int, node: Node) -> View:
    (x,) = body.views(node)
    return _strided(body, node, x, [steps_of(x.shape)[axis] for axis in node.settings["axes"]])


def _broadcast_to(body: Body, i: int, node: Node) -> View:
    return _spread(body, node, body.views(node)[0])


def _full_like(body: Body, i: int, node: Node) -> View:
    return _spread(body, node, body.stored(body.argument(node.args[1], node.dtype)))


def _concatenate(body: Body, i: int, node: Node) -> View:
    shape, axis = tuple(node.shape), node.settings["axis"]
    out, start, lines = body.memory.new(c_type(node.dtype), shape), 0, list[str]()
    step = math.prod(shape[axis + 1 :])
    for a in node.args:
        x = body.argument(a, node.dtype)
        into = View(out.base, x.shape, out.type, start * step)
        lines += loops(into.shape, partial(_copied, into, steps_of(shape), x))
        start += into.shape[axis]
    body.memory.blocks.append(lines)
    return out


def _copied(into: View, steps: list[int], x: Value, at: list[str]) -> list[str]:
    return [f"{into.at(place(steps, at))} = {bare(element(x, into.shape, at))};"]


def _getitem(body: Body, i: int, node: Node) -> View:
    x, *indices = body.views(node)
    parts = index_parts(node.settings["spec"], len(x.shape))
    axis = gathered_axis(parts)
    if axis is not None:
        return _gathered(body, node, x, indices[0], axis)
    if SLOT in parts:
        raise ExportError(f"the index {node.settings['spec']} (operation 'getitem') has no translation to C")
    steps, start, axis = list[int](), 0, 0
    for part in parts:
        if part is None:
            steps.append(0)
            continue
        first, _, step = part.indices(x.shape[axis]) if isinstance(part, slice) else (part % x.shape[axis], 0, 0)
        start += first * steps_of(x.shape)[axis]
        if isinstance(part, slice):
            steps.append(steps_of(x.shape)[axis] * step)
        axis += 1
    return _strided(body, node, x, steps, start)


def _gathered(body: Body, node: Node, x: View, index: View, axis: int) -> View:
    before, size, behind = _around(x.shape, axis)
    out = View(body.memory.new(x.type, tuple(node.shape)).base, (before, index.size, behind), x.type)
    steps = [size * behind, behind, 1]

    def taken(at: list[str]) -> str:
        one = index.at(place([0, 1, 0], at))
        return x.at(place(steps, [at[0], f"({one} < 0 ? {one} + {size} : {one})", at[2]]))  # from the end, as in NumPy

    body.fill(out, taken)
    return View(out.base, tuple(node.shape), x.type)


def _flip(body: Body, i: int, node: Node) -> View:
    (x,), axis = body.views(node), node.settings["axis"]
    axes, own = (set(axis) if isinstance(axis, tuple) else {axis}), steps_of(x.shape)
    steps = [-step if at in axes else step for at, step in enumerate(own)]
    return _strided(body, node, x, steps, sum(own[at] * (x.shape[at] - 1) for at in axes))


def _one_hot(body: Body, i: int, node: Node) -> View:
    (x,), type_ = body.views(node), c_type(node.dtype)
    places = body.constant(np.arange(node.settings["classes"]))
    labels = View(x.base, (*x.shape, 1), x.type, x.offset, x.single)
    return body.stored(Expression(f"({type_})({{0}} == {{1}})", (labels, places), tuple(node.shape), type_))


RULES: dict[str, Rule] = {
    **dict.fromkeys((*STEPS, "logsumexp"), _reduced),
    "matmul": _matmul,
    "argmax": _place_of_best,
    "argmin": _place_of_best,
    "argsort": _argsort,
    "reorder": _reorder,
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast_to": _broadcast_to,
    "full_like": _full_like,
    "concatenate": _concatenate,
    "getitem": _getitem,
    "flip": _flip,
    "one_hot": _one_hot,
}
