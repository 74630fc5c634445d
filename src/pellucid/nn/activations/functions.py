"""The activation functions themselves, in plain NumPy and SciPy. No derivative is written here: the graph has them.

Three habits keep values and derivatives finite up to |x| = 1e4 and beyond. A branch that is not selected gets a
harmless input, for `np.where` evaluates and differentiates both. The harmless input comes from `np.where` and not from
`np.minimum(x, 0)`, whose slope at the tie is 0. `expit`, `log_expit`, `expm1` and `ndtr` avoid differences of nearly
equal numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from pellucid.graph.numpy_api import log_softmax as log_softmax
from pellucid.graph.numpy_api import softmax as softmax
from pellucid.graph.primitives.control import custom_rule

SELU_SCALE = 1.0507009873554805
SELU_ALPHA = 1.6732632423543772
GELU_CUBIC = 0.044715
SQRT_2_OVER_PI = float(np.sqrt(2.0 / np.pi))


def identity(x: Any) -> Any:
    return x


# jumps and saturation


def step(x: Any, threshold: Any = 0.0) -> Any:
    """0 below the threshold, 1 from it on. Its derivative is 0: nothing in front of it learns."""
    return np.heaviside(x - threshold, 1.0)


@custom_rule(slope=lambda d, y, x: d)
def _passing(x: Any) -> Any:
    return np.heaviside(x, 1.0)


def straight_through_step(x: Any, threshold: Any = 0.0) -> Any:
    """The step, with the derivative of the identity in its place (Bengio et al., 2013)."""
    return _passing(x - threshold)


def soboleva(x: Any, a: Any = 1.0, b: Any = 1.0, c: Any = 1.0, d: Any = 1.0) -> Any:
    """(e^ax - e^-bx) / (e^cx + e^-dx), the modified hyperbolic tangent; tanh if all are 1.

    For x ≥ 0 above and below are divided by their largest terms, e^ax and e^cx; for x < 0 by the other two.
    """
    left = x < 0
    size = np.where(left, -x, x)
    quotient = -np.expm1(-(a + b) * size) / (1.0 + np.exp(-(c + d) * size))
    return np.where(left, -quotient, quotient) * np.exp(np.where(left, (b - d) * size, (a - c) * size))


def softsign(x: Any) -> Any:
    return x / (1.0 + np.abs(x))


def hard_sigmoid(x: Any) -> Any:
    return np.clip(x / 6.0 + 0.5, 0.0, 1.0)


def hard_tanh(x: Any) -> Any:
    return np.clip(x, -1.0, 1.0)


# rectifiers


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def leaky_relu(x: Any, alpha: Any = 0.01) -> Any:
    """x, or alpha x where x ≤ 0. That is max(alpha x, x) for alpha ≤ 1 alone: beyond 1 the maximum swaps the sides."""
    return np.where(x > 0, x, alpha * x)


def elu(x: Any, alpha: Any = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


def selu(x: Any) -> Any:
    return SELU_SCALE * elu(x, SELU_ALPHA)


def celu(x: Any, alpha: Any = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x) / alpha))


def relu6(x: Any) -> Any:
    return np.clip(x, 0.0, 6.0)


def squared_relu(x: Any) -> Any:
    return np.square(np.maximum(x, 0))


# smooth rectifiers


def softplus(x: Any) -> Any:
    """log(1 + e^x), as -log sigmoid(-x)."""
    return -special.log_expit(-x)


def gelu(x: Any) -> Any:
    """x Φ(x), where Φ is the distribution function of N(0, 1)."""
    return x * special.ndtr(x)


def gelu_tanh(x: Any) -> Any:
    """The approximation x (1 + tanh u) / 2 with u = sqrt(2 / π) (x + 0.044715 x³); (1 + tanh u) / 2 is sigmoid(2 u)."""
    return x * special.expit(2.0 * SQRT_2_OVER_PI * x * (1.0 + GELU_CUBIC * x * x))


def silu(x: Any) -> Any:
    return x * special.expit(x)


def swish(x: Any, beta: Any = 1.0) -> Any:
    """x sigmoid(beta x): x / 2 for beta = 0, ReLU in the limit of a large beta."""
    return x * special.expit(beta * x)


def mish(x: Any) -> Any:
    """x tanh(log(1 + e^x)), by one exponential: tanh log u is (u² - 1) / (u² + 1). Far to the right it is 1."""
    e = np.exp(np.minimum(x, 20.0))
    share = e * (e + 2.0)
    return x * (share / (share + 2.0))


def hard_swish(x: Any) -> Any:
    return x * hard_sigmoid(x)


# waves


def sinc(x: Any) -> Any:
    """sin(x) / x, and near 0 its Taylor series, whose derivatives are right there too. `np.sinc` is sin(πx) / (πx)."""
    near = np.abs(x) < 0.25
    away, s = np.where(near, 1, x), np.square(np.where(near, x, 0))
    series = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0))))
    return np.where(near, series, np.sin(away) / away)


# what can be computed about a function

_nodes, _weights = np.polynomial.legendre.leggauss(8)
_Z = np.arange(-10.0, 10.0, 0.25)[:, None] + 0.125 * (_nodes + 1.0)
_NORMAL = 0.125 * _weights * np.exp(-0.5 * _Z * _Z) / np.sqrt(2.0 * np.pi)


def gain_of(f: Callable[[Any], Any]) -> float:
    """1 / sqrt(E f(z)²) for z ~ N(0, 1): weights of variance gain² / fan_in keep the mean square of a signal.

    Gauss-Legendre quadrature on panels between multiples of 1/4, where kinks usually lie.

    Parameters
    ----------
    f : Callable[[Any], Any]
        an activation

    Returns
    -------
    float
        its gain

    Examples
    --------
    >>> round(gain_of(lambda z: np.maximum(z, 0)) ** 2, 12)
    2.0
    """
    with np.errstate(all="ignore"):
        squares = np.square(f(_Z.reshape(-1, 1)))
        return float(1.0 / np.sqrt(np.vdot(_NORMAL, np.mean(squares, axis=1))))


def largest(f: Callable[[Any], Any], low: float, high: float) -> float:
    """The largest value between two points of a function with one hill there."""
    for _ in range(12):
        x = np.linspace(low, high, 65)
        i = int(np.argmax(f(x)))
        low, high = float(x[max(i - 1, 0)]), float(x[min(i + 1, 64)])
    return float(np.max(f(x)))
