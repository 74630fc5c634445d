"""The random numbers of the graph: SplitMix64 by position, the bits that every other engine draws."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from pellucid.graph.primitives.random import GAMMA, mix


def word(value: Any) -> Any:
    """An integer modulo 2**64."""
    return jnp.uint64(value & 0xFFFFFFFFFFFFFFFF) if isinstance(value, int) else jnp.asarray(value).astype(jnp.uint64)


def bits(key: Any, counter: Any, shape: tuple[int, ...], stream: int = 0) -> Any:
    """64 random bits for each position."""
    start = mix(mix(word(key) + GAMMA) ^ (word(counter) * GAMMA + np.uint64(stream)))
    positions = jnp.arange(1, math.prod(shape) + 1, dtype=jnp.uint64).reshape(shape)
    return mix(start + positions * GAMMA)


def uniform(key: Any, counter: Any, *, shape: tuple[int, ...], dtype: Any, stream: int = 0) -> Any:
    digits = np.finfo(dtype).nmant + 1
    whole = bits(key, counter, shape, stream) >> np.uint64(64 - digits)
    return whole.astype(dtype) * np.dtype(dtype).type(2.0**-digits)


def normal(key: Any, counter: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
    radius = jnp.sqrt(-2 * jnp.log1p(-uniform(key, counter, shape=shape, dtype=dtype)))
    angle = uniform(key, counter, shape=shape, dtype=dtype, stream=1) * np.dtype(dtype).type(2 * np.pi)
    return radius * jnp.cos(angle)


def bernoulli(key: Any, counter: Any, p: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
    drawn = uniform(key, counter, shape=shape, dtype=np.float32)
    return (drawn < jnp.broadcast_to(p if hasattr(p, "dtype") else np.float64(p), shape)).astype(dtype)
