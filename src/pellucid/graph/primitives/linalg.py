"""Linear algebra on stacks of matrices: solve, determinants, pseudoinverses.

Matrices are the last two axes, all axes before them are the stack. Only values of LAPACK's are primitives; inverses and
norms are made of them (numpy_api).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.errors import MatrixError, ShapeError, UnsupportedError
from pellucid.graph.core.primitive import fit, primitive
from pellucid.graph.core.spec import Spec, broadcast, format_shape, spec_of
from pellucid.graph.primitives.products import swap
from pellucid.graph.primitives.reductions import others


def check_matrices(x: Any, operation: str, *, square: bool = True) -> None:
    """`x` is a matrix or a stack of them, of a dtype that LAPACK has."""
    x = spec_of(x)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        kind = "square matrices: shape (..., n, n)" if square else "matrices: shape (..., m, n)"
        raise ShapeError(f"{operation} expects {kind}, got shape {format_shape(x.shape)}")
    result_dtype(x, operation=operation)


def result_dtype(*xs: Spec, operation: str) -> Any:
    """float32 where all are, else float64, as NumPy has it."""
    for x in xs:
        dtype = np.dtype(x.dtype)
        if dtype.kind not in "biu" and dtype.str[1:] not in ("f4", "f8"):
            raise UnsupportedError(
                f"{operation} computes in float32 and float64, not in {x.dtype}: convert with .astype"
            )
    return np.dtype(np.float32 if all(x.dtype == np.float32 for x in xs) else np.float64)


_REMEDIES = {
    "Singular": "Inverses and derivatives of determinants solve equations, too. Add a small multiple of the identity, "
    "or use np.linalg.pinv",
    "positive definite": "Add a small multiple of the identity",
}
_FINITE = "Are all its elements finite?"


def checked(operation: str, f: Callable[..., Any], *, square: bool = True) -> Callable[..., Any]:
    """A value of LAPACK's, with errors that name the operation and the shape."""

    def value(a: Any, *rest: Any, **settings: Any) -> Any:
        check_matrices(a, operation, square=square)
        try:
            return f(a, *rest, **settings)
        except np.linalg.LinAlgError as error:
            remedy = next((text for word, text in _REMEDIES.items() if word in str(error)), _FINITE)
            raise MatrixError(
                f"{operation}, matrices of shape {format_shape(np.shape(a))}: {error}. {remedy}"
            ) from error

    return value


def matrix_shape(operation: str, shape: Callable[[Any], Any] = lambda shape: shape, *, square: bool = True) -> Any:
    """The shape rule of a function of matrices."""

    def rule(a: Spec, **settings: Any) -> Spec:
        check_matrices(a, operation, square=square)
        return Spec(shape(a.shape), result_dtype(a, operation=operation))

    return rule


def _matrices(d: Any) -> Any:
    """Numbers, one for each matrix, ready to be multiplied with the matrices."""
    return np.reshape(d, (*np.shape(d), 1, 1))


def _dot(a: Any, b: Any) -> Any:
    """<a, b> matrix by matrix."""
    return np.sum(a * b, axis=(-2, -1))


# solve(a, b): b holds columns, (..., n, k)


def check_solve(a: Any, b: Any, vector: Any = None) -> tuple[Any, ...]:
    """The shape of the stack, if these are equations. `vector` is the shape that b had before it was a column."""
    a, b = spec_of(a), spec_of(b)
    check_matrices(a, "solve")
    if b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ShapeError(
            f"solve: {a.shape[-1]} equations of shape {format_shape(a.shape)} expect a right-hand side of shape (..., "
            f"{a.shape[-1]}, k) or ({a.shape[-1]},), got {format_shape(b.shape if vector is None else vector)}"
        )
    return broadcast([a.shape[:-2], b.shape[:-2]], "solve")


def _solve_shape(a: Spec, b: Spec) -> Spec:
    return Spec((*check_solve(a, b), *b.shape[-2:]), result_dtype(a, b, operation="solve"))


def _solve(a: Any, b: Any) -> Any:
    check_solve(a, b)
    return np.linalg.solve(a, b)


solve: Any = primitive(
    "solve",
    checked("solve", _solve),
    shape=_solve_shape,
    jvp=(lambda d, y, a, b: -solve(a, d @ y), lambda d, y, a, b: solve(a, d)),
    vjp=(
        lambda d, y, a, b: fit(-solve(swap(a), d) @ swap(y), a),
        lambda d, y, a, b: fit(solve(swap(a), d), b),
    ),
)


def inverse(a: Any) -> Any:
    """The inverse: the solutions for the columns of the identity."""
    return solve(a, np.eye(a.shape[-1], dtype=result_dtype(spec_of(a), operation="inv")))


# determinants. The derivative of det are the cofactors, which exist at singular matrices, too


def _cofactors(a: Any) -> Any:
    """adj(a)ᵀ by singular values: the products of all but one of them, no division."""
    u, s, vt = np.linalg.svd(a)
    sign = np.sign(np.linalg.det(u) * np.linalg.det(vt))
    return (u * (others(s) * sign[..., None])[..., None, :]) @ vt


def _cofactors_jvp(d: Any, y: Any, a: Any) -> Any:
    t = swap(inverse(a))
    return t * _matrices(_dot(y, d)) - t @ swap(d) @ y


def _cofactors_vjp(d: Any, y: Any, a: Any) -> Any:
    t = swap(inverse(a))
    return y * _matrices(_dot(t, d)) - y @ swap(d) @ t


cofactors = primitive(
    "cofactors",
    checked("cofactors", _cofactors),
    shape=matrix_shape("cofactors"),
    jvp=(_cofactors_jvp,),
    vjp=(_cofactors_vjp,),
)
det = primitive(
    "det",
    checked("det", np.linalg.det),
    shape=matrix_shape("det", lambda shape: shape[:-2]),
    jvp=(lambda d, y, a: _dot(d, cofactors(a)),),
    vjp=(lambda d, y, a: _matrices(d) * cofactors(a),),
)
log_abs_det = primitive(
    "log_abs_det",
    checked("slogdet", lambda a: np.linalg.slogdet(a)[1]),
    shape=matrix_shape("slogdet", lambda shape: shape[:-2]),
    jvp=(lambda d, y, a: _dot(d, swap(inverse(a))),),
    vjp=(lambda d, y, a: _matrices(d) * swap(inverse(a)),),
)
sign_of_det = primitive(
    "sign_of_det",
    checked("slogdet", lambda a: np.linalg.slogdet(a)[0]),
    shape=matrix_shape("slogdet", lambda shape: shape[:-2]),
    jvp=(None,),
    vjp=(None,),
)


# the pseudoinverse, where the rank stays the same (Golub and Pereyra, 1973)


def _beside(y: Any, a: Any) -> tuple[Any, Any]:
    """What `a` does not reach on its left and on its right: 1 - a y and 1 - y a."""
    m, n = a.shape[-2:]
    return np.eye(m, dtype=y.dtype) - a @ y, np.eye(n, dtype=y.dtype) - y @ a


def _pinv_jvp(d: Any, y: Any, a: Any, *, rcond: Any) -> Any:
    left, right = _beside(y, a)
    return y @ swap(y) @ swap(d) @ left + right @ swap(d) @ swap(y) @ y - y @ d @ y


def _pinv_vjp(d: Any, y: Any, a: Any, *, rcond: Any) -> Any:
    left, right = _beside(y, a)
    return left @ swap(d) @ y @ swap(y) + swap(y) @ y @ swap(d) @ right - swap(y) @ d @ swap(y)


pinv = primitive(
    "pinv",
    checked("pinv", lambda a, *, rcond: np.linalg.pinv(a, rcond), square=False),
    shape=matrix_shape("pinv", lambda shape: (*shape[:-2], shape[-1], shape[-2]), square=False),
    jvp=(_pinv_jvp,),
    vjp=(_pinv_vjp,),
)
