"""LAPACK's operations on stacks of matrices, as `graph.primitives` defines them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax


def solve(a: Any, b: Any) -> Any:
    stack = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return jnp.linalg.solve(jnp.broadcast_to(a, stack + a.shape[-2:]), jnp.broadcast_to(b, stack + b.shape[-2:]))


def cofactors(a: Any) -> Any:
    """adj(a)ᵀ by singular values: the products of all but one of them."""
    u, s, vt = jnp.linalg.svd(a)
    n = a.shape[-1]
    others = jnp.prod(jnp.where(jnp.eye(n, dtype=bool), 1, s[..., None, :]), axis=-1)
    sign = jnp.sign(jnp.linalg.det(u) * jnp.linalg.det(vt))
    return (u * (others * sign[..., None])[..., None, :]) @ vt


def cholesky(a: Any) -> Any:
    return jnp.tril(lax.linalg.cholesky(a, symmetrize_input=False))


def eigh(a: Any) -> Any:
    v, w = lax.linalg.eigh(a, lower=True, symmetrize_input=False)
    return jnp.concatenate([w[..., None], v], axis=-1)


def pinv(a: Any, *, rcond: Any) -> Any:
    return jnp.linalg.pinv(a, rtol=1e-15 if rcond is None else rcond)
