"""Estimators on a cluster of two workers: a table of 8 partitions, lazy predictions, `.to_local()`."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

pytest.importorskip("jax")
distributed = pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from dask import delayed  # noqa: E402

from pellucid import BaggedMLPRegressor, Model, nn, train  # noqa: E402
from pellucid import MLPRegressor as LocalMLPRegressor  # noqa: E402
from pellucid.dask import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor  # noqa: E402
from pellucid.dask.partitions import kept_by_workers, lazily  # noqa: E402
from pellucid.dask.shared_table import HeldElsewhere, PartitionSource, shared_table  # noqa: E402
from pellucid.dask.training import WorkerError  # noqa: E402
from pellucid.data.sharing import Segment, Sharing  # noqa: E402
from pellucid.errors import ShapeError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask and what it starts

rng = np.random.default_rng(0)
X = rng.normal(size=(160, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.fixture(scope="module")
def client():
    quick = {
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
        "JAX_COMPILATION_CACHE_DIR": os.path.join(tempfile.gettempdir(), f"pellucid-test-xla-{os.getuid()}"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.05",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    with (
        pytest.MonkeyPatch.context() as patch,
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as made,
    ):
        for name, value in quick.items():
            patch.setenv(name, value)
        made.run(os.environ.update, quick)
        yield made


def partitioned(frame, lengths):
    """A frame of partitions of these lengths."""
    ends = np.cumsum([0, *lengths])
    parts = [delayed(frame[start:end]) for start, end in itertools.pairwise(ends)]
    return dd.from_delayed(parts, meta=frame[:0])


def test_a_table_of_eight_partitions(client):
    """Of unequal lengths, one of them empty, and a class that only the last one has."""
    target = np.where(Y, "yes", "no").astype(object)
    target[-4:] = "rare"
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 2] > 0, "x", "y"), target=target)
    table = partitioned(frame, [20, 40, 0, 10, 30, 20, 30, 10])
    columns = [*"abcd", "kind"]
    assert len({part.worker for part in kept_by_workers(client, table[columns], table["target"], None)}) == 2
    model = TabularMLPClassifier(client=client, quality="fast", max_iter=2, random_state=0)
    model.fit(table[columns], table["target"])
    lazy = model.predict_proba(table[columns])
    assert hasattr(lazy, "compute")
    local = model.to_local()
    assert_allclose(lazy.compute(), local.predict_proba(frame[columns]), rtol=1e-6)
    answers = model.predict(table[columns]).compute()
    assert_array_equal(answers, local.predict(frame[columns]))
    assert_array_equal(answers.index, frame.index)
    assert_array_equal(model.classes_, ["no", "rare", "yes"])
    assert model.score(table[columns], table["target"]) == local.score(frame[columns], frame["target"])
    assert {network.model.engine for network in local.fitted.networks} == {"auto"}  # it predicts as others do


def test_arrays(client):
    """Weighted rows in blocks; the result is that of all rows in one place."""
    weights = rng.uniform(0.5, 2, len(X))
    parts = da.from_array(X, chunks=(40, 2)), da.from_array(X[:, 0], chunks=40), da.from_array(weights, chunks=40)
    settings = {"hidden_layer_sizes": (8,), "max_iter": 3, "random_state": 0, "dtype": "float64"}
    model = MLPRegressor(**settings).fit(*parts)  # the client that was made last
    assert_allclose(model.predict(parts[0]).compute(), model.to_local().predict(X), rtol=1e-5)
    alone = LocalMLPRegressor(engine="numpy", **settings).fit(X, X[:, 0], weights)
    assert_allclose(model.to_local().predict(X), alone.predict(X), rtol=1e-7)


def test_partitions_without_rows_are_answered():
    """For frames of numbers, whatever their index, and for arrays."""
    local = LocalMLPRegressor(hidden_layer_sizes=(3,), max_iter=1, random_state=0).fit(X, X[:, 0])
    frame = pd.DataFrame(X, index=pd.date_range("2024-01-01", periods=len(X)))
    answers = lazily(partitioned(frame, [70, 0, 90]), local, "predict").compute(scheduler="synchronous")
    assert_array_equal(answers, local.predict(X))
    assert_array_equal(answers.index, frame.index)
    blocks = da.concatenate([da.from_array(X[:70]), da.zeros((0, 4)), da.from_array(X[70:])])
    assert_array_equal(lazily(blocks, local, "predict").compute(scheduler="synchronous"), local.predict(X))


def test_a_failure_is_told_by_the_worker_that_has_it(client):
    """Not by those that end because of it."""
    broken = X.copy()
    broken[100, 1] = np.nan
    with pytest.raises(WorkerError, match=r"batch 5: .*NaN"):
        MLPRegressor(client=client).fit(da.from_array(broken, chunks=(20, 4)), da.from_array(X[:, 0], chunks=20))


def test_a_partition_of_others_is_not_read():
    """A process has the rows of its worker, and knows of the others how many they are."""
    table = shared_table({1: (X[:30], Y[:30]), 2: (X[30:30], Y[30:30])}, processes=1, index=0)
    segments = (Segment(0, 0, 50, 1), *(Segment(1, 0, 30, 0),))
    blocks = [HeldElsewhere(50, process=1), *table.source.blocks]
    source = PartitionSource(table.source, blocks)
    theirs = replace(table, source=source, sharing=Sharing(segments, 2, 0))
    assert theirs.rows == 80
    assert_array_equal(np.concatenate([part.X for part in theirs.parts()]), X[:30])
    with pytest.raises(RuntimeError, match="partition 0 is held by process 1"):
        list(Segment(0, 0, 50, 1).parts(blocks[0], theirs.read, ()))


def test_parameters():
    model = MLPClassifier(hidden_layer_sizes=(3,), random_state=1)
    again = clone(model).set_params(alpha=0.5)
    assert again.get_params()["hidden_layer_sizes"] == (3,)
    assert again.estimator.alpha == 0.5
    assert repr(again) == "MLPClassifier(alpha=0.5, hidden_layer_sizes=(3,), random_state=1)"
    assert {"client", "quality"} <= set(TabularMLPRegressor().get_params())
    with pytest.raises(NotFittedError, match="call fit"):
        model.to_local()


def test_a_stored_estimator_has_no_client(client):
    stored = pickle.loads(pickle.dumps(MLPRegressor(client=client, alpha=0.5)))
    assert stored.client is None
    assert stored.estimator.alpha == 0.5


@pytest.mark.filterwarnings("default")
def test_a_worker_in_this_process_and_what_it_warns_of():
    rows = da.from_array(X, chunks=(80, 4))
    with (
        distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as here,
        pytest.warns(ConvergenceWarning, match="Maximum iterations"),
    ):
        model = MLPRegressor(client=here, hidden_layer_sizes=(3,), max_iter=1).fit(rows, rows[:, 0])
    assert model.to_local().n_iter_ == 1


def children_of(pid: int) -> list[int]:
    """Of all threads of a process."""
    return [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]


def eventually(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found as Linux has them")
def test_a_fit_that_is_given_up_and_a_worker_that_is_killed():
    """No process of a training is left behind, and nobody waits for a worker that is gone."""
    rows = da.from_array(X, chunks=(80, 4))
    errors: list[BaseException] = []
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        (pid,) = client.run(os.getpid).values()

        def fit() -> None:
            endless = {"hidden_layer_sizes": (3,), "max_iter": 10**9, "n_iter_no_change": 10**9}
            try:
                MLPRegressor(client=client, **endless).fit(rows, rows[:, 0])
            except BaseException as error:
                errors.append(error)

        def process_of_a_fit() -> tuple[threading.Thread, int]:
            thread = threading.Thread(target=fit)
            thread.start()
            eventually(lambda: children_of(pid))
            return thread, children_of(pid)[0]

        thread, process = process_of_a_fit()
        client.cancel([distributed.Future(key, client) for key in client.futures if key.startswith("work-")])
        eventually(lambda: not Path(f"/proc/{process}").exists())
        thread.join(30)
        assert isinstance(errors.pop(), CancelledError)

        thread, process = process_of_a_fit()
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not Path(f"/proc/{process}").exists())
        thread.join(30)
        assert isinstance(errors[0], WorkerError)
        assert "is gone, and its rows with it" in str(errors[0])


def test_what_does_not_fit(client):
    with pytest.raises(ShapeError, match="repartition them alike"):
        MLPRegressor(client=client).fit(da.from_array(X, chunks=40), da.from_array(X[:, 0], chunks=80))
    with pytest.raises(TypeError, match="expected a Dask frame, series or array, got ndarray"):
        MLPRegressor(client=client).fit(X, Y)


def test_many_models_by_joblib(client):
    """Ensembles and folds under the backend of Dask are those of threads."""
    settings = {
        "estimator": LocalMLPRegressor(hidden_layer_sizes=(4,), max_iter=2),
        "n_estimators": 3,
        "method": "seeds",
    }
    settings["random_state"] = 0
    here = BaggedMLPRegressor(**settings).fit(X, X[:, 0]).predict(X)

    def folds():
        made = train.cross_validate(lambda: Model(nn.mlp((4,), 1)), X, X[:, 0], folds=2, epochs=2, verbose=False)
        return [row["loss"] for row in made.rows]

    here_folds = folds()
    with joblib.parallel_config(backend="dask"):
        there, there_folds = BaggedMLPRegressor(**settings).fit(X, X[:, 0]).predict(X), folds()
    assert_allclose(there, here, rtol=1e-6)
    assert_allclose(there_folds, here_folds, rtol=1e-6)
