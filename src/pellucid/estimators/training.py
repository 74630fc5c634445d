"""`fit`: a recipe and rows in, a trained network out; by steps on batches, or by L-BFGS on all rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid.data.dependence import Dependence
from pellucid.data.samples import Samples, StreamedSamples
from pellucid.data.sparse import better_sparse, dense, is_sparse, shuffled_batches, too_large
from pellucid.data.splits import by_fraction
from pellucid.data.types import Array, Matrix
from pellucid.engine.native.runtime.announcement import silent
from pellucid.estimators.convergence import Convergence, Curves
from pellucid.estimators.fitted import Fitted, seed_of
from pellucid.estimators.recipe import Recipe, name_of
from pellucid.estimators.seeing import remember
from pellucid.estimators.target import Calibration
from pellucid.notices import notice
from pellucid.train import Checkpoint, Diverged, Model, fit_lbfgs
from pellucid.train.loop.ending import Ending, EndingKind
from pellucid.train.loop.steps import STEP

NON_FINITE = (
    "Solver produced non-finite parameter weights. The input data may contain large values and need to be "
    "preprocessed. In detail: "
)
Teller = Callable[[str, type[Warning]], None]


class NonFiniteError(ValueError):
    """A training that found no finite parameters to keep."""


FTOL = 2.2e-9
"""SciPy's share by which the loss must fall; a smaller tol asks for its square, which is what tol means for a loss."""


def fit(
    recipe: Recipe,
    rows: Samples | StreamedSamples,
    held: Samples | float | None,
    previous: Fitted,
    rng: np.random.RandomState,
    *,
    dependence: Dependence | None = None,
    goes_on: bool = False,
    incremental: bool = False,
    tell: Teller = notice,
) -> Fitted:
    """Train the network of `previous` (see `begin` and `take_up`, which make one for this call).

    `held` are validation rows, or the share of `rows` that is to be drawn for it, by their `dependence`. `goes_on`:
    with the split, the order and the optimizer's state of an earlier fit. `incremental`: for one epoch, with the
    penalty of the first. `tell`: what is done with a warning of how the steps ended. Of rows that are not in memory
    `held` is no share, and there are steps only.
    """
    if goes_on and previous.drawn is not None:  # what was held out stays held out
        rng = np.random.RandomState()
        rng.set_state(previous.drawn)
    drawn = rng.get_state()
    if isinstance(held, float):
        assert isinstance(rows, Samples)
        rows, held = divided(rows, recipe, held, rng, dependence)
    model, curves = previous.model, previous.curves
    known = rows if isinstance(rows, Samples) else rows.some
    if not previous.epochs:
        model.learn_edges(known.X, known.weights)
    if not (incremental and goes_on):
        model.penalty = recipe.penalty_for(rows.total)
    if not goes_on:
        model.progress, curves.factor = None, recipe.rates.factor
    seed = previous.seed if goes_on else None
    if recipe.max_fun is not None:
        assert isinstance(rows, Samples)
        epochs = _by_lbfgs(recipe, model, curves, rows, held, seed_of(rng), tell)
    else:
        seed = seed_of(rng) if seed is None else seed
        epochs = _by_steps(recipe, model, curves, rows, held, seed, incremental, tell)
    model.metrics = [] if recipe.metric is None else [recipe.metric]  # files and pickles hold the metric itself
    fitted = replace(
        previous,
        epochs=epochs,
        limit=recipe.epochs,
        early=recipe.early,
        seed=seed,
        drawn=drawn,
        calibration=Calibration(),  # that of other weights is gone
        importances=None,
    )
    remember(model, known, held)
    if held is None or not recipe.calibrate:
        return fitted
    return replace(fitted, calibration=recipe.target.learn_from(fitted.scores(held.X), held.target, held.weights))


def divided(
    rows: Samples, recipe: Recipe, share: float, rng: np.random.RandomState, dependence: Dependence | None = None
) -> tuple[Samples, Samples]:
    """The random split of early stopping; for one label a row it keeps the shares of the classes."""
    count = len(rows)
    strata = recipe.target.strata(rows.target, share)
    if dependence is None:
        inside, outside = by_fraction(np.arange(count), share, strata, rng)
    else:
        inside, outside = dependence.hold_out(share, None if strata is None else np.ravel(strata), rng)
    if len(outside) < 2:
        raise ValueError(
            "The validation set is too small. Increase 'validation_fraction' or the size of your dataset: "
            f"{share:g} of {count} rows is {len(outside)}. Or give rows of your own as X_val and y_val."
        )
    return parted(rows, inside, outside)


def parted(rows: Samples, inside: Array, outside: Array) -> tuple[Samples, Samples]:
    """What is trained on and what checks, by row numbers; each counts for something."""
    parts = rows.take(inside), rows.take(outside)
    for part, what in zip(parts, ("train on", "check"), strict=True):
        if not part.total:
            raise ValueError(f"all sample weights of the {len(part)} rows to {what} are 0: leave such rows out")
    return parts


# L-BFGS


def _by_lbfgs(
    recipe: Recipe, model: Model, curves: Curves, rows: Samples, held: Samples | None, seed: int, tell: Teller
) -> int:
    """All rows at once; how many iterations. Validation rows are scored once, when it has ended."""
    tol = recipe.patience.tol
    try:
        history = fit_lbfgs(
            model,
            _inputs(rows.X, model, len(rows)) if model.net.takes_sparse else dense(rows.X),
            rows.target,
            sample_weight=rows.weights,
            max_iter=recipe.epochs,
            max_fun=recipe.max_fun or 0,
            tol=tol,
            ftol=None if recipe.compat.scipy_tolerance else min(FTOL, tol**2),
            seed=seed,
        )
    except Diverged as error:
        raise ValueError(f"{NON_FINITE}{error}") from error
    if not all(np.isfinite(array).all() for array in model.params.values()):
        raise ValueError(f"{NON_FINITE}lbfgs ended with a parameter that is not finite")
    curves.losses += history["loss" if model.penalty is None else "objective"]
    curves.best_loss = min([curves.best_loss, *curves.losses])
    iterations = min(len(history), recipe.epochs)
    if recipe.verbose and recipe.verbose != "silent":
        print(f"lbfgs: {iterations} iterations, loss = {curves.losses[-1]:.8f}. {history.stopped}")
    if held is not None:
        measured = model.evaluate(*held.arrays(sparse=model.net.takes_sparse))
        curves.validation_losses.append(measured["loss"])
        curves.scores.append(measured[name_of(recipe.metric)])
        curves.best_score, curves.best_iter = recipe.patience.sign * curves.scores[-1], len(curves.scores)
    if not history.converged:
        tell(
            f"lbfgs failed to converge after {iterations} iteration(s): {history.stopped}. Increase max_iter (now "
            f"{recipe.epochs}) or max_fun (now {recipe.max_fun}), or scale the data (StandardScaler).",
            ConvergenceWarning,
        )
    return iterations


# steps


def _by_steps(
    recipe: Recipe,
    model: Model,
    curves: Curves,
    rows: Samples | StreamedSamples,
    held: Samples | None,
    seed: int,
    incremental: bool,
    tell: Teller,
) -> int:
    """Epochs of batches, until patience, max_iter, max_time, a callback or Ctrl-C ends them; how many."""
    batch = _batch_size(recipe, len(rows))
    early = held is not None and recipe.early
    bar = recipe.verbose if isinstance(recipe.verbose, str) else False
    watcher = Convergence(
        curves,
        replace(recipe.patience, early=early, scored=None if held is None else f"val_{name_of(recipe.metric)}"),
        recipe.rates,
        len(rows),
        verbose=bool(recipe.verbose) and not bar,
    )
    saving = [] if recipe.checkpoint is None else [Checkpoint(recipe.checkpoint)]
    X: Any
    if isinstance(rows, StreamedSamples):
        X, target, weights = rows.data, None, None
    else:
        X, target, weights = _inputs(rows.X, model, batch), rows.target, rows.weights
    if is_sparse(X) and not model.net.takes_sparse:  # it becomes dense batch by batch
        past = 0 if model.progress is None else model.progress.epoch
        X = shuffled_batches(X, target, weights, batch, seed if recipe.shuffle else None, past)
        target, weights = None, None
    try:
        with silent(not recipe.verbose or recipe.verbose == "silent"):
            history = model.fit(
                X,
                target,
                epochs=1 if incremental else recipe.epochs,
                batch_size=batch,
                validation=None if held is None else held.arrays(sparse=model.net.takes_sparse),
                sample_weight=weights,
                callbacks=[watcher, *recipe.callbacks, *saving],
                seed=seed,
                shuffle=recipe.shuffle,
                max_time=recipe.max_time,
                verbose=bar,
                on_divergence="stop" if early else "raise",
                resume=recipe.resume,
                continued=True,
            )
    except Diverged as error:
        raise NonFiniteError(f"{NON_FINITE}{error}") from error
    spent = not incremental and watcher.epochs >= recipe.epochs and not watcher.done
    if history.ending is not None:
        _tell(recipe, curves, watcher, history.ending, tell, spent=spent)
    return watcher.epochs


def _inputs(X: Matrix, model: Model, batch: int) -> Matrix:
    """Rows as they are trained on: a sparse matrix stays one where the network takes it and it pays, or it must."""
    if not is_sparse(X):
        return X
    if model.net.takes_sparse:
        weight = next(iter(model.params.values()))  # the first layer's, which X is multiplied by
        stays = better_sparse(X, model.dtype, batch, weight.shape[1], STEP)
    else:
        stays = too_large(X, model.dtype)
    return X if stays else dense(X)


def _batch_size(recipe: Recipe, rows: int) -> int:
    """Rows of a step: those asked for, or 200; all, where that is less."""
    asked = recipe.batch_size or 200
    if recipe.batch_size is not None and asked > rows:
        notice(
            f"Got `batch_size` less than 1 or larger than sample size. It is going to be clipped: {asked} for {rows} "
            "rows"
        )
    return min(asked, rows)


def _tell(recipe: Recipe, curves: Curves, watcher: Convergence, ending: Ending, tell: Teller, *, spent: bool) -> None:
    """Warn of an end that nobody asked for; `spent`: all epochs are done, and patience was not at its end."""
    if ending.kind is EndingKind.DIVERGED:
        if watcher.kept is None:
            raise NonFiniteError(f"{NON_FINITE}{ending.text}")
        curves.scores.append(math.nan)
        tell(f"{ending.text} The best parameters before that are kept.", ConvergenceWarning)
    elif ending.kind is EndingKind.INTERRUPTED:
        tell("Training interrupted by user.", UserWarning)
    elif spent and recipe.patience.asks and recipe.optimizer.fit(100, 10) == recipe.optimizer.fit(200, 10):
        # a schedule over the whole run has nothing left to converge
        tell(_not_converged(recipe, curves.losses), ConvergenceWarning)


def _not_converged(recipe: Recipe, losses: list[float]) -> str:
    """scikit-learn's words, a measured quantity, and what to do."""
    window = min(len(losses) - 1, 10)
    fell = f" and fell by {losses[-1 - window] - losses[-1]:.2g} in the last {window} epochs" if window else ""
    return (
        f"Stochastic Optimizer: Maximum iterations ({recipe.epochs}) reached and the optimization hasn't converged "
        f"yet. The loss is {losses[-1]:.4g}{fell}, tol is {recipe.patience.tol:g}. If it still falls much, raise "
        f"max_iter or learning_rate_init (now {recipe.rates.start:g}); if it only trembles, raise tol or use "
        "early_stopping=True."
    )
