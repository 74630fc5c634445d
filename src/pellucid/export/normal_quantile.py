"""The inverse of the normal distribution function in plain NumPy, so that every format has it.

AS 241, PPND16 (Wichura, 1988): right to 16 digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Ratio = tuple[tuple[float, ...], tuple[float, ...]]
"""Coefficients of two polynomials, the constants first."""

_CENTRE: Ratio = (
    (
        *(3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125),
        *(45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
    ),
    (
        *(1.0, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077),
        *(21213.794301586595867, 39307.89580009271061, 28729.085735721942674, 5226.495278852545925),
    ),
)
_NEAR: Ratio = (
    (
        *(1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504),
        *(1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4),
    ),
    (
        *(1.0, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455),
        *(0.14810397642748007459, 0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9),
    ),
)
_FAR: Ratio = (
    (
        *(6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123),
        *(0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    ),
    (
        *(1.0, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525),
        *(7.868691311456132591e-4, 1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15),
    ),
)


def _ratio(coefficients: Ratio, r: Any) -> Any:
    above, below = (_polynomial(one, r) for one in coefficients)
    return above / below


def _polynomial(coefficients: tuple[float, ...], r: Any) -> Any:
    value: Any = coefficients[-1]
    for one in coefficients[-2::-1]:
        value = value * r + one
    return value


def normal_quantile(p: Any) -> Any:
    """The number that N(0, 1) is below with probability p.

    >>> float(normal_quantile(np.array([0.975]))[0].round(6))
    1.959964
    """
    q = p - 0.5
    tail = np.clip(np.where(q < 0, p, 1.0 - p), 1e-300, 0.5)
    r = np.sqrt(-np.log(tail))
    outer = np.where(r <= 5.0, _ratio(_NEAR, r - 1.6), _ratio(_FAR, r - 5.0))
    within = np.clip(q, -0.425, 0.425)
    return np.where(np.abs(q) <= 0.425, within * _ratio(_CENTRE, 0.180625 - within * within), np.sign(q) * outer)
