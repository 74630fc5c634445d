"""Whole matrices of derivatives: jacobian, hessian, and the Hessian times a vector."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.autodiff.modes import Traced, argument_numbers, check_callable, grad, jvp
from pellucid.errors import DifferentiationError
from pellucid.graph.core.dims import is_open
from pellucid.graph.core.tree import unflatten


def jacobian(f: Callable[..., Any], argnums: int = 0, mode: str = "auto") -> Callable[..., Any]:
    """All partial derivatives.   f: shape (n...) -> (m...)  gives  (m..., n...)

    The function itself runs once. Where argument or result are nested, so is the Jacobian: the structure of the
    result, and in each place the structure of the argument.

    Parameters
    ----------
    f : Callable
        a function of arrays, or of nests of them
    argnums : int
        the argument to differentiate by, by number
    mode : str
        "forward" pushes one unit tangent for each input element, "reverse" pulls one unit adjoint for each output
        element, "auto" takes the mode with fewer passes

    Returns
    -------
    Callable
        a function of the same arguments that gives the Jacobian, (m..., n...)

    Examples
    --------
    >>> import numpy as np
    >>> jacobian(lambda x: np.array([1.0, 2.0]) * x)(np.array([3.0, 4.0]))
    array([[1., 0.],
           [0., 2.]])
    """
    if mode not in ("auto", "forward", "reverse"):
        raise ValueError(f"mode is 'auto', 'forward' or 'reverse', got {mode!r}")
    check_callable(f, "jacobian")
    if isinstance(argnums, tuple | list):
        raise TypeError(
            f"jacobian takes one argument number, got {argnums!r}: put the arguments into one tuple or dict"
        )

    @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
    def jacobian_f(*args: Any, **kwargs: Any) -> Any:
        traced = Traced(lambda *xs: f(*xs, **kwargs), args, argument_numbers(argnums, args, "jacobian"))
        (inputs,), outputs = traced.inputs, [traced.plain(out) for out in traced.outputs]
        if any(is_open(np.shape(x)) for x in [*inputs, *outputs]):
            raise DifferentiationError("jacobian needs known sizes: record it with fixed ones, as in Spec((32, 10))")
        n, m = sum(int(np.size(x)) for x in inputs), sum(int(np.size(y)) for y in outputs)
        forward = n <= m if mode == "auto" else mode == "forward"
        blocks = _forward_blocks(traced, inputs, outputs) if forward else _reverse_blocks(traced, inputs, outputs)
        traced.recording.close()
        return unflatten(traced.out_tree, [unflatten(traced.trees[0], row) for row in blocks])

    return jacobian_f


def _units(x: Any) -> list[Any]:
    """The unit arrays of the shape of x, one for each element."""
    size = int(np.prod(np.shape(x)))
    return [unit.reshape(np.shape(x))[()] for unit in np.eye(size, dtype=np.result_type(x.dtype))]


def _forward_blocks(traced: Traced, inputs: list[Any], outputs: list[Any]) -> list[list[Any]]:
    """blocks[output][input]: each pushed unit tangent gives a column."""
    pushed = [[traced.push({x.index: unit}) for unit in _units(x)] for x in inputs]
    return [
        [_join([tangents[o] for tangents in pushed[i]], -1, y, x) for i, x in enumerate(inputs)]
        for o, y in enumerate(outputs)
    ]


def _reverse_blocks(traced: Traced, inputs: list[Any], outputs: list[Any]) -> list[list[Any]]:
    """blocks[output][input]: each pulled unit adjoint gives a row."""
    blocks = []
    for o, y in enumerate(outputs):
        y = y if hasattr(y, "dtype") else np.asarray(y)
        none: list[Any] = [None] * len(outputs)
        pulled = [traced.pull([*none[:o], unit, *none[o + 1 :]])[0] for unit in _units(y)]
        blocks.append([_join([adjoints[i] for adjoints in pulled], 0, y, x) for i, x in enumerate(inputs)])
    return blocks


def _join(parts: list[Any], axis: int, y: Any, x: Any) -> Any:
    shape = (*np.shape(y), *np.shape(x))
    return np.reshape(np.stack(parts, axis=axis), shape) if parts else np.zeros(shape, x.dtype)


def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Second derivatives of a scalar function, forward over reverse.   f: (n...) -> ()  gives  (n..., n...)

    Parameters
    ----------
    f : Callable
        a function that returns one number
    argnums : int
        the argument to differentiate by, by number

    Returns
    -------
    Callable
        a function of the same arguments that gives the second derivatives, (n..., n...)

    Examples
    --------
    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return jacobian(grad(f, argnums, warn=False), argnums, mode="forward")


def hvp(f: Callable[..., Any], x: Any, v: Any) -> Any:
    """The Hessian times a vector, at the price of about two gradients, without the Hessian.

    Parameters
    ----------
    f : Callable
        a function of one argument that returns one number
    x : array | nest
        where
    v : array | nest
        the vector, in the structure and shapes of `x`

    Returns
    -------
    array | nest
        H(x) v, in the structure and shapes of `x`

    Examples
    --------
    >>> import numpy as np
    >>> hvp(lambda x: x[0] ** 2 * x[1], np.array([1.0, 3.0]), np.array([1.0, 0.0]))
    array([6., 2.])
    """
    return jvp(grad(f, warn=False), (x,), (v,))[1]
