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
from contextlib import suppress
from pathlib import Path
from typing import Any

from pellucid.dask.partitions import Partition
from pellucid.distributed.processes import free_address
from pellucid.engine.jax.lost import LOST
from pellucid.errors import PellucidError
from pellucid.notices import notice

PERIOD = 0.5
"""Seconds between two looks at whether all are still there."""


class WorkerError(PellucidError, RuntimeError):
    """A training on a worker failed."""


def trained(client: Any, estimator: Any, partitions: Sequence[Partition]) -> Any:
    """The fitted estimator; the workers that hold partitions train it together."""
    from distributed.comm import get_address_host

    workers = sorted({partition.worker for partition in partitions})
    (address,) = client.run(free_address, get_address_host(workers[0]), workers=workers[:1]).values()
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
        wait_for(client, futures, workers)
        fitted, told = futures[0].result()
    finally:
        client.cancel(futures)  # also when the user has had enough: see `work`
    for text, kind in told:
        notice(text, kind)
    return fitted


def wait_for(client: Any, futures: Sequence[Any], workers: Sequence[str]) -> None:
    """Until all have ended; an error as soon as one of them has failed, or its worker is gone."""
    from distributed import wait

    while True:
        with suppress(TimeoutError):
            wait(futures, timeout=PERIOD)
        failures = [future.exception() for future in futures if future.status == "error"]
        ended = all(future.done() for future in futures)
        if failures:  # those that ended because another one did tell less, and come first
            failure = min(failures, key=lambda failure: LOST in str(failure))
            if ended or LOST not in str(failure):
                raise failure
        elif ended:
            return
        gone = set(workers) - set(client.nthreads())
        if gone:
            raise WorkerError(
                f"the worker {', '.join(sorted(gone))} is gone, and its rows with it: see its log for why (killed? out "
                "of memory?), and fit again"
            )


def work(estimator: Any, partitions: Mapping[int, tuple[Any, ...]], address: str, count: int, index: int) -> Any:
    """On a worker: one process of the training. The first one gives the fitted estimator and what it warned of."""
    with tempfile.TemporaryDirectory(prefix="pellucid-") as name:
        folder = Path(name)
        (folder / "task").write_bytes(pickle.dumps((estimator, dict(partitions), address, count, index)))
        command = [sys.executable, "-m", "pellucid.dask.process", name]
        with (
            (folder / "errors").open("w") as errors,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors) as process,
        ):
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(PERIOD)
                if not still_wanted():
                    process.kill()
        if process.returncode:
            last = "\n".join((folder / "errors").read_text().strip().splitlines()[-5:])
            raise WorkerError(f"process {index} of {count} ended with exit code {process.returncode}: {last}")
        return pickle.loads((folder / "fitted").read_bytes()) if index == 0 else None


def still_wanted() -> bool:
    """Has nobody cancelled this task? Dask itself does not end a task that runs."""
    from distributed import get_worker

    worker = get_worker()
    task = worker.state.tasks.get(worker.get_current_task())
    return task is not None and task.state != "cancelled"
