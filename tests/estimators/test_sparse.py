"""Sparse rows stay sparse, and give what dense ones give: networks, weights, stopping, files, kinds of matrices."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from pellucid import inspect
from pellucid.data.sparse import better_sparse
from pellucid.estimators import (
    BaggedMLPClassifier,
    MLPClassifier,
    MLPRegressor,
    NetworkSettings,
    TrainingSettings,
)
from pellucid.train.loop.steps import STEP
from tests.both_engines import each_engine
from tests.estimators.marks import few_epochs

pytestmark = [few_epochs, pytest.mark.filterwarnings("ignore:Got `batch_size`")]

rng = np.random.default_rng(0)
THIN = sparse.random_array((90, 40), density=0.1, format="csr", rng=rng)
THIN.data -= 0.5
X = THIN.toarray()
X[7] = X[11] = 0.0  # rows without an entry
THIN = sparse.csr_array(X)
CLASSES = rng.integers(0, 3, len(X))
NUMBERS = X @ rng.normal(size=40)
LABELS = rng.integers(0, 2, (len(X), 3))
WEIGHTS = rng.uniform(0.5, 1.5, len(X))


@pytest.fixture
def never_dense(monkeypatch: Any) -> None:
    """The sizes of these rows ask for sparse steps; an array of them is an error."""

    def refuse(self: Any, *args: Any, **more: Any) -> Any:
        raise AssertionError("a sparse matrix became an array")

    monkeypatch.setattr("pellucid.data.sparse.LARGE", 0)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)


def small(cls: Any, **more: Any) -> Any:
    return cls(**{"hidden_layer_sizes": (6, 4), "max_iter": 4, "random_state": 0, "batch_size": 16, **more})


def assert_same(a: Any, b: Any, rtol: float = 1e-9) -> None:
    for mine, other in zip(a.coefs_ + a.intercepts_, b.coefs_ + b.intercepts_, strict=True):
        assert_allclose(mine, other, rtol=rtol, atol=rtol)
    assert_allclose(a.loss_curve_, b.loss_curve_, rtol=rtol)


SETTINGS: list[dict[str, Any]] = [
    {},
    {"hidden_layer_sizes": ()},
    {"alpha": 0.5},
    {"alpha": 0.0, "solver": "sgd", "nesterovs_momentum": True},
    {"solver": "lbfgs"},
    {"early_stopping": True},
    {"norm": "batch", "dropout": 0.3},
    {"norm": "layer", "activation": "tanh"},
    {"activation": "maxout"},
    {"activation": "swiglu"},
    {"compat": "sklearn"},
    {"shuffle": False, "batch_size": 500},
    {"network": NetworkSettings(scaling="ntk")},
    {"training": TrainingSettings(ema=0.9, clip_norm=0.1)},
]


@each_engine
@pytest.mark.parametrize("more", SETTINGS, ids=str)
def test_sparse_rows_teach_what_dense_ones_do(more: dict[str, Any], engine: str, never_dense: Any) -> None:
    for cls, target in ((MLPClassifier, CLASSES), (MLPRegressor, NUMBERS)):
        full = small(cls, engine=engine, **more).fit(X, target, WEIGHTS)
        thin = small(cls, engine=engine, **more).fit(THIN, target, WEIGHTS)
        assert_same(full, thin)
        assert_allclose(full.predict(X), thin.predict(THIN), rtol=1e-7, atol=1e-9)
        if more.get("early_stopping"):
            assert_allclose(full.validation_scores_, thin.validation_scores_)


def test_float32(never_dense: Any) -> None:
    full = small(MLPClassifier).fit(X.astype(np.float32), CLASSES)
    thin = small(MLPClassifier).fit(THIN.astype(np.float32), CLASSES)
    assert thin.coefs_[0].dtype == thin.predict_proba(THIN.astype(np.float32)).dtype == np.float32
    assert_same(full, thin, rtol=1e-4)


@pytest.mark.parametrize("form", [sparse.csc_matrix, sparse.coo_array, sparse.csr_matrix, sparse.lil_array])
def test_every_form_is_the_same_to_the_bit(form: Any, never_dense: Any) -> None:
    first, second = (small(MLPClassifier).fit(each, CLASSES) for each in (THIN, form(THIN)))
    assert first.loss_curve_ == second.loss_curve_
    assert_array_equal(first.predict_proba(THIN), second.predict_proba(form(THIN)))


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, bool])
def test_whole_numbers(dtype: Any, never_dense: Any) -> None:
    counts = (np.abs(X) > 0.2).astype(dtype)
    full, thin = (small(MLPClassifier).fit(each, CLASSES) for each in (counts, sparse.csr_array(counts)))
    assert_same(full, thin)
    assert_allclose(full.predict_proba(counts), thin.predict_proba(sparse.csc_array(counts)))


def test_entries_that_are_given_twice_or_out_of_order(never_dense: Any) -> None:
    twice = sparse.csr_array(
        (np.tile(THIN.data / 2, 2), (np.tile(THIN.tocoo().row, 2), np.tile(THIN.tocoo().col, 2))), shape=THIN.shape
    )
    untidy = sparse.csr_array(THIN.shape)
    untidy.data, untidy.indptr = np.repeat(THIN.data[::-1] / 2, 2), 2 * (THIN.nnz - THIN.indptr[::-1])
    untidy.indices = np.repeat(THIN.indices[::-1], 2)
    before = untidy.data.copy(), untidy.indices.copy()
    clf = small(MLPClassifier).fit(THIN, CLASSES)
    assert_allclose(clf.predict_proba(twice), clf.predict_proba(X))
    assert_allclose(clf.predict_proba(untidy), clf.predict_proba(X[::-1]))
    assert_same(small(MLPClassifier).fit(untidy, CLASSES), small(MLPClassifier).fit(X[::-1], CLASSES))
    assert_array_equal(untidy.data, before[0])  # what is the user's stays as it is
    assert_array_equal(untidy.indices, before[1])


def test_one_row_no_entries_and_parts(never_dense: Any, monkeypatch: Any) -> None:
    clf = small(MLPClassifier).fit(THIN, CLASSES)
    assert_allclose(clf.predict_proba(THIN[[3]]), clf.predict_proba(X[[3]]))
    assert_allclose(clf.predict_proba(THIN[[7, 11]]), clf.predict_proba(np.zeros((2, 40))))
    every = clf.predict_proba(THIN)
    monkeypatch.setattr("pellucid.data.chunks.CHUNK", 13)
    assert_array_equal(clf.predict_proba(THIN), every)
    nothing = sparse.csr_array((20, 5))
    full, thin = (small(MLPClassifier).fit(each, CLASSES[:20]) for each in (np.zeros((20, 5)), nothing))
    assert_same(full, thin)


def test_several_labels_and_outputs(never_dense: Any) -> None:
    for cls, target in ((MLPClassifier, LABELS), (MLPRegressor, np.column_stack([NUMBERS, -NUMBERS]))):
        full, thin = (small(cls).fit(each, target) for each in (X, THIN))
        assert_same(full, thin)
        assert_allclose(full.predict(X), thin.predict(THIN))


@each_engine
def test_parts_of_a_fit(engine: str, never_dense: Any) -> None:
    warm = [small(MLPClassifier, engine=engine, warm_start=True, max_iter=2).fit(each, CLASSES) for each in (X, THIN)]
    for clf, rows in zip(warm, (X, THIN), strict=True):
        clf.set_params(max_iter=3).fit(rows, CLASSES)
    assert_same(*warm)
    parts = [small(MLPClassifier, engine=engine) for _ in range(2)]
    for clf, rows in zip(parts, (X, THIN), strict=True):
        for some in (slice(0, 50), slice(50, 90), slice(20, 21)):
            clf.partial_fit(rows[some], CLASSES[some], classes=[0, 1, 2])
    assert_same(*parts)


def test_own_validation_rows_dense_or_sparse(never_dense: Any) -> None:
    settings = {"early_stopping": True, "max_iter": 6}
    first, *others = (
        small(MLPClassifier, **settings).fit(rows, CLASSES, X_val=held, y_val=CLASSES)
        for rows, held in ((X, X), (X, THIN), (THIN, X), (THIN, THIN))
    )
    for other in others:
        assert_same(first, other)
        assert_allclose(first.validation_scores_, other.validation_scores_)
        assert_allclose(first.predict_proba(X), other.predict_proba(THIN), rtol=1e-6)
    assert_allclose(first.calibrate(X, CLASSES).temperature_, others[-1].calibrate(THIN, CLASSES).temperature_)


@each_engine
def test_a_resumed_fit_is_the_whole_fit(engine: str, tmp_path: Any, never_dense: Any) -> None:
    settings: dict[str, Any] = {"dropout": 0.2, "engine": engine, "early_stopping": True, "max_iter": 9}
    whole = small(MLPClassifier, **settings).fit(THIN, CLASSES)
    path = tmp_path / "run.ckpt"

    def power_cut(run: Any) -> None:
        if run.epoch == 4:
            raise RuntimeError("no power")

    with pytest.raises(RuntimeError, match="no power"):
        small(MLPClassifier, training=TrainingSettings(checkpoint=path), callbacks=[power_cut], **settings).fit(
            THIN, CLASSES
        )
    going_on = TrainingSettings(checkpoint=path, resume=path)
    with pytest.raises(Exception, match="data"):
        small(MLPClassifier, training=going_on, **settings).fit(2 * THIN, CLASSES)
    resumed = small(MLPClassifier, training=going_on, **settings).fit(THIN, CLASSES)
    for mine, other in zip(whole.coefs_ + whole.intercepts_, resumed.coefs_ + resumed.intercepts_, strict=True):
        assert_array_equal(mine, other)
    assert whole.loss_curve_ == resumed.loss_curve_


@pytest.mark.parametrize("network", [{"input_dropout": 0.3}, {"embeddings": [2], "embedding_dim": 2}])
def test_networks_that_need_dense_rows_get_them(network: dict[str, Any], monkeypatch: Any) -> None:
    rows = np.abs(X) > 0.2
    settings = {"network": NetworkSettings(**network)}
    for solver in ("adam", "lbfgs"):
        full = small(MLPClassifier, solver=solver, **settings).fit(rows.astype(float), CLASSES)
        for most in (1 << 30, 100):  # whole, and batch by batch
            monkeypatch.setattr("pellucid.data.sparse.MOST", most)
            thin = small(MLPClassifier, solver=solver, **settings).fit(sparse.csr_array(rows), CLASSES)
            assert_same(full, thin)
            assert_allclose(full.predict_proba(rows), thin.predict_proba(sparse.csr_array(rows)))


def test_memory_is_that_of_the_entries() -> None:
    wide = sparse.random_array((4000, 5000), density=0.001, format="csr", rng=np.random.default_rng(0))
    labels = np.arange(4000) % 2
    whole = 4000 * 5000 * 8
    for solver in ("adam", "lbfgs"):
        tracemalloc.start()
        try:
            clf = MLPClassifier((8,), solver=solver, max_iter=2, random_state=0, engine="numpy").fit(wide, labels)
            clf.predict_proba(wide)
            assert tracemalloc.get_traced_memory()[1] < whole / 8
        finally:
            tracemalloc.stop()


def test_what_stays_sparse_is_what_gains_by_it() -> None:
    text = sparse.csr_array((5000, 30_000))
    assert better_sparse(text, np.float32, 200, 100, STEP)
    assert better_sparse(sparse.csr_array((2000, 2000)), np.float32, 200, 100, STEP)
    table = sparse.random_array((5000, 60), density=0.1, format="csr", rng=np.random.default_rng(0))
    assert not better_sparse(table, np.float32, 200, 100, STEP)  # compiled steps of dense rows are quicker
    crowded = sparse.csr_array(np.ones((200, 2000)))
    assert not better_sparse(crowded, np.float32, 200, 100, STEP)


def test_rows_are_looked_at_and_layers_seen(never_dense: Any, monkeypatch: Any) -> None:
    clf, full = (small(MLPClassifier).fit(rows, CLASSES) for rows in (THIN, X))
    mine, other = (each.fitted.outputs(rows) for each, rows in ((clf, THIN), (full, X)))
    assert mine.keys() == other.keys()
    for name in mine:
        assert_allclose(mine[name], other[name], rtol=1e-6, atol=1e-9)
    monkeypatch.undo()  # looks take dense rows of one batch
    monkeypatch.setattr("pellucid.data.sparse.LARGE", 0)
    watch = inspect.Watch(every=2)
    watched = small(MLPClassifier, callbacks=[watch]).fit(THIN, CLASSES)
    assert_array_equal(watched.coefs_[0], clf.coefs_[0])
    assert len(watch.looks)
    clf.diagnose()


def test_deviations_by_dropout(never_dense: Any) -> None:
    full, thin = (small(MLPRegressor, dropout=0.2).fit(rows, NUMBERS) for rows in (X, THIN))
    for mine, other in zip(full.predict(X, return_std=True), thin.predict(THIN, return_std=True), strict=True):
        assert_allclose(mine, other, rtol=1e-6)


def test_ensembles(never_dense: Any) -> None:
    full, thin = (
        BaggedMLPClassifier(small(MLPClassifier), 2, random_state=0, method="folds").fit(rows, CLASSES)
        for rows in (X, THIN)
    )
    assert_allclose(full.predict_proba(X), thin.predict_proba(THIN), rtol=1e-6)


def test_numbers_that_are_none_are_named(never_dense: Any) -> None:
    holes = THIN.copy()
    holes.data[holes.indptr[5]] = np.nan
    with pytest.raises(ValueError, match="row 5"):
        small(MLPClassifier).fit(holes, CLASSES)


def test_divergence_is_told(never_dense: Any) -> None:
    with pytest.raises(ValueError, match="non-finite parameter weights"):
        small(MLPRegressor, solver="sgd", learning_rate_init=1e200).fit(THIN, NUMBERS)
