"""All measurements, each taken once, when it is first asked for. Checks read them and decide."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.data.rows import Rows, prepared_rows
from pellucid.data.splits import evenly
from pellucid.inspect.diagnosis.chance import chance_losses, floor_losses
from pellucid.inspect.diagnosis.reference import Reference, best_reference
from pellucid.inspect.diagnosis.remedies import innermost, is_weighted, nominal_rate
from pellucid.inspect.diagnosis.trials import Gain, Laboratory, gain
from pellucid.inspect.look import Look
from pellucid.inspect.moment import look_at
from pellucid.inspect.subject import Subject
from pellucid.nn import Layer, LinkKind, Sequential
from pellucid.nn.losses.loss import Loss
from pellucid.nn.losses.sums import Around
from pellucid.train import EndingKind, History, Metric, Model
from pellucid.train.metrics import classes as predicted_classes
from pellucid.train.metrics import is_classifier

ROWS = 1000
"""Rows that are looked at, evenly taken from all of them."""

LOOKED, FEWEST = 4e7, 256
"""Rows times parameters of a look at all layers, and the fewest rows of one."""

FEW = 40
"""Rows from which on some are set aside to judge trials by."""


@dataclass(frozen=True, eq=False)
class Curve:
    """What a history tells, as arrays; empty where there is none."""

    history: History | None

    def values(self, name: str) -> Any:
        rows = [] if self.history is None else self.history.epochs
        return np.array([row[name] for row in rows if isinstance(row.get(name), int | float)], np.float64)

    @cached_property
    def loss(self) -> Any:
        return self.values("loss")

    @cached_property
    def validation(self) -> Any:
        return self.values("val_loss")

    @cached_property
    def rates(self) -> Any:
        return self.values("lr")

    @property
    def steps(self) -> int:
        steps = self.values("step")
        return int(steps[-1]) if len(steps) else 0

    @property
    def epochs(self) -> int:
        return 0 if self.history is None else len(self.history)

    @property
    def diverged(self) -> bool:
        ending = None if self.history is None else self.history.ending
        if ending is not None and ending.kind is EndingKind.DIVERGED:
            return True
        return bool(len(self.loss) and not np.isfinite(self.loss[-1]))

    @property
    def whole_batches(self) -> bool:
        """Was it trained by a method of all rows (L-BFGS), which has no rate?"""
        return self.history is not None and self.history.converged is not None


class Evidence:
    """A model on its rows, measured.

    `it` is the subject with finite inputs; `misfit` says why the target does not fit the loss, "" where it does.
    """

    def __init__(self, it: Subject, history: History | None, held: tuple[Any, Any] | None = None) -> None:
        self.it, self.model = it, it.model
        self.curve = Curve(history if history is not None else it.model.history)
        self.misfit = ""
        self.rows: Rows | None = None
        self.held: Rows | None = None
        try:
            self.rows = prepared_rows(it.X, it.y, None, it.loss, it.model.outputs, it.model.dtype)
        except (ValueError, TypeError) as error:
            self.misfit = str(error)
        if held is not None and self.rows is not None:
            try:
                every = prepared_rows(held[0], held[1], None, it.loss, it.model.outputs, it.model.dtype)
                self.held = every.some(ROWS)
            except (ValueError, TypeError):  # rows to check by that do not fit: judged without them
                self.held = None

    # what is at hand

    @property
    def trained(self) -> bool:
        """Has it parameters, and a history or steps behind them?"""
        return bool(self.model.params)

    @cached_property
    def flat(self) -> Any:
        """The inputs as a table.   (n, columns)"""
        X = np.asarray(self.it.X, np.float64)
        return X.reshape(len(X), -1)

    def without(self, places: Sequence[int]) -> str:
        """Code that leaves columns out: by their names, where the user has given some."""
        if self.columns != tuple(f"x{i}" for i in range(len(self.columns))):
            return f"X = X.drop(columns={[self.columns[place] for place in places]})"
        return f"X = np.delete(X, {list(places)}, axis=1)"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        names = self.it.columns
        return names if len(names) == self.flat.shape[1] else tuple(f"x{i}" for i in range(self.flat.shape[1]))

    @cached_property
    def sample(self) -> Rows:
        """Rows that are looked at."""
        assert self.rows is not None
        return self.rows.some(ROWS)

    @cached_property
    def layers(self) -> list[tuple[str, Layer]]:
        """The innermost layers in order."""
        return innermost(self.model.net)

    @property
    def batch(self) -> int:
        """Rows of a step."""
        history = self.curve.history
        size = None if history is None else history.batch_size
        return int(size) if size else 32

    @property
    def fit_rows(self) -> int:
        """Rows of the fit."""
        history = self.curve.history
        return len(self.flat) if history is None or history.rows is None else int(history.rows)

    @cached_property
    def rate(self) -> float:
        """The learning rate of the run; the largest of a schedule."""
        return nominal_rate(self.model.optimizer, [float(r) for r in self.curve.rates if np.isfinite(r)])

    # the task

    @cached_property
    def loss(self) -> Loss:
        """The loss, without what is only around it."""
        inner = self.model.loss
        while isinstance(inner, Around):
            inner = inner.of
        return inner

    @property
    def classifies(self) -> bool:
        return is_classifier(self.model.loss)

    @cached_property
    def labels(self) -> Any:
        """The class of every sampled row, for one class a row; else None.   (n,)"""
        return labels_of(self.model.loss, self.sample.y) if self.classifies else None

    @cached_property
    def target(self) -> Any:
        """What is to be said of the sampled rows, as numbers: indicators of classes, or the target.   (n, k)"""
        return self.coded(self.sample.y)

    def coded(self, y: Any) -> Any:
        labels = labels_of(self.model.loss, y) if self.classifies else None
        if labels is not None and y.ndim == 1:
            count = max(self.scores_wanted, int(labels.max()) + 1, 2)
            return np.eye(count)[labels]
        if self.classifies and self.model.loss.link.kind is LinkKind.SIGN:
            return (np.asarray(y, np.float64) + 1.0) / 2.0
        return np.asarray(y, np.float64)

    def said(self, model: Model, X: Any) -> Any:
        """What a model says, in the same coding.   (n, k)"""
        with np.errstate(all="ignore"):
            scores = model.net.predict(model.params, X, model.state)
            if self.classifies and not model.loss.link.kind.gives_probabilities:
                hard = predicted_classes(model.loss, scores)
                return (np.asarray(hard, np.float64).reshape(len(scores), -1) + 1.0) / 2.0
            out = np.asarray(model.loss.link(scores), np.float64)
        if out.shape[1] != self.target.shape[1] and not self.classifies:  # of quantiles the middle one of each target
            out = out.reshape(len(out), self.target.shape[1], -1)[:, :, model.loss.point]
        return out

    # how well it does

    @cached_property
    def chance(self) -> Any:
        """The losses of the best constant.   (n,)"""
        return chance_losses(self.model.loss.single, self.sample.y, self.scores_wanted)

    @property
    def scores_wanted(self) -> int:
        """Scores for each row, of one member."""
        return int(self.model.outputs or 1) // self.model.loss.members

    @cached_property
    def unit(self) -> float:
        """What there is to be learned: the mean loss of the best constant, over that of knowing everything."""
        unit = float(
            np.mean(self.chance) - np.mean(floor_losses(self.model.loss.single, self.sample.y, self.scores_wanted))
        )
        return unit if np.isfinite(unit) and unit > 1e-30 else 1.0

    def row_losses(self, model: Model, rows: Rows) -> Any:
        """The loss of each row as the network predicts.   (n,)"""
        with np.errstate(all="ignore"):
            scores = model.net.predict(model.params, rows.X, model.state)
            return np.asarray(model.loss.per_sample(scores, rows.y), np.float64)

    @cached_property
    def losses(self) -> Any:
        """Of the sampled rows, now.   (n,)"""
        return self.row_losses(self.model, self.sample)

    @cached_property
    def held_losses(self) -> Any:
        """Of the validation rows, now; None without any."""
        return None if self.held is None else self.row_losses(self.model, self.held)

    @cached_property
    def finite(self) -> bool:
        """Are all predictions finite?"""
        return bool(np.isfinite(self.losses).all())

    @cached_property
    def learned(self) -> Gain:
        """How far below chance it is: 1 is all that there is to learn."""
        return gain(self.chance, self.losses, self.unit)

    @cached_property
    def target_spread(self) -> float:
        """The mean squared error of the best constant."""
        spread = float(np.mean(np.square(self.target - self.target.mean(axis=0))))
        return spread if spread > 1e-300 else 1.0

    @cached_property
    def errors(self) -> Any:
        """Squared errors of the sampled rows in units of chance.   (n,)"""
        return np.mean(np.square(self.said(self.model, self.sample.X) - self.target), axis=1) / self.target_spread

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Learners in closed form, best first."""
        X = np.asarray(self.sample.X, np.float64).reshape(len(self.sample.X), -1)
        return best_reference(X, self.target)

    @cached_property
    def reference_errors(self) -> Any:
        """Squared errors of the best of them, on rows that it has not seen, in units of chance.   (n,)"""
        return self.references[0].errors(self.target) / self.target_spread

    @cached_property
    def behind(self) -> Gain:
        """How far the model, on rows that it was trained on, is behind the reference on rows new to it."""
        return gain(self.errors, self.reference_errors, 1.0)

    @cached_property
    def held_behind(self) -> Gain | None:
        """The same on the validation rows, new to both."""
        if self.held is None:
            return None
        target = self.coded(self.held.y)
        X = np.asarray(self.held.X, np.float64).reshape(len(self.held.X), -1)
        if target.shape[1] != self.target.shape[1]:
            return None
        own = np.mean(np.square(self.said(self.model, self.held.X) - target), axis=1)
        other = np.mean(np.square(self.references[0].fit(X) - target), axis=1)
        return gain(own, other, self.target_spread)

    @cached_property
    def well(self) -> bool:
        """Has it learned what a reference can learn, on these rows and on others? Then costly trials are not needed."""
        if not self.finite or self.curve.diverged or self.behind.size > 0.02 or not self.learned.beyond(0.3):
            return False
        return self.held_behind is None or self.held_behind.size < 0.03

    # looks

    @cached_property
    def look(self) -> Look | None:
        """The layers now; None where they cannot be looked at."""
        return self._look(self.model)

    @cached_property
    def fresh(self) -> Model:
        """The same model with first parameters."""
        start = copy.copy(self.model)
        start.progress = None
        return start.initialize(self.it.X)

    @cached_property
    def start(self) -> Look | None:
        """The layers of a model that begins."""
        return self._look(self.fresh)

    def _look(self, model: Model) -> Look | None:
        numbers = sum(int(np.size(array)) for array in model.params.values())
        index = evenly(len(self.it.X), int(np.clip(LOOKED / max(numbers, 1), FEWEST, ROWS)))
        it = Subject(model, self.it.X[index], np.asarray(self.it.y)[index], self.columns)
        try:
            with np.errstate(all="ignore"):
                return look_at(it, len(index))
        except (ValueError, TypeError, ArithmeticError, KeyError, np.linalg.LinAlgError):
            return None

    @cached_property
    def seen(self) -> Any:
        """What the first layer with weights sees: the inputs, behind what stands ahead of it.   (n, columns)

        None where columns lose their meaning on the way (embeddings), or there is no such layer.
        """
        X = self.sample.X
        if not isinstance(self.model.net, Sequential):
            first = self.layers[0][1] if self.layers else None
            return X.reshape(len(X), -1) if first is not None and is_weighted(first) else None
        ahead: list[tuple[str, Layer]] = []
        for name, layer in self.model.net.parts:
            inner = innermost(layer)
            if is_weighted(inner[0][1]):
                break
            if any(is_weighted(one) for _, one in inner) or layer.output(X.shape[1:]) != X.shape[1:]:
                return X.reshape(len(X), -1) if not ahead and not inner[0][1].parameters(X.shape[1:]) else None
            ahead.append((name, layer))
        else:
            return None
        if not ahead:
            return X.reshape(len(X), -1)
        with np.errstate(all="ignore"):
            out, _ = Sequential(*ahead).apply(self.model.params, X, self.model.state, training=True, noise=False)
        return np.asarray(out).reshape(len(X), -1)

    @cached_property
    def metrics(self) -> list[Metric]:
        return list(self.model.metrics)

    # trials

    @cached_property
    def divided(self) -> tuple[Any, Any]:
        """The sampled rows that trials learn from, and the others; for very few rows, both are all of them."""
        order = np.random.default_rng(0).permutation(len(self.sample))
        cut = int(0.7 * len(order))
        return (order[:cut], order[cut:]) if len(order) >= FEW else (order, order)

    @cached_property
    def laboratory(self) -> Laboratory:
        """Where one thing is changed at a time."""
        inside, outside = self.divided
        return Laboratory(
            self.model,
            self.sample.take(inside),
            self.sample.take(outside) if self.held is None else self.held,
            self.row_losses,
            rate=self.rate,
            batch=self.batch,
            fit_rows=float(self.curve.steps) * self.batch,
        )


def labels_of(loss: Loss, y: Any) -> Any:
    """The class of every row of a prepared target; None where a row has several, or shares of classes."""
    y = np.asarray(y)
    if y.ndim == 1:
        return y.astype(np.int64)
    if y.shape[1] == 1 and np.isin(y, (0.0, 1.0, -1.0)).all():
        return (y[:, 0] > 0).astype(np.int64)
    unit = y.shape[1] > 1 and loss.link.kind is LinkKind.PROBABILITIES and np.isin(y, (0.0, 1.0)).all()
    return np.argmax(y, axis=1) if unit else None
