"""What the demo compares with: the usual baselines, behind the preprocessing that a careful user would write."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Score:
    """How a fitted model does on rows it has not seen, and what that took."""

    name: str
    accuracy: float
    auc: float
    log_loss: float
    epochs: int | None
    seconds: float


def scored(name: str, model: Any, seconds: float, X: Any, y: Any) -> Score:
    """The scores of a fitted classifier of two classes."""
    from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

    chances = model.predict_proba(X)
    last = model[-1] if hasattr(model, "steps") else model
    return Score(
        name,
        float(accuracy_score(y, model.classes_[chances.argmax(axis=1)])),
        float(roc_auc_score(y == model.classes_[1], chances[:, 1])),
        float(log_loss(y, chances)),
        getattr(last, "n_iter_", None) if hasattr(last, "loss_curve_") else None,
        seconds,
    )


def timed_fit(model: Any, X: Any, y: Any) -> float:
    """Fit, and say how many seconds it took."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a demo is no place for advice on convergence
        model.fit(X, y)
    return time.perf_counter() - begin


def settled_fit(model: Any, X: Any, y: Any) -> float:
    """The same, once what must be compiled is compiled."""
    from pellucid.engine.native import cache

    before = cache.compilations
    seconds = timed_fit(model, X, y)
    return seconds if cache.compilations == before else timed_fit(model, X, y)


def rivals(seed: int) -> dict[str, Any]:
    """Models by name, unfitted."""
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    from pellucid.estimators import MLPClassifier as Ours

    return {
        "always the larger class": DummyClassifier(),
        "logistic regression": make_pipeline(_prepared(), LogisticRegression(max_iter=1000)),
        "MLPClassifier (scikit-learn)": make_pipeline(
            _prepared(), MLPClassifier(early_stopping=True, random_state=seed)
        ),
        "MLPClassifier (Pellucid)": make_pipeline(_prepared(), Ours(early_stopping=True, random_state=seed)),
    }


def _prepared() -> Any:
    """Imputation, scaling, one-hot columns."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (categories, make_column_selector(dtype_include="category")),
    )
