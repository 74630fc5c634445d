"""Random numbers as nodes: a pure function of a key, a counter and the position in the array.

The generator is SplitMix64 (Steele, Lea, Flood, 2014) read by position: element i of a draw is a mix of
its stream's start and i. So the same key and counter give the same numbers whatever the order, the number
of threads or the executor; a new counter gives a new draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError, UnsupportedError
from pellucid.graph.core.primitive import primitive
from pellucid.graph.core.spec import Spec, broadcast, format_shape

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mix(z: Any) -> Any:
    """SplitMix64's last steps: all bits of the result depend on all bits of z."""
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


def bits(key: Any, counter: Any, shape: tuple[int, ...], stream: int = 0, first: int = 0) -> Any:
    """64 random bits for each position; `first` is the number of the first one."""
    with np.errstate(over="ignore"):  # arithmetic modulo 2**64 is the point
        start = mix(_word(key) + GAMMA)
        start = mix(start ^ (_word(counter) * GAMMA + np.uint64(stream)))
        count = int(np.prod(shape, dtype=np.int64))
        positions = np.arange(first + 1, first + count + 1, dtype=np.uint64).reshape(shape)
        return mix(start + positions * GAMMA)


def _word(value: Any) -> Any:
    return np.uint64(int(value) & 0xFFFFFFFFFFFFFFFF)


def _uniform(key: Any, counter: Any, *, shape: tuple[int, ...], dtype: Any, stream: int = 0) -> Any:
    """In [0, 1): the upper 24 bits (float32) or 53 bits (float64)."""
    digits = np.finfo(dtype).nmant + 1
    return (bits(key, counter, shape, stream) >> np.uint64(64 - digits)).astype(dtype) * np.dtype(dtype).type(
        2.0**-digits
    )


def _normal(key: Any, counter: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
    """Box and Muller (1958), from two streams."""
    u, v = (uniform_node(key, counter, shape=shape, dtype=dtype, stream=stream) for stream in (0, 1))
    return np.sqrt(-2 * np.log1p(-u)) * np.cos(v * np.dtype(dtype).type(2 * np.pi))


def _bernoulli(key: Any, counter: Any, p: Any, *, shape: tuple[int, ...], dtype: Any) -> Any:
    return (_uniform(key, counter, shape=shape, dtype=np.float32) < np.broadcast_to(p, shape)).astype(dtype)


def _drawn(*xs: Spec, shape: tuple[Any, ...], dtype: Any, stream: int = 0) -> Spec:
    return Spec(shape, dtype)


def _bernoulli_shape(key: Spec, counter: Spec, p: Spec, *, shape: tuple[Any, ...], dtype: Any) -> Spec:
    if broadcast([p.shape, shape], "random_bernoulli") != shape:
        raise ShapeError(
            f"random_bernoulli: p of shape {format_shape(p.shape)} does not broadcast to {format_shape(shape)}"
        )
    return Spec(shape, dtype)


_no_rules = (None, None, None)
uniform_node = primitive("random_uniform", _uniform, shape=_drawn, jvp=_no_rules, vjp=_no_rules)
normal_node = primitive("random_normal", _normal, shape=_drawn, jvp=_no_rules, vjp=_no_rules)
bernoulli_node = primitive("random_bernoulli", _bernoulli, shape=_bernoulli_shape, jvp=_no_rules, vjp=_no_rules)


def uniform(key: Any, counter: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Uniform numbers in [0, 1).

    >>> uniform(0, 0, (2,)).shape
    (2,)
    """
    return uniform_node(key, counter, **_settings(shape, dtype))


def normal(key: Any, counter: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the standard normal distribution.

    >>> bool(normal(0, 1, (3,))[0] == normal(0, 1, (3,))[0])
    True
    """
    return normal_node(key, counter, **_settings(shape, dtype))


def bernoulli(key: Any, counter: Any, p: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """1 with probability `p`, else 0. No derivative goes through `p`.

    >>> float(bernoulli(0, 0, 1.0))
    1.0
    """
    return bernoulli_node(key, counter, p, **_settings(shape, dtype))


def _settings(shape: Any, dtype: Any) -> dict[str, Any]:
    shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if np.dtype(dtype).kind != "f":
        raise UnsupportedError(f"random numbers are float32 or float64, got dtype {np.dtype(dtype)}")
    return {"shape": shape, "dtype": np.dtype(dtype)}
