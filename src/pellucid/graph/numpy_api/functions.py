"""Elementwise functions of NumPy that are not ufuncs: where, clip, round, powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import UnsupportedError
from pellucid.graph.core.primitive import METHODS
from pellucid.graph.core.spec import SCALARS, spec_of
from pellucid.graph.core.tracer import Tracer
from pellucid.graph.numpy_api.doors import COMPOSED, implements
from pellucid.graph.primitives import elementwise


@implements(np.where)
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise UnsupportedError(
            "np.where(condition) gives positions, whose number is not known: use the three-argument form"
        )
    return elementwise.where(condition, x, y)


@implements(np.clip, method="clip")
def clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    dtype = np.dtype(spec_of(a).dtype)
    ends = np.iinfo(dtype) if dtype.kind in "iu" else None  # an infinite bound would make floats of integers
    lowest, highest = (int(ends.min), int(ends.max)) if ends else (-np.inf, np.inf)
    return elementwise.clip(a, lowest if low is None else low, highest if high is None else high)


_SHORT_CUTS: dict[Any, Any] = {1: lambda x: x, 2: np.square, 0.5: np.sqrt, -1: np.reciprocal}


def power(x: Any, p: Any) -> Any:
    """x ** p, with NumPy's own short cuts for the usual exponents."""
    if type(p) in SCALARS and p in _SHORT_CUTS and x.dtype.kind == "f":
        return _SHORT_CUTS[p](x)
    return elementwise.power(x, p)


METHODS["__pow__"] = power


@implements(np.round, np.around, method="round")
def round(a: Any, decimals: int = 0) -> Any:
    rounded = np.rint(a) if decimals == 0 else np.rint(a * 10.0**decimals) / 10.0**decimals
    return rounded.astype(a.dtype) if a.dtype.kind in "iu" else rounded


@implements(np.nan_to_num)
def nan_to_num(x: Any, *, nan: float = 0.0) -> Any:
    big = float(np.finfo(x.dtype).max)
    return np.clip(np.where(np.isnan(x), nan, x), -big, big)


@implements(np.isclose)
def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    return np.less_equal(np.abs(a - b), atol + rtol * np.abs(b))


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    return np.all(isclose(a, b, rtol, atol))


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any) -> Any:
    return np.shape(a1) == np.shape(a2) and np.all(np.equal(a1, a2))


def maximum(a: Any, b: Any) -> Any:
    return elementwise.maximum(a, b, tie=_tie(a, b))


def minimum(a: Any, b: Any) -> Any:
    return elementwise.minimum(a, b, tie=_tie(a, b))


def _tie(a: Any, b: Any) -> float:
    """Two variables share a tie; a constant takes no part in it."""
    return 0.5 if type(a) is Tracer and type(b) is Tracer else 0.0


COMPOSED.update({np.maximum: maximum, np.minimum: minimum})
