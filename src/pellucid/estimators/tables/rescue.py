"""No silent failure: a fit that fails begins anew with a lower rate; one that a linear model beats is told of."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid.data.types import Array
from pellucid.estimators.fitted import Fitted
from pellucid.estimators.recipe import Recipe
from pellucid.estimators.tables.baselines import Designs, HeldOut, held_out
from pellucid.estimators.tables.crew import Trained
from pellucid.estimators.tables.trials import Fold
from pellucid.estimators.training import NonFiniteError, Teller
from pellucid.notices import notice
from pellucid.train.loop.ending import EndingKind

FACTORS = (1.0, 1 / 5, 1 / 25)
"""Of the learning rate: the first try, and the next ones."""

SHORT = 1 / 4
"""Of the usual epochs: a shorter training is what its user wants, and neither repeated nor compared."""

EXPLODED = 2.0
"""Times the training loss of a constant answer: a training that ends above it went wrong, it did not overfit."""

CONFIDENCE = 0.95
"""That a fit beats the constant answer by more than chance."""

ONE_ERROR = 0.8413
"""The confidence that one standard error stands for, where there are many rows."""


Attempt = Callable[[float, float | None, Teller], Trained]
"""A training from first weights, with a factor of the learning rate, in so many seconds; and what warnings go to."""


def rescued(
    attempt: Attempt, recipe: Recipe, folds: Sequence[Fold], designs: Sequence[Designs], *, usual: int
) -> Fitted:
    """The best of some attempts, on held-out rows compared with a constant answer and a linear model of `designs`.

    Where the training loss explodes, or the best epoch does not beat the constant answer, or the linear model beats it,
    it begins anew with a fifth of the rate, then with a twenty-fifth; the best attempt is kept. If the linear model is
    still better, a warning says so. Without held-out rows nothing is compared.

    folds: rows that are trained on, rows held out.   usual: epochs of a training that is not cut short
    """
    checked = [(rows, held) for rows, held in folds if held is not None]
    if not checked or recipe.epochs < SHORT * usual:
        return attempt(1.0, recipe.max_time, notice).fitted
    start = time.perf_counter()
    everything = held_out(recipe.target, checked, designs)
    attempts: list[dict[str, Any]] = []
    best, best_costs, by, failure = None, np.empty(0), everything, None
    told: list[partial[None]] = []
    for factor in FACTORS:
        left = None if recipe.max_time is None else max(recipe.max_time - (time.perf_counter() - start), 0.0)
        if attempts and left == 0.0:
            break
        words: list[partial[None]] = []
        try:
            trained = attempt(factor, left, _put_aside(words))
        except NonFiniteError as error:
            failure = error
            attempts.append(_attempt(recipe, factor, None, math.nan, f"the training diverged at once: {error}"))
            continue
        fitted = trained.fitted
        judge = everything.first(len(trained.unseen))
        costs = judge.costs(trained.unseen)
        worse = judge.compared(costs, judge.linear).beyond(ONE_ERROR)
        if worse and not _ended_by_user(recipe, trained):  # or is it one network that is worse, and not all?
            costs = costs - trained.gain()
        reason = _failure(judge, fitted, costs)
        attempts.append(_attempt(recipe, factor, fitted, judge.mean(costs), reason))
        better = best is None or judge.mean(costs) < by.mean(best_costs)
        if better:
            best, best_costs, by, told = fitted, costs, judge, words
        in_vain = not better and _learned(judge, fitted)  # then a lower rate still would find no more
        if not reason or in_vain or _ended_by_user(recipe, trained):
            break
        _say(recipe, attempts)
    if best is None:
        raise failure if failure is not None else RuntimeError("no attempt was made")
    for word in told:
        word()
    if _beaten(by, best, best_costs):
        _tell(recipe, by, best_costs)
    figures = {"network": best_costs, "linear": by.linear, "constant": by.constant}
    return replace(best, attempts=tuple(attempts), baselines={name: by.mean(costs) for name, costs in figures.items()})


def _put_aside(words: list[partial[None]]) -> Teller:
    """In the place of `notice`: what is to be said if the attempt is the one that is kept."""

    def keep(text: str, kind: type[Warning]) -> None:
        words.append(partial(notice, text, kind))

    return keep


def _failure(judge: HeldOut, fitted: Fitted, costs: Array) -> str:
    """Why an attempt is not good enough; nothing if it is."""
    curves, constant = fitted.curves, judge.constant_in_training
    last = curves.losses[-1] if curves.losses else math.nan
    ending = fitted.model.history.ending
    if ending is not None and ending.kind is EndingKind.DIVERGED:
        return f"the training diverged in epoch {len(curves.losses) + 1}"
    if not last <= EXPLODED * constant:
        return f"the training loss ended at {last:.4g}, far above the {constant:.4g} of a constant answer"
    if not judge.beats_constant(costs, CONFIDENCE):
        return (
            f"the held-out loss of the best epoch, {judge.mean(costs):.4g}, does not beat the "
            f"{judge.mean(judge.constant):.4g} of a constant answer by more than chance"
        )
    if _beaten(judge, fitted, costs):
        return (
            f"the held-out loss of the best epoch, {judge.mean(costs):.4g}, is above the "
            f"{judge.mean(judge.linear):.4g} of a linear model"
        )
    return ""


def _beaten(judge: HeldOut, fitted: Fitted, costs: Array) -> bool:
    """Is the linear model better by more than one standard error? Of what is linear itself it differs by chance."""
    is_line = all(len(network.layers) == 1 for network in fitted.networks)
    return not is_line and judge.compared(costs, judge.linear).beyond(ONE_ERROR)


def _learned(judge: HeldOut, fitted: Fitted) -> bool:
    """Were the training rows learned?"""
    return bool(fitted.curves.losses[-1] < judge.constant_in_training)


def _ended_by_user(recipe: Recipe, trained: Trained) -> bool:
    """Did Ctrl-C, the time, or a callback of the user's end it?"""
    endings = (network.model.history.ending for network in trained.fitted.networks)
    kinds = {ending.kind for ending in endings if ending is not None}
    by_callback = EndingKind.CALLBACK in kinds and bool(recipe.callbacks)
    return trained.ended or by_callback or not kinds.isdisjoint((EndingKind.INTERRUPTED, EndingKind.TIME))


def _attempt(recipe: Recipe, factor: float, fitted: Fitted | None, loss: float, reason: str) -> dict[str, Any]:
    return {
        "rate": float(f"{_peak(recipe) * factor:.3g}"),
        "best_epoch": None if fitted is None else fitted.curves.best_iter,
        "loss": loss,
        "failure": reason,
    }


def _peak(recipe: Recipe) -> float:
    """The highest learning rate of a run."""
    optimizer = recipe.optimizer.fit(100, 1)
    return float(f"{max(optimizer.numbers(step)['lr'] for step in range(100)):.3g}")


def _say(recipe: Recipe, attempts: list[dict[str, Any]]) -> None:
    if recipe.verbose and recipe.verbose != "silent" and len(attempts) < len(FACTORS):
        rate = FACTORS[len(attempts)] * _peak(recipe)
        print(f"Attempt {len(attempts)}: {attempts[-1]['failure']}. Again, with a rate of {rate:.3g} at most.")


def _tell(recipe: Recipe, judge: HeldOut, costs: Array) -> None:
    """Warn that the linear model is better."""
    difference = judge.compared(costs, judge.linear)
    notice(
        f"{recipe.who}: on the {len(costs)} held-out rows the loss of the network is {judge.mean(costs):.4g}, that of "
        f"a linear model {judge.mean(judge.linear):.4g}: better by {difference.in_errors:.1f} standard errors. Try "
        "scaling='whiten' (columns that are nearly the same), 'quantile' or 'standard' (long tails), norm='batch', a "
        f"lower learning_rate_init (now {_peak(recipe):.3g}), or take the linear model. See attempts_ and baselines_.",
        ConvergenceWarning,
    )
