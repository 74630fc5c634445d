"""What ensembles and searches need of an estimator, ours or another in scikit-learn's way."""

from __future__ import annotations

from typing import Any, Protocol, Self

from pellucid.data.types import ArrayLike


class Predictor(Protocol):
    """`fit` and `predict`, no more."""

    def fit(self, X: ArrayLike, y: ArrayLike, /, *args: Any, **more: Any) -> Any: ...

    def predict(self, X: ArrayLike, /) -> Any: ...


class Learner(Predictor, Protocol):
    """Parameters by name, too."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def set_params(self, **params: object) -> Self: ...
