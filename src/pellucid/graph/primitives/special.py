"""SciPy's special functions under their own names. Loaded when one of them is first recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from pellucid.errors import DifferentiationError
from pellucid.graph.core.primitive import Primitive, elementwise

_SQRT_PI = float(np.sqrt(np.pi))
_SQRT_2PI = float(np.sqrt(2 * np.pi))

erf = elementwise("erf", sp.erf, lambda d, y, x: d * (2 / _SQRT_PI * np.exp(-x * x)))
erfc = elementwise("erfc", sp.erfc, lambda d, y, x: d * (-2 / _SQRT_PI * np.exp(-x * x)))
erfinv = elementwise("erfinv", sp.erfinv, lambda d, y, x: d * (_SQRT_PI / 2 * np.exp(y * y)))
ndtr = elementwise("ndtr", sp.ndtr, lambda d, y, x: d * (np.exp(-0.5 * x * x) / _SQRT_2PI))
log_ndtr = elementwise("log_ndtr", sp.log_ndtr, lambda d, y, x: d * (np.exp(-0.5 * x * x - y) / _SQRT_2PI))
ndtri = elementwise("ndtri", sp.ndtri, lambda d, y, x: d * (_SQRT_2PI * np.exp(0.5 * y * y)))

expit = elementwise("expit", sp.expit, lambda d, y, x: d * (y * (1 - y)))
log_expit = elementwise("log_expit", sp.log_expit, lambda d, y, x: d * sp.expit(-x))
logit = elementwise("logit", sp.logit, lambda d, y, x: d / (x * (1 - x)))

# x log y and its kin: 0 where x = 0. The slope in x is log y, and -inf there is the truth, not an accident
xlogy = elementwise("xlogy", sp.xlogy, lambda d, z, x, y: d * np.log(y), lambda d, z, x, y: d * x / y)
xlog1py = elementwise("xlog1py", sp.xlog1py, lambda d, z, x, y: d * np.log1p(y), lambda d, z, x, y: d * x / (1 + y))
entr = elementwise("entr", sp.entr, lambda d, y, x: d * (-1 - np.log(x)))
rel_entr = elementwise(
    "rel_entr", sp.rel_entr, lambda d, z, x, y: d * (np.log(x / y) + 1), lambda d, z, x, y: -d * x / y
)

gammaln = elementwise("gammaln", sp.gammaln, lambda d, y, x: d * sp.psi(x))
psi = elementwise("psi", sp.psi, lambda d, y, x: d * zeta(2.0, x))


def _zeta_order(d: Any, y: Any, s: Any, q: Any) -> Any:
    raise DifferentiationError(
        "zeta(s, q) has no derivative rule for its order s (it has no elementary form): pass s as a plain number"
    )


zeta: Primitive = elementwise(  # Hurwitz; sp.zeta is a Python function around the ufunc
    "zeta",
    sp.zeta,
    _zeta_order,
    lambda d, y, s, q: -d * s * zeta(s + 1, q),
    ufunc=sp._ufuncs._zeta,  # noqa: SLF001
)
