"""Many models: independent work side by side, one piece on each thread (bags, seeds, a search); folds in turn."""

from __future__ import annotations

import contextvars
import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from pellucid.amounts import WHOLE, check_whole, is_whole, or_none
from pellucid.data.dependence import column_of_groups, dependence_of, splitter_folds
from pellucid.data.named_columns import without_column
from pellucid.data.splits import are_classes, shuffled_folds, take_rows
from pellucid.engine.native.announcement import silent
from pellucid.engine.native.processors import default_threads
from pellucid.errors import ShapeError
from pellucid.markup import Brief
from pellucid.train.apart import Task, in_processes, run_apart
from pellucid.train.callbacks.screens import bar
from pellucid.train.history import History
from pellucid.train.loop.ending import EndingKind
from pellucid.train.loop.loop import HALT
from pellucid.train.model import DEVICES, Model

T = TypeVar("T")


def side_by_side(
    works: Sequence[Callable[[], T]], *, threads: int | None = None, verbose: bool = False, what: str = "piece"
) -> list[T]:
    """Call functions that know nothing of each other, one on each thread, and return what they return, in order.

    Ctrl-C ends all trainings among the works, and is raised. An error is raised when the others have finished; a note
    names the `what` it came from. `threads` is None for all processors; `verbose` shows a progress bar. `Task`s go to
    other processes where the user has chosen a backend of joblib that has some.

    >>> side_by_side([lambda: 1, lambda: "two"], threads=2)
    [1, 'two']
    """
    or_none(WHOLE, WHOLE.words).check("threads", threads)
    tasks = [work for work in works if isinstance(work, Task)]
    if len(tasks) == len(works) > 0 and in_processes():
        return run_apart(tasks, threads)
    count, above, halt = len(works), HALT.get(), threading.Event()
    if DEVICES.get() is not None:  # all devices work on one training at a time, in the same order in all processes
        threads = 1
    workers = min(threads or default_threads(), count) or 1
    with ThreadPoolExecutor(workers, thread_name_prefix="pellucid") as pool, bar("training", verbose) as draw:
        try:
            futures = [pool.submit(contextvars.copy_context().run, _halted_by, halt, work) for work in works]
            while unfinished := wait(futures, timeout=0.1).not_done:  # a wait without end would not hear Ctrl-C
                if above is not None and above.is_set():
                    halt.set()
                done = count - len(unfinished)
                draw(done / count, f"training: {done} of {count}")
            draw(1.0, f"training: {count} of {count}")
        except BaseException:  # Ctrl-C, also while the first works are running and others not yet handed out
            halt.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for i, future in enumerate(futures):
        error = future.exception()
        if error is not None:
            error.add_note(f"in {what} {i} of {count}")
            raise error
    return [future.result() for future in futures]


def _halted_by(halt: threading.Event, work: Callable[[], T]) -> T:
    """What a work returns; `halt` ends its trainings."""
    HALT.set(halt)
    return work()


def fit_many(
    models: Sequence[Model],
    X: Any,
    y: Any,
    *,
    rows: Sequence[Any] | None = None,
    seeds: Sequence[int] | None = None,
    threads: int | None = None,
    verbose: bool = True,
    **fit: Any,
) -> list[History]:
    """Train independent models on the same data, one on each thread, and return their histories.

    Each model computes on one thread, so the results are those of `model.fit` with `threads=1`, whatever the number
    of threads here. An error in one model is raised when the others have finished; it names the model.

    Parameters
    ----------
    models : Sequence[Model]
        to be trained; they may differ
    X : array of shape (n, features)
        rows
    y : array of shape (n,) or (n, outputs)
        their target
    rows : Sequence[Any] | None
        the row numbers of each model (folds, bootstrap samples); None is all rows for each
    seeds : Sequence[int] | None
        the seed of each model
    threads : int | None
        models at work at a time; None is all processors
    verbose : bool
        show how many are done
    **fit
        everything else goes to `Model.fit`, callbacks as copies, one for each model

    Returns
    -------
    list of History
        one for each model

    Examples
    --------
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    >>> models = [Model(nn.mlp((4,), 1)) for _ in range(3)]
    >>> histories = fit_many(models, X, X[:, 0], seeds=[0, 1, 2], epochs=2, verbose=False)
    >>> [len(h.epochs) for h in histories]
    [2, 2, 2]
    """
    if len({id(m) for m in models}) != len(models):
        raise ValueError("fit_many: a model is listed twice; each must be a model of its own")
    for name, entries in (("rows", rows), ("seeds", seeds)):
        if entries is not None and len(entries) != len(models):
            raise ShapeError(f"fit_many: {name} has {len(entries)} entries for {len(models)} models: give one for each")

    for seed in () if seeds is None else seeds:
        check_whole(0, **{"fit_many: a seed": seed})

    def own(i: int) -> tuple[Any, ...]:
        return models[i], None if rows is None else rows[i], {} if seeds is None else {"seed": int(seeds[i])}

    works = [Task(_fitted, own(i), (X, y, fit)) for i in range(len(models))]
    with silent(not verbose):
        outcomes = side_by_side(works, threads=threads, verbose=verbose, what="fit_many, model")
    for model, (fitted, _) in zip(models, outcomes, strict=True):
        if fitted is not model:  # it was trained in another process
            vars(model).update(vars(fitted))
    return [history for _, history in outcomes]


def _fitted(
    model: Model, part: Any, seed: Mapping[str, int], X: Any, y: Any, fit: Mapping[str, Any]
) -> tuple[Model, History]:
    """A model on one thread, trained on some of the rows (None: all), with callbacks of its own."""
    own = copy.deepcopy({k: v for k, v in fit.items() if k == "callbacks"})
    threads, model.threads = model.threads, 1
    try:
        weights = fit.get("sample_weight")
        if part is not None and weights is not None:
            own["sample_weight"] = take_rows(weights, part)
        data = (X, y) if part is None else (take_rows(X, part), take_rows(y, part))
        return model, model.fit(*data, **{**fit, **own, **seed, "verbose": False})
    finally:
        model.threads = threads


@dataclass(frozen=True, repr=False)
class Folds(Brief):
    """The metrics of each fold on the rows it had not seen.

    Parameters
    ----------
    rows : tuple[dict[str, float], ...]
        loss and metrics of each fold, by name
    """

    rows: tuple[dict[str, float], ...]

    def mean(self, name: str = "loss") -> float:
        """The mean over the folds.

        Parameters
        ----------
        name : str
            of a metric
        """
        return float(np.mean([row[name] for row in self.rows]))

    def std(self, name: str = "loss") -> float:
        """The deviation over the folds.

        Parameters
        ----------
        name : str
            of a metric
        """
        return float(np.std([row[name] for row in self.rows], ddof=1))

    def __str__(self) -> str:
        names = list(self.rows[0])
        lines = ["fold  " + "  ".join(f"{name:>12}" for name in names)]
        lines += [f"{i:<4}  " + "  ".join(f"{row[n]:12.6g}" for n in names) for i, row in enumerate(self.rows, 1)]
        lines.append("mean  " + "  ".join(f"{self.mean(n):12.6g}" for n in names))
        return "\n".join(lines)


def cross_validate(
    make: Callable[[], Model],
    X: Any,
    y: Any,
    *,
    folds: Any = 5,
    groups: Any = None,
    time: Any = None,
    prepare: Any = None,
    sample_weight: Any = None,
    seed: int = 0,
    **fit: Any,
) -> Folds:
    """K-fold cross-validation of any model.

    Parameters
    ----------
    make : Callable[[], Model]
        gives a fresh model
    X : array of shape (n, features)
        rows
    y : array of shape (n,) or (n, outputs)
        their target
    folds : int | splitter
        a number (stratified for classes), or a splitter of scikit-learn
    groups : array of shape (n,) or str
        labels, or the name of a column of X, which is no feature then: rows of one group are trained on or held out
        together. Goes to the splitter, if there is one
    time : array of shape (n,) or str
        numbers, dates or ISO texts, or the name of a column of X: each fold is trained on what was before it
    prepare : transformer
        with fit and transform (a scaler): it is cloned and fitted on the training rows of each fold alone, so
        nothing leaks from the held-out rows
    sample_weight : array of shape (n,)
        how much each row counts
    seed : int
        of the folds and of each fit
    **fit
        goes to `Model.fit`

    Returns
    -------
    Folds
        the metrics of each fold on the rows it had not seen

    Examples
    --------
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = cross_validate(lambda: Model(nn.mlp((4,), 1)), X, X[:, 0], folds=3, epochs=2, verbose=False)
    >>> len(found.rows)
    3
    """
    labels = np.asarray(y)
    check_whole(0, seed=seed)
    if isinstance(folds, str) or not hasattr(folds, "split"):
        if not is_whole(folds, 2):
            raise ValueError(f"folds is a whole number from 2, or a splitter of scikit-learn, got {folds!r}")
        strata = labels if are_classes(labels) else None
        splits = shuffled_folds(len(labels), folds, strata, seed, dependence_of(X, groups, time))
    else:
        splits = splitter_folds(folds, X, labels, groups, time)
    X = without_column(X, column_of_groups(groups))
    shared = (make, X, y, prepare, sample_weight, seed, fit)
    tasks = [Task(_fold, (train, held), shared) for train, held in splits]
    return Folds(tuple(run_apart(tasks, None) if in_processes() else [task() for task in tasks]))


def _fold(
    train: Any,
    held: Any,
    make: Callable[[], Model],
    X: Any,
    y: Any,
    prepare: Any,
    sample_weight: Any,
    seed: int,
    fit: Mapping[str, Any],
) -> dict[str, float]:
    """The metrics of one fold on the rows that it has not seen."""
    from sklearn.base import clone

    X_train, X_held = take_rows(X, train), take_rows(X, held)
    if prepare is not None:
        fitted = clone(prepare).fit(X_train)
        X_train, X_held = fitted.transform(X_train), fitted.transform(X_held)
    model = make()
    weights = [None if sample_weight is None else take_rows(sample_weight, part) for part in (train, held)]
    own = copy.deepcopy(dict(fit))  # each fold with callbacks of its own
    history = model.fit(X_train, take_rows(y, train), sample_weight=weights[0], seed=seed, **own)
    if history.ending is not None and history.ending.kind is EndingKind.INTERRUPTED:
        raise KeyboardInterrupt
    return model.evaluate(X_held, take_rows(y, held), weights[1])
