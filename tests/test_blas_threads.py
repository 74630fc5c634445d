"""The threads of NumPy's library: one while our own are at work, as before when the last of them is done."""

import threading

import numpy as np
import pytest
from scipy import optimize
from threadpoolctl import threadpool_info, threadpool_limits

from pellucid import Model, nn
from pellucid.blas_threads import one_thread
from pellucid.train.lbfgs import fit_lbfgs
from pellucid.train.side_by_side import side_by_side


def threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["internal_api"] == "openblas"]


@pytest.fixture(autouse=True)
def three():
    if not threads():
        pytest.skip("NumPy's products are not OpenBLAS's")
    with threadpool_limits(3, user_api="blas"):
        yield


def test_work_side_by_side_has_one_thread_each():
    inside = side_by_side([threads, threads], threads=2)
    assert np.ptp(inside) == 0
    assert set(inside[0]) == {1}
    assert set(threads()) == {3}


@pytest.mark.parametrize(("rows", "used"), [(50, 1), (3_000_000, 3)])
def test_a_solver_of_small_problems_has_one(monkeypatch, rows, used):
    minimize, inside = optimize.minimize, []
    monkeypatch.setattr(optimize, "minimize", lambda *a, **k: inside.append(threads()) or minimize(*a, **k))
    X = np.random.default_rng(0).normal(size=(rows, 2))
    fit_lbfgs(Model(nn.mlp((), 1), "squared_error", dtype="float64"), X, X @ [1.0, -2.0], max_iter=1)
    assert set(inside[0]) == {used}
    assert set(threads()) == {3}


def test_users_that_overlap_leave_what_was_there():
    first_left, second_is_in = threading.Event(), threading.Event()
    seen: list[list[int]] = []

    def second() -> None:
        with one_thread():
            second_is_in.set()
            first_left.wait(10)
            seen.append(threads())

    other = threading.Thread(target=second)
    with one_thread():
        other.start()
        second_is_in.wait(10)
    first_left.set()
    other.join()
    assert set(seen[0]) == {1}
    assert set(threads()) == {3}
