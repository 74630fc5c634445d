"""Full-batch training by L-BFGS, SciPy's."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.amounts import check_number, check_whole
from pellucid.blas_threads import one_thread
from pellucid.data.streams import Stream
from pellucid.nn import Variables, flatten_parameters, population_statistics
from pellucid.train.history import History
from pellucid.train.loop.divergence import Diverged, locate, soundness
from pellucid.train.loop.ending import Ending, EndingKind
from pellucid.train.loop.step import Snapshot, Trainer, mean_names, measured
from pellucid.train.model import Model

SMALL = 5_000_000
"""Multiplications of rows and weights up to which one thread works. SciPy's solver calls its library several times in
each of its steps; with more threads it waits for them, on a busy machine hundreds of times as long."""


def fit_lbfgs(
    model: Model,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    max_iter: int = 200,
    max_fun: int = 15000,
    tol: float = 1e-6,
    ftol: float | None = 0.0,
    seed: int = 0,
) -> History:
    """Minimise the mean loss plus the penalty over all rows. For small data, best in float64.

    One row of the history for each iteration, with the loss, the penalty and the objective, their sum. Dropout
    draws one mask and keeps it, as a full-batch method needs a fixed function.

    Parameters
    ----------
    model : Model
        to be trained
    X : array of shape (n, features)
        rows
    y : array of shape (n,) or (n, outputs)
        their target
    sample_weight : array of shape (n,)
        how much each row counts
    max_iter : int
        iterations at most
    max_fun : int
        evaluations of the loss at most
    tol : float
        it ends when no component of the gradient is larger
    ftol : float | None
        it ends when the loss no longer falls by that share; None is SciPy's
    seed : int
        of first parameters and of dropout

    Returns
    -------
    History
        `history.converged` tells whether it found a minimum

    Examples
    --------
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = Model(nn.mlp((), 1), "squared_error", dtype="float64")
    >>> history = fit_lbfgs(model, X, X @ [1.0, -2.0] + 3.0)
    >>> model.params["output.weight"].ravel().round(4).tolist()
    [1.0, -2.0]
    """
    import scipy.optimize

    check_whole(max_iter=max_iter, max_fun=max_fun)
    check_number("a number from 0", tol=tol)
    check_number("a number from 0, or None for SciPy's", ftol=0.0 if ftol is None else ftol)
    check_whole(0, seed=seed)
    start = model.params, model.state, model.features
    data, _ = model.prepare(X, y, sample_weight=sample_weight, seed=seed)
    if isinstance(data, Stream):
        raise TypeError("fit_lbfgs needs all rows at once: give arrays X and y, not batches")
    batch = next(data.batches(2**62))
    trainer = Trainer(model.net, model.loss, model.optimizer, model.penalty, key=seed)
    vector, back = flatten_parameters(model.params)
    history = model.new_history(data, len(data))
    history.columns = ("epoch", *mean_names(model.penalty))
    settings = {name: np.float64(s(0)) for name, s in model.settings.items()}

    means: dict[str, float] = {}  # of the point that was looked at last

    def cost(v: Any) -> tuple[float, Any]:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # the line search turns back by itself
            (value, (_, parts)), gradient = trainer.gradients(Snapshot(back(v), model.state, {}), batch, 0, settings)
            means.update(measured(value, 0.0, 0.0, parts).means)
        return float(value), np.concatenate([gradient[name].ravel() for name in model.params]).astype(np.float64)

    def note(intermediate_result: Any) -> None:
        if intermediate_result.fun != means.get("objective", means["loss"]):  # a line search may end further back
            cost(intermediate_result.x)
        history.epochs.append({"epoch": len(history) + 1, **means})

    begin = time.monotonic()
    options: Any = {"maxiter": max_iter, "maxfun": max_fun, "gtol": tol} | ({} if ftol is None else {"ftol": ftol})
    with one_thread() if len(data) * vector.size < SMALL else nullcontext():
        minimum: Any = scipy.optimize.minimize(
            cost, vector.astype(np.float64), jac=True, method="L-BFGS-B", callback=note, options=options
        )
    variables = Variables(back(minimum.x), model.state)
    outcome = soundness(trainer, *variables, [batch])
    if not (outcome.predicts and outcome.learns):
        trouble = locate(trainer, Snapshot(*variables, {}), batch, len(history), settings, float(minimum.fun))
        model.params, model.state, model.features = start
        raise Diverged(replace(trouble, kept="The model has the parameters that it had before."))
    # statistics that belong to the result
    model.params, model.state = population_statistics(model.net, variables, [batch.X])
    kind = EndingKind.CONVERGED if minimum.success else EndingKind.STEPS if minimum.status == 1 else EndingKind.FAILED
    history.ending, history.converged = Ending(kind, str(minimum.message)), bool(minimum.success)
    history.seconds = time.monotonic() - begin
    model.history = history
    return history
