"""What the two table estimators share: a preprocessor for the table, and an MLP behind it, trained after RealMLP."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pellucid.amounts import check_number, is_number, is_whole
from pellucid.data.weights import in_reach
from pellucid.estimators.inputs import checked_weights, unchanged_on_failure
from pellucid.estimators.saving import Saves
from pellucid.estimators.tables.columns import read_table
from pellucid.estimators.tables.preprocessor import TablePreprocessor
from pellucid.estimators.tables.recipe import recipe


class BaseTabularMLP(Saves, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Parameters, the split, preprocessing, the recipe. The target is the subclasses' affair."""

    _auto_activation = ""
    _auto_rate = 0.0
    _auto_bias: Any = 0.0
    _auto_decay = 0.0

    def __init__(
        self,
        hidden_layer_sizes: Any,
        activation: Any,
        *,
        learning_rate_init: float | str,
        max_iter: int | str,
        batch_size: int | str,
        dropout: Any,
        norm: Any,
        loss: Any,
        scaling: str | None,
        one_hot_max: int,
        embedding_dim: Any,
        periodic: bool,
        categorical: Any,
        validation_fraction: float,
        patience: int | None,
        monitor: Any,
        random_state: Any,
        verbose: Any,
        callbacks: Any,
        max_time: float | None,
        engine: str,
        threads: int | None,
        dtype: Any,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.dropout = dropout
        self.norm = norm
        self.loss = loss
        self.scaling = scaling
        self.one_hot_max = one_hot_max
        self.embedding_dim = embedding_dim
        self.periodic = periodic
        self.categorical = categorical
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.monitor = monitor
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks
        self.max_time = max_time
        self.engine = engine
        self.threads = threads
        self.dtype = dtype

    # for the subclasses

    def _target(self, y: Any) -> Any:
        """y checked: (n,) or (n, outputs)."""
        raise NotImplementedError

    def _begin_target(self, y: Any, weights: Any) -> None:
        """Learn what there is to learn from the target of the training rows."""
        raise NotImplementedError

    def _inner_target(self, y: Any) -> Any:
        """y as the inner estimator is given it."""
        return y

    def _inner(self, settings: dict[str, Any]) -> Any:
        """The inner estimator, not fitted."""
        raise NotImplementedError

    def _finish(self, inner: Any) -> None:
        """What is left to do when the inner estimator is fitted."""

    def _held_weights(self, y: Any, weights: Any) -> Any:
        """Weights of the validation rows, or None."""
        return weights

    def _split(self, y: Any, rng: np.random.RandomState) -> tuple[Any, Any]:
        """Row numbers for training and validation."""
        raise NotImplementedError

    # fit

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> BaseTabularMLP:
        """Train on a table X (n, features) and y (n,).

        `validation_fraction` of the rows, drawn at random, or `X_val` and `y_val`, are not trained on: they choose
        the epoch whose parameters are kept. Preprocessing is learned from the training rows alone.
        `sample_weight_val` are the weights of the rows of `X_val`.
        """
        with unchanged_on_failure(self):
            self._fit(X, y, sample_weight, X_val, y_val, sample_weight_val)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if (X_val is None) != (y_val is None):
            raise ValueError("validation data are X_val and y_val together; got one of them")
        if sample_weight_val is not None and X_val is None:
            raise ValueError("sample_weight_val are weights of validation rows: give X_val and y_val too")
        rate, patience = self.learning_rate_init, self.patience
        if not is_number(rate, above=True) and not (isinstance(rate, str) and rate == "auto"):
            raise ValueError(f"learning_rate_init is a number above 0, or 'auto', got {rate!r}")
        if patience is not None and not is_whole(patience):
            raise ValueError(f"patience is a whole number of epochs from 1, or None for no end, got {patience!r}")
        rng = check_random_state(self.random_state)
        table = read_table(X, type(self).__name__)
        y = self._target(y)
        check_consistent_length(table.columns[0], y)
        table.refuse_infinite()
        weights = self._given_weights(sample_weight, table.rows)
        if weights is not None and not weights.all():  # rows that count for nothing
            kept = np.flatnonzero(weights)
            table, y, weights = table.take(kept), y[kept], weights[kept]
        self._begin_target(y, weights)
        inside, outside = self._rows(y, rng, split=X_val is None)
        part, w = table.take(inside), _pick(weights, inside)
        pre = TablePreprocessor(
            self.scaling,
            one_hot_max=self.one_hot_max,
            categorical=self.categorical,
            dtype=self.dtype,
        )
        data = pre.fit_table(part, w)
        held: dict[str, Any] = {}
        if X_val is not None:
            y_held = self._target(y_val)
            held = {
                "X_val": pre.apply_table(pre.known_table(X_val)),
                "y_val": y_held,
                "sample_weight_val": self._given_weights(sample_weight_val, len(y_held)),
            }
        elif len(outside):
            held = {
                "X_val": pre.apply_table(table.take(outside)),
                "y_val": y[outside],
                "sample_weight_val": _pick(weights, outside),
            }
        if held:
            held["sample_weight_val"] = self._held_weights(held["y_val"], held["sample_weight_val"])
            held["y_val"] = self._inner_target(held["y_val"])
        inner = self._inner(recipe(self, len(data), pre, bool(held), int(rng.randint(2**31 - 1))))
        inner.fit(data, self._inner_target(y[inside]), w, **held)
        self._finish(inner)
        inner.model_.progress = None  # nothing goes on from here: the rule's state would only swell the file
        self.preprocessor_, self.estimator_ = pre, inner
        self.n_features_in_ = pre.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(pre, "feature_names_in_"):
            self.feature_names_in_ = pre.feature_names_in_
        self._n_features_out = inner._n_features_out

    def _given_weights(self, sample_weight: Any, rows: int) -> Any:
        if sample_weight is None:
            return None
        weights = checked_weights(sample_weight, rows)
        if not weights.any():
            raise ValueError("all sample weights are 0: nothing is left to learn from")
        return in_reach(weights, np.float64)[0]

    def _rows(self, y: Any, rng: np.random.RandomState, split: bool) -> tuple[Any, Any]:
        rows, share = len(y), self.validation_fraction
        check_number("a number in [0, 1)", 0, 1, validation_fraction=share)
        if not split or not share:
            return np.arange(rows), np.arange(0)
        inside, outside = self._split(y, rng)
        if len(outside) < 2 or len(inside) < 2:
            raise ValueError(
                f"n_samples={rows} is too few to set {share:g} of them aside for validation: {len(outside)} would "
                f"check and {len(inside)} train, 2 are needed. Give X_val and y_val, or set validation_fraction=0"
            )
        return inside, outside

    # what was learned

    def _inputs(self, X: Any) -> Any:
        """New rows, checked and preprocessed."""
        check_is_fitted(self, "estimator_")
        return self.preprocessor_.apply_table(self.preprocessor_.known_table(X))

    def transform(self, X: Any) -> Any:
        """The output of the last hidden layer, as features for another model.   (n, features) -> (n, units)"""
        return np.asarray(self.estimator_.transform(self._inputs(X)))

    def _fitted(self) -> Any:
        if not hasattr(self, "estimator_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet: call fit first")
        return self.estimator_

    @property
    def loss_curve_(self) -> list[float]:
        """The mean training loss of each epoch, the penalty included."""
        return self._fitted().loss_curve_  # type: ignore[no-any-return]

    @property
    def validation_loss_curve_(self) -> list[float] | None:
        """The loss on the validation rows after each epoch; None without validation rows."""
        return self._fitted().validation_loss_curve_  # type: ignore[no-any-return]

    @property
    def validation_scores_(self) -> list[float] | None:
        """What is monitored, on the validation rows after each epoch; None without validation rows."""
        return self._fitted().validation_scores_  # type: ignore[no-any-return]

    @property
    def best_validation_score_(self) -> float | None:
        return self._fitted().best_validation_score_  # type: ignore[no-any-return]

    @property
    def best_iter_(self) -> int | None:
        """The epoch, from 1, whose parameters were kept."""
        return self._fitted().best_iter_  # type: ignore[no-any-return]

    @property
    def n_iter_(self) -> int:
        """Epochs done."""
        return int(self._fitted().n_iter_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _pick(weights: Any, rows: Any) -> Any:
    return None if weights is None else weights[rows]
