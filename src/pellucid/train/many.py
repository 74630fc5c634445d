"""Many models at once over shared data: folds, bags, seeds, a search. One model on each thread."""

from __future__ import annotations

import contextvars
import copy
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from pellucid.errors import ShapeError
from pellucid.train.batches import take_rows
from pellucid.train.history import History
from pellucid.train.loop import HALT
from pellucid.train.model import Model


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
    for name, given in (("rows", rows), ("seeds", seeds)):
        if given is not None and len(given) != len(models):
            raise ShapeError(f"fit_many: {name} has {len(given)} entries for {len(models)} models: give one for each")
    from pellucid.engine.native.blas import LANE
    from pellucid.engine.native.run import default_threads

    halt, count = threading.Event(), min(threads or default_threads(), len(models)) or 1
    lanes: SimpleQueue[int] = SimpleQueue()
    for lane in range(count):
        lanes.put(lane)

    def work(i: int) -> History:
        HALT.set(halt)
        lane = lanes.get()
        LANE.set(lane)
        model, own = models[i], copy.deepcopy({k: v for k, v in fit.items() if k == "callbacks"})
        before, model.threads = model.threads, 1
        try:
            part = rows[i] if rows is not None else None
            weights = fit.get("sample_weight")
            if part is not None and weights is not None:
                own["sample_weight"] = take_rows(weights, part)
            seed = {} if seeds is None else {"seed": int(seeds[i])}
            data = (X, y) if part is None else (take_rows(X, part), take_rows(y, part))
            return model.fit(*data, **{**fit, **own, **seed, "verbose": False})
        finally:
            model.threads = before
            lanes.put(lane)

    with ThreadPoolExecutor(count, thread_name_prefix="pellucid") as pool:
        futures = [pool.submit(contextvars.copy_context().run, work, i) for i in range(len(models))]
        try:
            _watch(futures, verbose)
        except KeyboardInterrupt:
            halt.set()
            for future in futures:
                future.cancel()
            raise
    for i, future in enumerate(futures):
        error = future.exception()
        if error is not None:
            error.add_note(f"in fit_many, model {i} of {len(models)}")
            raise error
    return [future.result() for future in futures]


def _watch(futures: list[Future[History]], verbose: bool) -> None:
    """Wait for all of them, with a bar on the terminal."""
    finished, left = threading.Event(), [len(futures)]

    def done(_: Any) -> None:
        left[0] -= 1
        if not left[0]:
            finished.set()

    for future in futures:
        future.add_done_callback(done)
    if not verbose:
        while not finished.wait(0.2):
            pass  # a wait without end would not hear Ctrl-C
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("training", total=len(futures))
        while not finished.wait(0.1):
            progress.update(task, completed=len(futures) - left[0])
