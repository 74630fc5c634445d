"""Summaries of arrays, as `graph.primitives.statistics` defines them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from pellucid.graph.primitives.statistics import REACH, SAME, STILL


def moments(x: Any, axis: int | None) -> list[Any]:
    """Mean, deviation, smallest, largest; the ends are NaN where the mean is not finite."""
    exact = x.astype(jnp.float64)
    mean = jnp.mean(exact, axis=axis)
    std = jnp.sqrt(jnp.maximum(jnp.mean(jnp.square(exact), axis=axis) - jnp.square(mean), 0.0))
    broken = mean * 0.0
    return [mean, std, jnp.min(exact, axis=axis) + broken, jnp.max(exact, axis=axis) + broken]


def distribution(x: Any, *, bins: int) -> Any:
    mean, std, low, high = parts = moments(x, None)
    lower, upper = jnp.maximum(low, mean - REACH * std), jnp.minimum(high, mean + REACH * std)
    wide = upper > lower
    lower, upper = jnp.where(wide, lower, lower - 0.5), jnp.where(wide, upper, lower + 0.5)
    places = (x.ravel().astype(jnp.float64) - lower) * (bins / (upper - lower))
    finite = jnp.all(jnp.isfinite(jnp.stack(parts)))
    each = jnp.clip(jnp.where(finite, places, 0.0), 0, bins - 1).astype(jnp.int64)
    counts = jnp.zeros(bins).at[each].add(jnp.where(finite, 1.0, 0.0))
    return jnp.concatenate([jnp.stack([*parts, jnp.mean(x == 0, dtype=jnp.float64), jnp.float64(x.size)]), counts])


def column_moments(x: Any) -> Any:
    return jnp.stack(moments(x, 0))


def likeness(products: Any) -> Any:
    squares = jnp.square(products.astype(jnp.float64))
    sizes = jnp.sqrt(jnp.maximum(jnp.diagonal(products).astype(jnp.float64), 0.0))
    total = jnp.sum(squares)
    moves = sizes > STILL * jnp.max(sizes)
    same = (products >= (1.0 - SAME) * jnp.outer(sizes, sizes)) & jnp.outer(moves, moves)
    first = jnp.argmax(same | jnp.eye(len(sizes), dtype=bool), axis=0)
    rank = jnp.where(total > 0, jnp.sum(jnp.square(sizes)) ** 2 / jnp.where(total > 0, total, 1.0), 0.0)
    return jnp.concatenate([rank[None], first.astype(jnp.float64)])
