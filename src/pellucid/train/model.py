"""Model: a network, a loss, an optimizer and metrics, joined; with fit, evaluate, predict, save and load."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.nn import Layer, Penalty, check_pairing, summary
from pellucid.nn import loss as find_loss
from pellucid.nn.dimensions import Summary
from pellucid.optim import Schedule
from pellucid.optim import optimizer as find_optimizer
from pellucid.train.batches import Rows, Stream, as_inputs, class_weights, is_stream, rows_of, split_rows
from pellucid.train.callbacks import Callback, callback
from pellucid.train.checkpoint import Checkpoint, load_run
from pellucid.train.history import History
from pellucid.train.logging import ProgressBar
from pellucid.train.loop import Plan, Run, train
from pellucid.train.metrics import Metric, classes, metric
from pellucid.train.step import Snapshot, Trainer

CHUNK = 8192
"""Rows predicted at a time: memory stays bounded whatever the number of rows."""


class Model:
    """A network that can be trained.

    `optimizer` is a name, a rule, a chain; `metrics` are names, functions (y, prediction) or scorers; `penalty` is
    added to the mean loss. `settings` puts schedules in the place of numbers of layers or of the loss:
    {"hidden1.dropout.rate": schedule, "loss.smoothing": schedule}.

    >>> import numpy as np
    >>> from pellucid import nn, optim
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = Model(nn.mlp((16,), 1), "binary_cross_entropy", optim.Adam(0.02), metrics=["accuracy"])
    >>> history = model.fit(X, y, epochs=40, batch_size=32, verbose=False)
    >>> model.evaluate(X, y)["accuracy"] > 0.9
    True
    """

    def __init__(
        self,
        net: Layer,
        loss: Any = "squared_error",
        optimizer: Any = "adam",
        metrics: Sequence[Any] = (),
        *,
        penalty: Penalty | None = None,
        dtype: Any = np.float32,
        settings: dict[str, Schedule] | None = None,
    ) -> None:
        self.net = net
        self.loss = find_loss(loss)
        self.optimizer = find_optimizer(optimizer)
        self.metrics: list[Metric] = [metric(m) for m in metrics]
        self.penalty = penalty
        self.dtype = np.dtype(dtype)
        self.settings = dict(settings or {})
        self.params: dict[str, Any] = {}
        self.state: dict[str, Any] = {}
        self.features: tuple[int, ...] = ()
        self.history = History()

    # training

    def initialize(self, features: Any, *, seed: int = 0) -> Model:
        """Fresh parameters for samples of this shape (a number, a shape, or data)."""
        if not isinstance(features, int | tuple):
            features = tuple(np.shape(features)[1:])
        self.params, self.state = self.net.initialize(features, seed=seed, dtype=self.dtype)
        self.features = (features,) if isinstance(features, int) else features
        return self

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        epochs: int | None = None,
        steps: int | None = None,
        batch_size: int = 32,
        validation: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        callbacks: Sequence[Any] = (),
        seed: int = 0,
        shuffle: bool = True,
        max_time: float | None = None,
        verbose: bool | str = True,
        on_divergence: str = "raise",
        resume: str | os.PathLike[str] | None = None,
    ) -> History:
        """Train, and return what happened.

        X and y are arrays or data frames; or X is an iterable of batches (X, y) or (X, y, weights). `validation` is
        (X, y[, weights]), a fraction (stratified for classes), or row numbers; those rows are never trained on. A
        model that has parameters goes on from them. `resume` goes on from a checkpoint of the same call, bit for
        bit. The run ends after `epochs`, `steps` or `max_time` (seconds), whichever is first, by a callback, or by
        Ctrl-C; `history.stopped` says why. `on_divergence` is "raise" or "stop".
        """
        if on_divergence not in ("raise", "stop"):
            raise ValueError(f"on_divergence is 'raise' or 'stop', got {on_divergence!r}")
        if batch_size < 1:
            raise ValueError(f"batch_size is a whole number from 1, got {batch_size}")
        if epochs is None and steps is None and max_time is None:
            epochs = 10
        data, held = self._data(X, y, validation, sample_weight, class_weight, seed)
        per_epoch = data.count(batch_size)
        total = steps if steps is not None else (epochs or 0) * (per_epoch or 0)
        tuned = self.optimizer.fit(total, per_epoch or 1)
        trainer = Trainer(self.net, self.loss, tuned, self.penalty, key=seed)
        settings = {k: s.fit(total, per_epoch or 1) for k, s in self.settings.items()}
        plan = Plan(
            data, held, epochs, steps, batch_size, seed, shuffle, max_time, on_divergence, settings, self._evaluate_rows
        )
        run = Run(
            plan,
            trainer,
            Snapshot(self.params, self.state, tuned.init(self.params)),
            self._callbacks(callbacks, verbose),
        )
        if resume is not None:
            load_run(run, resume)
        self.history = run.history
        try:
            train(run)
        finally:
            self.params, self.state = run.final if run.final is not None else run.prediction
        return run.history

    def _callbacks(self, callbacks: Sequence[Any], verbose: bool | str) -> list[Callback]:
        """Checkpoints come last, so that they hold what the others have seen."""
        listed = [callback(c) for c in callbacks]
        if verbose and not any(isinstance(c, ProgressBar) for c in listed):
            listed.append(ProgressBar("auto" if verbose is True else str(verbose)))
        return sorted(listed, key=lambda c: isinstance(c, Checkpoint))

    def _data(
        self, X: Any, y: Any, validation: Any, weights: Any, class_weight: Any, seed: int
    ) -> tuple[Rows | Stream, Rows | None]:
        held: Any = None
        if is_stream(X):
            if y is not None or weights is not None or class_weight is not None:
                raise TypeError("batches bring their own targets and weights: give them inside, (X, y, weights)")
            if not self.params:
                first = next(iter(X), None) if iter(X) is not X else None
                if first is None:
                    raise ShapeError("to learn from batches, call model.initialize(features) first")
                self.initialize(as_inputs(first[0], self.dtype), seed=seed)
            data: Rows | Stream = Stream(X, self.loss, self._outputs(), self.dtype)
            held = validation
        else:
            if y is None:
                raise TypeError("fit needs y: model.fit(X, y), or batches (X, y)")
            if class_weight is not None:
                by_class = class_weights(class_weight, y)
                weights = by_class if weights is None else by_class * np.asarray(weights)
            if validation is not None and not isinstance(validation, tuple):
                stratify = (
                    any(kind in self.loss.link_name for kind in ("softmax", "sigmoid", "sign")) and np.ndim(y) == 1
                )
                (X, y, weights), held = split_rows(validation, X, y, weights, stratify=stratify, seed=seed)
            else:
                held = validation
            if not self.params:
                self.initialize(as_inputs(X, self.dtype), seed=seed)
            data = rows_of(X, y, weights, self.loss, self._outputs(), self.dtype)
            self._check_features(data.X)
        if held is not None:
            held = rows_of(held[0], held[1], held[2] if len(held) > 2 else None, self.loss, self._outputs(), self.dtype)
            self._check_features(held.X)
        warning = check_pairing(self._last_activation(), self.loss)
        if warning:
            import warnings

            warnings.warn(warning, stacklevel=3)
        return data, held

    # prediction

    def scores(self, X: Any) -> Any:
        """The output of the network.   (n, ...) -> (n, k), in chunks of bounded memory"""
        return np.concatenate(list(self._chunks(X)))

    def predict(self, X: Any) -> Any:
        """What the loss's link makes of the scores: means, probabilities, quantiles.   (n, ...) -> (n, k)"""
        return self.loss.link(self.scores(X))

    def predict_classes(self, X: Any) -> Any:
        """The most likely class of each row.   (n, ...) -> (n,)"""
        return classes(self.loss, self.scores(X))

    def evaluate(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, float]:
        """The mean loss (without penalty) and the metrics on given data."""
        rows = rows_of(X, y, sample_weight, self.loss, self._outputs(), self.dtype)
        self._check_features(rows.X)
        return self._evaluate_rows(self.params, self.state, rows)

    def score(self, X: Any, y: Any) -> float:
        """The first metric; without one, minus the loss (larger is better)."""
        found = self.evaluate(X, y)
        return found[self.metrics[0].name] if self.metrics else -found["loss"]

    def summary(self) -> Summary:
        """The dimension table of the network."""
        self._fitted()
        return summary(self.net, self.features)

    def _evaluate_rows(self, params: Any, state: Any, rows: Rows) -> dict[str, float]:
        scores, total, weight = [], 0.0, 0.0
        for batch in rows.batches(CHUNK):
            s = self.net.predict(params, batch.X, state)
            scores.append(s)
            total, weight = total + float(self.loss(s, batch.y, batch.weights)) * batch.weight, weight + batch.weight
        everything = np.concatenate(scores)
        return {"loss": total / weight} | {m.name: m(rows.y, everything, self.loss) for m in self.metrics}

    def _chunks(self, X: Any) -> Iterator[Any]:
        self._fitted()
        X = as_inputs(X, self.dtype)
        self._check_features(X)
        for first in range(0, max(len(X), 1), CHUNK):
            yield self.net.predict(self.params, X[first : first + CHUNK], self.state)

    def _check_features(self, X: Any) -> None:
        if self.features and X.shape[1:] != self.features:
            raise ShapeError(
                f"the model was made for samples of shape {self.features}, got X of shape {X.shape}: other columns?"
            )

    def _fitted(self) -> None:
        if not self.params:
            raise ShapeError("the model has no parameters yet: call fit(X, y), or initialize(features)")

    def _outputs(self) -> int | None:
        return self.net.output(self.features)[-1] if self.features else None

    def _last_activation(self) -> str | None:
        layer: Any = self.net
        while layer.children:
            layer = layer.children[-1][1]
        return getattr(getattr(layer, "activation", None), "name", None)

    # files

    def save(self, path: str | os.PathLike[str]) -> None:
        """The whole model in one file: description, parameters, statistics, history."""
        from pellucid.train.storage import save_model

        save_model(self, path)
