"""What ensembles and searches need of an estimator, ours or another in scikit-learn's way."""

from __future__ import annotations

from typing import Any, Protocol

from pellucid.data.types import ArrayLike


class Predictor(Protocol):
    """`fit` and `predict`, no more."""

    def fit(self, X: ArrayLike, y: ArrayLike, /, *args: Any, **more: Any) -> Predictor: ...

    def predict(self, X: ArrayLike, /) -> Any: ...


class Learner(Protocol):
    """Parameters by name, `fit` and `predict`."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def set_params(self, **params: object) -> Learner: ...

    def fit(self, X: ArrayLike, y: ArrayLike, /, *args: Any, **more: Any) -> Learner: ...

    def predict(self, X: ArrayLike, /) -> Any: ...
