"""The coordinator: starts the workers, and lets them run in turns."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.contestants import CONTESTANTS
from benchmarks.meter import BUSY, Meter, process_ticks, wait_for_quiet
from benchmarks.timing import Result

ROOT = Path(__file__).parent.parent


class WorkerError(Exception):
    """What a worker could not do."""


def environment(threads: int, source: Path | None = None) -> dict[str, str]:
    """Every thread pool of this size; the package from `source`, if that is not the installed one."""
    pools = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "NUMBA")
    found = os.environ | {f"{pool}_NUM_THREADS": str(threads) for pool in pools} | {"NPROC": str(threads)}
    if threads == 1:
        found["XLA_FLAGS"] = f"{found.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false".strip()
    paths = [*([] if source is None else [str(source)]), str(ROOT), *filter(None, [found.get("PYTHONPATH")])]
    return found | {"PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "cpu"}


class Worker:
    """A contestant's process. Ours may have its package from another `source`."""

    def __init__(self, name: str, threads: int, source: Path | None = None) -> None:
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the worker)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", CONTESTANTS[name].module, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=environment(threads, source),
            start_new_session=True,  # its helpers, too, are known by the session
        )

    def prepare(self, job: str, spec: dict[str, Any]) -> None:
        self._ask({"job": job, "spec": spec})

    def run(self, n: int) -> tuple[float, Any]:
        """Seconds, and what the work returned."""
        answer = self._ask({"run": n})
        return answer["seconds"], answer["value"]

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            raise WorkerError(f"the process ended: {self.log.read()[-400:]}")
        answer: dict[str, Any] = json.loads(line)
        self._settle()
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer

    def _settle(self, at_most: float = 0.5) -> None:
        """Wait until the threads of its pools have stopped spinning."""
        until = time.perf_counter() + at_most
        before = process_ticks(self.process.pid)
        while time.perf_counter() < until:
            time.sleep(0.03)
            now = process_ticks(self.process.pid)
            if now == before > 0:
                return
            before = now

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)  # with its helpers
            self.process.wait()
        self.log.close()


class Crew:
    """The workers, started when first needed and kept until the end."""

    def __init__(self) -> None:
        self._workers: dict[tuple[str, int], Worker] = {}

    @property
    def sessions(self) -> set[int]:
        return {worker.process.pid for worker in self._workers.values()}

    def __getitem__(self, key: tuple[str, int]) -> Worker:
        if key not in self._workers or self._workers[key].process.poll() is not None:
            self._workers[key] = Worker(*key)
        return self._workers[key]

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self._workers.values():
            worker.close()


@dataclass
class Racer:
    """A contestant with a number of threads. `n` is how many pieces of work fill a round."""

    peer: str
    threads: int
    worker: Worker
    n: int
    trial: float
    times: list[float] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


def race(
    crew: Crew,
    name: str,
    job: str,
    spec: dict[str, Any],
    who: tuple[str, ...],
    *,
    units: float = 1.0,
    unit: str = "call",
    rounds: int = 9,
    seconds: float = 0.3,
    seeded: str = "",
) -> Result:
    """Interleaved rounds; in each, every contestant works for about `seconds`. One piece of work counts as `units`.

    A round in which others used the machine is done again, unless that happens too often. Of a contestant's numbers
    of threads the one with the better median counts. `seeded` is for work whose argument is a seed: it is done once in
    a round, and `seeded` names what it returns.
    """
    patience = 100 * seconds
    patience -= wait_for_quiet(patience)
    racers, failures = _entered(crew, job, spec, who, seconds, bool(seeded))
    foreign, spoilt = [], 0
    while len(foreign) < rounds:
        patience -= wait_for_quiet(patience)
        meter = Meter(crew.sessions)
        for racer in racers:
            took, value = racer.worker.run(len(foreign) + 1 if seeded else racer.n)
            racer.times[len(foreign) :] = [took / (units if seeded else units * racer.n)]
            racer.values[len(foreign) :] = [value]
        share = meter.foreign()
        if share > BUSY and spoilt < rounds // 2:
            spoilt += 1
        else:
            foreign.append(share)
    best = _best(racers)
    notes = {peer: f"{racer.threads} thread{'s' * (racer.threads > 1)}" for peer, racer in best.items()}
    if seeded:
        notes = {peer: f"{notes[peer]}, {statistics.median(best[peer].values):g} {seeded}" for peer in best}
    times = {peer: best[peer].times for peer in who if peer in best}
    return Result(name, times, unit, notes, failures, statistics.median(foreign))


def _best(racers: list[Racer]) -> dict[str, Racer]:
    """Each contestant with its better number of threads."""
    found: dict[str, Racer] = {}
    for racer in sorted(racers, key=lambda racer: statistics.median(racer.times)):
        found.setdefault(racer.peer, racer)
    return found


def _entered(
    crew: Crew, job: str, spec: dict[str, Any], who: tuple[str, ...], seconds: float, seeded: bool
) -> tuple[list[Racer], dict[str, str]]:
    """Everyone who can do the job, without numbers of threads that are clearly slower; and why others cannot."""
    racers, failures = [], {}
    for peer in who:
        tried = []
        for threads in CONTESTANTS[peer].threads:
            try:
                worker = crew[peer, threads]
                worker.prepare(job, spec)
                tried.append(Racer(peer, threads, worker, *calibrated(worker, 0.0 if seeded else seconds)))
            except WorkerError as error:
                failures[peer] = str(error)
                break
        racers += [racer for racer in tried if racer.trial <= 1.4 * min(each.trial for each in tried)]
    return racers, failures


def calibrated(worker: Worker, seconds: float) -> tuple[int, float]:
    """How many pieces of work fill `seconds`, and how long one takes. The first, which may compile, is not counted."""
    worker.run(1)
    n, took = 1, worker.run(1)[0]
    while took < seconds:
        n = int(n * min(100.0, max(1.5, 1.1 * seconds / max(took, 1e-6)))) + 1
        took = worker.run(n)[0]
    return n, took / n
