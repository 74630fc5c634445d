"""Symmetric matrices: Cholesky factors and eigenvalues.

Both read the lower triangle alone, so that is where derivatives go.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.graph.core.primitive import primitive
from pellucid.graph.primitives.linalg import checked, matrix_shape, solve
from pellucid.graph.primitives.products import swap


def _lower(x: Any, k: int = 0) -> Any:
    return np.tri(x.shape[-1], k=k, dtype=x.dtype)


def _mirrored(d: Any) -> Any:
    """The symmetric matrix of which the lower triangle of `d` is one half."""
    return d * _lower(d) + swap(d * _lower(d, -1))


def _folded(g: Any) -> Any:
    """The adjoint of `_mirrored`."""
    return g * _lower(g) + swap(g) * _lower(g, -1)


def _half(x: Any) -> Any:
    """The lower triangle, with half of the diagonal."""
    return x * (0.5 * (_lower(x) + _lower(x, -1)))


def _cholesky_jvp(d: Any, y: Any, a: Any) -> Any:
    return y @ _half(solve(y, swap(solve(y, _mirrored(d)))))


def _cholesky_vjp(d: Any, y: Any, a: Any) -> Any:
    t = swap(y)
    return _folded(swap(solve(t, swap(solve(t, _half(t @ d))))))


cholesky = primitive(
    "cholesky",
    checked("cholesky", np.linalg.cholesky),
    shape=matrix_shape("cholesky"),
    jvp=(_cholesky_jvp,),
    vjp=(_cholesky_vjp,),
)


# eigh: one array, the eigenvalues in front of the matrix of eigenvectors: (..., n, 1 + n)


def _eigh(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.concatenate([w[..., None], v], axis=-1)


def _inverse_gaps(w: Any) -> Any:
    """1 / (w_j - w_i), and 0 where the two are the same up to rounding: such vectors have no direction of their own."""
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    scale = np.max(np.abs(w), axis=-1, keepdims=True) * (float(np.finfo(w.dtype).eps) * w.shape[-1])
    apart = np.abs(gaps) > np.expand_dims(scale, -1)
    return apart / np.where(apart, gaps, 1)


def _eigh_jvp(d: Any, y: Any, a: Any) -> Any:
    w, v = y[..., 0], y[..., 1:]
    turned = swap(v) @ _mirrored(d) @ v
    dw = np.sum(turned * np.eye(a.shape[-1], dtype=d.dtype), axis=-1, keepdims=True)
    return np.concatenate([dw, v @ (_inverse_gaps(w) * turned)], axis=-1)


def _eigh_vjp(d: Any, y: Any, a: Any) -> Any:
    w, v = y[..., 0], y[..., 1:]
    inner = _inverse_gaps(w) * (swap(v) @ d[..., 1:]) + d[..., :1] * np.eye(a.shape[-1], dtype=d.dtype)
    return _folded(v @ inner @ swap(v))


eigh = primitive(
    "eigh",
    checked("eigh", _eigh),
    shape=matrix_shape("eigh", lambda shape: (*shape[:-1], shape[-1] + 1)),
    jvp=(_eigh_jvp,),
    vjp=(_eigh_vjp,),
)
