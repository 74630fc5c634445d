"""A bar on the terminal while a search runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pellucid.estimators.tuning.rounds import ROUND, Search


@contextmanager
def shown(search: Search, begin: float, budget: float, verbose: bool) -> Iterator[None]:
    """A bar on the terminal, with the best value so far."""
    if not verbose:
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task, ended = progress.add_task("tuning", total=1.0), threading.Event()

        def draw() -> None:
            while not ended.wait(0.2):
                done, now = list(search.done), sum(f.done() for f in search.running) % ROUND
                known = [(out.value, out.sign * out.value, out.metric) for _, out in done if out.value is not None]
                text = f"{len(done) + now} trials"
                if known:
                    _, value, name = max(known)
                    text += f", best {name} {value:.4g}"
                share = max((len(done) + now) / search.trials, (time.monotonic() - begin) / budget)
                progress.update(task, description=text, completed=min(share, 1.0))

        drawing = threading.Thread(target=draw, daemon=True)
        drawing.start()
        try:
            yield
        finally:
            ended.set()
            drawing.join()
