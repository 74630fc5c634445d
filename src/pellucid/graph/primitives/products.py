"""Matrix products and einsum."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.primitive import EachArgument, Primitive, fit, primitive
from pellucid.graph.core.spec import Spec, broadcast, format_shape, promote

PRECISIONS = ("full", "bfloat16")
"""What float32 numbers are rounded to before they are multiplied in matrix products, whose sums are float32."""


def _matmul_shape(a: Spec, b: Spec, *, precision: str = "full") -> Spec:
    if not a.shape or not b.shape:
        raise ShapeError("matmul (@) needs arrays of at least one dimension: use * for a single number")
    inner_a, inner_b = a.shape[-1], b.shape[-2 if b.ndim > 1 else 0]
    if inner_a != inner_b:
        raise ShapeError(
            f"matmul: shapes {format_shape(a.shape)} @ {format_shape(b.shape)} do not fit: "
            f"the last size of the first ({inner_a}) must equal the second-last of the second ({inner_b})"
        )
    lead = broadcast([a.shape[:-2], b.shape[:-2]], "matmul")
    rows = a.shape[-2:-1]
    columns = b.shape[-1:] if b.ndim > 1 else ()
    return Spec((*lead, *rows, *columns), promote([a, b]))


def _matmul(a: Any, b: Any, *, precision: str = "full") -> Any:
    if (
        a.__class__ is not np.ndarray
        or b.__class__ is not np.ndarray
        or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]
    ):
        a, b = np.asarray(a), np.asarray(b)
        _matmul_shape(Spec(a.shape, a.dtype), Spec(b.shape, b.dtype))  # says what does not fit
    if precision == "bfloat16":
        a, b = as_bfloat16(a), as_bfloat16(b)
    return a @ b


def as_bfloat16(x: Any) -> Any:
    """float32 numbers with the values of the nearest bfloat16 numbers, ties to even.

    >>> as_bfloat16(np.float32([1.0, 1.003, 1.005]))
    array([1.       , 1.       , 1.0078125], dtype=float32)
    """
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return np.where(np.isnan(x), x, nearest.astype(np.uint32).view(np.float32))


def swap(x: Any) -> Any:
    """A stack of matrices, each transposed."""
    return x.T if len(x.shape) == 2 else np.swapaxes(x, -1, -2)


def column(x: Any) -> Any:
    """A stack of vectors as one of matrices with one column."""
    return np.expand_dims(x, -1)


def _matmul_left(d: Any, y: Any, a: Any, b: Any, **settings: Any) -> Any:
    product = partial(matmul, **settings)
    if np.ndim(b) == 1:
        return fit(column(d) * b, a)
    if np.ndim(a) == 1:
        return fit(product(b, d) if np.ndim(b) == 2 else np.squeeze(product(b, column(d)), -1), a)
    return fit(product(d, swap(b)), a)


def _matmul_right(d: Any, y: Any, a: Any, b: Any, **settings: Any) -> Any:
    product = partial(matmul, **settings)
    if np.ndim(a) == 1:
        return fit(column(a) * np.expand_dims(d, -2), b) if np.ndim(b) > 1 else fit(a * d, b)
    if np.ndim(b) == 1:
        return fit(product(swap(a), d) if np.ndim(a) == 2 else np.squeeze(product(swap(a), column(d)), -1), b)
    return fit(product(swap(a), d), b)


matmul: Primitive = primitive(
    "matmul",
    _matmul,
    shape=_matmul_shape,
    jvp=(
        lambda d, y, a, b, **settings: matmul(d, b, **settings),
        lambda d, y, a, b, **settings: matmul(a, d, **settings),
    ),
    vjp=(_matmul_left, _matmul_right),
    ufunc=np.matmul,
)


# einsum: `subscripts` is explicit ("ij,jk->ik"), each operand names an axis once (numpy_api sees to it)


def _einsum_sizes(subscripts: str, xs: tuple[Any, ...]) -> dict[str, Any]:
    sizes: dict[str, Any] = {}
    for term, x in zip(subscripts.split("->")[0].split(","), xs, strict=True):
        if len(term) != len(x.shape):
            raise ShapeError(f"einsum {subscripts!r}: {term!r} names {len(term)} axes of an array of shape {x.shape}")
        for letter, size in zip(term, x.shape, strict=True):
            before = sizes.setdefault(letter, size)
            if before == 1:
                sizes[letter] = size
            elif size not in (1, before):
                raise ShapeError(f"einsum {subscripts!r}: axis {letter!r} has sizes {before} and {size}")
    return sizes


def _einsum_shape(*xs: Spec, subscripts: str) -> Spec:
    sizes = _einsum_sizes(subscripts, xs)
    return Spec(tuple(sizes[letter] for letter in subscripts.split("->")[1]), promote(xs))


def _einsum_jvp(position: int, d: Any, y: Any, *xs: Any, subscripts: str) -> Any:
    return einsum(*xs[:position], d, *xs[position + 1 :], subscripts=subscripts)


def _einsum_vjp(position: int, d: Any, y: Any, *xs: Any, subscripts: str) -> Any:
    """The adjoint is an einsum too: the result takes the place of the argument."""
    inputs, output = subscripts.split("->")
    terms = inputs.split(",")
    x, term = xs[position], terms[position]
    rest = [(t, v) for i, (t, v) in enumerate(zip(terms, xs, strict=True)) if i != position]
    elsewhere = set(output).union(*(t for t, _ in rest))
    reached = "".join(letter for letter in term if letter in elsewhere)
    share = einsum(d, *(v for _, v in rest), subscripts=",".join([output, *(t for t, _ in rest)]) + "->" + reached)
    shape = tuple(1 if letter not in elsewhere else share.shape[reached.index(letter)] for letter in term)
    share = np.reshape(share, shape) if shape != share.shape else share
    sizes = _einsum_sizes(subscripts, xs)
    # an axis that only this argument has was summed away: its adjoint is the same all along it
    return fit(np.broadcast_to(share, tuple(sizes[letter] for letter in term)), x)


einsum = primitive(
    "einsum",
    lambda *xs, subscripts: np.einsum(subscripts, *xs),
    shape=_einsum_shape,
    jvp=EachArgument(_einsum_jvp),
    vjp=EachArgument(_einsum_vjp),
)
