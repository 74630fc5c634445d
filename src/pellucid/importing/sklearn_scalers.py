"""scikit-learn's scalers as one layer: those that shift and divide each column, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from pellucid import nn
from pellucid.data.types import Array

Affine = tuple[Array, Array]
"""What is subtracted from each column, and what it is divided by."""


def _learned(values: Array | None, columns: int, otherwise: float) -> Array:
    """What a scaler has learned, or what stands for having learned nothing."""
    return np.full(columns, otherwise) if values is None else np.asarray(values, np.float64)


def _standard(scaler: Any) -> Affine:
    columns = scaler.n_features_in_
    mean = scaler.mean_ if scaler.with_mean else None  # it is learned all the same
    return _learned(mean, columns, 0.0), _learned(scaler.scale_, columns, 1.0)


def _robust(scaler: Any) -> Affine:
    columns = scaler.n_features_in_
    return _learned(scaler.center_, columns, 0.0), _learned(scaler.scale_, columns, 1.0)


def _least_and_largest(scaler: Any) -> Affine:
    """x · scale_ + min_."""
    if scaler.clip:
        raise ValueError(
            "from_sklearn: MinMaxScaler(clip=True) cuts columns off, which no shift and factor does: fit the pipeline "
            "with clip=False"
        )
    return -scaler.min_ / scaler.scale_, 1.0 / scaler.scale_


def _largest(scaler: Any) -> Affine:
    return np.zeros(scaler.n_features_in_), np.asarray(scaler.scale_, np.float64)


SCALERS: dict[type, Callable[[Any], Affine]] = {
    StandardScaler: _standard,
    RobustScaler: _robust,
    MinMaxScaler: _least_and_largest,
    MaxAbsScaler: _largest,
}
"""By class: what its fitted objects do to each column."""


def layer_of(scalers: Sequence[Any]) -> nn.FixedScale | None:
    """One layer that does what these fitted scalers do, one after the other; None where they do nothing."""
    center: Array | None = None
    for scaler in scalers:
        if scaler is None or (isinstance(scaler, str) and scaler == "passthrough"):
            continue
        if type(scaler) not in SCALERS:
            raise TypeError(
                f"from_sklearn: a {type(scaler).__name__} ahead of the network is not a shift and a factor of each "
                f"column: supported are {', '.join(one.__name__ for one in SCALERS)}. Keep it in a pipeline of your "
                "own, ahead of from_sklearn(pipeline[-1])"
            )
        check_is_fitted(scaler)
        shift, factor = SCALERS[type(scaler)](scaler)
        if center is None:
            center, scale = shift, factor
        else:
            center, scale = center + shift * scale, scale * factor
    return None if center is None else nn.FixedScale(tuple(center), tuple(scale))
