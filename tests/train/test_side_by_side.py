"""Independent work side by side: order, errors, progress, halting."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from pellucid import Model, nn
from pellucid.train.loop.ending import INTERRUPTED
from pellucid.train.loop.loop import HALT
from pellucid.train.side_by_side import side_by_side


def test_results_come_in_the_order_of_the_works():
    first_may_end = threading.Event()

    def slow():
        first_may_end.wait(30)
        return "slow"

    def quick():
        first_may_end.set()
        return "quick"

    assert side_by_side([slow, quick], threads=2) == ["slow", "quick"]
    assert side_by_side([]) == []


def test_no_more_threads_than_asked_for():
    names = side_by_side([lambda: threading.current_thread().name] * 6, threads=1)
    assert len(set(names)) == 1


def test_an_error_waits_for_the_others_and_is_named():
    done = []

    def fail():
        raise KeyError("lost")

    with pytest.raises(KeyError) as caught:
        side_by_side([fail, lambda: done.append(1), lambda: done.append(2)], threads=1, what="work, piece")
    assert caught.value.__notes__ == ["in work, piece 0 of 3"]
    assert done == [1, 2]


def test_a_bar_changes_nothing(capsys):
    assert side_by_side([lambda: 1, lambda: 2], verbose=True) == [1, 2]
    assert capsys.readouterr().out == ""


def test_a_halt_from_above_is_passed_on():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = Model(nn.mlp((2,), 1))
    halt = threading.Event()

    def endless():
        return model.fit(X, X[:, 0], epochs=100_000_000, callbacks=[lambda run: halt.set()], verbose=False)

    token = HALT.set(halt)
    try:
        (history,) = side_by_side([endless])
    finally:
        HALT.reset(token)
    assert history.stopped == INTERRUPTED
