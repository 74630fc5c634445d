"""Threads that help a caller end with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

import pellucid as pel
from pellucid import nn
from pellucid.engine.native.code.run_loop import BARRIER
from pellucid.engine.native.runtime import cache
from tests.both_engines import X, Y, fitted


def check_threads_of_passing_callers(right: Callable[[], bool]) -> None:
    """Twenty threads call, one after the other: all get the right answer, and none leaves helpers behind."""
    wrong = []

    def call():
        if not right():
            wrong.append(threading.current_thread().name)

    before = threading.active_count()
    for _ in range(20):
        caller = threading.Thread(target=call)
        caller.start()
        caller.join()
    assert threading.active_count() <= before + 3
    assert not wrong


def test_passing_callers_leave_no_threads_behind(split, monkeypatch):
    monkeypatch.setenv("PELLUCID_THREADS", "2")

    def centred(x, W, b, V, U):
        h = x @ W + b
        n = h - np.mean(h, axis=1, keepdims=True)
        return n @ V + h @ U

    rng = np.random.default_rng(0)
    args = [0.1 * rng.normal(size=size) for size in ((40, 5), (5, 64), (64,), (64, 3), (64, 3))]
    compiled, expected = pel.compile(centred, engine="native"), centred(*args)
    assert np.allclose(compiled(*args), expected)
    check_threads_of_passing_callers(lambda: np.allclose(compiled(*args), expected))


def test_passing_callers_of_a_model_leave_no_threads_behind(split):
    model = fitted("native", nn.mlp((64,), 2), loss="cross_entropy", y=Y, threads=2)
    first = model.predict(X)
    check_threads_of_passing_callers(lambda: np.array_equal(model.predict(X), first))


def test_a_thread_that_waits_for_long_sleeps():
    """The processor is left to the one that it waits for."""
    wait, counter = cache.function(BARRIER), np.zeros(1, np.int64)
    table = np.array(BARRIER.words(counter=counter.ctypes.data, threads=2), np.int64)
    used = []

    def early():
        begin = time.thread_time()
        wait(table.ctypes.data)
        used.append(time.thread_time() - begin)

    waiting = threading.Thread(target=early)
    waiting.start()
    time.sleep(0.5)
    assert waiting.is_alive()
    assert wait(table.ctypes.data) == 0
    waiting.join()
    assert used[0] < 0.25
    assert counter[0] == 2
