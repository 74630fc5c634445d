"""Independent work side by side, one piece on each thread; many models at once: folds, bags, seeds, a search."""

from __future__ import annotations

import contextvars
import copy
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from pellucid.amounts import check_whole
from pellucid.data.splits import take_rows
from pellucid.engine.native.announcement import silent
from pellucid.errors import ShapeError
from pellucid.train.callbacks.screens import bar
from pellucid.train.history import History
from pellucid.train.loop.loop import HALT
from pellucid.train.model import Model

T = TypeVar("T")


def side_by_side(
    works: Sequence[Callable[[], T]], *, threads: int | None = None, verbose: bool = False, what: str = "piece"
) -> list[T]:
    """Call functions that know nothing of each other, one on each thread, and return what they return, in order.

    Each thread has a matrix library of its own, so that they do not wait for each other. Ctrl-C ends all trainings
    among the works, and is raised. An error is raised when the others have finished; a note names the `what` it came
    from. `threads` is None for all processors; `verbose` shows a progress bar.

    >>> side_by_side([lambda: 1, lambda: "two"], threads=2)
    [1, 'two']
    """
    if threads is not None:
        check_whole(threads=threads)
    from pellucid.engine.native.blas import LANE
    from pellucid.engine.native.processors import default_threads

    count = min(threads or default_threads(), len(works)) or 1
    halt, above = threading.Event(), HALT.get()
    lanes: SimpleQueue[int] = SimpleQueue()
    for lane in range(count):
        lanes.put(lane)

    def call(work: Callable[[], T]) -> T:
        HALT.set(halt)
        lane = lanes.get()
        LANE.set(lane)
        try:
            return work()
        finally:
            lanes.put(lane)

    with ThreadPoolExecutor(count, thread_name_prefix="pellucid") as pool:
        futures: list[Future[T]] = []
        try:
            for work in works:
                futures.append(pool.submit(contextvars.copy_context().run, call, work))
            _watch(futures, verbose, halt, above)
        except BaseException:  # Ctrl-C, also while the first works are running and others not yet handed out
            halt.set()
            for future in futures:
                future.cancel()
            raise
    for i, future in enumerate(futures):
        error = future.exception()
        if error is not None:
            error.add_note(f"in {what} {i} of {len(works)}")
            raise error
    return [future.result() for future in futures]


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

    `rows` has the row numbers of each model (folds, bootstrap samples), `seeds` its seed; everything else goes to
    `Model.fit`, callbacks as copies, one for each model. Each model computes on one thread, so the results are those
    of `model.fit` with `threads=1`, whatever the number of threads here. An error in one model is raised when the
    others have finished; it names the model.

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


def _watch(futures: list[Future[T]], verbose: bool, halt: threading.Event, above: threading.Event | None) -> None:
    """Wait for all of them, with a bar on the terminal. A halt from above is passed on."""
    finished, left, lock = threading.Event(), [len(futures)], threading.Lock()

    def done(_: Any) -> None:
        with lock:
            left[0] -= 1
            if not left[0]:
                finished.set()

    for future in futures:
        future.add_done_callback(done)
    if not futures:
        finished.set()

    def wait(seconds: float) -> bool:  # a wait without end would not hear Ctrl-C
        if above is not None and above.is_set():
            halt.set()
        return finished.wait(seconds)

    if not verbose:
        while not wait(0.2):
            pass
        return
    with bar("training") as draw:
        while not wait(0.1):
            done_now = len(futures) - left[0]
            draw(done_now / len(futures), f"training: {done_now} of {len(futures)}")
        draw(1.0, f"training: {len(futures)} of {len(futures)}")
