"""Kernels ahead of time: after it, usual fits compile nothing; a second time it finds all of them."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pellucid as pel
from pellucid.engine.native.runtime import cache
from pellucid.estimators.warmup import parts

rng = np.random.default_rng(1)
X = rng.normal(size=(300, 9))
TABLE = pd.DataFrame(X, columns=list("abcdefghi")).assign(
    town=rng.choice(["Bern", "Bonn", "Brno", None], 300), code=rng.integers(0, 30, 300).astype(str)
)
USUAL = {"engine": "native", "max_iter": 3, "random_state": 0}
FITS = {
    "MLPClassifier": lambda: pel.MLPClassifier((20, 10), **USUAL).fit(X, np.digitize(X[:, 0], [-1, 0, 1])).predict(X),
    "MLPRegressor": lambda: pel.MLPRegressor(**USUAL).fit(X, X[:, 1]).predict(X),
    "TabularMLPClassifier": lambda: pel.TabularMLPClassifier(**USUAL).fit(TABLE, X[:, 0] > 0.3).predict_proba(TABLE),
    "TabularMLPRegressor": lambda: pel.TabularMLPRegressor(**USUAL).fit(TABLE, X[:, 0]).predict(TABLE),
}


@pytest.fixture(scope="module")
def warm():
    told: list[str] = []
    return pel.warmup(tell=told.append), told


def test_a_second_time_all_is_there(warm):
    first, told = warm
    assert told in ([], list(parts()))
    told.clear()
    second = pel.warmup(tell=told.append)
    assert told == []
    assert (second.compiled, second.kernels) == (0, first.kernels)
    assert f"all {first.kernels} kernels were there" in str(second)
    assert str(second.folder) in str(second)


@pytest.mark.parametrize("name", FITS)
def test_a_usual_fit_compiles_nothing(name, warm):
    before = cache.compilations
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FITS[name]()
    assert cache.compilations == before


def test_a_kernel_that_is_gone_is_made_again(warm, monkeypatch):
    """What is remembered is not trusted: the files are looked for."""
    monkeypatch.setattr("pellucid.estimators.warmup.parts", lambda: {"nothing to do": lambda: None})
    monkeypatch.setattr(cache, "stored", lambda name: None)
    told: list[str] = []
    pel.warmup(tell=told.append)
    assert told == ["nothing to do"]


def test_a_model():
    regressor = pel.MLPRegressor(
        hidden_layer_sizes=(3,), max_iter=1, tol=1.0, n_iter_no_change=1, random_state=0, engine="numpy"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor.fit(X, X[:, 0])
    assert pel.warmup(regressor).seconds > 0
