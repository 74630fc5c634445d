"""A model on sparse matrices: trained, checked and asked as on arrays; the sparse product in recorded functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import pellucid as pel
from pellucid import nn, train
from pellucid.errors import ShapeError
from pellucid.graph.core.tree import tree_map
from pellucid.graph.primitives.sparse import SparseMatrix

rng = np.random.default_rng(0)
THIN = sparse.random_array((60, 30), density=0.1, format="csr", rng=rng)
X = THIN.toarray()
Y = rng.integers(0, 2, len(X))


def model(**more):
    return train.Model(
        nn.mlp((5,), 1), "binary_cross_entropy", metrics=["accuracy"], dtype="float64", **({"engine": "numpy"} | more)
    )


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("validation", [None, 0.25, np.arange(10), "given"])
def test_training(engine, validation):
    def fitted(rows):
        held = (rows, Y) if isinstance(validation, str) else validation
        one = model(engine=engine, penalty=nn.L2(0.01))
        history = one.fit(rows, Y, epochs=3, batch_size=16, validation=held, class_weight="balanced", verbose=False)
        return one, history

    (full, dense), (thin, sparse_) = fitted(X), fitted(THIN)
    for name, array in full.params.items():
        assert_allclose(thin.params[name], array, rtol=1e-9, atol=1e-12)
    assert dense.columns == sparse_.columns
    for column in dense.columns:
        assert_allclose(dense[column], sparse_[column])
    assert thin.evaluate(THIN, Y) == pytest.approx(thin.evaluate(X, Y))
    assert_array_equal(thin.predict_classes(THIN), thin.predict_classes(X))


def test_gradients_seen_by_a_callback():
    seen: dict[int, list[Any]] = {}

    class Note(train.Callback):
        def on_gradients(self, run, gradients):
            seen.setdefault(run.step, []).append({name: array.copy() for name, array in gradients.items()})

    for rows in (X, THIN):
        model().fit(rows, Y, epochs=1, batch_size=20, callbacks=[Note()], verbose=False)
    assert len(seen) == 3
    for dense, thin in seen.values():
        for name in dense:
            assert_allclose(dense[name], thin[name], rtol=1e-9, atol=1e-12)


def test_other_columns_and_empty_matrices():
    one = model()
    one.fit(THIN, Y, epochs=1, verbose=False)
    with pytest.raises(ShapeError, match="other columns"):
        one.fit(THIN[:, :7], Y, epochs=1, verbose=False)
    with pytest.raises(ShapeError, match="other columns"):
        one.predict(THIN[:, :7])
    with pytest.raises(ShapeError, match="no rows"):
        one.fit(THIN[:0], Y[:0], epochs=1, verbose=False)
    with pytest.raises(ShapeError, match="60 rows and y has 59"):
        one.fit(THIN, Y[:-1], epochs=1, verbose=False)
    assert one.predict(THIN[:0]).shape == (0, 1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_none_are_named(value):
    holes = THIN.copy()
    holes.data[holes.indptr[9]] = value
    one = model().initialize(30)
    for call in (one.predict, lambda rows: one.fit(rows, Y, epochs=1, verbose=False)):
        with pytest.raises(ValueError, match=f"row 9, column {min(holes.indices[holes.indptr[9] : holes.indptr[10]])}"):
            call(holes)
    large = THIN.copy()
    large.data[large.indptr[9]] = 1e60
    with pytest.raises(ValueError, match="too large for float32"):
        train.Model(nn.mlp((5,), 1)).initialize(30).predict(large)
    with pytest.raises(ShapeError, match="complex"):
        one.predict(THIN * 1j)


def test_which_networks_take_sparse_rows():
    class Own(nn.Dense):
        def __call__(self, p, x, ctx):
            return super().__call__(p, np.sin(x), ctx)

    nested = nn.Sequential(nn.Sequential(nn.Maxout(2)), nn.Dense(1))
    assert all(net.takes_sparse for net in (nn.Dense(2), nn.mlp((3,), 1, norm="batch"), nested))
    others: list[nn.Layer] = [
        nn.mlp((3,), 1, input_dropout=0.1),
        nn.Residual(nn.Dense(3)),
        nn.Sequential(nn.BatchNorm(), nn.Dense(1)),
        nn.Sequential("relu", nn.Dense(1)),
        Own(3),
    ]
    assert not any(net.takes_sparse for net in others)


# the product


def test_a_recorded_product_and_its_gradient():
    W = rng.normal(size=(30, 4))

    def cost(W, X):
        return np.sum(np.tanh(X @ W) ** 2)

    specs = tree_map(lambda a: pel.Spec(np.shape(a), np.asarray(a).dtype), SparseMatrix.of(THIN)).opened()
    graph = pel.record(pel.value_and_grad(cost), pel.Spec(W.shape), specs).simplify()
    assert [node.op.name for node in graph.operations].count("sparse_matmul") == 2
    for rows in (THIN, THIN[:7], sparse.csr_array((3, 30))):
        value, gradient = pel.run(graph, W, SparseMatrix.of(rows))
        expected, by_dense = pel.value_and_grad(cost)(W, rows.toarray())
        assert_allclose(value, expected)
        assert_allclose(gradient, by_dense, atol=1e-14)


def test_shapes_that_do_not_fit():
    for shape in ((29, 2), (30,)):
        with pytest.raises(ShapeError, match="do not fit: the second must be a matrix of 30 rows"):
            SparseMatrix.of(THIN) @ np.zeros(shape)
        with pytest.raises(ShapeError, match="do not fit"):
            pel.record(lambda b, X: X @ b, pel.Spec(shape), SparseMatrix.of(THIN))
