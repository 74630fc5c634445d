"""`pellucid train --processes N`: the same command in N processes of this machine, one training by all of them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pellucid.cli.failures import Failure
from pellucid.distributed.processes import COORDINATOR, LAUNCHERS, free_address
from pellucid.engine.jax.library import require_jax

OURS = LAUNCHERS[0]
GRACE = 5.0
"""Seconds that the others have to end by themselves when one has failed."""


def is_one_of_several() -> bool:
    """Was this process started by `launch`?"""
    return OURS.index in os.environ


def hush_libraries() -> None:
    """What libraries of C++ print by themselves does not get between our words: only Python writes to the output."""
    ours = os.fdopen(os.dup(1), "w", encoding=sys.stdout.encoding, buffering=1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    sys.stdout = ours


@contextlib.contextmanager
def trained_together() -> Iterator[None]:
    """Join the others; all trainings inside are made by all of them."""
    from pellucid.distributed import join
    from pellucid.train.engine_choice import on_engine

    join()
    with on_engine("jax", devices="all"):
        yield


def launch(words: Sequence[str], count: int, resume: Path | None) -> None:
    """Run `pellucid train` with these words in `count` processes. The first one speaks and writes; others only work."""
    require_jax()
    address = free_address("127.0.0.1")
    with tempfile.TemporaryDirectory(prefix="pellucid-") as folder:
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for index in range(count):
                variables = {COORDINATOR: address, OURS.processes: str(count), OURS.index: str(index)}
                own = [*words] if not index else [*words, *_elsewhere(Path(folder, str(index)), resume), "--quiet"]
                command, environment = [sys.executable, "-m", "pellucid", "train", *own], os.environ | variables
                if not index:
                    processes.append(subprocess.Popen(command, env=environment))
                    continue
                with Path(folder, f"{index}.txt").open("wb") as notes:
                    quiet = subprocess.DEVNULL
                    processes.append(subprocess.Popen(command, env=environment, stdout=quiet, stderr=notes))
            _wait(processes, Path(folder))
        finally:
            for process in processes:
                process.kill()
                process.wait()


def _elsewhere(path: Path, resume: Path | None) -> list[str]:
    """Words by which a process that only works leaves the run's folder alone."""
    if resume is None:
        return ["--out", str(path)]
    shutil.copytree(resume, path)
    return ["--resume", str(path)]


def _wait(processes: list[subprocess.Popen[bytes]], folder: Path) -> None:
    """Until all have ended; where one fails, the others are ended, too."""
    while any(process.poll() is None for process in processes):
        failed = [index for index, process in enumerate(processes) if process.poll()]
        if failed:
            end = time.monotonic() + GRACE
            while time.monotonic() < end and any(process.poll() is None for process in processes):
                time.sleep(0.05)
            break
        time.sleep(0.05)
    failed = [index for index, process in enumerate(processes) if process.poll() != 0]
    if not failed:
        return
    first = min(failed, key=lambda index: (processes[index].poll() is None, index == 0))
    notes = folder / f"{first}.txt"
    last = notes.read_text(errors="replace").strip().splitlines()[-1:] if notes.exists() else []
    said = f": {last[0]}" if last else ""
    raise Failure(
        f"process {first} of {len(processes)} ended with exit code {processes[first].poll()}{said}. All have been "
        "ended; pellucid train --resume completes the run, with any number of processes"
    )
