"""Many rows, a block at a time: the bits of few rows at a time."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid.engine.native.runtime.run import NotFinite
from pellucid.engine.native.runtime.session import BLOCK, Session
from pellucid.graph.core.spec import Spec
from pellucid.graph.record import record

pytestmark = pytest.mark.usefixtures("split")

rng = np.random.default_rng(0)
W, b = rng.normal(size=(9, 40)).astype(np.float32), rng.normal(size=40).astype(np.float32)


def scores(W, b, X):
    H = np.tanh(X @ W + b)
    return np.exp(H) / np.sum(np.exp(H), axis=1, keepdims=True)


def session(threads):
    graph = record(scores, Spec(W.shape, np.float32), Spec(b.shape, np.float32), Spec(("n", 9), np.float32))
    return Session(graph, [W.copy(), b.copy()], threads)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3, 8 * BLOCK])
def test_rows_have_the_bits_of_few_rows(threads, rows):
    X, predict = rng.normal(size=(rows, 9)).astype(np.float32), session(threads)
    few = np.concatenate([predict(X[i : i + 100]) for i in range(0, rows, 100)])
    for given in (X, np.asfortranarray(X)):
        assert_array_equal(predict(given), few)


@pytest.mark.parametrize("threads", [1, 2])
def test_plans_for_many_numbers_of_rows_do_not_get_into_each_others_way(threads):
    """More of them than are kept: what a plan points to lives as long as it does."""
    predict, X = session(threads), rng.normal(size=(2 * BLOCK + 30, 9)).astype(np.float32)
    whole = predict(X)
    for _ in range(3):
        for rows in (*range(BLOCK + 1, BLOCK + 8), *range(2 * BLOCK + 1, 2 * BLOCK + 30)):
            assert_array_equal(predict(X[:rows]), whole[:rows])
            gc.collect()


def test_a_change_of_what_is_fixed_is_seen():
    X, predict = rng.normal(size=(6 * BLOCK, 9)).astype(np.float32), session(2)
    before = predict(X)
    np.copyto(predict.fixed[0], 2 * W)
    assert np.abs(predict(X) - before).max() > 0.01
    assert_array_equal(predict(X)[:50], predict(X[:50]))


def test_a_block_for_which_sizes_give_another_answer_has_its_own_program():
    def f(W, X):
        return (X @ W) * np.where(np.greater(X.shape[0], 1), 1.0, 2.0)

    graph = record(f, Spec(W.shape, np.float32), Spec(("n", 9), np.float32))
    for threads in (1, 2):
        predict = Session(graph, [W.copy()], threads)
        for rows in (1, 2, BLOCK, BLOCK + 1, BLOCK + 2, 2 * BLOCK + 1):
            X = rng.normal(size=(rows, 9)).astype(np.float32)
            assert np.isfinite(predict(X, look=True)).all()
            if rows % BLOCK != 1 and rows > 2:
                assert_allclose(predict(X), X @ W, rtol=1e-4, atol=1e-5)
        assert_allclose(predict(X[:1]), 2 * (X[:1] @ W), rtol=1e-4, atol=1e-5)


def test_results_are_arrays_of_their_own():
    X, predict = rng.normal(size=(6 * BLOCK, 9)).astype(np.float32), session(1)
    first = predict(X)
    again = first.copy()
    predict(-X)
    assert_array_equal(first, again)


@pytest.mark.parametrize("row", [0, 3 * BLOCK + 17, 5 * BLOCK - 1, 5 * BLOCK + 2])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found_in_every_block(row, value):
    X, predict = rng.normal(size=(5 * BLOCK + 3, 9)).astype(np.float32), session(2)
    X[row, 4] = value
    with pytest.raises(NotFinite, match="NaN or infinite"):
        predict(X, look=True)
    assert np.isnan(predict(X)[row]).any() == np.isnan(value)
    X[row, 4] = np.finfo(np.float32).max
    assert_array_equal(predict(X, look=True), predict(X))


def test_a_model_says_where_something_is_not_finite_among_many_rows():
    X = rng.normal(size=(9000, 4)).astype(np.float32)
    model = pel.Model(pel.nn.mlp((5,), 2), "mse", pel.optim.SGD(0.01), engine="native")
    model.fit(X[:64], X[:64, :2], epochs=1, verbose=False)
    assert_array_equal(model.predict(X)[8900:], model.predict(X[8900:]))
    X[8888, 3] = np.nan
    with pytest.raises(ValueError, match="row 8888, column 3"):
        model.predict(X)
