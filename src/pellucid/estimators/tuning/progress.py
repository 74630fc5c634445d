"""A bar while a search runs."""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pellucid.estimators.tuning.rounds import ROUND, Search
from pellucid.train.callbacks.screens import bar


@contextmanager
def shown(search: Search, begin: float, budget: float, verbose: bool) -> Iterator[None]:
    """A bar on the terminal or in the notebook, with the best value so far."""
    if not verbose:
        yield
        return
    with bar("tuning") as draw:
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(0.2):
                now = len(search.done) + sum(f.done() for f in search.running) % ROUND
                share = max(now / search.trials, (time.monotonic() - begin) / budget)
                draw(min(share, 1.0), _words(search, now))

        # a notebook's kernel knows by the context which cell is running
        drawing = threading.Thread(target=contextvars.copy_context().run, args=(watch,), daemon=True)
        drawing.start()
        try:
            yield
        finally:
            ended.set()
            drawing.join()
            draw(1.0, _words(search, len(search.done)))


def _words(search: Search, trials: int) -> str:
    values = [(out.value, out.sign * out.value, out.metric) for _, out in list(search.done) if out.value is not None]
    if not values:
        return f"{trials} trials"
    _, value, name = max(values)
    return f"{trials} trials, best {name} {value:.4g}"
