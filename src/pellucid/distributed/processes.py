"""Joining the processes of a run: who is the coordinator, how many are there, which one is this?"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, overload

from pellucid.data.dataset import Dataset
from pellucid.data.sharing import even_sharing
from pellucid.engine.jax.library import require_jax
from pellucid.engine.jax.lost import ProcessLost
from pellucid.errors import PellucidError

HEARTBEAT = 10
"""Seconds without a sign of life after which a process counts as gone."""


INTERRUPTED = "interrupted, which ends the run in all processes. Nothing is lost since the last checkpoint"


class CoordinatorError(PellucidError, ConnectionError):
    """The processes of a run did not come together."""


@dataclass(frozen=True)
class Launcher:
    """The variables by which a launcher tells a process who it is."""

    name: str
    index: str
    processes: str


LAUNCHERS = (
    Launcher("pellucid train --processes", "PELLUCID_INDEX", "PELLUCID_PROCESSES"),
    Launcher("mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    Launcher("mpirun (MPICH)", "PMI_RANK", "PMI_SIZE"),
    Launcher("srun (SLURM)", "SLURM_PROCID", "SLURM_NTASKS"),
)
COORDINATOR = "PELLUCID_COORDINATOR"

_joined: list[tuple[str, int, int]] = []


def join(
    coordinator: str | None = None,
    processes: int | None = None,
    index: int | None = None,
    *,
    timeout: float = 60.0,
) -> int:
    """Make this process one of several that train together. Call it once, ahead of anything that uses JAX.

    What is left out is read from the environment: mpirun and SLURM say how many processes there are and which one this
    is; `PELLUCID_COORDINATOR` has the address.

    Parameters
    ----------
    coordinator : str | None
        "host:port" at which process 0 waits for the others; the host must be reachable from all of them
    processes : int | None
        how many there are
    index : int | None
        which one this is, from 0
    timeout : float
        seconds to wait for the others

    Returns
    -------
    int
        the index

    Examples
    --------
    In each of four processes::

        pellucid.distributed.join("node0:7077", 4, index)
        rows = pellucid.distributed.share(len(table))
        model.fit(X[rows], y[rows], devices="all")
    """
    coordinator, processes, index = described(coordinator, processes, index, os.environ)
    if _joined:
        if _joined[0] == (coordinator, processes, index):
            return index
        raise CoordinatorError(f"this process has joined {_joined[0][0]} as number {_joined[0][2]} already")
    require_jax()
    import jax

    begin = time.monotonic()
    if index:
        _wait_for(coordinator, timeout)
    left = max(1, int(timeout - (time.monotonic() - begin)))
    preemption = jax.config.jax_enable_preemption_service
    jax.config.update("jax_enable_preemption_service", False)  # it would swallow SIGTERM, and the run go on
    try:
        jax.distributed.initialize(
            coordinator,
            processes,
            index,
            initialization_timeout=left,
            heartbeat_timeout_seconds=HEARTBEAT,
            shutdown_timeout_seconds=HEARTBEAT,
        )
        greet_all()
    except RuntimeError as error:
        raise CoordinatorError(
            f"process {index} of {processes}: not all processes have come to {coordinator} within {timeout:g} s. "
            f"Were all of them started, with this address and this number? ({str(error).splitlines()[0]:.200})"
        ) from error
    finally:
        jax.config.update("jax_enable_preemption_service", preemption)
    _joined.append((coordinator, processes, index))
    sys.excepthook = _ending_at_once(sys.excepthook)
    return index


@overload
def share(table: int) -> slice: ...


@overload
def share(table: Dataset) -> Dataset: ...


def share(table: int | Dataset) -> slice | Dataset:
    """The rows of a table that this process reads: an equal part of them, side by side in the order of processes.

    Of a `Dataset` each process then reads and holds its own rows alone; classes, preprocessing and validation rows are
    those of all. Call it in all processes at once: they may have to count rows.

    Parameters
    ----------
    table : int | Dataset
        the number of rows of the whole table; or the whole table as a `Dataset`, the same in all processes

    Returns
    -------
    slice or Dataset
        of this process; all rows where none has joined

    Examples
    --------
    >>> share(10)
    slice(0, 10, None)
    """
    _, processes, index = _joined[0] if _joined else ("", 1, 0)
    if isinstance(table, Dataset):
        return replace(table, sharing=even_sharing(table.source.blocks, processes, index))
    return slice(table * index // processes, table * (index + 1) // processes)


def described(
    coordinator: str | None, processes: int | None, index: int | None, environment: Mapping[str, str]
) -> tuple[str, int, int]:
    """Address, number and index, out of the environment where they are not given; an error where they are nowhere."""
    for launcher in LAUNCHERS:
        if launcher.index in environment and launcher.processes in environment:
            processes = int(environment[launcher.processes]) if processes is None else processes
            index = int(environment[launcher.index]) if index is None else index
            break
    coordinator = environment.get(COORDINATOR) if coordinator is None else coordinator
    if processes is None or index is None:
        raise CoordinatorError(
            "how many processes are there, and which one is this? Give join(coordinator, processes, index), or start "
            f"them by one of {', '.join(launcher.name for launcher in LAUNCHERS)}"
        )
    if coordinator is None:
        raise CoordinatorError(
            f"at which address do the processes meet? Give join('host:port', ...), or set {COORDINATOR}"
        )
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isdecimal():
        raise CoordinatorError(f"the coordinator is an address 'host:port', got {coordinator!r}")
    if not 0 <= index < processes:
        raise CoordinatorError(f"the index of a process is one of 0 ... {processes - 1}, got {index}")
    return coordinator, processes, index


def greet_all() -> None:
    """A first exchange: from here on each process is connected to the others, and sees at once when one is gone."""
    from pellucid.engine.jax.processes import count, gathered

    if count() > 1:
        gathered(0)


def free_address(host: str) -> str:
    """Where processes may meet: a port of this machine that nobody uses, at the name by which others know it."""
    with socket.socket() as free:
        free.bind((host, 0))
        return f"{host}:{free.getsockname()[1]}"


def _wait_for(coordinator: str, timeout: float) -> None:
    """Until somebody answers at this address."""
    host, _, port = coordinator.rpartition(":")
    end = time.monotonic() + timeout
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=max(0.1, end - time.monotonic())).close()
            return
        except OSError as error:
            if time.monotonic() >= end:
                raise CoordinatorError(
                    f"nobody answers at {coordinator} after {timeout:g} s ({error}): process 0 must be started there, "
                    "with the same address, and be reachable from here"
                ) from error
            time.sleep(0.1)


def _ending_at_once(before: Callable[..., Any]) -> Callable[..., Any]:
    """A process that fails does not wait for the others at its end: they could not go on without it."""

    def hook(kind: Any, error: Any, trace: Any) -> None:
        interrupted = isinstance(error, KeyboardInterrupt)
        if interrupted or isinstance(error, ProcessLost):
            print(f"pellucid: {INTERRUPTED if interrupted else error}", file=sys.stderr, flush=True)
        else:
            before(kind, error, trace)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(128 + signal.SIGINT if interrupted else 1)

    return hook
