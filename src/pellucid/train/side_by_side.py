"""Many models: independent work side by side, one piece on each thread (bags, seeds, a search)."""

from __future__ import annotations

import contextvars
import copy
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any, TypeVar

from pellucid.amounts import WHOLE, check_whole, or_none
from pellucid.blas_threads import one_thread
from pellucid.data.splits import take_rows
from pellucid.engine.native.runtime.announcement import silent
from pellucid.errors import ShapeError
from pellucid.processors import default_threads
from pellucid.train.callbacks.screens import bar
from pellucid.train.engine_choice import DEVICES
from pellucid.train.history import History
from pellucid.train.loop.loop import HALT
from pellucid.train.model import Model

T = TypeVar("T")


def side_by_side(
    works: Sequence[Callable[[], T]], *, threads: int | None = None, verbose: bool = False, what: str = "piece"
) -> list[T]:
    """Call functions that know nothing of each other, one on each thread, and return what they return, in order.

    Ctrl-C ends all trainings among the works, and is raised. An error is raised when the others have finished; a note
    names the `what` it came from. `threads` is None for all processors; `verbose` shows a progress bar.

    >>> side_by_side([lambda: 1, lambda: "two"], threads=2)
    [1, 'two']
    """
    or_none(WHOLE, WHOLE.words).check("threads", threads)
    count, above, halt = len(works), HALT.get(), threading.Event()
    if DEVICES.get() is not None:  # all devices work on one training at a time, in the same order in all processes
        threads = 1
    workers = min(threads or default_threads(), count) or 1
    pool = ThreadPoolExecutor(workers, thread_name_prefix="pellucid")
    with one_thread(), pool, bar("training", verbose) as draw:
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
    >>> import numpy as np
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

    def work(i: int) -> History:
        model, own = models[i], copy.deepcopy({k: v for k, v in fit.items() if k == "callbacks"})
        threads_of_model, model.threads = model.threads, 1
        try:
            part = rows[i] if rows is not None else None
            weights = fit.get("sample_weight")
            if part is not None and weights is not None:
                own["sample_weight"] = take_rows(weights, part)
            seed = {} if seeds is None else {"seed": int(seeds[i])}
            data = (X, y) if part is None else (take_rows(X, part), take_rows(y, part))
            return model.fit(*data, **{**fit, **own, **seed, "verbose": False})
        finally:
            model.threads = threads_of_model

    works = [partial(work, i) for i in range(len(models))]
    with silent(not verbose):
        return side_by_side(works, threads=threads, verbose=verbose, what="fit_many, model")
