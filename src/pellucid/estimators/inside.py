"""What a fitted estimator shows: its weights, its curves, the output of every layer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.data.chunks import CHUNK
from pellucid.data.inputs import as_inputs
from pellucid.data.sparse import dense
from pellucid.estimators.build import layer_names
from pellucid.estimators.convergence import Curves
from pellucid.estimators.inputs import checked_rows
from pellucid.train import Metric, Model


class Inside(ClassNamePrefixFeaturesOutMixin, TransformerMixin):  # type: ignore[misc]
    """The readable side of an estimator: it has a `model_`, and `_curves`."""

    model_: Model
    n_layers_: int
    _curves: Curves
    _metric: Metric | None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # weights

    @property
    def coefs_(self) -> list[Any]:
        """Weights of each layer, (n_in, n_out); the arrays themselves, to be read or changed."""
        return self._layers(0, "coefs_")

    @coefs_.setter
    def coefs_(self, arrays: Any) -> None:
        self._set_layers(0, "coefs_", arrays)

    @property
    def intercepts_(self) -> list[Any]:
        """Biases of each layer, (n_out,)."""
        return self._layers(1, "intercepts_")

    @intercepts_.setter
    def intercepts_(self, arrays: Any) -> None:
        self._set_layers(1, "intercepts_", arrays)

    def _layers(self, which: int, name: str) -> list[Any]:
        if self.__sklearn_is_fitted__():
            found = (pair[which] for pair in layer_names(self.model_))
            return [self.model_.params[key] for key in found if key is not None]
        preset: dict[str, list[Any]] = self.__dict__.get("_preset", {})
        if name in preset:
            return preset[name]
        raise AttributeError(f"this {type(self).__name__} has no {name} yet: call fit first")

    def _set_layers(self, which: int, name: str, arrays: Any) -> None:
        if not self.__sklearn_is_fitted__():  # weights to start from
            self.__dict__.setdefault("_preset", {})[name] = arrays
            return
        names = [pair[which] for pair in layer_names(self.model_)]
        if len(arrays) != len(names):
            raise ValueError(f"{name} has one array for each of the {len(names)} layers, got {len(arrays)}")
        params = dict(self.model_.params)
        for key, array in zip(names, arrays, strict=True):
            new = np.asarray(array, self.model_.dtype)
            if key is None or new.shape != params[key].shape:
                shape = None if key is None else params[key].shape
                raise ValueError(f"{name}: {key} has shape {shape}, got an array of shape {new.shape}")
            params[key] = new
        self.model_.params = params

    # curves

    def _show_curves(self) -> None:
        """What the curves say, under scikit-learn's names."""
        curves, scored, early = self._curves, bool(self._curves.scores), getattr(self, "early_stopping", False)
        self.loss_curve_ = list(curves.losses)
        self.loss_ = curves.losses[-1] if curves.losses else math.nan
        self.best_loss_ = None if scored and early else curves.best_loss
        self.validation_scores_ = list(curves.scores) or None
        self.validation_loss_curve_ = list(curves.validation_losses) or None
        self.best_validation_score_ = self._sign * curves.best_score if scored else None
        self.best_iter_ = curves.best_iter or None
        self.t_ = curves.rows
        self._no_improvement_count = curves.waited

    @property
    def _sign(self) -> float:
        """-1 where a smaller score of the validation rows is better."""
        return -1.0 if self._metric is None or self._metric.mode == "min" else 1.0

    # layers

    def _inputs(self, X: Any) -> Any:
        """New rows, checked."""
        check_is_fitted(self)
        return checked_rows(self, X)

    def _chunks(self, X: Any) -> Iterator[Any]:
        """Dense parts of bounded size, in the network's precision."""
        for first in range(0, X.shape[0], CHUNK):
            yield as_inputs(dense(X[first : first + CHUNK]), self.model_.dtype, first)

    def _scores(self, X: Any) -> Any:
        """The network's output.   (n, features) -> (n, outputs)"""
        return self._scores_of(self._inputs(X))

    def _scores_of(self, X: Any) -> Any:
        """`_scores` of rows that have been checked."""
        return np.concatenate([self.model_.scores(part) for part in self._chunks(X)])

    def activations(self, X: Any) -> dict[str, Any]:
        """What every layer puts out, by name: {"hidden1": (n, units), ..., "output": (n, outputs)}.

        Hidden layers as they leave for the next one: normalised and activated.
        """
        X = self._inputs(X)
        parts = [self._taps(part) for part in self._chunks(X)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _taps(self, X: Any) -> dict[str, Any]:
        taps: dict[str, Any] = {}
        scores, _ = self.model_.net.apply(self.model_.params, X, self.model_.state, taps=taps)
        found: dict[str, Any] = {}
        for name, value in taps.items():
            layer, _, part = name.partition(".")
            if layer.startswith("hidden") and part in ("", "activation", "norm"):
                found[layer] = value
        return {**found, "output": scores}

    def transform(self, X: Any) -> Any:
        """The output of the last hidden layer, as features for another model.   (n, features) -> (n, units)"""
        X = self._inputs(X)
        if self.n_layers_ == 2:
            return np.concatenate(list(self._chunks(X)))
        last = f"hidden{self.n_layers_ - 2}"
        return np.concatenate([self._taps(part)[last] for part in self._chunks(X)])

    def _hidden_width(self) -> int:
        return int(self.model_.params[layer_names(self.model_)[-1][0]].shape[0])
