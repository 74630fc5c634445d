"""A graph as JAX operations: node by node through the table of lowerings, while JAX records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from pellucid.engine.jax.lowerings import CHECKS, LOWERINGS, TO_RESULT, Lowering
from pellucid.engine.jax.row_sums import RowSums, summed_axes
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.graph.core.dims import Dim, resolve
from pellucid.graph.core.primitive import REGISTRY, UFUNCS
from pellucid.graph.core.spec import Spec
from pellucid.graph.graph import Graph
from pellucid.graph.node import Literal, Node
from pellucid.graph.record import record

KINDS = frozenset("biuf")


def evaluate(
    graph: Graph,
    leaves: Sequence[Any],
    sizes: Mapping[str, int],
    faults: list[Any] | None = None,
    sums: RowSums | None = None,
) -> list[Any]:
    """The outputs of a graph. `faults`, where it is given, gathers what NumPy would have refused.

    With `sums` those over rows are made in parts, which are added up when nothing else is left to compute.
    """
    values: dict[int, Any] = {
        place: jnp.asarray(leaf, node.dtype)
        for place, (leaf, node) in enumerate(zip(leaves, graph.nodes[: graph.inputs], strict=True))
    }
    waiting = list(range(graph.inputs, len(graph.nodes)))
    while waiting:
        parts: dict[int, Any] = {}
        later = []
        for place in waiting:
            node = graph.nodes[place]
            if any(parent not in values for parent in node.parents):
                later.append(place)
                continue
            args = [_argument(a, values, sizes) for a in node.args]
            axes = None if sums is None else summed_axes(node, graph)
            if sums is None or axes is None:
                values[place] = _lowered(node, args, sizes, faults)
            else:
                parts[place] = sums.part(partial(_of_own_rows, node, sizes), args, axes, node)
        if sums is not None:
            values |= sums.added(parts)
        waiting = later
    return [_argument(out, values, sizes) for out in graph.outputs]


def _argument(a: int | Literal, values: Mapping[int, Any], sizes: Mapping[str, int]) -> Any:
    if not isinstance(a, Literal):
        return values[a]
    return a.value.resolve(sizes) if isinstance(a.value, Dim) else a.value


def _lowered(node: Node, args: list[Any], sizes: Mapping[str, int], faults: Any) -> Any:
    op = node.op
    assert op is not None
    settings = {key: resolve(setting, sizes) for key, setting in node.settings.items()}
    if node.spec.weak:  # Python's numbers: sizes and what is made of them
        return op.value(*args, **settings)
    if np.dtype(node.dtype).kind not in KINDS or np.dtype(node.dtype).itemsize > 8:
        raise CannotCompile(f"the jax engine has no numbers of dtype {np.dtype(node.dtype)}")
    ours = REGISTRY.get(op.name) is op
    lowering: Lowering | None = LOWERINGS.get(op.name) if ours else None
    if lowering is None:
        return _expanded(node, args, settings, faults).astype(node.dtype)
    args = _promoted(node, args)
    y = jnp.asarray(lowering(*args, **settings)).astype(node.dtype)
    if faults is not None and op.name in CHECKS:
        faults.append(CHECKS[op.name](y, *args, **settings))
    return y


def _of_own_rows(node: Node, sizes: Mapping[str, int], *args: Any) -> Any:
    return _lowered(node, list(args), sizes, None)


_UFUNCS: dict[str, Any] = {}


def _promoted(node: Node, args: list[Any]) -> list[Any]:
    """Arguments in the dtypes that NumPy computes in; Python's numbers stay what they are."""
    assert node.op is not None
    if node.op.name not in _UFUNCS:
        _UFUNCS.update({primitive.name: ufunc for ufunc, primitive in UFUNCS.items()})
    ufunc = _UFUNCS.get(node.op.name)
    dtypes: list[Any]
    if node.op.name in TO_RESULT:
        dtypes = [node.dtype] * len(args)
        if node.op.name == "where":
            dtypes[0] = None
    elif ufunc is not None:
        kinds = [type(a) if type(a) in (int, float) else np.asarray(a).dtype if _plain(a) else a.dtype for a in args]
        dtypes = list(ufunc.resolve_dtypes((*kinds, None))[:-1])
    else:
        dtypes = [None] * len(args)
    return [_cast(a, dtype) for a, dtype in zip(args, dtypes, strict=True)]


def _plain(a: Any) -> bool:
    return isinstance(a, bool | int | float)


def _cast(a: Any, dtype: Any) -> Any:
    if type(a) in (bool, int, float):
        return a
    return jnp.asarray(a) if dtype is None else jnp.asarray(a, dtype)


def _expanded(node: Node, args: list[Any], settings: dict[str, Any], faults: Any) -> Any:
    """The parts of a function of the user's that has a rule of its own."""
    op = node.op
    assert op is not None
    try:
        specs = [Spec(np.shape(a), a.dtype if hasattr(a, "dtype") else type(a)) for a in args]
        inner = record(lambda *xs: op.value(*xs, **settings), *specs, name=op.name).simplify()
    except Exception as error:
        raise CannotCompile(f"{op.name!r} is not made of operations that can be recorded: {error}") from error
    if any(n.op is op for n in inner.operations):
        raise CannotCompile(f"the jax engine has no {op.name!r}")
    (made,) = evaluate(inner, args, {}, faults)
    return jnp.asarray(made)
