"""One process of a training on Dask: `python -m pellucid.dask.process FOLDER`, started by a worker."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Fit the estimator of a task together with the others; process 0 leaves it in the folder."""
    from pellucid.distributed import join
    from pellucid.train.engine_choice import on_engine

    estimator, (X, y, *weights), address, count, index = pickle.loads((folder / "task").read_bytes())
    join(address, count, index)
    with on_engine("jax", devices="all"):
        estimator.fit(X, y, *([] if not weights else [weights[0]]))
    if index == 0:
        (folder / "fitted").write_bytes(pickle.dumps(estimator))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
