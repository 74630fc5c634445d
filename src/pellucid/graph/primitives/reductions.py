"""Reductions along axes: sum, mean, max, min, prod, logsumexp. Others are made of these (numpy_api).

`axis` is a sorted tuple of non-negative numbers and `keepdims` a bool: numpy_api brings them to this form.
Ties of max and min share the derivative equally.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.graph.core.dims import Size, is_open, product
from pellucid.graph.core.primitive import primitive
from pellucid.graph.core.spec import Spec
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.primitives.shaping import full_like


def _reduced(x: Spec, axis: tuple[int, ...], keepdims: bool) -> tuple[Any, ...]:
    if keepdims:
        return tuple(1 if i in axis else s for i, s in enumerate(x.shape))
    return tuple(s for i, s in enumerate(x.shape) if i not in axis)


def _shape(x: Spec, *, axis: tuple[int, ...], keepdims: bool) -> Spec:
    return Spec(_reduced(x, axis, keepdims), np.dtype(x.dtype))


def _sum_shape(x: Spec, *, axis: tuple[int, ...], keepdims: bool) -> Spec:
    return Spec(_reduced(x, axis, keepdims), np.sum(np.zeros(0, x.dtype)).dtype)


def _float_shape(x: Spec, *, axis: tuple[int, ...], keepdims: bool) -> Spec:
    dtype = np.dtype(x.dtype)
    return Spec(_reduced(x, axis, keepdims), dtype if dtype.kind == "f" else np.dtype(float))


def spread(reduced: Any, x: Any, axis: tuple[int, ...], keepdims: Any) -> Any:
    """A reduced array back over the shape of `x`."""
    if is_open(x.shape) and type(reduced) is not Tracer:  # a constant takes its size from x when the graph runs
        fill = reduced.item() if np.size(reduced) == 1 else keep(reduced, x, axis, keepdims)
        return full_like(x, fill, dtype=x.dtype)
    return np.broadcast_to(keep(reduced, x, axis, keepdims), x.shape)


def keep(reduced: Any, x: Any, axis: tuple[int, ...], keepdims: Any) -> Any:
    """A reduced array with its lost axes as axes of size 1."""
    if keepdims or not axis or not x.shape:
        return reduced
    return np.reshape(reduced, tuple(1 if i in axis else s for i, s in enumerate(x.shape)))


def count(x: Any, axis: tuple[int, ...]) -> Size:
    """How many elements fall together."""
    return product(x.shape[i] for i in axis)


sum = primitive(
    "sum",
    lambda x, *, axis, keepdims: np.sum(x, axis=axis, keepdims=keepdims),
    shape=_sum_shape,
    jvp=(),
    vjp=(lambda d, y, x, *, axis, keepdims: spread(d, x, axis, keepdims),),
    linear=1,
)


def _mean_vjp(d: Any, y: Any, x: Any, *, axis: tuple[int, ...], keepdims: Any) -> Any:
    n = count(x, axis)
    return spread(d / n, x, axis, keepdims) if isinstance(n, int) else spread(d, x, axis, keepdims) / n


mean = primitive(
    "mean",
    lambda x, *, axis, keepdims: np.mean(x, axis=axis, keepdims=keepdims),
    shape=_float_shape,
    jvp=(),
    vjp=(_mean_vjp,),
    linear=1,
)


def _winners(y: Any, x: Any, axis: tuple[int, ...], keepdims: Any) -> Any:
    """1 over the number of winners where x is one of them, else 0."""
    wins = np.equal(x, keep(y, x, axis, keepdims)).astype(x.dtype)
    return wins / np.sum(wins, axis=axis, keepdims=True)


def _extreme_jvp(d: Any, y: Any, x: Any, *, axis: tuple[int, ...], keepdims: Any) -> Any:
    return np.sum(d * _winners(y, x, axis, keepdims), axis=axis, keepdims=keepdims)


def _extreme_vjp(d: Any, y: Any, x: Any, *, axis: tuple[int, ...], keepdims: Any) -> Any:
    return keep(d, x, axis, keepdims) * _winners(y, x, axis, keepdims)


max = primitive(
    "max",
    lambda x, *, axis, keepdims: np.max(x, axis=axis, keepdims=keepdims),
    shape=_shape,
    jvp=(_extreme_jvp,),
    vjp=(_extreme_vjp,),
)
min = primitive(
    "min",
    lambda x, *, axis, keepdims: np.min(x, axis=axis, keepdims=keepdims),
    shape=_shape,
    jvp=(_extreme_jvp,),
    vjp=(_extreme_vjp,),
)
any_ = primitive(
    "any",
    lambda x, *, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims),
    shape=lambda x, *, axis, keepdims: Spec(_reduced(x, axis, keepdims), np.bool_),
    jvp=(None,),
    vjp=(None,),
)
all_ = primitive(
    "all",
    lambda x, *, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims),
    shape=lambda x, *, axis, keepdims: Spec(_reduced(x, axis, keepdims), np.bool_),
    jvp=(None,),
    vjp=(None,),
)


def _arg_shape(x: Spec, *, axis: int | None) -> Spec:
    return Spec(() if axis is None else x.shape[:axis] + x.shape[axis + 1 :], np.intp)


argmax = primitive("argmax", lambda x, *, axis: np.argmax(x, axis=axis), shape=_arg_shape, jvp=(None,), vjp=(None,))
argmin = primitive("argmin", lambda x, *, axis: np.argmin(x, axis=axis), shape=_arg_shape, jvp=(None,), vjp=(None,))


def others(x: Any) -> Any:
    """For each element of the last axis the product of all the others, without dividing (a zero is welcome).

    Pairs are multiplied, the products of the other pairs are found the same way, and each element gets
    those times its partner: 2n products instead of n².
    """
    n = x.shape[-1]
    if n <= 1:
        return np.ones_like(x)
    if n % 2:
        x = np.concatenate([x, np.ones_like(x[..., :1])], axis=-1)
    left, right = x[..., 0::2], x[..., 1::2]
    rest = others(left * right)
    both = np.stack([rest * right, rest * left], axis=-1)
    return np.reshape(both, x.shape)[..., :n]


def _at_the_end(x: Any, axis: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(i for i in range(len(x.shape)) if i not in axis) + axis


def together(x: Any, axis: tuple[int, ...]) -> Any:
    """These axes brought to the end as one."""
    order = _at_the_end(x, axis)
    moved = x if order == tuple(range(len(order))) else np.transpose(x, order)
    rest = order[: len(order) - len(axis)]
    return np.reshape(moved, (*(x.shape[i] for i in rest), count(x, axis)))


def _others(x: Any, axis: tuple[int, ...]) -> Any:
    """The same over several axes."""
    order = _at_the_end(x, axis)
    moved = np.reshape(others(together(x, axis)), tuple(x.shape[i] for i in order))
    return np.transpose(moved, tuple(np.argsort(order)))


prod = primitive(
    "prod",
    lambda x, *, axis, keepdims: np.prod(x, axis=axis, keepdims=keepdims),
    shape=lambda x, *, axis, keepdims: Spec(_reduced(x, axis, keepdims), np.prod(np.zeros(0, x.dtype)).dtype),
    jvp=(lambda d, y, x, *, axis, keepdims: np.sum(d * _others(x, axis), axis=axis, keepdims=keepdims),),
    vjp=(lambda d, y, x, *, axis, keepdims: keep(d, x, axis, keepdims) * _others(x, axis),),
)


def _logsumexp(x: Any, *, axis: tuple[int, ...], keepdims: Any) -> Any:
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0).astype(top.dtype)
    with np.errstate(divide="ignore"):  # log 0 = -inf is the answer for a row of -inf
        out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return out if keepdims else np.squeeze(out, axis=axis)[()]


def _shares(y: Any, x: Any, axis: tuple[int, ...], keepdims: Any) -> Any:
    """softmax(x); zero where a row is all -inf."""
    y = keep(y, x, axis, keepdims)
    return np.exp(x - np.where(np.isinf(y), 0, y))


logsumexp = primitive(
    "logsumexp",
    _logsumexp,
    shape=_float_shape,
    jvp=(lambda d, y, x, *, axis, keepdims: np.sum(d * _shares(y, x, axis, keepdims), axis=axis, keepdims=keepdims),),
    vjp=(lambda d, y, x, *, axis, keepdims: keep(d, x, axis, keepdims) * _shares(y, x, axis, keepdims),),
)
