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
from pellucid.export.normal_quantile import normal_quantile

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
    share = np.full_like(x, float(shares[0]))
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
