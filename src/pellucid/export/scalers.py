"""Scales of columns as formulas of plain NumPy, which can be recorded: our own, and those of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.decomposition import PCA
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from pellucid.errors import ExportError
from pellucid.estimators.tables.hidden_directions import HiddenDirections
from pellucid.estimators.tables.scaling import SmoothRobustScaler

BOUND = 1e-7
"""scikit-learn's quantiles end so far from 0 and 1."""


def scaled(scaler: TransformerMixin, x: Any) -> Any:
    """What `scaler.transform` makes of rows.   (n, columns) -> (n, columns of the scaler)"""
    formula = FORMULAS.get(type(scaler))
    if formula is None:
        known = ", ".join(sorted(one.__name__ for one in FORMULAS))
        raise ExportError(
            f"the scaler {type(scaler).__name__} has no formula to export; those of {known} have: fit with one of the "
            "scalings 'robust', 'separate', 'standard', 'quantile', 'pca', 'whiten', 'centre' or None"
        )
    return formula(scaler, x)


def _standard(scaler: StandardScaler, x: Any) -> Any:
    centred = x - scaler.mean_ if scaler.with_mean else x
    return centred / scaler.scale_ if scaler.with_std else centred


def _components(scaler: PCA, x: Any) -> Any:
    turned = (x - scaler.mean_) @ scaler.components_.T
    if not scaler.whiten:
        return turned
    spread = np.sqrt(scaler.explained_variance_)
    return turned / np.maximum(spread, np.finfo(spread.dtype).eps)


def _quantiles(scaler: QuantileTransformer, x: Any) -> Any:
    columns = [_quantile(x[:, j : j + 1], scaler.quantiles_[:, j], scaler.references_) for j in range(x.shape[1])]
    shares = np.concatenate(columns, axis=1)
    end = normal_quantile(BOUND - np.spacing(1))
    return np.clip(normal_quantile(shares), end, -end)


def _quantile(x: Any, edges: Any, shares: Any) -> Any:
    """Linear between edges; where several edges are one, half of the step at it, and all beyond.   (n, 1) -> (n, 1)"""
    widths, rises = np.diff(edges), np.diff(shares)
    ramps = widths > 0
    share = np.full_like(x, shares[0])
    if np.any(ramps):
        along = np.clip((x - edges[:-1][ramps]) / widths[ramps], 0.0, 1.0)
        share = share + along @ rises[ramps][:, None]
    steps, places = np.unique(edges[:-1][~ramps], return_inverse=True)
    if len(steps):
        heights = np.bincount(places, rises[~ramps])[:, None]
        beyond = (x >= steps).astype(x.dtype) + (x > steps).astype(x.dtype)
        share = share + 0.5 * (beyond @ heights)
    share = np.where(x > edges[-1] - BOUND, shares[-1], share)
    return np.where(x < edges[0] + BOUND, shares[0], share)


FORMULAS: dict[type[TransformerMixin], Callable[[Any, Any], Any]] = {
    SmoothRobustScaler: SmoothRobustScaler.formula,
    HiddenDirections: HiddenDirections.formula,
    StandardScaler: _standard,
    PCA: _components,
    QuantileTransformer: _quantiles,
}


# the inverse of the normal distribution function: AS 241, PPND16 (Wichura, 1988), right to 16 digits

_CENTRE = (
    (3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125)
    + (45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
    (1.0, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077)
    + (21213.794301586595867, 39307.89580009271061, 28729.085735721942674, 5226.495278852545925),
)
_NEAR = (
    (1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504)
    + (1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4),
    (1.0, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455)
    + (0.14810397642748007459, 0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9),
)
_FAR = (
    (6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123)
    + (0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525)
    + (7.868691311456132591e-4, 1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15),
)


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], r: Any) -> Any:
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
