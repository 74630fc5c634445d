"""The two modes, jvp and vjp, and the gradient: a function in, its derivative out.

All of them record the function (concretely, so Python control flow works) and walk over the recording.
Called while an outer recording is under way they are part of it, which gives derivatives of derivatives,
in any order of the modes, and `record(grad(f), ...)`: the derivative as a graph.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pellucid.errors import DifferentiationError, IndependentOutputWarning, ShapeError
from pellucid.graph.core.dims import is_open
from pellucid.graph.core.spec import format_shape
from pellucid.graph.core.tracer import Recording, Tracer
from pellucid.graph.core.tree import Tree, flatten, matching_leaves, paths, unflatten
from pellucid.graph.core.walk import pull, push


class Traced:
    """One concrete recording of f at its arguments: the tape, the inputs on it, and the outputs."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], argnums: Sequence[int]) -> None:
        self.recording = Recording()
        self.tape = self.recording.tape
        self.inputs: list[list[Tracer]] = []  # for each differentiated argument its leaves
        self.trees: list[Tree] = []
        traced = list(args)
        for argnum in argnums:
            leaves, tree = flatten(args[argnum])
            inputs = [self.recording.input(_differentiable(leaf, argnum, tree, i)) for i, leaf in enumerate(leaves)]
            self.inputs.append(inputs)
            self.trees.append(tree)
            traced[argnum] = unflatten(tree, inputs)
        self.outputs, self.out_tree = flatten(f(*traced))

    def plain(self, output: Any) -> Any:
        """An output without this recording around it."""
        return output.value if self.depends(output) else output

    def depends(self, output: Any) -> bool:
        return type(output) is Tracer and output.recording is self.recording

    @property
    def value(self) -> Any:
        return unflatten(self.out_tree, [self.plain(out) for out in self.outputs])

    def pull(self, adjoints: Sequence[Any], *, free: bool = False) -> list[list[Any]]:
        """For adjoints of the output leaves (None: zero) those of the leaves of each argument."""
        seeds = self._seeds(adjoints)
        leaves = [[(x.index, x.value) for x in group] for group in self.inputs]
        if free:
            self.outputs = []
        found = pull(self.tape, seeds, free=free)
        return [[found[i] if i in found else np.zeros_like(x) for i, x in group] for group in leaves]

    def _seeds(self, adjoints: Sequence[Any]) -> dict[int, Any]:
        """Adjoints by position on the tape; two outputs may be the same variable."""
        seeds: dict[int, Any] = {}
        for out, d in zip(self.outputs, adjoints, strict=True):
            if d is not None and self.depends(out):
                seeds[out.index] = seeds[out.index] + d if out.index in seeds else d
        return seeds

    def push(self, tangents: dict[int, Any]) -> list[Any]:
        """For tangents of input leaves (by position on the tape; absent: zero) those of the output leaves."""
        found = push(self.tape, tangents)
        return [
            found[out.index] if self.depends(out) and out.index in found else np.zeros_like(self.plain(out))
            for out in self.outputs
        ]

    def close(self) -> None:
        """A tape and its tracers refer to each other; let go of them."""
        self.tape.clear()


def _differentiable(leaf: Any, argnum: int, tree: Tree, i: int) -> Any:
    if type(leaf) is Tracer:
        dtype = leaf.dtype
    else:
        leaf = np.asarray(leaf)
        dtype = leaf.dtype
    if dtype.kind != "f":
        raise DifferentiationError(
            f"argument {argnum}{paths(tree)[i]} has dtype {dtype}: derivatives need float32 or float64. "
            f"Write {'2.0 instead of 2' if not leaf.shape else 'x.astype(float)'}, or leave it out of argnums"
        )
    return leaf


def argument_numbers(argnums: int | Sequence[int], args: tuple[Any, ...], who: str) -> list[int]:
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise DifferentiationError(
                f"{who}: argnums={argnums} but the function was called with {len(args)} arguments"
            )
    return [n % len(args) for n in numbers]


def _like(x: Any, d: Any, what: str) -> Any:
    """A tangent or adjoint in the shape and dtype of what it belongs to."""
    if type(d) is not Tracer:
        d = np.asarray(d, dtype=x.dtype)[()]
        if is_open(x.shape) and d.shape == ():
            return np.full_like(x, d)
    if d.shape != x.shape:
        raise ShapeError(f"{what} has shape {format_shape(d.shape)}, expected {format_shape(x.shape)}")
    return d


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False, warn: bool = True
) -> Callable[..., Any]:
    """The value of a scalar function and its gradient, in one forward and one backward pass.

    `argnums` names the arguments to differentiate by (nested dicts, lists and tuples of arrays are welcome; the
    gradient has their structure). With `has_aux` the function returns `(loss, anything)`, and so does the result.

    >>> import numpy as np
    >>> value, slope = value_and_grad(lambda x: x**3)(2.0)
    >>> float(value), float(slope)
    (8.0, 12.0)
    """

    @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
    def value_and_grad_f(*args: Any, **kwargs: Any) -> Any:
        numbers = argument_numbers(argnums, args, "grad")
        aux: Any = None

        def scalar(*xs: Any) -> Any:
            nonlocal aux
            if not has_aux:
                return f(*xs, **kwargs)
            out, aux = f(*xs, **kwargs)
            return out

        traced = Traced(scalar, args, numbers)
        if traced.out_tree.kind is not None or np.shape(traced.outputs[0]) != ():
            got = "several outputs" if traced.out_tree.kind else f"shape {format_shape(np.shape(traced.outputs[0]))}"
            raise DifferentiationError(
                f"grad needs a function with one scalar output, got {got}: take a sum or mean, "
                "return (loss, extras) with has_aux=True, or use pellucid.jacobian or pellucid.vjp"
            )
        (out,) = traced.outputs
        value = traced.plain(out)
        if warn and not traced.depends(out):
            warnings.warn(
                f"the output of {getattr(f, '__name__', 'the function')} does not depend on argument "
                f"{', '.join(map(str, numbers))}: the gradient is zero. Was it turned into a plain array on the way?",
                IndependentOutputWarning,
                stacklevel=2,
            )
        if has_aux:
            leaves, tree = flatten(aux)
            aux = unflatten(tree, [traced.plain(leaf) for leaf in leaves])
        del out
        pulled = traced.pull([np.ones_like(value)], free=True)
        grads = [unflatten(tree, leaves) for tree, leaves in zip(traced.trees, pulled, strict=True)]
        gradient = grads[0] if isinstance(argnums, int) else tuple(grads)
        return ((value, aux) if has_aux else value), gradient

    return value_and_grad_f


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False, warn: bool = True
) -> Callable[..., Any]:
    """The gradient of a scalar function, by reverse mode. See `value_and_grad`.

    >>> import numpy as np
    >>> f = lambda x1, x2: np.log(x1) + x1 * x2 - np.sin(x2)
    >>> [round(float(g), 3) for g in grad(f, argnums=(0, 1))(2.0, 5.0)]
    [5.5, 1.716]
    """
    both = value_and_grad(f, argnums, has_aux=has_aux, warn=warn)

    @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
    def grad_f(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_f


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Forward mode: f(x) and its directional derivative J v, in one pass.

    >>> import numpy as np
    >>> y, dy = jvp(lambda x: x**3, (2.0,), (1.0,))
    >>> float(y), float(dy)
    (8.0, 12.0)
    """
    primals, tangents = tuple(primals), tuple(tangents)
    if len(primals) != len(tangents):
        raise ShapeError(f"jvp: {len(primals)} primals but {len(tangents)} tangents; give one for each")
    traced = Traced(f, primals, range(len(primals)))
    seeds = {
        x.index: _like(x, d, f"jvp: the tangent of argument {i}{path}")
        for i, (tree, group, tangent) in enumerate(zip(traced.trees, traced.inputs, tangents, strict=True))
        for x, d, path in zip(group, matching_leaves(tree, tangent, "tangents"), paths(tree), strict=True)
    }
    result = traced.value, unflatten(traced.out_tree, traced.push(seeds))
    traced.close()
    return result


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Reverse mode: f(x) and the function that takes adjoints of the output to adjoints of the arguments.

    The returned function can be called many times; it gives one entry for each argument.

    >>> import numpy as np
    >>> y, pull = vjp(lambda a, b: a * b, 3.0, 4.0)
    >>> [float(d) for d in pull(1.0)]
    [4.0, 3.0]
    """
    traced = Traced(f, primals, range(len(primals)))
    value = traced.value

    def pullback(adjoint: Any) -> tuple[Any, ...]:
        ds = matching_leaves(traced.out_tree, adjoint, "vjp: the adjoint")
        plain = [traced.plain(out) for out in traced.outputs]
        ds = [
            _like(y if hasattr(y, "dtype") else np.asarray(y), d, "vjp: the adjoint")
            for y, d in zip(plain, ds, strict=True)
        ]
        pulled = traced.pull(ds)
        return tuple(unflatten(tree, leaves) for tree, leaves in zip(traced.trees, pulled, strict=True))

    weakref.finalize(pullback, traced.tape.clear)  # a tape and its tracers refer to each other
    return value, pullback
