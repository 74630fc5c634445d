"""Model: a network, a loss, an optimizer and metrics, joined; with fit, evaluate, predict, save and load."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.amounts import FROM_0, WHOLE, check_whole, one_of, or_none
from pellucid.data import chunks
from pellucid.data.dataset import Dataset
from pellucid.data.door import dataset
from pellucid.data.inputs import all_finite
from pellucid.data.preparation import check_features, training_data
from pellucid.data.rows import Rows, rows_of, warn_if_one_class
from pellucid.data.sparse import is_sparse
from pellucid.data.streams import Stream
from pellucid.engine.compile import ENGINES
from pellucid.engine.native.runtime.announcement import silent
from pellucid.errors import ShapeError
from pellucid.graph.primitives.products import PRECISIONS
from pellucid.nn import Layer, Penalty, check_pairing, summary
from pellucid.nn import loss as find_loss
from pellucid.nn.dimensions import Summary
from pellucid.nn.initialisers.data_dependent import piecewise_layers, quantile_edges
from pellucid.nn.layers.layer import Variables, sample_shape
from pellucid.nn.penalties import PerRow
from pellucid.optim import Schedule
from pellucid.optim import optimizer as find_optimizer
from pellucid.train import model_views
from pellucid.train.callbacks.callback import Callback
from pellucid.train.callbacks.loggers import with_progress
from pellucid.train.engine_choice import DEVICES, ENGINE
from pellucid.train.files.runs import load_run
from pellucid.train.history import History
from pellucid.train.loop.loop import train
from pellucid.train.loop.run import Plan, Run, checked_settings, resolved
from pellucid.train.loop.step import Snapshot, Trainer, mean_names
from pellucid.train.loop.steps import NumpySteps, choose
from pellucid.train.metrics import Metric, classes, is_classifier, metric
from pellucid.train.prediction import CompiledNetwork, evaluation
from pellucid.train.processes import Alone, processes_of

COMPILED = ("native", "jax")
"""Engines that predict by compiled code, too."""

SEEN = 5_000
"""Rows, at most, that edges are learned from."""


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

    Parameters
    ----------
    net : Layer
        the network: a layer of `nn`, most often `nn.mlp(...)` or `nn.Sequential(...)`
    loss : str | Loss | function
        a name, a loss of `nn`, or a function (scores, y) that gives a number for each sample (see
        `nn.Loss.from_function`)
    optimizer : str | Rule | Optimizer
        a name, a rule of `optim`, or a chain
    metrics : list
        names, functions (y, prediction), `train.Metric`s or scorers of scikit-learn that go with the loss
    penalty : Penalty | None
        added to the mean loss: `nn.L2(1e-4)`
    dtype : dtype
        precision of the parameters: float32 or float64
    settings : dict[str, Schedule] | None
        schedules in the place of numbers of layers or of the loss: {"hidden1.dropout.rate": schedule,
        "loss.smoothing": schedule}
    engine : str
        "native" (compiled), "numpy", or "auto": native where the sizes say that it pays; "jax" for GPUs, TPUs and
        several processes (the extra `jax`)
    threads : int | None
        threads of the native engine at most; None is `PELLUCID_THREADS`, else the processors that the process may
        use
    precision : str
        of the matrix products of training steps: "full", or "bfloat16": float32 numbers are rounded to bfloat16 before
        they are multiplied, which some processors, GPUs and TPUs do faster. Sums, parameters and the optimizer stay
        float32, and so does prediction

    Examples
    --------
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
        precision: str = "full",
    ) -> None:
        one_of(*ENGINES, words=f"one of {', '.join(map(repr, ENGINES))}").check("engine", engine)
        or_none(WHOLE, "a number from 1, or None for all processors").check("threads", threads)
        one_of(*PRECISIONS).check("precision", precision)
        self.asked_engine, self.threads, self.precision = engine, threads, precision
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
        if precision != "full" and self.dtype != np.float32:
            raise ValueError(
                f"precision={precision!r} rounds float32 numbers, got dtype={self.dtype.name!r}: "
                "set dtype='float32', or precision='full'"
            )
        self.settings = checked_settings(settings or {}, net, self.loss)
        self.params: dict[str, Any] = {}
        self.state: dict[str, Any] = {}
        self.features: tuple[int, ...] = ()
        self.history = self.new_history()
        self.progress: Progress | None = None
        self._compiled = CompiledNetwork() if self.engine in COMPILED else None

    def __repr__(self) -> str:
        return model_views.line(self)

    def _repr_html_(self) -> str:
        return model_views.html(self)

    @property
    def engine(self) -> str:
        """The engine that trains and predicts: the one asked for, or that of the block of code around (`on_engine`)."""
        return ENGINE.get() or self.asked_engine

    @engine.setter
    def engine(self, engine: str) -> None:
        self.asked_engine = engine

    @property
    def compiled(self) -> bool:
        """Does it predict by compiled code? With engine="auto" it does once it was trained so."""
        return self._compiled is not None

    @compiled.setter
    def compiled(self, on: bool) -> None:
        if on != self.compiled:
            self._compiled = CompiledNetwork() if on else None

    def give_back(self) -> None:
        """Give the memory of compiled predictions back: the next prediction asks for it again."""
        if self._compiled is not None:
            self._compiled = CompiledNetwork()

    @property
    def outputs(self) -> int | None:
        """The number of outputs; None where it depends on samples of which the model has seen none."""
        return self.net.output(self.features)[-1] if self.features else None

    # training

    def initialize(self, features: Any, *, seed: int = 0) -> Model:
        """Fresh parameters for samples of this shape.

        Parameters
        ----------
        features : int | tuple | array
            the number of features, the shape of a sample, or data to take it from (and the edges of
            `nn.PiecewiseLinear`)
        seed : int
            of the random numbers

        Returns
        -------
        Model
            the model itself
        """
        shape = sample_shape(features)
        self.params, self.state = self.net.initialize(shape, seed=seed, dtype=self.dtype)
        self.features = shape
        if not isinstance(features, tuple | int | np.integer):
            self.learn_edges(features)
        return self

    def learn_edges(self, X: Any, weights: Any = None) -> None:
        """Put the edges of `nn.PiecewiseLinear` where the quantiles of these rows are; other layers have none.

        Parameters
        ----------
        X : array of shape (n, features)
            rows to be trained on
        weights : array of shape (n,)
            how much each row counts
        """
        if not piecewise_layers(self.net):
            return
        some = np.concatenate(list(chunks.input_chunks(chunks.spaced(X, SEEN), self.dtype)))
        counts = None if weights is None else chunks.spaced(np.asarray(weights), SEEN)
        self.state = quantile_edges(self.net, Variables(self.params, self.state), some, counts).state

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
        devices: str | None = None,
    ) -> History:
        """Train, and return what happened.

        A model that has parameters goes on from them. The run ends after `epochs`, `steps` or `max_time`, whichever
        is first (10 epochs if none is given), by a callback, or by Ctrl-C; `history.stopped` says why.

        Parameters
        ----------
        X : array of shape (n, features)
            array, data frame, or a sparse matrix where `net.takes_sparse`; a `pellucid.data.Dataset` of numbers; or an
            iterable of batches (X, y) or (X, y, weights)
        y : array of shape (n,) or (n, outputs)
            the target; None where X is a `Dataset` or an iterable of batches
        epochs : int | None
            passes over the rows, at most
        steps : int | None
            updates, at most
        batch_size : int
            rows of a step
        validation : tuple, float or row numbers
            (X, y[, weights]), a share of the rows (stratified for classes), or numbers of rows; those rows are
            never trained on. With a `Dataset` another one, (X, y), or a share; up to 131,072 of its rows are kept
        sample_weight : array of shape (n,)
            how much each row counts; 2 is the same as the row twice
        class_weight : dict | str
            {class: weight}, or "balanced"
        callbacks : Sequence[Any]
            objects of `train`, or functions of the run, called after each epoch
        seed : int
            of first parameters, order of rows, dropout and validation split
        shuffle : bool
            another order of the rows in every epoch
        max_time : float | None
            seconds after which training ends
        verbose : bool | str
            False prints nothing; "bar", "lines" and "silent" choose how progress is shown
        on_divergence : str
            what meets a loss, gradient or validation loss that is not finite: "raise" (`train.Diverged`), "stop",
            or "ignore". With the first two the model ends with the last parameters that give finite predictions for
            all rows; the message says which they are
        resume : str | PathLike | None
            a checkpoint of the same call, to go on from bit for bit
        continued : bool
            go on exactly where the last such fit ended, rule state, step and epoch numbers included: 4 epochs and 6
            more are 10
        devices : str | None
            "all" splits each batch over all devices that JAX sees (engine="jax"). After `pellucid.distributed.join`
            those are the devices of all processes, and X and y are the share of this one (or X is a `Dataset` of
            `pellucid.distributed.share`); validation rows (X, y) are the same in all, a share or row numbers are of
            all rows. None is one device

        Returns
        -------
        History
            one row for each epoch, and how it ended
        """
        one_of("raise", "stop", "ignore").check("on_divergence", on_divergence)
        limits = {"epochs": epochs, "steps": steps}
        check_whole(batch_size=batch_size, **{name: number for name, number in limits.items() if number is not None})
        check_whole(0, seed=seed)
        or_none(FROM_0, "a number of seconds from 0, or None for no limit").check("max_time", max_time)
        if epochs is None and steps is None and max_time is None:
            epochs = 10
        whole = devices is None and DEVICES.get() is not None  # every process has all rows
        devices = devices or DEVICES.get()
        processes = self._processes(devices, alike=whole)
        verbose = "silent" if verbose and not processes.first else verbose
        listed = with_progress(callbacks, verbose)
        quiet = not verbose or verbose == "silent"
        start = self.params, self.state, self.features
        try:
            several, by_class = steps is None and epochs is not None and epochs > 1, is_classifier(self.loss)
            own = processes.own(X, validation, class_weight)
            data, held = self.prepare(X, y, own[0], sample_weight, own[1], seed=seed, several=several)
            if type(data) is Rows and self.tells and not continued and by_class:
                warn_if_one_class(data.y)
            data, held = processes.share(data, held, y, validation, class_weight, stratify=by_class, seed=seed)
            self.params, self.state = processes.from_the_first((self.params, self.state))
            plan = Plan(data, held, epochs, steps, batch_size, seed, shuffle, max_time, on_divergence)
            plan.alone, plan.writes, plan.agreed = processes.alone, processes.first, processes.from_the_first
            run = self.new_run(plan, listed, self.progress if continued else None)
            for each in listed:
                each.reset()
            if resume is not None:
                load_run(run, resume)
            with silent(quiet):
                run.steps = choose(run, self.engine, self.threads, self.pays, devices)
        except BaseException:
            self.params, self.state, self.features = start  # a call that fails its checks leaves nothing behind
            raise
        self.compiled = self.compiled or run.steps.engine in COMPILED  # what is trained compiled predicts so, too
        self.history = run.history
        try:
            with silent(quiet):
                train(run)
        finally:
            self.compiled = self.compiled or run.steps.engine in COMPILED  # it may have begun with NumPy
            last = run.now if continued else None  # a copy, before the engine's memory is given back
            self.params, self.state = run.outcome()
            self.progress = None
            if last is not None:
                raw = last.params if run.final is None and self.optimizer.averages else self.params
                rule = last.rule if run.final is None else self.optimizer.moved(raw, last.rule)
                self.progress = Progress(rule, run.step, run.epoch, raw, self.params)
        return run.history

    def _processes(self, devices: str | None, *, alike: bool) -> Alone:
        """The processes of a fit on these devices."""
        or_none(one_of("all"), "'all', or None for one device").check("devices", devices)
        if devices is not None and self.engine != "jax":
            raise ValueError(f"devices={devices!r} is for engine='jax', got engine={self.engine!r}")
        return processes_of(devices, alike=alike)

    def new_run(self, plan: Plan, callbacks: Sequence[Callback] = (), progress: Progress | None = None) -> Run:
        """Everything for a run, before it begins. One that goes on has its epochs and steps in addition.

        Parameters
        ----------
        plan : Plan
            data and limits of the run
        callbacks : Sequence[Callback]
            told of its events
        progress : Progress | None
            where a continued fit ended

        Returns
        -------
        Run
            not begun yet
        """
        params, rule, epoch, step = self.params, None, 0, 0
        if progress is not None:
            rule, epoch, step = progress.rule, progress.epoch, progress.step
            if progress.shown is self.params:
                params = progress.raw
            else:
                rule = self.optimizer.moved(params, rule)
        epochs = None if plan.epochs is None else plan.epochs + epoch
        steps = None if plan.steps is None else plan.steps + step
        per_epoch = plan.data.count(plan.batch_size)
        limits = [n for n in (steps, epochs * per_epoch if epochs and per_epoch else None) if n is not None]
        total = min(limits) if limits else None
        plan = replace(
            plan,
            epochs=epochs,
            steps=steps,
            settings={name: resolved(name, each, total, per_epoch) for name, each in self.settings.items()},
            evaluate=self._evaluate_rows,
            metrics=tuple(f"{m.name} ({m.mode})" for m in self.metrics),
            dtype=self.dtype.name,
        )
        tuned = resolved("the optimizer", self.optimizer, total, per_epoch)
        trainer = Trainer(self.net, self.loss, tuned, self.penalty, key=plan.seed, precision=self.precision)
        start = NumpySteps(trainer, Snapshot(params, self.state, tuned.init(params) if rule is None else rule))
        history = self.new_history(plan.data, plan.batch_size, plan.validation is not None)
        return Run(plan, trainer, start, callbacks, history, epoch, step, total=total)

    def new_history(
        self, data: Rows | Stream | None = None, batch_size: int | None = None, validated: bool = False
    ) -> History:
        """A history of this model before the first epoch.

        Parameters
        ----------
        data : Rows | Stream | None
            the training data
        batch_size : int | None
            rows of a step
        validated : bool
            are there validation rows?

        Returns
        -------
        History
            without epochs
        """
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

    def prepare(
        self,
        X: Any,
        y: Any = None,
        validation: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        *,
        seed: int = 0,
        several: bool = False,
    ) -> tuple[Rows | Stream, Rows | None]:
        """The data of a `fit` as training sees them, and the validation rows or None.

        A model without parameters is initialised for them.

        Parameters
        ----------
        X, y, validation, sample_weight, class_weight : as in `fit`
            the data
        seed : int
            of first parameters and of the validation split
        several : bool
            batches from outside are read for more than one epoch

        Returns
        -------
        tuple
            rows or a stream of batches, and the validation rows or None
        """

        def outputs_for(inputs: Any) -> int | None:
            if not self.params:
                self.initialize(inputs, seed=seed)
            check_features(inputs, self.features)
            return self.outputs

        data, held = training_data(
            X,
            y,
            validation,
            sample_weight,
            class_weight,
            loss=self.loss,
            dtype=self.dtype,
            outputs_for=outputs_for,
            stratify=is_classifier(self.loss),
            seed=seed,
            several=several,
            sparse=self.net.takes_sparse,
        )
        if isinstance(data, Rows) and data.unit != 1.0 and isinstance(self.penalty, PerRow):
            raise ValueError(
                f"the penalty is divided by sums of sample weights, and those are about {data.unit:.3g}: scale "
                "them, w / w.mean(), or take a penalty without PerRow"
            )
        mismatch = check_pairing(_last_activation(self.net), self.loss)
        if mismatch:
            warnings.warn(mismatch, stacklevel=3)
        return data, held

    # prediction

    def scores(self, X: Any) -> Any:
        """The output of the network, in chunks of bounded memory.

        Parameters
        ----------
        X : array of shape (n, features)
            array, data frame or sparse matrix

        Returns
        -------
        array of shape (n, outputs)
            scores, ahead of the loss's link
        """
        return self._predicted(X, "scores")

    def predict(self, X: Any) -> Any:
        """What the loss's link makes of the scores: means, probabilities, quantiles.

        Parameters
        ----------
        X : array of shape (n, features)
            array, data frame or sparse matrix

        Returns
        -------
        array of shape (n, outputs)
            predictions; one column of probabilities for two classes
        """
        return self._predicted(X, "prediction")

    def predict_batches(self, data: Any) -> Iterator[Any]:
        """`predict` for a data set larger than memory, part by part; the next rows are read meanwhile.

        Parameters
        ----------
        data : Dataset, or what `pellucid.data.dataset` makes one of
            rows of numbers; a target in it is left alone

        Returns
        -------
        iterator of arrays
            in the order of the rows
        """
        self._fitted()
        rows = data if isinstance(data, Dataset) else dataset(data)
        return (self.predict(part.floats(self.dtype)) for part in rows.features_alone().parts())

    def predict_classes(self, X: Any) -> Any:
        """The most likely class of each row.

        Parameters
        ----------
        X : array of shape (n, features)
            array, data frame or sparse matrix

        Returns
        -------
        array of shape (n,)
            classes 0, 1, ...
        """
        return classes(self.loss, self.scores(X))

    def evaluate(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, float]:
        """The mean loss (without penalty) and the metrics on given data.

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        y : array of shape (n,) or (n, outputs)
            their target
        sample_weight : array of shape (n,)
            how much each row counts

        Returns
        -------
        dict
            "loss", and each metric by its name
        """
        self._fitted()
        sparse = self.net.takes_sparse
        rows = rows_of(X, y, sample_weight, self.loss, self.outputs, self.dtype, sparse=sparse)
        check_features(rows.X, self.features)
        return self._evaluate_rows(self.params, self.state, rows)

    def score(self, X: Any, y: Any) -> float:
        """The first metric; without one, minus the loss (larger is better).

        Parameters
        ----------
        X : array of shape (n, features)
            rows
        y : array of shape (n,) or (n, outputs)
            their target

        Returns
        -------
        float
            larger is better
        """
        values = self.evaluate(X, y)
        return values[self.metrics[0].name] if self.metrics else -values["loss"]

    def program(self, X: Any, y: Any, *, batch_size: int = 32, sample_weight: Any = None) -> Any:
        """The native engine's program of a training step on such data: print it, or call its `explain(n=rows)`.

        The model is left as it is.

        Parameters
        ----------
        X : array of shape (n, features)
            rows such as those to be trained on
        y : array of shape (n,) or (n, outputs)
            their target
        batch_size : int
            rows of a step
        sample_weight : array of shape (n,)
            how much each row counts

        Returns
        -------
        Program
            instructions, kernels and memory of the step
        """
        from pellucid.train.loop.native_steps import step_program

        trial = copy.copy(self)
        data, _ = trial.prepare(X, y, sample_weight=sample_weight)
        return step_program(trial.new_run(Plan(data, epochs=1, batch_size=batch_size)), self.threads)

    def summary(self) -> Summary:
        """The dimension table of the network."""
        self._fitted()
        return summary(self.net, self.features)

    def _evaluate_rows(self, params: Any, state: Any, rows: Rows) -> dict[str, float]:
        return evaluation(lambda X: self._outcome(params, state, X, "scores"), self.loss, self.metrics, rows)

    def _predicted(self, X: Any, what: str) -> Any:
        ready = type(X) is np.ndarray and X.dtype == self.dtype and X.shape[1:] == self.features and bool(self.params)
        if ready and 0 < len(X) <= chunks.CHUNK and all_finite(X):  # else looked at more closely below
            return self._outcome(self.params, self.state, X, what)
        if ready and len(X) > chunks.CHUNK and self._compiled is not None:
            predicted = self._compiled.of_many_rows(self, X, what)
            if predicted is not None:
                return predicted
        self._fitted()
        outcomes = []
        for part in chunks.input_chunks(X, self.dtype, sparse=self.net.takes_sparse):
            check_features(part, self.features)
            outcomes.append(self._outcome(self.params, self.state, part, what))
        return np.concatenate(outcomes)

    def _outcome(self, params: Any, state: Any, X: Any, what: str) -> Any:
        """Scores or predictions of at most CHUNK rows."""
        if self._compiled is not None and X.shape[0] and not is_sparse(X):
            session = self._compiled.session(self, params, state, what)
            if session is not None:
                return session(X)
        if what == "prediction":
            return self.loss.link(self._outcome(params, state, X, "scores"))
        return self.net.predict(params, X, state)

    def _fitted(self) -> None:
        if not self.params:
            raise ShapeError("the model has no parameters yet: call fit(X, y), or initialize(features)")

    # files

    def save(self, path: str | os.PathLike[str]) -> None:
        """The whole model in one file: description, parameters, statistics, history.

        Parameters
        ----------
        path : str | PathLike
            of the file; `pellucid.load(path)` brings the model back
        """
        from pellucid.train.files.models import save_model

        save_model(self, path)


def _last_activation(net: Any) -> str | None:
    while net.children:
        net = net.children[-1][1]
    return getattr(getattr(net, "activation", None), "name", None)
