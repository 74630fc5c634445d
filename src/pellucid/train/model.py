"""Model: a network, a loss, an optimizer and metrics, joined; with fit, evaluate, predict, save and load."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from pellucid.amounts import check_number, check_whole
from pellucid.data.inputs import all_finite, as_inputs, refuse_containers
from pellucid.data.rows import Rows, only_class, rows_of, warn_of_one_class
from pellucid.data.splits import split_rows
from pellucid.data.streams import Stream, first_of, is_stream, parts_of
from pellucid.data.weights import class_weights
from pellucid.engine.native.announcement import silent
from pellucid.errors import ShapeError
from pellucid.nn import Layer, Penalty, check_pairing, summary
from pellucid.nn import loss as find_loss
from pellucid.nn.dimensions import Summary
from pellucid.nn.layers.layer import sample_shape
from pellucid.nn.penalties import PerRow
from pellucid.optim import Constant, Schedule
from pellucid.optim import optimizer as find_optimizer
from pellucid.train import model_views
from pellucid.train.callbacks.callback import Callback, callback
from pellucid.train.callbacks.checkpoint import load_run
from pellucid.train.callbacks.loggers import ProgressBar
from pellucid.train.files.records import ConfigError, describe
from pellucid.train.history import History
from pellucid.train.loop.engine import check_engine, choose, step_program
from pellucid.train.loop.loop import Plan, Run, train
from pellucid.train.loop.step import Snapshot, Trainer, mean_names
from pellucid.train.metrics import Metric, classes, is_classifier, metric
from pellucid.train.prediction import CHUNK, Compiled


@dataclass(frozen=True)
class Progress:
    """Where a continued fit ended: what the next one needs beside the model's parameters."""

    rule: dict[str, Any]
    step: int
    epoch: int
    raw: dict[str, Any]  # the parameters themselves, where the model shows averages of them
    shown: dict[str, Any]  # the parameters that the model had then; others have been put in by hand


class Model:
    """A network that can be trained.

    `loss` is a name, a loss of `nn`, or a function (scores, y) that gives a number for each sample (see
    `nn.Loss.from_function`); `optimizer` is a name, a rule, a chain; `metrics` are names, functions (y, prediction) or
    scorers that go with the loss; `penalty` is added to the mean loss. `settings` puts schedules in the place of
    numbers of layers or of the loss: {"hidden1.dropout.rate": schedule, "loss.smoothing": schedule}. `engine` is
    "native" (compiled), "numpy", or "auto": native where the sizes say that it pays; `threads` limits its threads
    (`PELLUCID_THREADS`, else the processors that the process may use).

    >>> import numpy as np
    >>> from pellucid import nn, optim
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)
    >>> model = Model(nn.mlp((16,), 1), "binary_cross_entropy", optim.Adam(0.02), metrics=["accuracy"])
    >>> history = model.fit(X, y, epochs=40, batch_size=32, verbose=False)
    >>> model.evaluate(X, y)["accuracy"] > 0.9
    True
    """

    pays: float = 1.0
    """Seconds of NumPy from which engine="auto" compiles the training step."""

    tells: bool = True
    """Warn of a target with one class only? Estimators have looked at it themselves."""

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
        engine: str = "auto",
        threads: int | None = None,
    ) -> None:
        check_engine(engine, threads)
        self.engine, self.threads = engine, threads
        self.net = net
        self.loss = find_loss(loss)
        self.optimizer = find_optimizer(optimizer)
        if isinstance(metrics, str):
            raise TypeError(f"metrics is a list: write [{metrics!r}]")
        self.metrics: list[Metric] = [metric(m) for m in metrics]
        names = [m.name for m in self.metrics]
        if len(set(names)) != len(names) or "loss" in names:
            raise ValueError(
                f"metrics need names of their own, and not 'loss': got {names}; wrap one in train.Metric(name, ...)"
            )
        for each in self.metrics:
            each.check(self.loss)
        self.penalty = penalty
        self.dtype = np.dtype(dtype).newbyteorder("=")
        self.settings = {k: v if isinstance(v, Schedule) else Constant(v) for k, v in (settings or {}).items()}
        self._check_settings()
        self.params: dict[str, Any] = {}
        self.state: dict[str, Any] = {}
        self.features: tuple[int, ...] = ()
        self.history = self._history()
        self.progress: Progress | None = None
        self._compiled = Compiled() if engine == "native" else None

    def __repr__(self) -> str:
        return model_views.line(self)

    def _repr_html_(self) -> str:
        return model_views.html(self)

    @property
    def compiled(self) -> bool:
        """Does it predict by compiled code? With engine="auto" it does once it was trained so."""
        return self._compiled is not None

    @compiled.setter
    def compiled(self, on: bool) -> None:
        self._compiled = Compiled() if on else None

    # training

    def initialize(self, features: Any, *, seed: int = 0) -> Model:
        """Fresh parameters for samples of this shape (a number, a shape, or data)."""
        shape = sample_shape(features)
        self.params, self.state = self.net.initialize(shape, seed=seed, dtype=self.dtype)
        self.features = shape
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
        continued: bool = False,
    ) -> History:
        """Train, and return what happened.

        X and y are arrays or data frames; or X is an iterable of batches (X, y) or (X, y, weights). `validation` is
        (X, y[, weights]), a fraction (stratified for classes), or row numbers; those rows are never trained on. A
        model that has parameters goes on from them. `resume` goes on from a checkpoint of the same call, bit for
        bit. The run ends after `epochs`, `steps` or `max_time` (seconds), whichever is first, by a callback, or by
        Ctrl-C; `history.stopped` says why. With `continued` a fit goes on exactly where the last such fit ended, rule
        state, step and epoch numbers included: 4 epochs and 6 more are 10. With `verbose=False` nothing is printed.

        A loss, gradient or validation loss that is not finite is met by `on_divergence`: "raise" (`train.Diverged`),
        "stop", or "ignore". In the first two cases the model ends with the last parameters that give finite predictions
        for all rows, those that are trained on and those that check; the message says which they are.
        """
        if on_divergence not in ("raise", "stop", "ignore"):
            raise ValueError(f"on_divergence is 'raise', 'stop' or 'ignore', got {on_divergence!r}")
        limits = {"epochs": epochs, "steps": steps}
        check_whole(batch_size=batch_size, **{name: number for name, number in limits.items() if number is not None})
        check_whole(0, seed=seed)
        if max_time is not None:
            check_number("a number of seconds from 0, or None for no limit", max_time=max_time)
        if epochs is None and steps is None and max_time is None:
            epochs = 10
        listed = self._callbacks(callbacks, verbose)
        quiet = not verbose or verbose == "silent"
        before = self.params, self.state, self.features
        try:
            several = steps is None and epochs is not None and epochs > 1
            data, held = self._data(X, y, validation, sample_weight, class_weight, seed, several)
            before_it = self.progress if continued else None
            if isinstance(data, Rows) and self.tells and not continued and is_classifier(self.loss):
                label = only_class(data.y)
                if label is not None:
                    warn_of_one_class(label)
            run = self._run(
                data, held, epochs, steps, batch_size, seed, shuffle, max_time, on_divergence, listed, before_it
            )
            for each in listed:
                each.reset()
            if resume is not None:
                load_run(run, resume)
            choose(run, self.engine, self.threads, run.total, quiet=quiet, pays=self.pays)
        except BaseException:
            self.params, self.state, self.features = before  # a call that fails its checks leaves nothing behind
            raise
        self._predict_as(run)
        self.history = run.history
        try:
            with silent(quiet):
                train(run)
        finally:
            self._predict_as(run)
            last = run.now if continued else None  # a copy, before the engine's memory is given back
            self.params, self.state = run.outcome()
            self.progress = None
            if last is not None:
                averaged = run.final is None and self.optimizer.averages
                self.progress = Progress(
                    last.rule, run.step, run.epoch, last.params if averaged else self.params, self.params
                )
        return run.history

    def _predict_as(self, run: Run) -> None:
        """What is trained compiled predicts so, too."""
        if run.trainer.engine == "native" and not self.compiled:
            self.compiled = True

    def _run(
        self,
        data: Rows | Stream,
        held: Rows | None,
        epochs: int | None,
        steps: int | None,
        batch_size: int,
        seed: int,
        shuffle: bool,
        max_time: float | None,
        on_divergence: str,
        callbacks: list[Callback],
        before: Progress | None = None,
    ) -> Run:
        """Everything for a run, before it begins."""
        per_epoch = data.count(batch_size)
        if before is not None:
            epochs, steps = (
                None if n is None else n + done for n, done in ((epochs, before.epoch), (steps, before.step))
            )
        limits = [n for n in (steps, epochs * per_epoch if epochs and per_epoch else None) if n is not None]
        total = min(limits) if limits else None
        tuned = _resolved("the optimizer", self.optimizer, total, per_epoch)
        settings = {k: _resolved(k, s, total, per_epoch) for k, s in self.settings.items()}
        trainer = Trainer(self.net, self.loss, tuned, self.penalty, key=seed)

        def task() -> dict[str, Any]:
            return {
                "seed": seed,
                "batch_size": batch_size,
                "shuffle": shuffle,
                "dtype": self.dtype.name,
                "net": _described(self.net),
                "loss": _described(self.loss),
                "penalty": _described(self.penalty),
                "settings": {k: _described(v) for k, v in settings.items()},
                "optimizer": _described(tuned),
                "data": data.checksum(),
                "validation": "none" if held is None else held.checksum(),
                "metrics": [] if held is None else [f"{m.name} ({m.mode})" for m in self.metrics],
            }

        plan = Plan(
            data,
            held,
            epochs,
            steps,
            batch_size,
            seed,
            shuffle,
            max_time,
            on_divergence,
            settings,
            self._evaluate_rows,
            task,
        )
        history = self._history(data, batch_size, held is not None)
        if before is None:
            start = Snapshot(self.params, self.state, tuned.init(self.params))
            return Run(plan, trainer, start, callbacks, history, total=total)
        start = Snapshot(before.raw if before.shown is self.params else self.params, self.state, before.rule)
        run = Run(plan, trainer, start, callbacks, history, total=total)
        run.epoch, run.step = before.epoch, before.step
        return run

    def _history(
        self, data: Rows | Stream | None = None, batch_size: int | None = None, validated: bool = False
    ) -> History:
        """A history of this model before the first epoch."""
        means = mean_names(self.penalty)
        modes = dict.fromkeys((*means, "val_loss"), "min") | {f"val_{m.name}": m.mode for m in self.metrics}
        judged = tuple(name for name in modes if name not in means) if validated else ()
        rows = len(data) if isinstance(data, Rows) else None  # batches from outside have sizes of their own
        return History(
            modes=modes,
            batch_size=None if rows is None else batch_size,
            rows=rows,
            columns=("epoch", "step", *means, "lr", *judged),
        )

    def _callbacks(self, callbacks: Sequence[Any], verbose: bool | str) -> list[Callback]:
        if isinstance(callbacks, Callback) or callable(callbacks):
            raise TypeError(f"callbacks is a list: write [{callbacks!r}]")
        listed = [callback(c) for c in callbacks]
        if verbose and not any(isinstance(c, ProgressBar) for c in listed):
            listed.append(ProgressBar("auto" if verbose is True else str(verbose)))
        return listed

    def _data(
        self, X: Any, y: Any, validation: Any, weights: Any, class_weight: Any, seed: int, several: bool = False
    ) -> tuple[Rows | Stream, Rows | None]:
        held: Any = None
        refuse_containers(X)
        if is_stream(X):
            if y is not None or weights is not None or class_weight is not None:
                raise TypeError("batches bring their own targets and weights: give them inside, (X, y, weights)")
            first, begun = first_of(X, several)
            if not self.params:
                self.initialize(as_inputs(parts_of(first)[0], self.dtype), seed=seed)
            example = rows_of(*parts_of(first), self.loss, self._outputs(), self.dtype, part=True)
            self._check_features(example.X)
            data: Rows | Stream = Stream(X, self.loss, self._outputs(), self.dtype, example, [begun])
            if validation is not None and not isinstance(validation, tuple):
                raise TypeError("with batches from outside, validation is a tuple (X, y) of arrays")
            held = validation
        else:
            if y is None:
                raise TypeError("fit needs y: model.fit(X, y), or batches (X, y)")
            X = as_inputs(X, self.dtype)
            if validation is not None and not isinstance(validation, tuple):
                stratify = is_classifier(self.loss) and np.ndim(y) == 1
                (X, y, weights), held = split_rows(validation, X, y, weights, stratify=stratify, seed=seed)
            else:
                held = validation
            if class_weight is not None:  # of the training rows alone
                weights = class_weights(class_weight, y, weights)
            if not self.params:
                self.initialize(X, seed=seed)
            data = rows_of(X, y, weights, self.loss, self._outputs(), self.dtype)
            self._check_features(data.X)
            if data.unit != 1.0 and isinstance(self.penalty, PerRow):
                raise ValueError(
                    f"the penalty is divided by sums of sample weights, and those are about {data.unit:.3g}: scale "
                    "them, w / w.mean(), or take a penalty without PerRow"
                )
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
        return self._predicted(X, "scores")

    def predict(self, X: Any) -> Any:
        """What the loss's link makes of the scores: means, probabilities, quantiles.   (n, ...) -> (n, k)"""
        return self._predicted(X, "prediction")

    def predict_classes(self, X: Any) -> Any:
        """The most likely class of each row.   (n, ...) -> (n,)"""
        return classes(self.loss, self.scores(X))

    def evaluate(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, float]:
        """The mean loss (without penalty) and the metrics on given data."""
        self._fitted()
        rows = rows_of(X, y, sample_weight, self.loss, self._outputs(), self.dtype)
        self._check_features(rows.X)
        return self._evaluate_rows(self.params, self.state, rows)

    def score(self, X: Any, y: Any) -> float:
        """The first metric; without one, minus the loss (larger is better)."""
        found = self.evaluate(X, y)
        return found[self.metrics[0].name] if self.metrics else -found["loss"]

    def program(self, X: Any, y: Any, *, batch_size: int = 32, sample_weight: Any = None) -> Any:
        """The native engine's program of a training step on such data: print it, or call its `explain(n=rows)`.

        The model is left as it is.
        """
        trial = copy.copy(self)
        data, _ = trial._data(X, y, None, sample_weight, None, 0)
        run = trial._run(data, None, 1, None, batch_size, 0, True, None, "raise", [])
        return step_program(run, self.threads)

    def summary(self) -> Summary:
        """The dimension table of the network."""
        self._fitted()
        return summary(self.net, self.features)

    def _evaluate_rows(self, params: Any, state: Any, rows: Rows) -> dict[str, float]:
        scores, total, weight = [], 0.0, 0.0
        for batch in rows.batches(CHUNK):
            s = self._outcome(params, state, batch.X, "scores")
            scores.append(s)
            total, weight = total + float(self.loss(s, batch.y, batch.weights)) * batch.weight, weight + batch.weight
        everything = np.concatenate(scores)
        finite = all_finite(everything)  # metrics of scikit-learn raise where a number is none
        return {"loss": total / weight} | {
            m.name: m(rows.y, everything, self.loss, rows.weights) if finite else math.nan for m in self.metrics
        }

    def _predicted(self, X: Any, what: str) -> Any:
        ready = type(X) is np.ndarray and X.dtype == self.dtype and X.shape[1:] == self.features and bool(self.params)
        if ready and 0 < len(X) <= CHUNK and all_finite(X):  # else looked at more closely below
            return self._outcome(self.params, self.state, X, what)
        return np.concatenate(list(self._chunks(X, what)))

    def _chunks(self, X: Any, what: str) -> Iterator[Any]:
        self._fitted()
        refuse_containers(X)
        X = X if hasattr(X, "shape") or isinstance(X, list) else np.asarray(X)
        for first in range(0, max(len(X), 1), CHUNK):  # converted part by part: a memory-mapped array stays on disk
            rows = slice(first, first + CHUNK)
            part = as_inputs(X.iloc[rows] if hasattr(X, "iloc") else X[rows], self.dtype, first)
            self._check_features(part)
            yield self._outcome(self.params, self.state, part, what)

    def _outcome(self, params: Any, state: Any, X: Any, what: str) -> Any:
        """Scores or predictions of at most CHUNK rows."""
        if self._compiled is not None and len(X):
            session = self._compiled.session(self, params, state, what)
            if session is not None:
                return session(X)
        if what == "prediction":
            return self.loss.link(self._outcome(params, state, X, "scores"))
        return self.net.predict(params, X, state)

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

    def _check_settings(self) -> None:
        """Does every scheduled number exist?"""
        known: set[str] = {f"loss.{f.name}" for f in fields(self.loss)} if is_dataclass(self.loss) else set()
        parts: list[tuple[str, Layer]] = [("", self.net)]
        while parts:
            path, layer = parts.pop()
            known |= (
                {f"{path}.{f.name}" for f in fields(layer) if f.name in ("rate", "sigma")}
                if is_dataclass(layer)
                else set()
            )
            parts += [(f"{path}.{name}" if path else name, child) for name, child in layer.children]
        for name in self.settings:
            if name not in known:
                raise ValueError(
                    f"settings: there is no number called {name!r}: there are {', '.join(sorted(known)) or 'none'}"
                )

    def _last_activation(self) -> str | None:
        layer: Any = self.net
        while layer.children:
            layer = layer.children[-1][1]
        return getattr(getattr(layer, "activation", None), "name", None)

    # files

    def save(self, path: str | os.PathLike[str]) -> None:
        """The whole model in one file: description, parameters, statistics, history."""
        from pellucid.train.files.models import save_model

        save_model(self, path)


def _resolved(what: str, scheduled: Any, total: int | None, per_epoch: int | None) -> Any:
    """Schedules over the whole run, fitted to its length; an error where they need a length that nobody knows."""
    made = scheduled.fit(total or 1, per_epoch or 1)
    if total is None and made != scheduled.fit(2, per_epoch or 1):
        raise ValueError(
            f"{what} has a schedule over the whole run, but the run has no known length: give epochs or steps"
        )
    if per_epoch is None and made != scheduled.fit(total or 1, 2):
        raise ValueError(
            f"{what} has a schedule in epochs, but the number of batches of an epoch is not known: use steps"
        )
    return made


def _described(record: Any) -> Any:
    """A record as JSON, or as text where it holds a function of the user's."""
    if record is None:
        return None
    try:
        return describe(record)
    except ConfigError:
        return repr(record)
