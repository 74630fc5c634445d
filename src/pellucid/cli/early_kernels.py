"""What a training computes with, made from the first rows of its table while the others are being read."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from importlib import import_module

from pellucid.cli.failures import Failure
from pellucid.cli.prepared_table import first_of_table
from pellucid.cli.settings import TrainSettings
from pellucid.cli.unfitted_estimator import unfitted


@contextlib.contextmanager
def kernels_meanwhile(settings: TrainSettings) -> Iterator[None]:
    """Load the engine, and make the kernels of a training, beside what is done in this block.

    When it ends, they are there. They are kept by what they compute: if the rows that come later ask for others, those
    are made when they are needed, as ever.
    """
    thread, collecting = threading.Thread(target=_make, args=(settings,)), gc.isenabled()
    gc.disable()  # of all that is recorded nothing is garbage yet, and looking for some takes a seventh of the time
    thread.start()
    try:
        yield
    finally:
        thread.join()
        if collecting:
            gc.enable()


def _make(settings: TrainSettings) -> None:
    """What is wrong with the table, or with the engine, is told where all rows are read, and where it is used."""
    with contextlib.suppress(Failure, ValueError, TypeError, OSError, ImportError):
        import_module("pellucid.train.loop.native_steps")
        first = first_of_table(settings)
        if first is None:
            return
        from pellucid.estimators.warmup import warmup_fit

        warmup_fit(unfitted(settings, first.target), first.X, first.target.values, first.rows)
