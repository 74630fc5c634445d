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
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from pellucid.errors import DifferentiationError, IndependentOutputWarning, ShapeError
from pellucid.graph.core.dims import is_open
from pellucid.graph.core.spec import SCALARS, format_shape
from pellucid.graph.core.tracer import Recording, Tracer
from pellucid.graph.core.tree import Tree, flatten, matching_leaves, paths, tree_map, unflatten
from pellucid.graph.core.walk import pull, push
from pellucid.graph.graph import snapshot


class Traced:
    """One concrete recording of f at its arguments: the tape, the inputs on it, and the outputs."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], argnums: Sequence[int]) -> None:
        self.inputs: list[list[Tracer]] = []  # for each differentiated argument its leaves
        self.trees: list[Tree] = []
        traced = list(args)
        with Recording() as self.recording:
            self.tape = self.recording.tape
            for argnum in argnums:
                leaves, tree = flatten(args[argnum])
                named = zip(leaves, paths(tree), strict=True)
                inputs = [
                    self.recording.input(_differentiable(leaf, f"argument {argnum}{path}")) for leaf, path in named
                ]
                self.inputs.append(inputs)
                self.trees.append(tree)
                traced[argnum] = unflatten(tree, inputs)
            self.outputs, self.out_tree = flatten(f(*traced))
            for out, path in zip(self.outputs, paths(self.out_tree), strict=True):
                if out is None:
                    raise DifferentiationError(
                        f"the function returned None{path and ' in ' + path}: is a return missing?"
                    )
                if not isinstance(out, SCALARS) and not hasattr(out, "dtype"):
                    raise DifferentiationError(f"the function returned {out!r}: derivatives are of numbers and arrays")

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
        mine = {id(d) for d in seeds.values()}  # not to be handed out again
        by_place = pull(self.tape, seeds, free=free)
        return [
            [_own(by_place[i], mine) if i in by_place else np.zeros_like(x)[()] for i, x in group] for group in leaves
        ]

    def _seeds(self, adjoints: Sequence[Any]) -> dict[int, Any]:
        """Adjoints by position on the tape; two outputs may be the same variable."""
        seeds: dict[int, Any] = {}
        for out, d in zip(self.outputs, adjoints, strict=True):
            if d is not None and self.depends(out):
                seeds[out.index] = seeds[out.index] + d if out.index in seeds else d
        return seeds

    def push(self, tangents: dict[int, Any]) -> list[Any]:
        """For tangents of input leaves (by position on the tape; absent: zero) those of the output leaves."""
        by_place = push(self.tape, tangents)
        return [
            by_place[out.index] if self.depends(out) and out.index in by_place else np.zeros_like(self.plain(out))
            for out in self.outputs
        ]

    def unused(self) -> list[int]:
        """Which of the differentiated arguments no output depends on."""
        reached = {out.index for out in self.outputs if self.depends(out)}
        for node in reversed(self.tape):
            if node.index in reached:
                reached.update(a.index for a in node.args if self.depends(a))
        return [i for i, group in enumerate(self.inputs) if group and not any(x.index in reached for x in group)]


def _own(d: Any, taken: set[int]) -> Any:
    """A result of the caller's own: not read-only, and no array twice."""
    if type(d) is np.ndarray and (id(d) in taken or not d.flags.writeable):
        d = d.copy()
    taken.add(id(d))
    return d


def _differentiable(leaf: Any, where: str) -> Any:
    """A leaf that has derivatives, or a word on why it has not."""
    if type(leaf) is not Tracer:
        if leaf is None or isinstance(leaf, str) or is_dataclass(leaf):
            raise DifferentiationError(
                f"{where} is {leaf!r}: arguments are numbers, arrays, and dicts, lists and tuples of them. "
                "Leave it out, or bind it with functools.partial or a lambda"
            )
        leaf = np.asarray(leaf)
    if leaf.dtype.kind != "f":
        remedy = {"i": "x.astype(float)", "u": "x.astype(float)", "b": "x.astype(float)"}.get(
            leaf.dtype.kind, "real numbers"
        )
        raise DifferentiationError(
            f"{where} has dtype {leaf.dtype}: derivatives need float32 or float64. "
            f"Write {'2.0 instead of 2' if leaf.dtype.kind == 'i' and not leaf.shape else remedy}, "
            "or do not differentiate by it (argnums)"
        )
    return leaf


def argument_numbers(argnums: Any, args: tuple[Any, ...], who: str) -> list[int]:
    """Positions of the arguments to differentiate by, counted from 0."""
    positions = list(argnums) if isinstance(argnums, tuple | list) else [argnums]
    if any(not isinstance(n, int | np.integer) or isinstance(n, bool) for n in positions):
        raise DifferentiationError(f"{who}: argnums is the number of an argument or a tuple of them, got {argnums!r}")
    for n in positions:
        if not -len(args) <= n < len(args):
            raise DifferentiationError(
                f"{who}: argnums={argnums} but the function was called with {len(args)} arguments"
            )
    numbers = [int(n) % len(args) for n in positions]
    if len(set(numbers)) != len(numbers):
        raise DifferentiationError(f"{who}: argnums={argnums} names an argument twice")
    return numbers


def check_callable(f: Any, who: str) -> None:
    if not callable(f):
        raise TypeError(f"{who} takes a function, got {f!r}: write {who}(f)(x), not {who}(f(x))")


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

    Parameters
    ----------
    f : Callable
        a function that returns one number
    argnums : int | Sequence[int]
        the arguments to differentiate by; nested dicts, lists and tuples of arrays are welcome
    has_aux : bool
        the function returns `(loss, anything)`, and so does the result
    warn : bool
        warn where the result does not depend on an argument

    Returns
    -------
    Callable
        a function of the same arguments that gives (value, gradient); the gradient has the structure of the
        argument, a tuple of them where `argnums` is a sequence

    Examples
    --------
    >>> import numpy as np
    >>> value, slope = value_and_grad(lambda x: x**3)(2.0)
    >>> float(value), float(slope)
    (8.0, 12.0)
    """

    check_callable(f, "grad")

    @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
    def value_and_grad_f(*args: Any, **kwargs: Any) -> Any:
        numbers = argument_numbers(argnums, args, "grad")
        aux: Any = None

        def scalar(*xs: Any) -> Any:
            nonlocal aux
            if not has_aux:
                return f(*xs, **kwargs)
            both = f(*xs, **kwargs)
            if not isinstance(both, tuple) or len(both) != 2:
                raise DifferentiationError("has_aux=True: the function must return a pair (loss, extras)")
            out, aux = both
            return out

        traced = Traced(scalar, args, numbers)
        out = traced.outputs[0]
        if traced.out_tree.kind is not None or np.shape(out) != () or _dtype(out).kind != "f":
            raise _not_scalar(traced)
        value = traced.plain(out)
        if warn:
            _warn_unused(f, traced, numbers)
        if has_aux:
            leaves, tree = flatten(aux)
            aux = unflatten(tree, [traced.plain(leaf) for leaf in leaves])
        out = None
        pulled = traced.pull([np.ones_like(value)], free=True)
        grads = [unflatten(tree, leaves) for tree, leaves in zip(traced.trees, pulled, strict=True)]
        traced.recording.close()
        gradient = tuple(grads) if isinstance(argnums, tuple | list) else grads[0]
        return ((value, aux) if has_aux else value), gradient

    return value_and_grad_f


def _dtype(x: Any) -> Any:
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype


def _not_scalar(traced: Traced) -> DifferentiationError:
    if traced.out_tree.kind is not None:
        got = f"a {traced.out_tree.kind.__name__} of {len(traced.outputs)}"
    else:
        y = traced.outputs[0]
        got = f"shape {format_shape(np.shape(y))}" if np.shape(y) else f"dtype {_dtype(y)}"
    return DifferentiationError(
        f"grad needs a function with one scalar output, a floating-point number, got {got}: take a sum or mean, "
        "return (loss, extras) with has_aux=True, or use pellucid.jacobian or pellucid.vjp"
    )


def _warn_unused(f: Any, traced: Traced, numbers: list[int]) -> None:
    # with one argument a glance at the output will do
    if len(numbers) == 1 and traced.depends(traced.outputs[0]):
        return
    for i in traced.unused():
        warnings.warn(
            f"the output of {getattr(f, '__name__', 'the function')} does not depend on argument {numbers[i]}: "
            "its gradient is zero. Was it turned into a plain array on the way?",
            IndependentOutputWarning,
            stacklevel=3,
        )


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False, warn: bool = True
) -> Callable[..., Any]:
    """The gradient of a scalar function, by reverse mode. See `value_and_grad`.

    Parameters
    ----------
    f : Callable
        a function that returns one number
    argnums : int | Sequence[int]
        the arguments to differentiate by, by number
    has_aux : bool
        the function returns `(loss, anything)`, and the result is `(gradient, anything)`
    warn : bool
        warn where the result does not depend on an argument

    Returns
    -------
    Callable
        a function of the same arguments that gives the gradient, in the structure of the argument

    Examples
    --------
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

    Parameters
    ----------
    f : Callable
        a function of arrays, or of nests of them
    primals : sequence
        the arguments
    tangents : sequence
        the direction: one entry for each argument, of its structure and shapes

    Returns
    -------
    tuple
        f(x), and J v in the structure of f(x)

    Examples
    --------
    >>> import numpy as np
    >>> y, dy = jvp(lambda x: x**3, (2.0,), (1.0,))
    >>> float(y), float(dy)
    (8.0, 12.0)
    """
    check_callable(f, "jvp")
    for values, what in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(values, tuple | list):
            raise TypeError(
                f"jvp takes {what} as a tuple, one entry for each argument: write ({what[0]},), got {values!r}"
            )
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
    traced.recording.close()
    return result


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Reverse mode: f(x) and the function that takes adjoints of the output to adjoints of the arguments.

    Parameters
    ----------
    f : Callable
        a function of arrays, or of nests of them
    *primals
        the arguments

    Returns
    -------
    tuple
        f(x), and a function of an adjoint (structure of f(x)); it gives one entry for each argument, and can be
        called many times

    Examples
    --------
    >>> import numpy as np
    >>> y, pull = vjp(lambda a, b: a * b, 3.0, 4.0)
    >>> [float(d) for d in pull(1.0)]
    [4.0, 3.0]
    """
    check_callable(f, "vjp")
    traced = Traced(f, tree_map(snapshot, primals), range(len(primals)))  # the tape stays: so must its values
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

    weakref.finalize(pullback, traced.recording.close)
    return value, pullback
