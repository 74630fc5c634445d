"""Search for good settings, with Optuna: trials side by side, ended early where their validation curve falls behind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from pellucid.amounts import ABOVE_0, WHOLE, Condition, is_whole, or_none
from pellucid.data.dependence import column_of_groups
from pellucid.data.types import ArrayLike
from pellucid.engine.native.processors import default_threads
from pellucid.estimators.inputs import Learner
from pellucid.estimators.settings import check_no_checkpoint
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.estimators.tuning.folds import Part, folds
from pellucid.estimators.tuning.result import Trial, Tuned
from pellucid.estimators.tuning.rounds import Search
from pellucid.estimators.tuning.space import choose_estimator, default_space, with_settings
from pellucid.estimators.tuning.trial import Outcome, Settings
from pellucid.train import Run
from pellucid.train.callbacks.screens import bar

if TYPE_CHECKING:
    from optuna import Trial as Asked

WARM_UP = 5
"""Epochs before a trial can be found to be behind."""

JOBS = Condition(lambda value: is_whole(value, -1) and value != 0, "a whole number from 1, or -1 for all processors")


def tune(
    X: ArrayLike,
    y: ArrayLike,
    *,
    budget: float | None = None,
    trials: int | None = None,
    estimator: Learner | str = "auto",
    metric: str | Callable[..., float] | None = None,
    space: Callable[[Asked], Mapping[str, object]] | None = None,
    validation: float | tuple[ArrayLike, ...] = 0.2,
    cv: int | BaseCrossValidator | None = None,
    sample_weight: ArrayLike = None,
    groups: ArrayLike = None,
    time: ArrayLike = None,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int = -1,
    storage: str | None = None,
    study: str | None = None,
    verbose: bool = True,
) -> Tuned:
    """Find settings that do well on rows that were not trained on, and fit the best on all rows.

    Settings are proposed by Optuna's TPE sampler; a trial whose validation curve is worse than the median of
    earlier ones is given up (MedianPruner). Trial 0 is the estimator as it was given, so the outcome is never worse
    than that on the validation rows. Needs `pip install pellucid[optuna]`.

    Ctrl-C ends the search; the best so far is fitted and returned. Where no trial has ended its first epoch yet,
    there is none: then KeyboardInterrupt is raised.

    Parameters
    ----------
    X : array or data frame of shape (n, features)
        rows
    y : array of shape (n,) or (n, outputs)
        their target
    budget : float | None
        seconds for the whole call, search and last fit together: 60 if `trials` is not given either, else without
        limit. The search ends in time for a last fit as long as the best trial's; trials that run then are cut
        short and count with the epochs they had. The last fit itself is not cut, so that it may end a little later.
        How far a search comes in a given time depends on the machine: for the same result anywhere give `trials`
    trials : int | None
        how many settings to try at most; with `random_state` and without `budget` the result is repeatable
    estimator : Learner | str
        one of pellucid's, whose other parameters are kept; "auto" takes TabularMLP* for data frames, MLP* for
        arrays, a classifier where y holds classes
    metric : str | Callable[..., float] | None
        what is best on the validation rows: "accuracy", "roc_auc", "rmse", a scorer's name such as "neg_log_loss",
        a function; None is what the estimator watches by itself (accuracy, R²). "loss" is that of training: for a
        TabularMLPRegressor of the standardised target
    space : Callable[[Asked], Mapping[str, object]] | None
        a function that asks an Optuna trial for parameters; see `default_space`
    validation : float | tuple[ArrayLike, ...]
        the share of rows that judges, or (X, y)
    cv : int | BaseCrossValidator | None
        in place of `validation`: a number of folds, or a splitter
    sample_weight : array of shape (n,)
        how much each row counts
    groups : array of shape (n,) or str
        labels, or the name of a column of X, which is no feature then (and may be absent when predicting): rows of one
        group are trained on or judge together; goes to the splitter, if `cv` is one
    time : array of shape (n,) or str
        numbers, dates or ISO texts, or the name of a column of X: the rows that judge are later than those that are
        trained on
    random_state : int | np.random.RandomState | None
        a seed or generator
    n_jobs : int
        trials side by side, each on one thread; -1 for all processors. It does not change the result. Under
        `joblib.parallel_config(backend="loky" | "dask" | "ray")` they run in other processes, and none is given up
    storage : str | None
        an Optuna storage, such as "sqlite:///search.db": several processes and machines that call with the same one,
        the same `study`, data and seed work on one search, each until it has `trials` in all. One that is killed loses
        the trials it was at
    study : str | None
        the name of the search in the storage
    verbose : bool
        show the trials

    Returns
    -------
    Tuned
        the best estimator, and all trials

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = tune(X, y, trials=3, random_state=0, verbose=False)
    >>> found.best_value > 0.9, len(found.trials), found.best_estimator.score(X, y) > 0.9
    (True, 3, True)
    """
    optuna = _optuna()
    begin = monotonic()
    if (storage is None) != (study is None):
        raise ValueError("tune: a search that is shared has a storage and a name in it: give storage= and study=")
    seconds, most = _limits(budget, trials)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    original = choose_estimator(estimator, X, y)
    base = _prepared(original, metric, seed)
    everything = Part(X, y, sample_weight)
    parts = folds(base, everything, validation, cv, seed, groups, time)
    JOBS.check("tune: n_jobs", n_jobs)
    threads = None if n_jobs == -1 else int(n_jobs)
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings(), bar("tuning", verbose) as draw:
            warnings.simplefilter("ignore")  # of trials that were cut, clipped batches, experimental parts of Optuna
            found = optuna.create_study(
                storage=storage,
                study_name=study,
                load_if_exists=True,
                direction="maximize",
                sampler=optuna.samplers.TPESampler(seed=None if storage else seed, constant_liar=True),
                pruner=optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=WARM_UP),
            )
            proposals = space or partial(default_space, estimator=base, rows=parts[0].train.rows)
            search = Search(found, base, parts, proposals, most, threads, begin, begin + seconds, draw)
            if storage is not None:  # a process that is killed loses what it was at
                search.shared, search.size = True, threads or default_threads()
            search.run()
    finally:
        optuna.logging.set_verbosity(before)
    best = search.best()
    column = column_of_groups(groups)
    winner = _refitted(base, best, everything, original.get_params(deep=False)["threads"], parts[0].rows, column)
    judge = best.folds[0]
    return Tuned(
        winner,
        best.settings,
        judge.sign * best.value,
        best.epochs,
        metric if isinstance(metric, str) else judge.metric,
        "min" if judge.sign < 0 else "max",
        [_record(i, out, best) for i, out in enumerate(search.all_outcomes())],
        monotonic() - begin,
        search.stopped,
        found,
    )


def _record(number: int, out: Outcome, best: Outcome) -> Trial:
    """A trial as it is shown; one that saw fewer folds than the best has no value to compare."""
    value = best.folds[0].sign * out.value if out.value > -np.inf and len(out.folds) >= len(best.folds) else None
    return Trial(number, out.settings, out.state, value, out.epochs, out.seconds, out.curve)


def _optuna() -> ModuleType:
    try:
        with warnings.catch_warnings():
            # Optuna loads tqdm, which in a notebook without ipywidgets warns of bars that nobody asked for
            warnings.filterwarnings("ignore", message="IProgress not found")
            import optuna
    except ImportError as error:
        raise ImportError("tune needs Optuna: pip install pellucid[optuna]") from error
    return optuna


def _limits(budget: float | None, trials: int | None) -> tuple[float, float]:
    """Seconds and trials, infinite where not given."""
    or_none(ABOVE_0, "a number of seconds above 0, or None for no limit").check("tune: budget", budget)
    or_none(WHOLE, WHOLE.words).check("tune: trials", trials)
    if budget is None and trials is None:
        budget = 60.0
    return (np.inf if budget is None else float(budget)), (np.inf if trials is None else int(trials))


def _prepared(estimator: Learner, metric: str | Callable[..., float] | None, seed: int) -> Learner:
    """The estimator as every trial begins with it."""
    base: Learner = clone(estimator)
    params = base.get_params(deep=False)
    if params.get("solver") == "lbfgs" and params["optimizer"] is None:
        raise ValueError("tune watches validation curves, and solver='lbfgs' has none: take 'adam' or 'sgd'")
    check_no_checkpoint(base, "tune: trials")
    settings: Settings = {"verbose": False, "threads": 1}
    if "early_stopping" in params:
        settings["early_stopping"] = True
    if metric is not None:
        settings["monitor"] = metric
    if params["random_state"] is None:
        settings["random_state"] = seed
    return base.set_params(**settings)


def _refitted(
    base: Learner, best: Outcome, everything: Part, threads: int | None, rows: int, groups: str | None
) -> Learner:
    """The best settings on all rows, for as many epochs as were best on the validation rows.

    Its parameters are those of the trial: a clone would hold out rows again, and stop by itself. `groups` is the name
    of a column that is no feature.
    """
    epochs = max(best.epochs, 1)

    def stop(run: Run) -> str | None:  # the schedules are those of the full length
        return f"as many epochs as were best on the validation rows, {epochs}" if run.epoch >= epochs else None

    estimator = with_settings(base, best.settings).set_params(threads=threads)
    params = estimator.get_params(deep=False)
    changes: Settings = {"early_stopping": False, "n_iter_no_change": np.inf, "patience": None, "importances": False}
    if "early_stopping" not in params:
        changes["validation_fraction"] = 0.0
    if isinstance(estimator, BaseTabularMLP):  # "auto" as with the rows of a trial: a longer schedule has other epochs
        recipe = estimator.get_recipe(rows)
        changes |= {name: recipe[name] for name in ("max_iter", "batch_size")}
    changes = {name: value for name, value in changes.items() if name in params}
    changes["callbacks"] = [*params["callbacks"], stop]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is meant
        estimator.set_params(**changes).fit(everything.X, everything.y, sample_weight=everything.weights, groups=groups)
    return estimator.set_params(**{name: params[name] for name in changes})
