"""The table from primitive to lowering: each operation of a graph in the words of JAX.

A lowering takes the arguments and settings of its primitive. Promotion is NumPy's: `evaluate` brings arguments to the
dtypes that NumPy would compute in, and the result to the dtype of the node. There are no derivatives here: those are
graphs already.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as special
from jax import lax

from pellucid.engine.jax import linear_algebra, random_numbers
from pellucid.graph.primitives import statistics
from pellucid.graph.primitives.indexing import SLOT

Lowering = Callable[..., Any]

# fmt: off
SAME_NAME = (
    "add", "subtract", "multiply", "divide", "negative", "positive", "reciprocal", "square", "sqrt", "cbrt",
    "power", "floor_divide", "remainder", "fmod", "hypot", "exp", "exp2", "expm1", "log", "log2", "log10",
    "log1p", "logaddexp", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh",
    "arcsinh", "arccosh", "arctanh", "absolute", "fabs", "sign", "floor", "ceil", "rint", "trunc", "isnan",
    "isinf", "isfinite", "logical_not", "invert", "greater", "greater_equal", "less", "less_equal", "equal",
    "not_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
    "copysign", "heaviside", "where", "clip", "max", "min", "any", "all", "prod", "argmax", "argmin", "cumsum",
    "cumprod", "flip",
)
# fmt: on
"""What jax.numpy has under the primitive's own name, with the same settings."""

# fmt: off
SPECIAL = (
    "erf", "erfc", "erfinv", "ndtr", "log_ndtr", "ndtri", "expit", "logit", "xlogy", "xlog1py", "entr",
    "rel_entr", "gammaln", "zeta",
)
# fmt: on


def _place(spec: tuple[Any, ...], arrays: tuple[Any, ...]) -> tuple[Any, ...]:
    rest = iter(arrays)
    return tuple(next(rest) if part is SLOT else part for part in spec)


def _scatter_add(d: Any, *arrays: Any, spec: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    return jnp.zeros(shape, d.dtype).at[_place(spec, arrays)].add(d)


def _recurrence(a: Any, b: Any, *, axis: int) -> Any:
    rows, factors = jnp.moveaxis(b, axis, 0), jnp.moveaxis(a, axis, 0)
    if not len(rows):
        return b

    def follow(previous: Any, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        y = pair[0] * previous + pair[1]
        return y, y

    return jnp.moveaxis(lax.scan(follow, jnp.zeros_like(rows[0]), (factors, rows))[1], 0, axis)


def _logsumexp(x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return special.logsumexp(x, axis=axis, keepdims=keepdims) if axis else x


def _matmul(a: Any, b: Any, *, precision: str = "full") -> Any:
    if precision == "full":
        return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)
    return jnp.matmul(a.astype(precision), b.astype(precision), preferred_element_type=jnp.float32)


def _sparse_matmul(entries: Any, rows: Any, columns: Any, b: Any, *, count: int) -> Any:
    return jax.ops.segment_sum(entries[:, None] * b[columns], rows, num_segments=count)


LOWERINGS: dict[str, Lowering] = {
    **{name: getattr(jnp, name) for name in SAME_NAME},
    **{name: getattr(special, name) for name in SPECIAL},
    "maximum": lambda a, b, *, tie=0.5: jnp.maximum(a, b),
    "minimum": lambda a, b, *, tie=0.5: jnp.minimum(a, b),
    "log_expit": jax.nn.log_sigmoid,
    "psi": special.digamma,
    "stop_gradient": lambda x: x,
    "astype": lambda x, *, dtype: jnp.asarray(x).astype(dtype),
    # shapes
    "reshape": lambda x, *, shape: jnp.reshape(x, shape),
    "transpose": lambda x, *, axes: jnp.transpose(x, axes),
    "broadcast_to": lambda x, *, shape: jnp.broadcast_to(x, shape),
    "concatenate": lambda *xs, axis: jnp.concatenate(xs, axis=axis),
    "pad": lambda x, *, width: jnp.pad(x, width),
    "full_like": lambda x, fill, *, dtype: jnp.full_like(x, fill, dtype=dtype),
    # reductions
    "sum": lambda x, *, axis, keepdims: jnp.sum(x, axis=axis, keepdims=keepdims),
    "mean": lambda x, *, axis, keepdims: jnp.mean(x, axis=axis, keepdims=keepdims),
    "logsumexp": _logsumexp,
    "recurrence": _recurrence,
    # elements
    "getitem": lambda x, *arrays, spec: x[_place(spec, arrays)],
    "scatter_add": _scatter_add,
    "one_hot": lambda labels, *, classes, dtype: (labels[..., None] == jnp.arange(classes)).astype(dtype),
    "argsort": lambda x, *, axis, kind: jnp.argsort(x, axis=axis, stable=True),
    "reorder": lambda x, order, *, axis: jnp.take_along_axis(x, order, axis=axis),
    "searchsorted": lambda a, v, *, side: jnp.searchsorted(a, v, side=side),
    # products
    "matmul": _matmul,
    "einsum": lambda *xs, subscripts: jnp.einsum(subscripts, *xs, precision=lax.Precision.HIGHEST),
    "sparse_matmul": _sparse_matmul,
    # matrices
    "solve": linear_algebra.solve,
    "det": jnp.linalg.det,
    "cofactors": linear_algebra.cofactors,
    "log_abs_det": lambda a: jnp.linalg.slogdet(a)[1],
    "sign_of_det": lambda a: jnp.linalg.slogdet(a)[0],
    "cholesky": linear_algebra.cholesky,
    "eigh": linear_algebra.eigh,
    "pinv": linear_algebra.pinv,
    # random numbers, statistics
    "random_uniform": random_numbers.uniform,
    "random_normal": random_numbers.normal,
    "random_bernoulli": random_numbers.bernoulli,
    "distribution": partial(statistics.distribution_of, jnp, counts_of=lambda x, bins: jnp.bincount(x, length=bins)),
    "column_moments": partial(statistics.column_moments_of, jnp),
    "likeness": partial(statistics.likeness_of, jnp),
}


# fmt: off
TO_RESULT = frozenset((
    "maximum", "minimum", "clip", "where", "concatenate", "matmul", "einsum", "sum", "mean", "prod", "cumsum",
    "cumprod", "recurrence", "logsumexp", "solve", "det", "cofactors", "log_abs_det", "sign_of_det", "cholesky",
    "eigh", "pinv",
))
# fmt: on
"""Primitives whose arguments NumPy brings to the dtype of the result, but for conditions and index arrays."""


# what XLA does not refuse, though NumPy does: True where the result is not to be trusted


def _out_of_range(x: Any, arrays: tuple[Any, ...], spec: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    axis, fault, rest = 0, jnp.zeros((), bool), iter(arrays)
    for i, part in enumerate(spec):
        if part is Ellipsis:
            axis = len(shape) - sum(p is not None for p in spec[i + 1 :])
        elif part is not None:
            if part is SLOT:
                index = next(rest)
                fault = fault | jnp.any((index < -shape[axis]) | (index >= shape[axis]))
            axis += 1
    return fault


def _broken(y: Any, *xs: Any, **settings: Any) -> Any:
    return ~jnp.all(jnp.isfinite(y))


CHECKS: dict[str, Callable[..., Any]] = {
    "getitem": lambda y, x, *arrays, spec: _out_of_range(x, arrays, spec, x.shape),
    "scatter_add": lambda y, d, *arrays, spec, shape: _out_of_range(d, arrays, spec, shape),
    "one_hot": lambda y, labels, *, classes, dtype: jnp.any((labels < 0) | (labels >= classes)),
    **dict.fromkeys(("solve", "cholesky", "eigh", "pinv", "cofactors"), _broken),
}
