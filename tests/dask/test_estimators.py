"""Estimators on a cluster of two workers: a table of 8 partitions, lazy predictions, `.to_local()`."""

from __future__ import annotations

import os
import tempfile

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

pytest.importorskip("jax")
distributed = pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from pellucid import BaggedMLPRegressor, Model, nn, train  # noqa: E402
from pellucid import MLPRegressor as LocalMLPRegressor  # noqa: E402
from pellucid.dask import MLPClassifier, MLPRegressor, TabularMLPClassifier, TabularMLPRegressor  # noqa: E402
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
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    with (
        pytest.MonkeyPatch.context() as patch,
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as made,
    ):
        for name, value in quick.items():
            patch.setenv(name, value)
        made.run(os.environ.update, quick)
        yield made


def test_a_table_of_eight_partitions(client):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 2] > 0, "x", "y"), target=Y)
    table = dd.from_pandas(frame, npartitions=8)
    columns = [*"abcd", "kind"]
    model = TabularMLPClassifier(client=client, quality="fast", max_iter=2, random_state=0)
    model.fit(table[columns], table["target"])
    lazy = model.predict_proba(table[columns])
    assert hasattr(lazy, "compute")
    local = model.to_local()
    assert_allclose(lazy.compute(), local.predict_proba(frame[columns]), rtol=1e-6)
    answers = model.predict(table[columns]).compute()
    assert_array_equal(answers, local.predict(frame[columns]))
    assert_array_equal(answers.index, frame.index)
    assert_array_equal(model.classes_, [0, 1])
    assert model.score(table[columns], table["target"]) == local.score(frame[columns], frame["target"])


def test_arrays(client):
    parts = da.from_array(X, chunks=(40, 2)), da.from_array(X[:, 0], chunks=40)
    settings = {"hidden_layer_sizes": (8,), "max_iter": 3, "random_state": 0}
    model = MLPRegressor(**settings).fit(*parts)  # the client that was made last
    assert_allclose(model.predict(parts[0]).compute(), model.to_local().predict(X), rtol=1e-5)
    alone = LocalMLPRegressor(engine="numpy", **settings).fit(X, X[:, 0])
    assert_allclose(model.to_local().predict(X), alone.predict(X), rtol=1e-3, atol=1e-4)


def test_parameters():
    model = MLPClassifier(hidden_layer_sizes=(3,), random_state=1)
    again = clone(model).set_params(alpha=0.5)
    assert again.get_params()["hidden_layer_sizes"] == (3,)
    assert again.estimator.alpha == 0.5
    assert {"client", "quality"} <= set(TabularMLPRegressor().get_params())
    with pytest.raises(NotFittedError, match="call fit"):
        model.to_local()


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
