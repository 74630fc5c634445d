"""What MLPClassifier and MLPRegressor share: scikit-learn's interface on the outside, a `Model` inside."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from pellucid import nn
from pellucid.estimators.build import build, layer_names, start, training_settings
from pellucid.estimators.checks import check_parameters
from pellucid.estimators.convergence import Convergence, Curves, Patience, Rates
from pellucid.estimators.rows import CHUNK, dense, shuffled_batches, too_large
from pellucid.estimators.saving import Saves
from pellucid.train import Checkpoint, Diverged, Metric, Model, fit_lbfgs
from pellucid.train.loop import INTERRUPTED
from pellucid.train.metrics import metric as find_metric

NON_FINITE = (
    "Solver produced non-finite parameter weights. The input data may contain large values and need to be "
    "preprocessed. In detail: "
)


class BaseMLP(Saves, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Parameters, fit, and what can be seen inside. The target is the subclasses' affair."""

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: Any = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        loss: Any = "log_loss",
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: Any = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: int | float = 10,
        max_fun: int = 15000,
        dropout: Any = 0.0,
        norm: Any = None,
        penalty: nn.Penalty | None = None,
        optimizer: Any = None,
        monitor: Any = None,
        callbacks: Any = (),
        max_time: float | None = None,
        network: Any = None,
        training: Any = None,
        compat: str | None = None,
        dtype: Any = None,
        engine: str = "auto",
        threads: int | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.loss = loss
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.dropout = dropout
        self.norm = norm
        self.penalty = penalty
        self.optimizer = optimizer
        self.monitor = monitor
        self.callbacks = callbacks
        self.max_time = max_time
        self.network = network
        self.training = training
        self.compat = compat
        self.dtype = dtype
        self.engine = engine
        self.threads = threads

    # for the subclasses

    _score_metric = ""
    """What early stopping watches by default."""

    def _encode(self, y: Any, first: bool, incremental: bool) -> Any:
        """The target as the loss takes it; classes are found or checked."""
        raise NotImplementedError

    def _loss_for(self, y: Any) -> tuple[nn.Loss, int, str]:
        """(loss, outputs, out_activation_) for an encoded target."""
        raise NotImplementedError

    def _row_weights(self, y: Any) -> Any:
        """Weights of rows by their class, or None.   y as given by the user"""
        return None

    def _strata(self, y: Any) -> Any:
        """What a random split keeps the shares of, or None."""
        return None

    def _with_inputs(self, net: nn.Layer, scale: bool) -> nn.Layer:
        """The network with what comes ahead of the first hidden layer."""
        return nn.Sequential(("input.scale", nn.Scale()), *net.children) if scale else net

    def _keep_held(self, held: tuple[Any, Any, Any]) -> None:
        """What is learned from the validation rows when training has ended."""

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
        val_rows: Any = None,
    ) -> BaseMLP:
        """Train on X (n, features), an array, data frame or sparse matrix, and y (n,) or (n, outputs).

        Validation data are `X_val` and `y_val`, or `val_rows`, numbers of rows of X that are then not trained on; else
        early stopping takes a random `validation_fraction`. With validation data the curves `validation_scores_` and
        `validation_loss_curve_` are filled; with `early_stopping` the best parameters are kept, however training ends.
        """
        return self._fit(X, y, sample_weight, held=(X_val, y_val, sample_weight_val), val_rows=val_rows)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        held: tuple[Any, Any, Any] = (None, None, None),
        val_rows: Any = None,
        incremental: bool = False,
    ) -> BaseMLP:
        check_parameters(self)
        first = not self.__sklearn_is_fitted__() or not (self.warm_start or incremental)
        if incremental and self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True: call fit, or leave it out")
        X, y, given = self._checked(X, y, first)
        target = self._encode(given, first, incremental)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        by_class = self._row_weights(given)
        if by_class is not None:
            weights = by_class if weights is None else weights * by_class
        if weights is not None and not np.any(weights):
            raise ValueError("all sample weights are 0: nothing is left to learn from")
        rng = check_random_state(self.random_state)
        dtype = np.dtype(self.dtype) if self.dtype is not None else X.dtype
        if first:
            self._begin(X, target, weights, dtype, rng)
        elif tuple(self.model_.features) != X.shape[1:]:
            raise ValueError(f"X has {X.shape[1]} features, but the network was made for {self.model_.features[0]}")
        if self.solver == "lbfgs" and self.optimizer is None:
            self._fit_lbfgs(X, target, weights, rng)
        else:
            parts = self._parted(X, y, target, weights, held, val_rows, rng, incremental)
            self._fit_stochastic(*parts, rng, incremental)
            if parts[3] is not None:
                self._keep_held(parts[3])
        return self

    def _checked(self, X: Any, y: Any, first: bool) -> tuple[Any, Any, Any]:
        """X as floats, y as an array; and y in the shape that subclasses encode."""
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=["csr", "csc"],
            multi_output=True,
            y_numeric=self._numeric_target,
            dtype=(np.float64, np.float32),
            reset=first,
        )
        if y.ndim == 2 and y.shape[1] == 1:
            from sklearn.utils import column_or_1d

            y = column_or_1d(y, warn=True)
        return X, y, y

    _numeric_target = False

    def _begin(self, X: Any, target: Any, weights: Any, dtype: Any, rng: np.random.RandomState) -> None:
        """A network with its first weights, and empty curves."""
        loss, outputs, link = self._loss_for(target)
        preset = self.__dict__.pop("_preset", None)
        self.n_outputs_, self.out_activation_ = outputs, link
        self._metric = self._monitored(loss)
        total = float(X.shape[0] if weights is None else np.sum(weights))
        self.model_ = build(self, outputs, loss, dtype, total, self._metric)
        start(self, self.model_, X.shape[1], rng)
        self._curves = Curves()
        self._calibration: dict[str, Any] = {}
        self.n_layers_ = len(layer_names(self.model_)) + 1
        self._n_features_out = self._hidden_width()
        if preset:
            for name, arrays in preset.items():
                setattr(self, name, arrays)

    def _monitored(self, loss: nn.Loss) -> Metric | None:
        """What the validation rows are scored by; None is the loss itself."""
        which = self.monitor if self.monitor is not None else self._score_metric
        if isinstance(which, str) and which == "loss":
            return None
        return scorer(which)

    def _parted(
        self, X: Any, y: Any, target: Any, weights: Any, held: Any, val_rows: Any, rng: Any, incremental: bool
    ) -> tuple[Any, Any, Any, Any]:
        """(X, target, weights) for training, and the same for validation or None."""
        X_val, y_val, w_val = held
        if X_val is not None or y_val is not None:
            if X_val is None or y_val is None:
                raise ValueError("validation data are X_val and y_val together; got one of them")
            if val_rows is not None:
                raise ValueError("give X_val and y_val, or val_rows, not both")
            X_val, y_val = validate_data(
                self,
                X_val,
                y_val,
                accept_sparse=["csr", "csc"],
                multi_output=True,
                y_numeric=self._numeric_target,
                dtype=(np.float64, np.float32),
                reset=False,
            )
            if y_val.ndim == 2 and y_val.shape[1] == 1:
                y_val = y_val[:, 0]
            return X, target, weights, (dense(X_val), self._encode(y_val, False, True), w_val)
        if val_rows is not None:
            rows = np.asarray(val_rows)
            mask = np.zeros(X.shape[0], bool)
            mask[rows] = True
            if mask.all() or not mask.any():
                raise ValueError(
                    f"val_rows leaves {int((~mask).sum())} rows to train on and {int(mask.sum())} to check"
                )
            inside, outside = np.flatnonzero(~mask), np.flatnonzero(mask)
        elif self.early_stopping and not incremental:
            inside, outside = train_test_split(
                np.arange(X.shape[0]),
                random_state=rng,
                test_size=self.validation_fraction,
                stratify=self._strata(target),
            )
            if len(outside) < 2:
                raise ValueError(
                    "The validation set is too small. Increase 'validation_fraction' or the size of your dataset. "
                    f"Got {len(outside)} of {X.shape[0]} rows; give X_val and y_val to use rows of your own."
                )
        else:
            return X, target, weights, None
        pick = lambda a, rows: None if a is None else a[rows]
        kept = (dense(X[outside]), target[outside], pick(weights, outside))
        return X[inside], target[inside], pick(weights, inside), kept

    # the two ways of training

    def _fit_lbfgs(self, X: Any, target: Any, weights: Any, rng: np.random.RandomState) -> None:
        if self.early_stopping:
            warnings.warn("early_stopping has no effect with solver='lbfgs'", stacklevel=4)
        model = self.model_
        history = fit_lbfgs(
            model,
            dense(X),
            target,
            sample_weight=weights,
            max_iter=self.max_iter,
            max_fun=self.max_fun,
            tol=self.tol,
            ftol=None,
            seed=int(rng.randint(2**31 - 1)),
        )
        self._curves.losses += history["loss"] if history.epochs else []
        self.n_iter_ = min(len(history), self.max_iter)
        self.loss_ = self._curves.losses[-1] if self._curves.losses else math.nan
        self._curves.best_loss = min([self._curves.best_loss, *self._curves.losses])
        if not all(np.isfinite(w).all() for w in model.params.values()):
            raise ValueError(f"{NON_FINITE}lbfgs ended with a parameter that is not finite")
        if not history.converged:
            warnings.warn(
                f"lbfgs failed to converge after {self.n_iter_} iteration(s): {history.stopped}. Increase max_iter "
                f"(now {self.max_iter}) or max_fun (now {self.max_fun}), or scale the data (StandardScaler).",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _fit_stochastic(
        self, X: Any, target: Any, weights: Any, held: Any, rng: np.random.RandomState, incremental: bool
    ) -> None:
        training, rows = training_settings(self), X.shape[0]
        batch = self._batch_size(rows)
        watched = self._watched_name() if held is not None else None
        sign = -1.0 if watched == "val_loss" or (self._metric is not None and self._metric.mode == "min") else 1.0
        strict = self.compat == "sklearn"
        patience = Patience(
            float(self.tol),
            float(self.n_iter_no_change) if self.early_stopping or held is None else math.inf,
            watched,
            sign,
            strict,
            training.keep,
        )
        rates = Rates("constant", float(self.learning_rate_init), float(self.power_t))
        if self.solver == "sgd" and self.optimizer is None:
            rates.kind = self.learning_rate
        elif self.learning_rate != "constant":
            warnings.warn(
                f"learning_rate={self.learning_rate!r} is for solver='sgd' and has no effect here: give a schedule, "
                "training=TrainingSettings(schedule='cosine')",
                stacklevel=4,
            )
        bar = isinstance(self.verbose, str)
        say = print if self.verbose and not bar else None
        curves = self._curves
        watcher = Convergence(curves, patience, rates, rows, say)
        watcher.epochs = 0
        callbacks = [watcher, *self.callbacks]
        if training.checkpoint is not None:
            callbacks.append(Checkpoint(training.checkpoint))
        go_on = incremental or (self.warm_start and not strict)
        seed = self._seed if go_on and hasattr(self, "_seed") else int(rng.randint(2**31 - 1))
        self._seed = seed
        before = len(curves.losses)
        data: tuple[Any, ...] = (X, target)
        if sparse.issparse(X):
            if too_large(X, self.model_.dtype):
                data = (shuffled_batches(X, target, weights, batch, seed if self.shuffle else None),)
                weights = None
            else:
                data = (dense(X), target)
        try:
            with warnings.catch_warnings():
                history = self.model_.fit(
                    *data,
                    epochs=1 if incremental else int(self.max_iter),
                    batch_size=batch,
                    validation=held,
                    sample_weight=weights,
                    callbacks=callbacks,
                    seed=seed,
                    shuffle=bool(self.shuffle),
                    max_time=self.max_time,
                    verbose=self.verbose if bar else False,
                    on_divergence="stop" if watched is not None and self.early_stopping else "raise",
                    resume=training.resume,
                    continued=go_on,
                )
        except Diverged as error:
            raise ValueError(f"{NON_FINITE}{error}") from error
        except BaseException as error:
            cause = error.__cause__
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
            raise
        made = len(curves.losses) - before
        self._noted(history, watcher, made, incremental, rows)

    def _noted(self, history: Any, watcher: Convergence, made: int, incremental: bool, rows: int) -> None:
        """What the fit says about itself, in attributes and warnings."""
        curves = self._curves
        self.n_iter_ = made
        self.loss_ = curves.losses[-1] if curves.losses else math.nan
        if history.stopped.startswith("training diverged"):
            if watcher.kept is None:
                raise ValueError(f"{NON_FINITE}{history.stopped}")
            curves.scores.append(math.nan)
            warnings.warn(
                f"{history.stopped} The best parameters before that are kept.", ConvergenceWarning, stacklevel=5
            )
        elif history.stopped == INTERRUPTED:
            warnings.warn("Training interrupted by user.", stacklevel=5)
        elif not incremental and made >= self.max_iter and not watcher.done:
            warnings.warn(self._not_converged(), ConvergenceWarning, stacklevel=5)

    def _not_converged(self) -> str:
        """scikit-learn's words, a measured quantity, and what to do."""
        losses = self._curves.losses
        window = min(len(losses) - 1, 10)
        fell = f"The loss is {losses[-1]:.4g}" + (
            f" and fell by {losses[-1 - window] - losses[-1]:.2g} in the last {window} epochs" if window else ""
        )
        return (
            f"Stochastic Optimizer: Maximum iterations ({self.max_iter}) reached and the optimization hasn't converged "
            f"yet. {fell}, tol is {self.tol:g}. If it still falls much, raise max_iter or learning_rate_init (now "
            f"{self.learning_rate_init:g}); if it only trembles, raise tol or use early_stopping=True."
        )

    def _batch_size(self, rows: int) -> int:
        if self.batch_size == "auto":
            return min(200, rows)
        if self.batch_size > rows:
            warnings.warn(
                f"Got `batch_size` less than 1 or larger than sample size. It is going to be clipped: {self.batch_size} "
                f"for {rows} rows",
                stacklevel=5,
            )
        return int(np.clip(self.batch_size, 1, rows))

    def _watched_name(self) -> str:
        return "val_loss" if self._metric is None else f"val_{self._metric.name}"

    # what was learned

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    @property
    def coefs_(self) -> list[Any]:
        """Weights of each layer, (n_in, n_out); the arrays themselves, to be read or changed."""
        return [self._fitted_model().params[weight] for weight, _ in layer_names(self._fitted_model())]

    @coefs_.setter
    def coefs_(self, arrays: Any) -> None:
        self._set_layers(0, "coefs_", arrays)

    @property
    def intercepts_(self) -> list[Any]:
        """Biases of each layer, (n_out,)."""
        return [self._fitted_model().params[bias] for _, bias in layer_names(self._fitted_model()) if bias]

    @intercepts_.setter
    def intercepts_(self, arrays: Any) -> None:
        self._set_layers(1, "intercepts_", arrays)

    def _set_layers(self, which: int, name: str, arrays: Any) -> None:
        if not self.__sklearn_is_fitted__():  # weights to start from
            self.__dict__.setdefault("_preset", {})[name] = arrays
            return
        names = [pair[which] for pair in layer_names(self.model_)]
        if len(arrays) != len(names):
            raise ValueError(f"{name} has {len(arrays)} arrays for {len(names)} layers")
        params = dict(self.model_.params)
        for key, array in zip(names, arrays, strict=True):
            new = np.asarray(array, self.model_.dtype)
            if key is None or new.shape != params[key].shape:
                shape = None if key is None else params[key].shape
                raise ValueError(f"{name}: {key} has shape {shape}, got {new.shape}")
            params[key] = new
        self.model_.params = params

    def _fitted_model(self) -> Model:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} is not fitted yet: call fit first")
        return self.model_  # type: ignore[no-any-return]

    def _curve(self, name: str) -> Any:
        if not hasattr(self, "_curves"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet: call fit first")
        return getattr(self._curves, name)

    @property
    def loss_curve_(self) -> list[float]:
        """The mean loss of each epoch, penalty included."""
        return self._curve("losses")  # type: ignore[no-any-return]

    @property
    def validation_loss_curve_(self) -> list[float] | None:
        """The loss on the validation rows after each epoch, without penalty; None without validation rows."""
        return self._curve("validation_losses") or None

    @property
    def validation_scores_(self) -> list[float] | None:
        return self._curve("scores") or None

    @property
    def best_loss_(self) -> float | None:
        return None if self._curve("scores") else self._curve("best_loss")

    @property
    def best_validation_score_(self) -> float | None:
        if not self._curve("scores"):
            return None
        best = self._curve("best_score")
        sign = -1.0 if self._metric is None or self._metric.mode == "min" else 1.0
        return float(sign * best)

    @property
    def best_iter_(self) -> int | None:
        """The epoch (of its fit, from 1) whose parameters were kept."""
        return self._curve("best_iter") or None

    @property
    def t_(self) -> int:
        """Rows seen in training."""
        return int(self._curve("rows"))

    @property
    def _no_improvement_count(self) -> int:
        return int(self._curve("waited"))

    # inside

    def _inputs(self, X: Any) -> Any:
        """New rows, checked."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse=["csr", "csc"], reset=False)

    def _chunks(self, X: Any) -> Iterator[Any]:
        """Dense parts of bounded size, in the network's precision."""
        for first in range(0, X.shape[0], CHUNK):
            yield dense(X[first : first + CHUNK]).astype(self.model_.dtype, copy=False)

    def _scores(self, X: Any) -> Any:
        """The network's output.   (n, features) -> (n, outputs)"""
        X = self._inputs(X)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags


def scorer(which: Any) -> Metric:
    """A metric of ours by name, a scorer of scikit-learn by name or object, or a function (y, prediction)."""
    if isinstance(which, str):
        from pellucid.train import METRICS

        if which not in METRICS:
            from sklearn.metrics import get_scorer

            try:
                return find_metric(get_scorer(which))
            except (ValueError, KeyError):
                pass  # the message below lists our own names
    return find_metric(which)
