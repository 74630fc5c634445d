"""What a network on a table must beat: a constant answer, and a linear model of the same columns, on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from pellucid import nn
from pellucid.data.samples import Samples, joined
from pellucid.data.splits import evenly
from pellucid.data.types import Array
from pellucid.estimators.number_target import NumberTarget
from pellucid.estimators.tables.columns import Table
from pellucid.estimators.tables.preprocessor import TablePreprocessor
from pellucid.estimators.target import Target
from pellucid.nn.losses.numbers import HalfSquaredError, SquaredError
from pellucid.train import Model, fit_lbfgs

MOST_ROWS = 5000
"""Rows that are compared, at most."""

FITTED_ROWS, FITTED_NUMBERS = 2500, 500_000
"""Rows and numbers that a linear model is fitted on, at most: more would make a fast fit wait for it."""

LEVELS = 1000
"""Columns that codes of categories become, at most: those of the most frequent ones."""

ITERATIONS = 100
STRENGTH = 1.0
"""Of the penalty: scikit-learn's for `Ridge` (alpha) and `LogisticRegression` (1 / C)."""

Designs = Callable[[Array, Array], tuple[Array, Array]]
"""Columns as a linear model takes them, for these row numbers of the training rows and of the held-out rows."""


@dataclass(frozen=True, eq=False)
class Difference:
    """Of two losses, over the same rows: the mean, its standard error, and how many rows there are."""

    mean: float
    error: float
    rows: int

    def beyond(self, confidence: float) -> bool:
        """Is the mean above 0 by more than chance would make it, with this confidence?"""
        if not np.isfinite(self.mean):
            return bool(self.mean > 0)
        return bool(self.mean > student.ppf(confidence, max(self.rows - 1, 1)) * self.error)

    @property
    def in_errors(self) -> float:
        """In standard errors."""
        return self.mean / self.error if self.error else np.inf


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out rows (`places` of all of them, fold after fold), and what simple answers cost on each.

    constant, linear: (held rows,)   constant_in_training: its mean
    """

    target: Target
    held: Samples
    places: Array
    constant: Array
    linear: Array
    constant_in_training: float

    def first(self, rows: int) -> HeldOut:
        """Of the first so many rows."""
        count = int(np.searchsorted(self.places, rows))
        if count == len(self.places):
            return self
        return replace(
            self,
            held=self.held.take(np.arange(count)),
            places=self.places[:count],
            constant=self.constant[:count],
            linear=self.linear[:count],
        )

    def costs(self, scores: Array) -> Array:
        """The loss of each held-out row, without smoothing, at the temperature that suits the scores best.

        scores: of all rows held out, (rows, outputs) -> (places,)
        """
        return best_costs(self.target, self.held, scores[self.places])

    def beats_constant(self, costs: Array, confidence: float) -> bool:
        """Do these cost less than the constant answer by more than chance would make it, with this confidence?

        Of log losses the sum tells more than the mean and its error, where few rows decide (those of a rare class): if
        the constant answer were the truth, rows would be e^s times as likely by another with a chance of e^-s at most.
        """
        gain = self.compared(self.constant, costs)
        if self.target.loss.link.kind.gives_probabilities and self.held.weights is None:
            return gain.beyond(confidence) or bool(gain.mean * gain.rows > -np.log(1 - confidence))
        return gain.beyond(confidence)

    def mean(self, costs: Array) -> float:
        """The mean of costs, as the rows count."""
        return float(np.average(costs, weights=self.held.weights))

    def compared(self, costs: Array, others: Array) -> Difference:
        """How much more these cost than others, row by row."""
        if not (np.isfinite(costs).all() and np.isfinite(others).all()):
            return Difference(self.mean(costs) if not np.isfinite(costs).all() else -np.inf, 0.0, len(costs))
        shares = np.ones(len(costs)) if self.held.weights is None else self.held.weights.astype(np.float64)
        shares = shares / shares.sum()
        each = costs - others
        mean = float(shares @ each)
        count = len(each)
        error = float(np.sqrt(np.sum((shares * (each - mean)) ** 2) * count / max(count - 1, 1)))
        return Difference(mean, error, count)


def held_out(target: Target, folds: Sequence[tuple[Samples, Samples]], designs: Sequence[Designs]) -> HeldOut:
    """The rows held out of folds, with the costs of a linear model of `designs` and of a linear model of nothing."""
    ends = np.cumsum([len(held) for _, held in folds])
    places = evenly(int(ends[-1]), MOST_ROWS)
    parts, constants, lines = [], [], []
    for (rows, held), design, own in zip(folds, designs, _by_fold(places, ends), strict=True):
        most = int(np.clip(FITTED_NUMBERS // rows.width, 100, FITTED_ROWS))
        some = evenly(len(rows), most)
        inside, outside = design(some, own)
        scaler = StandardScaler().fit(inside)
        lines.append(linear_scores(target, rows.take(some), scaler.transform(inside), scaler.transform(outside)))
        constants.append(np.repeat(_constant_scores(target, rows), len(own), axis=0))
        parts.append(held.take(own))
    everything = joined(parts)
    training = folds[0][0].take(evenly(len(folds[0][0]), MOST_ROWS))
    everywhere = np.repeat(_constant_scores(target, training), len(training), axis=0)
    return HeldOut(
        target,
        everything,
        places,
        constant=_constant_costs(target, everything, np.concatenate(constants)),
        linear=best_costs(target, everything, np.concatenate(lines)),
        constant_in_training=float(
            np.average(each_cost(target, everywhere, training.target, smoothed=True), weights=training.weights)
        ),
    )


def _by_fold(places: Array, ends: Array) -> list[Array]:
    """Places among all held-out rows as places in each fold."""
    starts = np.concatenate([[0], ends[:-1]])
    return [places[(places >= start) & (places < end)] - start for start, end in zip(starts, ends, strict=True)]


def _constant_scores(target: Target, rows: Samples) -> Array:
    """The best answer that is the same for all rows.   -> (1, outputs)"""
    some = rows.take(evenly(len(rows), MOST_ROWS))
    return linear_scores(target, some, np.zeros((len(some), 1)), np.zeros((1, 1)))


def _constant_costs(target: Target, held: Samples, constants: Array) -> Array:
    """What constant answers cost on each row.

    Standardised numbers have another one, 0: the mean of all rows that the units were learned from, held out or not. A
    network says so before it has learned anything, so it has to beat the cheaper of both.
    """
    costs = each_cost(target, constants, held.target)
    if not isinstance(target, NumberTarget) or target.units is None:
        return costs
    zero = each_cost(target, np.zeros_like(constants), held.target)
    return min((costs, zero), key=lambda each: float(np.average(each, weights=held.weights)))


def best_costs(target: Target, held: Samples, scores: Array) -> Array:
    """The loss of each row, without smoothing, at the temperature that suits the scores best.   -> (rows,)"""
    scores = scores.astype(np.float64)
    if not np.isfinite(scores).all():
        return np.full(len(held), np.inf)
    temperature = target.learn_from(scores, held.target, held.weights).temperature
    return each_cost(target, scores / temperature, held.target)


def each_cost(target: Target, scores: Array, encoded: Array, *, smoothed: bool = False) -> Array:
    """The loss of each row; `smoothed`: with the label smoothing of training.   (n, outputs) -> (n,)"""
    loss = target.loss if smoothed else plain(target.loss)
    return np.asarray(loss.per_sample(scores, loss.prepare(encoded, target.outputs)), np.float64)


def plain(loss: nn.Loss) -> nn.Loss:
    """The loss without smoothing of labels."""
    return loss.with_(smoothing=0.0) if getattr(loss, "smoothing", 0.0) else loss


def linear_scores(target: Target, rows: Samples, inside: Array, outside: Array) -> Array:
    """Scores for `outside` by a linear model of `inside`, standardised columns of the rows; least squares or L-BFGS.

    inside (rows, columns), outside (n, columns) -> (n, outputs)
    """
    weights = rows.weights
    squared = target.loss.of if isinstance(target.loss, nn.Summed) else target.loss
    if isinstance(squared, SquaredError | HalfSquaredError):
        ridge = Ridge(STRENGTH).fit(inside, rows.target, sample_weight=weights)
        return np.asarray(ridge.predict(outside)).reshape(len(outside), -1)
    model = Model(nn.mlp((), target.outputs), plain(target.loss), dtype="float64", engine="numpy")
    model.penalty = nn.L2(STRENGTH / rows.total)
    fit_lbfgs(model, inside, rows.target, sample_weight=weights, max_iter=ITERATIONS, tol=1e-4, ftol=1e-6)
    return np.asarray(model.scores(outside))


def designs_of(preprocessor: TablePreprocessor, table: Table, inside: Array, others: Table, outside: Array) -> Designs:
    """Columns ahead of their scales, and one for each common category.

    inside: which rows of the table are trained on.   outside: which of the others are held out
    """

    def designs(some: Array, places: Array) -> tuple[Array, Array]:
        tables = table.take(inside[some]), others.take(outside[places])
        training, held = (preprocessor.plain_table(one) for one in tables)
        common = [_most_frequent(column, LEVELS // training[1].shape[1]) for column in training[1].T]
        return _with_levels(*training, common), _with_levels(*held, common)

    return designs


def _most_frequent(codes: Array, most: int) -> Array:
    levels, counts = np.unique(codes, return_counts=True)
    return np.asarray(levels[np.argsort(-counts, kind="stable")[:most]])


def _with_levels(numbers: Array, codes: Array, common: list[Array]) -> Array:
    hot = [(codes[:, [place]] == levels).astype(float) for place, levels in enumerate(common)]
    return np.column_stack([numbers, *hot])
