"""One process of a training on Dask: `python -m pellucid.dask.process FOLDER`, started by a worker."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import warnings
from pathlib import Path

QUEUE = 600.0
"""Seconds to wait for the processes of other workers, which may have something else to do first."""


def main(folder: Path) -> None:
    """Fit the estimator of a task together with the others; process 0 leaves it in the folder, and its warnings."""
    threading.Thread(target=end_with_the_worker, daemon=True).start()
    from pellucid.dask.shared_table import shared_table
    from pellucid.distributed import join
    from pellucid.train.engine_choice import on_engine

    estimator, partitions, address, count, index = pickle.loads((folder / "task").read_bytes())
    (folder / "task").unlink()
    join(address, count, index, timeout=QUEUE)
    with warnings.catch_warnings(record=True) as caught, on_engine("jax", devices="all"):
        warnings.simplefilter("always")
        estimator.fit(shared_table(partitions, count, index))
    if index == 0:
        told = [(str(one.message), one.category) for one in caught]
        (folder / "fitted").write_bytes(pickle.dumps((estimator, told)))


def end_with_the_worker() -> None:
    """A worker that is gone, however it went, no longer holds the other end of the standard input."""
    os.read(sys.stdin.fileno(), 1)  # nothing is ever written: it returns at the end
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
