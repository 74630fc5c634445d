"""Who takes part. Everyone is at its defaults, has two threads, and gets the frame with its categories declared."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

THREADS = len(os.sched_getaffinity(0))
QUALITIES = ("fast", "default", "best")
"""Ours."""


def ours(quality: str) -> Callable[[bool, int], Any]:
    """The table estimators at a quality."""

    def make(classes: bool, seed: int) -> Any:
        from pellucid import TabularMLPClassifier, TabularMLPRegressor

        kind = TabularMLPClassifier if classes else TabularMLPRegressor
        return kind(quality=quality, random_state=seed)

    return make


def prepared(model: Any) -> Any:
    """A model that takes numbers only, behind imputation, scaling and one-hot columns."""
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    kinds = make_column_selector(dtype_include=["category", object, "string", bool])
    return make_pipeline(make_column_transformer((names, kinds), remainder=numbers, sparse_threshold=0.0), model)


def linear(classes: bool, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    return prepared(LogisticRegression(max_iter=1000) if classes else Ridge())


def sklearn_mlp(classes: bool, seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    return prepared((MLPClassifier if classes else MLPRegressor)(random_state=seed))


def histogram_trees(classes: bool, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return _Coded(kind(categorical_features="from_dtype", random_state=seed), most=255)


def lightgbm(classes: bool, seed: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    return _Numbered((LGBMClassifier if classes else LGBMRegressor)(n_jobs=THREADS, random_state=seed, verbose=-1))


def catboost(classes: bool, seed: int) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostClassifier if classes else CatBoostRegressor
    return _Texts(kind(thread_count=THREADS, random_seed=seed, verbose=0, allow_writing_files=False))


def realmlp(classes: bool, seed: int) -> Any:
    from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

    kind = RealMLP_TD_Classifier if classes else RealMLP_TD_Regressor
    return kind(device="cpu", random_state=seed, n_threads=THREADS)


class _Wrapped:
    """A model behind a change of the frame."""

    def __init__(self, model: Any, **settings: Any) -> None:
        self.model, self.settings = model, settings

    def _changed(self, X: Any) -> Any:
        return X

    def fit(self, X: Any, y: Any) -> Any:
        self.model.fit(self._changed(X), y)
        return self

    def predict(self, X: Any) -> Any:
        return np.ravel(self.model.predict(self._changed(X)))

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self._changed(X))

    @property
    def classes_(self) -> Any:
        return self.model.classes_


class _Numbered(_Wrapped):
    """Columns by number: LightGBM takes no names with brackets."""

    def _changed(self, X: Any) -> Any:
        return X.set_axis([f"c{place}" for place in range(X.shape[1])], axis=1)


class _Coded(_Wrapped):
    """Columns of too many categories as codes: scikit-learn's trees take 255."""

    def _changed(self, X: Any) -> Any:
        wide = [name for name in X.select_dtypes("category") if len(X[name].cat.categories) > self.settings["most"]]
        return X.assign(**{name: X[name].cat.codes.astype(float) for name in wide})


class _Texts(_Wrapped):
    """Categories as texts, which CatBoost has to be told of."""

    def _changed(self, X: Any) -> Any:
        names = list(X.select_dtypes("category"))
        return X.assign(**{name: X[name].astype(object).where(X[name].notna(), "missing").map(str) for name in names})

    def fit(self, X: Any, y: Any) -> Any:
        self.model.fit(self._changed(X), y, cat_features=list(X.select_dtypes("category")))
        return self


CONTESTANTS: dict[str, Callable[[bool, int], Any]] = {
    **{quality: ours(quality) for quality in QUALITIES},
    "linear": linear,
    "sklearn MLP": sklearn_mlp,
    "HistGradientBoosting": histogram_trees,
    "LightGBM": lightgbm,
    "CatBoost": catboost,
    "RealMLP-TD": realmlp,
}
