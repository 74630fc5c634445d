"""Forks while other threads predict: the child predicts too, gets the same bits, and ends."""

from __future__ import annotations

import faulthandler
import os
import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import pellucid as pel
from pellucid import nn
from soak.part import Failures, Figure, Part
from soak.samples import numbers, predictors, same_bits

PATIENCE = 30.0
"""Seconds after which a child hangs. It needs a fraction of one."""
DIFFERENT = 3
"""The exit status of a child that got other bits."""


def run(cases: range, seed: int, advance: Callable[[], None]) -> Iterable[Figure]:
    """A case is one fork."""
    rng = np.random.default_rng(seed)
    models = predictors(rng)
    expected = {name: predict(inputs) for name, (predict, inputs) in models.items()}
    failures, slowest, forks = Failures(), 0.0, 0
    with tempfile.TemporaryDirectory() as folder, _busy(models, Path(folder) / "model.pel", rng) as errors:
        for case in cases:
            time.sleep(float(np.random.default_rng([seed, case]).uniform(0.0, 0.02)))
            start, forks = time.monotonic(), forks + 1
            child = os.fork()
            if child == 0:
                _predict_and_leave(models, expected)
            text = _outcome(child)
            slowest = max(slowest, time.monotonic() - start)
            if text:
                failures.add(case, text)
            advance()
            if len(failures.texts) == 3:  # each may have cost half a minute
                break
    yield from failures.figures("children that ended well", forks)
    yield Figure("slowest child", f"{slowest:.2f} s", f"≤ {PATIENCE:.0f} s", slowest <= PATIENCE)
    yield Figure("errors in the parent's threads", str(len(errors)), "0", not errors)
    yield from (Figure("  first", repr(error), "", False) for error in errors[:1])


def _predict_and_leave(models: dict[str, tuple[Callable[[Any], Any], Any]], expected: dict[str, Any]) -> None:
    """In the child: it never returns."""
    status = 1
    faulthandler.dump_traceback_later(PATIENCE - 1)  # where it waits, if it does
    try:
        equal = all(same_bits(predict(inputs), expected[name]) for name, (predict, inputs) in models.items())
        status = 0 if equal else DIFFERENT
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _outcome(child: int) -> str:
    """What went wrong with a child; nothing if it ended well."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return "" if code == 0 else "other bits" if code == DIFFERENT else f"ended with status {code}"
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"still running after {PATIENCE:.0f} s: it waits for a lock"


@contextmanager
def _busy(
    models: dict[str, tuple[Callable[[Any], Any], Any]], path: Path, rng: np.random.Generator
) -> Iterator[list[Exception]]:
    """Threads that predict all the time, with models that are warm and with others just loaded; their errors."""
    stop, errors = threading.Event(), []
    X = numbers(rng)
    pel.Model(nn.mlp((8,), 1), engine="native").initialize(X).save(path)

    def fresh() -> None:  # the first prediction of a model takes other locks than the later ones
        pel.load(path).predict(X)

    def call(work: Callable[[], Any]) -> None:
        try:
            while not stop.is_set():
                work()
        except Exception as error:
            errors.append(error)

    works = [lambda p=predict, x=inputs: p(x) for predict, inputs in models.values()]
    threads = [threading.Thread(target=call, args=(work,)) for work in (*works, fresh)]
    for thread in threads:
        thread.start()
    try:
        yield errors
    finally:
        stop.set()
        for thread in threads:
            thread.join()


FORKS = Part("forks", run, cases=200, quick=5)
