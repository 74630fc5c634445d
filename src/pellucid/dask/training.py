"""A training by the workers of a cluster: each starts a process that runs JAX, and all of them are one run.

The processes are fresh ones: a process can join one run of JAX in its life, and a worker lives for many. Each is given
the partitions that its worker holds, and no others.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pellucid.dask.partitions import Partition
from pellucid.distributed.processes import free_address
from pellucid.engine.jax.lost import LOST
from pellucid.errors import PellucidError


class WorkerError(PellucidError, RuntimeError):
    """A training on a worker failed."""


def trained(client: Any, estimator: Any, partitions: Sequence[Partition]) -> Any:
    """The fitted estimator; the workers that hold partitions train it together."""
    from distributed import wait

    workers = sorted({partition.worker for partition in partitions})
    host = workers[0].rpartition("//")[2].rpartition(":")[0]
    (address,) = client.run(free_address, host, workers=workers[:1]).values()
    futures = [
        client.submit(
            work,
            estimator,
            {number: each.rows for number, each in enumerate(partitions) if each.worker == worker},
            address,
            len(workers),
            index,
            workers=[worker],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        for index, worker in enumerate(workers)
    ]
    try:
        wait(futures)
        failures = [future.exception() for future in futures if future.status == "error"]
        if failures:  # those that ended because another one did tell less
            raise min(failures, key=lambda failure: LOST in str(failure))
        return futures[0].result()
    finally:
        client.cancel(futures)


def work(estimator: Any, partitions: Mapping[int, tuple[Any, ...]], address: str, count: int, index: int) -> Any:
    """On a worker: one process of the training. The first one gives the fitted estimator, others nothing."""
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        Path(folder, "task").write_bytes(pickle.dumps((estimator, dict(partitions), address, count, index)))
        command = [sys.executable, "-m", "pellucid.dask.process", folder]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            last = "\n".join(done.stderr.strip().splitlines()[-5:])
            raise WorkerError(f"process {index} of {count} ended with exit code {done.returncode}: {last}")
        return pickle.loads(Path(folder, "fitted").read_bytes()) if index == 0 else None
