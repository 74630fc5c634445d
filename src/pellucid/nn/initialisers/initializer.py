"""How parameters start. Each initialiser is a record; names are looked up in one table.

lecun    variance 1 / fan_in                 the lectures call it "Xavier"; so does the alias `xavier` here
glorot   variance 2 / (fan_in + fan_out)     Glorot and Bengio, 2010
he       variance 2 / fan_in                 He et al., 2015
auto     variance gain² / fan_in             the gain of the activation that follows (he for relu, lecun for selu)
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from pellucid.amounts import is_number
from pellucid.errors import ShapeError
from pellucid.lookup import look_up

Start = Callable[[np.random.Generator, tuple[int, ...], int, int, float], Any]


@dataclass(frozen=True)
class Initializer:
    """A named way to start.

    Parameters
    ----------
    name : str
        to choose it by
    start : Start
        `start(rng, shape, fan_in, fan_out, gain)` gives the array
    reference : str
        who brought it up
    made_by : tuple[Callable, Any] | None
        the function and the number that made it, for files
    """

    name: str
    start: Start = field(repr=False, compare=False)
    reference: str = ""
    made_by: tuple[Callable[..., Any], Any] | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> Any:
        """By name or recipe: functions do not go into files."""
        return (self.made_by[0], (self.made_by[1],)) if self.made_by else (initializer, (self.name,))

    def __call__(self, rng: np.random.Generator, shape: tuple[int, ...], fan_in: int, fan_out: int, gain: float) -> Any:
        """The array that a parameter starts with.

        Parameters
        ----------
        rng : np.random.Generator
            of NumPy
        shape : tuple[int, ...]
            of the array
        fan_in : int
            numbers that flow into a unit
        fan_out : int
            numbers that flow out of it
        gain : float
            of the activation that follows

        Returns
        -------
        array
            of this shape
        """
        return self.start(rng, shape, fan_in, fan_out, gain)


def _not_negative(who: str, what: str, value: float) -> None:
    if not value >= 0:
        raise ValueError(f"{who}: {what} is a number from 0, got {value!r}")


def constant(value: float) -> Initializer:
    """The same number everywhere. For weights of more than one unit this never breaks the symmetry.

    Parameters
    ----------
    value : float
        the number

    Returns
    -------
    Initializer
        to be given as `init=` or `bias=`
    """
    start: Start = lambda rng, shape, i, o, gain: np.full(shape, float(value))
    return Initializer(f"constant({value})", start, made_by=(constant, value))


def normal(sigma: float) -> Initializer:
    """N(0, sigma²), whatever the fans.

    Parameters
    ----------
    sigma : float
        the deviation

    Returns
    -------
    Initializer
        to be given as `init=` or `bias=`
    """
    _not_negative("normal", "sigma", sigma)
    start: Start = lambda rng, shape, i, o, gain: rng.normal(0.0, sigma, shape)
    return Initializer(f"normal({sigma})", start, made_by=(normal, sigma))


def uniform(bound: float) -> Initializer:
    """U(-bound, bound), whatever the fans.

    Parameters
    ----------
    bound : float
        the largest size

    Returns
    -------
    Initializer
        to be given as `init=` or `bias=`
    """
    _not_negative("uniform", "bound", bound)
    start: Start = lambda rng, shape, i, o, gain: rng.uniform(-bound, bound, shape)
    return Initializer(f"uniform({bound})", start, made_by=(uniform, bound))


def given(values: Any) -> Initializer:
    """These numbers.

    Parameters
    ----------
    values : array
        in the shape of the parameter

    Returns
    -------
    Initializer
        to be given as `init=` or `bias=`
    """
    array = np.array(values, dtype=np.float64)

    def start(rng: np.random.Generator, shape: tuple[int, ...], i: int, o: int, gain: float) -> Any:
        if array.shape != shape:
            raise ShapeError(f"given: the array has shape {array.shape}, the parameter has shape {shape}")
        return array.copy()

    return Initializer(f"given({array.shape}, {zlib.crc32(array.tobytes()):08x})", start, made_by=(given, array))


def scaled(
    variance: Callable[[int, int, float], float], distribution: str = "normal", name: str = "scaled"
) -> Initializer:
    """Zero mean and variance `variance(fan_in, fan_out, gain)`, normal or uniform."""

    def start(rng: np.random.Generator, shape: tuple[int, ...], i: int, o: int, gain: float) -> Any:
        sigma = np.sqrt(variance(i, o, gain))
        if distribution == "normal":
            return rng.normal(0.0, sigma, shape)
        return rng.uniform(-np.sqrt(3.0) * sigma, np.sqrt(3.0) * sigma, shape)

    return Initializer(name, start)


def _orthogonal(rng: np.random.Generator, shape: tuple[int, ...], i: int, o: int, gain: float) -> Any:
    """Orthonormal rows or columns times the gain, for each of the pieces of a layer by itself."""
    if len(shape) != 2:
        raise ShapeError(f"orthogonal: a weight matrix has two dimensions, got shape {shape}")
    pieces = [_orthonormal(rng, i, o) for _ in range(shape[1] // o)]
    return gain * np.concatenate(pieces, axis=1)


def _orthonormal(rng: np.random.Generator, rows: int, columns: int) -> Any:
    q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diagonal(r))  # uniform over all orthogonal matrices (Mezzadri, 2007)
    return q if rows >= columns else q.T


def _random_walk(rng: np.random.Generator, shape: tuple[int, ...], i: int, o: int, gain: float) -> Any:
    """The logarithm of the gradient's norm takes a random walk through the layers; this gain gives it no drift.

    Sussillo and Abbott: sqrt(2) exp(1.2 / (max(n, 6) - 2.4)) for ReLU, exp(1 / (2 n)) for linear units. Other
    activations have no published gain; they get that of the linear unit times their own.
    """
    rectified = abs(gain - np.sqrt(2.0)) < 0.02  # relu and leaky relu
    g = np.sqrt(2.0) * np.exp(1.2 / (max(i, 6) - 2.4)) if rectified else gain * np.exp(1.0 / (2.0 * i))
    return rng.normal(0.0, g / np.sqrt(i), shape)


def _random_signs(rng: np.random.Generator, shape: tuple[int, ...], i: int, o: int, gain: float) -> Any:
    return rng.integers(0, 2, shape) * 2.0 - 1.0


zeros = constant(0.0)
ones = constant(1.0)
lecun = scaled(lambda i, o, gain: 1.0 / i, name="lecun")
lecun_uniform = scaled(lambda i, o, gain: 1.0 / i, "uniform", name="lecun_uniform")
glorot = scaled(lambda i, o, gain: 2.0 / (i + o), name="glorot")
glorot_uniform = scaled(lambda i, o, gain: 2.0 / (i + o), "uniform", name="glorot_uniform")
he = scaled(lambda i, o, gain: 2.0 / i, name="he")
he_uniform = scaled(lambda i, o, gain: 2.0 / i, "uniform", name="he_uniform")
auto = scaled(lambda i, o, gain: gain * gain / i, name="auto")
orthogonal = Initializer("orthogonal", _orthogonal, "Saxe et al., 2013")
random_walk = Initializer("random_walk", _random_walk, "Sussillo and Abbott, 2014")
random_signs = Initializer("random_signs", _random_signs, "Wen et al., 2020")

INITIALIZERS: dict[str, Initializer] = {
    record.name: record
    for record in (
        auto,
        lecun,
        lecun_uniform,
        glorot,
        glorot_uniform,
        he,
        he_uniform,
        orthogonal,
        random_walk,
        random_signs,
    )
} | {
    "zeros": zeros,
    "ones": ones,
    "standard_normal": normal(1.0),
    "xavier": lecun,  # the lectures' name for 1 / fan_in; other libraries call Glorot's rule so
    "lecun_normal": lecun,
    "glorot_normal": glorot,
    "he_normal": he,
}


def initializer(which: Any) -> Initializer:
    """An initialiser by name, an array of starting values, a number for a constant, or itself.

    Parameters
    ----------
    which : str | number | array | Initializer
        a name of `INITIALIZERS`, a number for a constant, starting values, or itself

    Returns
    -------
    Initializer
        the record

    Examples
    --------
    >>> initializer("he").name
    'he'
    >>> initializer(0.1).name
    'constant(0.1)'
    """
    if isinstance(which, Initializer):
        return which
    if isinstance(which, str):
        return look_up("initialiser", which, INITIALIZERS)
    if is_number(which, -math.inf, above=True):
        return constant(float(which))
    if which is None or callable(which) or isinstance(which, Real):  # NaN, infinity, True
        raise TypeError(f"an initialiser is a name, a number, an array or an Initializer, got {which!r}")
    return given(which)
