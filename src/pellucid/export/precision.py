"""Columns whose numbers a float32 cannot tell apart: a time in seconds, a long identifier, numbers beyond 1e38."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.estimators.tables.encoding import Encoding
from pellucid.estimators.tables.scaling import SmoothRobustScaler
from pellucid.export.answers import Exportable, members_of
from pellucid.train import Model

ROUNDED = 1e-3
"""Shares of a column's scale that its rounded numbers may be off by."""


def rounded_columns(encoding: Encoding) -> list[str]:
    """Names of the numbers that are rounded too far, as far as the scales that were learned tell."""
    names = encoding.layout.number_names()
    scaler = encoding.scalers[0] if encoding.scalers and encoding.scaled else None
    match scaler:
        case SmoothRobustScaler():
            centre, scale = scaler.center_, scaler.scale_
        case StandardScaler(scale_=np.ndarray()):
            centre, scale = scaler.mean_, scaler.scale_
        case QuantileTransformer():
            low, centre, high = np.quantile(scaler.quantiles_, (0.25, 0.5, 0.75), axis=0)
            scale = np.where(high > low, high - low, np.inf)
        case _:
            return []
    limits = np.finfo(np.float32)
    with np.errstate(over="ignore"):
        reach = np.abs(centre) + np.where(np.isfinite(scale), scale, 0.0)
        coarse = reach * (limits.eps / 2) > ROUNDED * scale
    outside = (reach > limits.max) | (scale < limits.tiny / ROUNDED * limits.eps)
    return [name for name, bad in zip(names, (coarse | outside).tolist(), strict=False) if bad]


def warn_of_rounding(model: Exportable) -> None:
    """Say which columns of a table would be rounded too far, if there are such."""
    members: Sequence[object] = [] if isinstance(model, Model) else members_of(model)
    tables = [member for member in members if isinstance(member, BaseTabularMLP)]
    names = dict.fromkeys(name for table in tables for name in rounded_columns(table.preprocessor_.encoding))
    if names:
        listed = ", ".join(map(repr, [*names][:5])) + (", ..." if len(names) > 5 else "")
        warnings.warn(
            f"float32 has too few digits for the numbers of {listed}: the exported model will differ; give "
            "numbers='float64'",
            stacklevel=4,
        )
