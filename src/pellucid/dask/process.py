"""One process of a training on Dask: `python -m pellucid.dask.process FOLDER`, started by a worker."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Fit the estimator of a task together with the others; process 0 leaves it in the folder."""
    from pellucid.dask.shared_table import shared_table
    from pellucid.distributed import join
    from pellucid.train.engine_choice import on_engine

    estimator, partitions, address, count, index = pickle.loads((folder / "task").read_bytes())
    (folder / "task").unlink()
    join(address, count, index)
    with on_engine("jax", devices="all"):
        estimator.fit(shared_table(partitions, count, index))
    if index == 0:
        (folder / "fitted").write_bytes(pickle.dumps(estimator))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
