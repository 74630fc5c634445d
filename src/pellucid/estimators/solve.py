"""The two ways of training an estimator's model: steps on batches, or L-BFGS on all rows."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid.data.sparse import dense, is_sparse, shuffled_batches, too_large
from pellucid.engine.native.announcement import silent
from pellucid.estimators.build import training_settings
from pellucid.estimators.convergence import Convergence, Patience, Rates
from pellucid.estimators.held import Part
from pellucid.train import Checkpoint, Diverged, fit_lbfgs
from pellucid.train.loop.ending import INTERRUPTED

NON_FINITE = (
    "Solver produced non-finite parameter weights. The input data may contain large values and need to be "
    "preprocessed. In detail: "
)
FTOL = 2.2e-9
"""SciPy's share by which the loss must fall; a smaller tol asks for its square, which is what tol means for a loss."""

LEVEL = 5
"""From a warning here up to the line that called `fit`."""


def by_lbfgs(estimator: Any, part: Part, held: Part | None, rng: Any) -> None:
    """All rows at once. Validation rows are scored once, when it has ended."""
    model, curves = estimator.model_, estimator._curves
    idle = _without_effect(estimator)
    if idle:
        warnings.warn(f"{', '.join(idle)}: no effect with solver='lbfgs', use 'adam'", stacklevel=LEVEL)
    try:
        history = fit_lbfgs(
            model,
            dense(part.X),
            part.target,
            sample_weight=part.weights,
            max_iter=estimator.max_iter,
            max_fun=estimator.max_fun,
            tol=estimator.tol,
            ftol=None if estimator.compat == "sklearn" else min(FTOL, float(estimator.tol) ** 2),
            seed=int(rng.randint(2**31 - 1)),
        )
    except Diverged as error:
        raise ValueError(f"{NON_FINITE}{error}") from error
    if not all(np.isfinite(w).all() for w in model.params.values()):
        raise ValueError(f"{NON_FINITE}lbfgs ended with a parameter that is not finite")
    curves.losses += history["loss" if model.penalty is None else "objective"]
    curves.best_loss = min([curves.best_loss, *curves.losses])
    estimator.n_iter_ = min(len(history), estimator.max_iter)
    if estimator.verbose:
        print(f"lbfgs: {estimator.n_iter_} iterations, loss = {curves.losses[-1]:.8f}. {history.stopped}")
    if held is not None:
        found = model.evaluate(*held.dense())
        curves.validation_losses.append(found["loss"])
        curves.scores.append(found[_scored(estimator).removeprefix("val_")])
        curves.best_score, curves.best_iter = estimator._sign * curves.scores[-1], len(curves.scores)
    if not history.converged:
        warnings.warn(
            f"lbfgs failed to converge after {estimator.n_iter_} iteration(s): {history.stopped}. Increase max_iter "
            f"(now {estimator.max_iter}) or max_fun (now {estimator.max_fun}), or scale the data (StandardScaler).",
            ConvergenceWarning,
            stacklevel=LEVEL,
        )


def _without_effect(estimator: Any) -> list[str]:
    """What was asked for of steps that L-BFGS does not make."""
    training = training_settings(estimator)
    asked = {name: getattr(estimator, name) for name in ("early_stopping", "callbacks", "max_time")}
    names = ("schedule", "clip_norm", "clip_value", "weight_decay", "ema", "groups", "checkpoint", "resume")
    asked |= {f"training.{name}": getattr(training, name) for name in names}
    return [name for name, value in asked.items() if value]


def by_steps(estimator: Any, part: Part, held: Part | None, seed: int, go_on: bool, incremental: bool) -> None:
    """Epochs of batches, until patience, max_iter, max_time, a callback or Ctrl-C ends them."""
    training, model, curves = training_settings(estimator), estimator.model_, estimator._curves
    rows, batch = part.X.shape[0], batch_size(estimator, part.X.shape[0])
    early = held is not None and bool(estimator.early_stopping)
    if not go_on:
        model.progress, curves.factor = None, 1.0
    bar = isinstance(estimator.verbose, str)
    watcher = Convergence(
        curves,
        Patience(
            tol=float(estimator.tol),
            epochs=float(estimator.n_iter_no_change),
            scored=_scored(estimator) if held is not None else None,
            sign=estimator._sign,
            early=early,
            late=estimator.compat == "sklearn",
            keep=training.keep,
        ),
        _rates(estimator),
        rows,
        say=print if estimator.verbose and not bar else None,
    )
    callbacks = [watcher, *estimator.callbacks]
    if training.checkpoint is not None:
        callbacks.append(Checkpoint(training.checkpoint))
    made = 0 if model.progress is None else model.progress.epoch
    data, weights = _data(part, model.dtype, batch, seed if estimator.shuffle else None, made)
    before = len(curves.losses)
    try:
        with silent(not estimator.verbose or estimator.verbose == "silent"):
            history = model.fit(
                *data,
                epochs=1 if incremental else int(estimator.max_iter),
                batch_size=batch,
                validation=None if held is None else held.dense(),
                sample_weight=weights,
                callbacks=callbacks,
                seed=seed,
                shuffle=bool(estimator.shuffle),
                max_time=estimator.max_time,
                verbose=estimator.verbose if bar else False,
                on_divergence="stop" if early else "raise",
                resume=training.resume,
                continued=True,
            )
    except Diverged as error:
        raise ValueError(f"{NON_FINITE}{error}") from error
    estimator.n_iter_ = watcher.epochs if training.resume is not None else len(curves.losses) - before
    _tell(estimator, history.stopped, watcher, incremental)


def batch_size(estimator: Any, rows: int) -> int:
    """Rows of a step: those asked for, or all."""
    asked = estimator.batch_size
    if asked == "auto":
        return min(200, rows)
    if asked > rows:
        warnings.warn(
            f"Got `batch_size` less than 1 or larger than sample size. It is going to be clipped: {asked} for {rows} "
            "rows",
            stacklevel=LEVEL + 1,
        )
    return int(np.clip(asked, 1, rows))


def _scored(estimator: Any) -> str:
    return "val_loss" if estimator._metric is None else f"val_{estimator._metric.name}"


def _rates(estimator: Any) -> Rates:
    kind = estimator.learning_rate
    if kind != "constant" and (estimator.solver != "sgd" or estimator.optimizer is not None):
        warnings.warn(
            f"learning_rate={kind!r} is for solver='sgd' and has no effect here: give a schedule, "
            "training=TrainingSettings(schedule='cosine')",
            stacklevel=LEVEL + 1,
        )
        kind = "constant"
    return Rates(kind, float(estimator.learning_rate_init), float(estimator.power_t))


def _data(part: Part, dtype: Any, batch: int, seed: int | None, made: int) -> tuple[tuple[Any, ...], Any]:
    """What `Model.fit` is given, and the weights of rows. A large sparse matrix becomes dense batch by batch."""
    if is_sparse(part.X) and too_large(part.X, dtype):
        return (shuffled_batches(part.X, part.target, part.weights, batch, seed, made),), None
    return (dense(part.X), part.target), part.weights


def _tell(estimator: Any, stopped: str, watcher: Convergence, incremental: bool) -> None:
    """Warn of an end that nobody asked for."""
    if stopped.startswith("training diverged"):
        if watcher.kept is None:
            raise ValueError(f"{NON_FINITE}{stopped}")
        estimator._curves.scores.append(math.nan)
        text = f"{stopped} The best parameters before that are kept."
        warnings.warn(text, ConvergenceWarning, stacklevel=LEVEL + 1)
    elif stopped == INTERRUPTED:
        warnings.warn("Training interrupted by user.", stacklevel=LEVEL + 1)
    elif not incremental and estimator.n_iter_ >= estimator.max_iter and not watcher.done and not _planned(estimator):
        warnings.warn(_not_converged(estimator), ConvergenceWarning, stacklevel=LEVEL + 1)


def _planned(estimator: Any) -> bool:
    """Does the learning rate follow a schedule that ends with the last epoch? Then nothing is left to converge."""
    rule = estimator.model_.optimizer
    return bool(rule.fit(100, 10) != rule.fit(200, 10))


def _not_converged(estimator: Any) -> str:
    """scikit-learn's words, a measured quantity, and what to do."""
    losses = estimator._curves.losses
    window = min(len(losses) - 1, 10)
    fell = f" and fell by {losses[-1 - window] - losses[-1]:.2g} in the last {window} epochs" if window else ""
    return (
        f"Stochastic Optimizer: Maximum iterations ({estimator.max_iter}) reached and the optimization hasn't "
        f"converged yet. The loss is {losses[-1]:.4g}{fell}, tol is {estimator.tol:g}. If it still falls much, raise "
        f"max_iter or learning_rate_init (now {estimator.learning_rate_init:g}); if it only trembles, raise tol or use "
        "early_stopping=True."
    )
