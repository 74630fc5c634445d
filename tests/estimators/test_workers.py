"""Many models on the workers of a joblib backend: the same results as on threads, the data sent once."""

import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from pellucid import BaggedMLPClassifier, MLPClassifier, nn
from pellucid.errors import DataWarning
from pellucid.estimators import tune
from pellucid.train import Model, cross_validate
from pellucid.train.workers import are_elsewhere, spread

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4)).astype(np.float32)
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=240) > 0, "up", "down")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made,
        distributed.Client(made) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Where it is installed: it is no part of the tests' own environment."""
    library = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.util.joblib import register_ray

    register_ray()
    library.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield library
    library.shutdown()


CLUSTERS = {"dask": "cluster", "ray": "ray"}
"""What has to be there first, by the backend."""


@pytest.fixture(params=["loky", "dask", "ray"])
def workers(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param in CLUSTERS:
        request.getfixturevalue(CLUSTERS[request.param])
    with joblib.parallel_config(backend=request.param, n_jobs=2):
        yield request.param


def classifier(**more: Any) -> MLPClassifier:
    return MLPClassifier((8,), **({"max_iter": 4, "random_state": 0} | more))


@pytest.mark.parametrize("method", ["bagging", "folds"])
def test_ensembles_are_those_of_threads(workers: str, method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        there = BaggedMLPClassifier(classifier(), 3, method=method, random_state=0).fit(X, Y)
        with joblib.parallel_config(backend="threading"):
            here = BaggedMLPClassifier(classifier(), 3, method=method, random_state=0).fit(X, Y)
    assert_array_equal(there.predict_proba(X), here.predict_proba(X))


def make() -> Model:
    return Model(nn.mlp((4,), 2), "log_loss", metrics=["accuracy"])


def test_folds_are_those_in_turn(workers: str) -> None:
    words: dict[str, Any] = {"folds": 3, "epochs": 2, "verbose": False, "prepare": StandardScaler(), "seed": 1}
    codes = (Y == "up").astype(int)
    there = cross_validate(make, X, codes, **words)
    with joblib.parallel_config(backend="threading"):
        here = cross_validate(make, X, codes, **words)
    assert there.rows == here.rows


def test_a_search_finds_the_same(workers: str) -> None:
    words: dict[str, Any] = {"estimator": classifier(max_iter=10), "trials": 12, "random_state": 0, "verbose": False}
    there = tune(X, Y, **words)
    with joblib.parallel_config(backend="threading"):
        here = tune(X, Y, **words)
    assert [(one.params, one.state, one.curve) for one in there.trials] == [
        (one.params, one.state, one.curve) for one in here.trials
    ]
    assert "pruned" in {one.state for one in there.trials}
    assert_array_equal(there.best_estimator.predict_proba(X), here.best_estimator.predict_proba(X))


def kind_of(task: int, data: Any) -> str:
    return type(data).__name__


def test_large_arrays_are_read_from_one_file() -> None:
    large = np.zeros(300_000)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert spread(kind_of, [1, 2, 3], [large]) == ["memmap"] * 3


class Counted:
    """Large, and it knows how often it was pickled."""

    pickled = 0

    def __init__(self) -> None:
        self.values = b"0" * 100_000

    def __sizeof__(self) -> int:
        return len(self.values)

    def __getstate__(self) -> dict[str, bytes]:
        Counted.pickled += 1
        return {"values": self.values}


def test_dask_is_sent_the_data_once(cluster: Any) -> None:
    with joblib.parallel_config(backend="dask", n_jobs=2):
        assert spread(kind_of, range(8), [Counted()]) == ["Counted"] * 8
    assert Counted.pickled <= 2


def warns(task: int) -> int:
    warnings.warn(f"task {task}", UserWarning, stacklevel=1)
    return task


def fails(task: int) -> int:
    if task == 2:
        raise ValueError("two is too much")
    return task


def test_warnings_and_errors_come_back() -> None:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert are_elsewhere()
        with pytest.warns(UserWarning, match="task") as told:
            assert spread(warns, [0, 1]) == [0, 1]
        assert sorted(str(one.message) for one in told) == ["task 0", "task 1"]
        with pytest.raises(ValueError, match="two is too much") as caught:
            spread(fails, [0, 1, 2], what="test, piece")
        assert "in test, piece 2 of 3" in caught.value.__notes__
    assert not are_elsewhere()


SEARCH = """
import sys, numpy as np
from pellucid import MLPClassifier
from pellucid.estimators import tune
rng = np.random.default_rng(0)
X = rng.normal(size=(240, 4)).astype(np.float32)
y = X[:, 0] * X[:, 1] > 0
slow = dict(callbacks=[lambda run: __import__("time").sleep(0.05)]) if "slow" in sys.argv else {}
estimator = MLPClassifier((8,), max_iter=4 if not slow else 400, n_iter_no_change=500, random_state=0, **slow)
print("begins", flush=True)
found = tune(X, y, estimator=estimator, trials=8, storage=sys.argv[1], n_jobs=1, verbose=False)
print(len(found.trials), found.best_value, sorted(found.best_params), found.stopped)
"""


def test_processes_share_a_search_and_a_killed_one_loses_its_trial(tmp_path: Path) -> None:
    optuna = pytest.importorskip("optuna")
    storage = f"sqlite:///{tmp_path / 'search.db'}"
    script = tmp_path / "search.py"
    script.write_text(SEARCH)
    optuna.create_study(storage=storage, study_name="pellucid", direction="maximize")

    def start(*words: str) -> Any:
        return subprocess.Popen([sys.executable, str(script), storage, *words], stdout=subprocess.PIPE, text=True)

    victim = start("slow")
    study = optuna.load_study(storage=storage, study_name="pellucid")
    for _ in range(600):
        if study.get_trials(deepcopy=False):
            break
        time.sleep(0.1)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    outputs = [one.communicate(timeout=300)[0] for one in [start(), start()]]
    states = [trial.state.name for trial in study.get_trials(deepcopy=False)]
    assert states.count("RUNNING") == 1  # what the killed one was trying
    assert len(states) - 1 in (7, 8)  # two may ask for the last at once
    lasts = [output.splitlines()[-1] for output in outputs]
    assert all("all trials done" in last for last in lasts)
    best = max(trial.value for trial in study.get_trials(states=[optuna.trial.TrialState.COMPLETE]))
    assert any(f" {best} " in last for last in lasts)


def test_a_search_is_gone_on_with(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    words: dict[str, Any] = {"estimator": classifier(), "storage": f"sqlite:///{tmp_path / 's.db'}", "verbose": False}
    first = tune(X, Y, trials=3, **words)
    again = tune(X, Y, trials=6, **words)
    assert len(first.trials) == 3
    assert [one.params for one in again.trials[:3]] == [one.params for one in first.trials]
    assert [one.curve for one in again.trials[:3]] == [one.curve for one in first.trials]
    assert len(again.trials) == 6
    assert again.best_value >= first.best_value
