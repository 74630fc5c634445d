"""np.linalg on traced arrays: the primitives, and what is made of them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.primitive import FUNCTIONS
from pellucid.graph.core.spec import format_shape
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.numpy_api.doors import implements, unsupported
from pellucid.graph.primitives import linalg, symmetric
from pellucid.graph.primitives.control import stop_gradient
from pellucid.graph.primitives.products import swap

_SLOGDET, _EIGH = type(np.linalg.slogdet(np.eye(1))), type(np.linalg.eigh(np.eye(1)))


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    a, b = (x if type(x) is Tracer else np.asarray(x) for x in (a, b))
    if len(b.shape) != 1:
        return linalg.solve(a, b)
    column = b[:, None]
    linalg.check_solve(a, column, b.shape)
    return linalg.solve(a, column)[..., 0]


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    linalg.check_matrices(a, "inv")
    return linalg.inverse(a)


@implements(np.linalg.det)
def det(a: Any) -> Any:
    return linalg.det(a)


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    return _SLOGDET(linalg.sign_of_det(a), linalg.log_abs_det(a))


@implements(np.linalg.cholesky)
def cholesky(a: Any, *, upper: bool = False) -> Any:
    return swap(symmetric.cholesky(swap(a))) if upper else symmetric.cholesky(a)


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    pair = symmetric.eigh(swap(a) if UPLO.upper() == "U" else a)
    return _EIGH(pair[..., 0], pair[..., 1:])


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return eigh(a, UPLO)[0]


@implements(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None) -> Any:
    return linalg.pinv(a, rcond=rcond)


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    linalg.check_matrices(a, "matrix_power")
    n = operator.index(n)
    if n < 0:
        a, n = inv(a), -n
    power = None
    while n:  # by squares
        if n % 2:
            power = a if power is None else power @ a
        n //= 2
        a = a @ a if n else a
    return power if power is not None else np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype)


def singular_values(a: Any) -> Any:
    """From large to small: the largest eigenvalues of [[0, a], [aᵀ, 0]], whose eigenvalues are ± those of `a`.

    One that is zero up to rounding has no derivative here: a kink.
    """
    linalg.check_matrices(a, "svd", square=False)
    m, n = a.shape[-2:]
    if type(m) is not int or type(n) is not int:
        raise ShapeError(f"svd takes matrices of known sizes, got shape {format_shape(a.shape)}")
    a = a.astype(linalg.result_dtype(a, operation="svd"))
    lead = ((0, 0),) * (len(a.shape) - 2)
    both = np.pad(a, (*lead, (0, n), (m, 0))) + np.pad(swap(a), (*lead, (m, 0), (0, n)))
    s = np.flip(eigvalsh(both), -1)[..., : min(m, n)]
    tiny = float(np.finfo(a.dtype).eps) * max(m, n)
    return np.where(s > tiny * np.max(s, axis=-1, keepdims=True), s, np.maximum(stop_gradient(s), 0))


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if compute_uv:
        raise unsupported("svd", {f.__name__ for f in FUNCTIONS} - {"svd"})
    return singular_values(a)


@implements(np.linalg.svdvals)
def svdvals(x: Any) -> Any:
    return singular_values(x)
