"""What MLPClassifier and MLPRegressor share: scikit-learn's interface on the outside, a `Model` inside."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid import nn
from pellucid.estimators.build import build, layer_names, network_settings, penalty, rebuilt, start
from pellucid.estimators.checks import check_parameters
from pellucid.estimators.convergence import Curves
from pellucid.estimators.held import Given, Part, parted, scorer
from pellucid.estimators.inputs import checked, checked_weights, unchanged_on_failure
from pellucid.estimators.inside import Inside
from pellucid.estimators.saving import Saves
from pellucid.estimators.solve import by_lbfgs, by_steps
from pellucid.train import Metric


class BaseMLP(Saves, Inside, BaseEstimator):  # type: ignore[misc]
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
    """What validation rows are scored by, if nothing else is asked for."""

    _numeric_target = False
    _seed: int | None  # of the order of rows, and of dropout
    _calibration: dict[str, Any]  # what held-out rows have told: a temperature, or errors
    _drawn: Any  # the state of the generator ahead of the random split

    def _encode(self, y: Any, first: bool, incremental: bool) -> Any:
        """The target as the loss takes it; classes are found or checked."""
        raise NotImplementedError

    def _loss_for(self, y: Any) -> tuple[nn.Loss, int, str]:
        """(loss, outputs, out_activation_) for an encoded target."""
        raise NotImplementedError

    def _row_weights(self, y: Any, incremental: bool) -> Any:
        """Weights of rows by their class, or None.   y as given by the user"""
        return None

    def _strata(self, y: Any) -> Any:
        """What a random split keeps the shares of, or None.   y as encoded"""
        return None

    def _with_inputs(self, net: nn.Layer, scale: bool) -> nn.Layer:
        """The network with what comes ahead of the first hidden layer."""
        settings = network_settings(self)
        ahead: list[Any] = [("input.scale", nn.Scale())] if scale else []
        if settings.periodic:
            ahead.insert(0, ("input.periodic", nn.Periodic(settings.periodic)))
        if settings.embeddings:
            dims = settings.embedding_dim
            dims = tuple(dims) if isinstance(dims, list | np.ndarray) else dims
            ahead.insert(0, ("input.embed", nn.Embed(tuple(settings.embeddings), dims)))
        return nn.Sequential(*ahead, *net.children) if ahead else net

    def _keep_held(self, held: tuple[Any, Any, Any]) -> None:
        """What is learned from the validation rows (X, target, weights) when training has ended."""

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
        `validation_loss_curve_` are filled. With `early_stopping` they decide when to stop, and the best parameters are
        kept, however training ends; `n_iter_no_change=np.inf` keeps the best without stopping. If `fit` fails, the
        estimator is as it was.
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
        with unchanged_on_failure(self):
            self._train(X, y, sample_weight, Given(*held, val_rows), incremental)
        return self

    def _train(self, X: Any, y: Any, sample_weight: Any, given: Given, incremental: bool) -> None:
        first = not self.__sklearn_is_fitted__() or not (self.warm_start or incremental)
        lbfgs = self.solver == "lbfgs" and self.optimizer is None
        if incremental and self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True: call fit, or leave it out")
        X, y = self._checked(X, y, first)
        target = self._encode(y, first, incremental)
        everything = Part(X, target, self._weights(X, y, sample_weight, incremental))
        rng = check_random_state(self.random_state)
        if first:
            self._begin(everything, rng)
        else:
            self._take_up(everything)
        go_on = not first and (incremental or self.compat != "sklearn")
        if go_on and self._drawn is not None:  # the same random split as before: what was held out stays held out
            rng = np.random.RandomState()
            rng.set_state(self._drawn)
        self._drawn = rng.get_state()
        part, kept = parted(self, everything, given, rng, bool(self.early_stopping) and not lbfgs)
        if first or not incremental:
            self.model_.penalty = penalty(self, part.total)
        if lbfgs:
            by_lbfgs(self, part, kept, rng)
        else:
            self._seed = self._seed if go_on and self._seed is not None else int(rng.randint(2**31 - 1))
            by_steps(self, part, kept, self._seed, go_on, incremental)
        self._show_curves()
        self._calibration = {}  # that of other weights
        if kept is not None:
            self._keep_held(kept.dense())

    def _checked(self, X: Any, y: Any, first: bool) -> tuple[Any, Any]:
        """X as floats, y as an array."""
        return checked(self, X, y, reset=first, numeric=self._numeric_target)

    def _known(self, X: Any, y: Any) -> tuple[Any, Any]:
        """New rows and their target, checked, for a fitted estimator."""
        check_is_fitted(self)
        return self._checked(X, y, first=False)

    def _weights(self, X: Any, y: Any, given: Any, incremental: bool) -> Any:
        """Weights of rows: those given, times those of their classes; None where there are none."""
        weights = None if given is None else checked_weights(given, X.shape[0])
        by_class = self._row_weights(y, incremental)
        if by_class is not None:
            weights = by_class if weights is None else weights * by_class
        if weights is not None and not np.any(weights):
            raise ValueError("all sample weights are 0: nothing is left to learn from")
        return weights

    def _begin(self, rows: Part, rng: np.random.RandomState) -> None:
        """A network with its first weights, and empty curves."""
        loss, outputs, link = self._loss_for(rows.target)
        preset = self.__dict__.pop("_preset", {})
        self.n_outputs_, self.out_activation_ = outputs, link
        self._metric = self._monitored(loss)
        dtype = np.dtype(self.dtype) if self.dtype is not None else rows.X.dtype
        self.model_ = build(self, outputs, loss, dtype, self._metric)
        start(self, self.model_, rows.X.shape[1], rng)
        self._curves = Curves()
        self._seed = self._drawn = None
        self.n_layers_ = len(layer_names(self.model_)) + 1
        self._n_features_out = self._hidden_width()
        for name, arrays in preset.items():
            setattr(self, name, arrays)

    def _take_up(self, rows: Part) -> None:
        """The network of the last fit, with the parameters as they are now."""
        loss, outputs, _ = self._loss_for(rows.target)
        metric = self._monitored(loss)
        if getattr(metric, "name", "loss") != getattr(self._metric, "name", "loss"):
            self._curves.scores, self._curves.best_score = [], -np.inf  # scores of another kind
        self._metric = metric
        self.model_ = rebuilt(self, self.model_, outputs, loss, metric)

    def _monitored(self, loss: nn.Loss) -> Metric | None:
        """What the validation rows are scored by; None is the loss itself."""
        which = self.monitor if self.monitor is not None else self._score_metric
        return None if isinstance(which, str) and which == "loss" else scorer(which)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"] if self.dtype is None else []
        return tags
