"""A fitted TablePreprocessor as plain data, and back.

The file holds settings, names, categories and numbers, never the name of a class: transformers are made from the
settings, as in `fit`, and given their numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from pellucid.errors import PellucidError
from pellucid.estimators.tables.columns import KINDS
from pellucid.estimators.tables.scaling import SmoothRobustScaler, make_scalers

LEARNED: dict[type, tuple[str, ...]] = {
    SmoothRobustScaler: ("center_", "scale_", "n_features_in_"),
    StandardScaler: ("mean_", "var_", "scale_", "n_samples_seen_", "n_features_in_"),
    QuantileTransformer: ("quantiles_", "references_", "n_quantiles_", "n_features_in_"),
    PCA: (
        "components_",
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
        "mean_",
        "noise_variance_",
        "n_components_",
        "n_samples_",
        "n_features_in_",
    ),
}
"""What each scaler has learned, all of it numbers."""

PLAIN = ("_names", "_named", "_order", "kinds_", "categories_", "_dates", "_indicated", "_scaled", "_n_scaled_out")


class TableError(PellucidError, ValueError):
    """Data that describe no preprocessor."""


def listed(columns: Any) -> list[Any]:
    """Names or numbers of columns as given by users: one name, a list, an array, pandas' Index, or None."""
    return [columns] if isinstance(columns, str) else [] if columns is None else list(columns)


def described(pre: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(plain data for JSON, arrays of numbers by name)"""
    params = {**pre.get_params(), "dtype": np.dtype(pre.dtype).name}
    params["categorical"] = [str(one) if isinstance(one, str) else int(one) for one in listed(params["categorical"])]
    params["one_hot_max"] = int(params["one_hot_max"])
    data: dict[str, Any] = {"params": params, "version": 1, "features": int(pre.n_features_in_)}
    data |= {name.strip("_"): getattr(pre, name) for name in PLAIN}
    arrays: dict[str, Any] = {}
    if pre._imputer is not None:
        arrays["medians"] = np.asarray(pre._imputer.statistics_, float)
    for i, scaler in enumerate(pre._scalers if pre._scaled else ()):
        for name in LEARNED[type(scaler)]:
            value = getattr(scaler, name)
            if value is not None:
                arrays[f"scaler{i}.{name.strip('_')}"] = np.asarray(value)
    return data, arrays


def rebuilt(cls: Any, data: dict[str, Any], arrays: dict[str, Any]) -> Any:
    """The preprocessor that was described."""
    try:
        pre = cls(**{name: data["params"][name] for name in cls().get_params()})
        pre._check_parameters()
        for name in PLAIN:
            setattr(pre, name, data[name.strip("_")])
        pre.n_features_in_ = data["features"]
        if not set(pre.kinds_.values()) <= set(KINDS) or list(pre.kinds_) != pre._order:
            raise TableError("the columns or their kinds are not what pellucid writes")
        if pre._named:
            pre.feature_names_in_ = np.array(pre._names, object)
        pre._imputer = None
        if "medians" in arrays:  # the median of one row is that row
            pre._imputer = SimpleImputer(strategy="median").fit(np.asarray(arrays["medians"], float)[None, :])
        pre._make_encoders()
        pre.embedding_sizes_ = tuple(len(pre.categories_[name]) + 1 for name in pre._embedded)
        pre._scalers = make_scalers(pre.scaling, 1)
        for i, scaler in enumerate(pre._scalers if pre._scaled else ()):
            for name in LEARNED[type(scaler)]:
                value = arrays.get(f"scaler{i}.{name.strip('_')}")
                setattr(scaler, name, None if value is None else value[()] if value.ndim == 0 else value)
    except TableError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TableError(f"these data describe no table preprocessor: {type(error).__name__}: {error}") from error
    return pre
