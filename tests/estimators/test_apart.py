"""Many models in other processes: joblib's loky, and one search by two processes on one storage."""

from __future__ import annotations

import subprocess
import sys

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pellucid import BaggedMLPClassifier, MLPClassifier, Model, nn, train, tune
from pellucid.train.apart import Task, in_processes, run_apart
from tests.processes import environment

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)).astype(np.float32)
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_loky():
    def is_mapped(own, rows):
        return own, isinstance(rows, np.memmap)

    ensemble = BaggedMLPClassifier(MLPClassifier((4,), max_iter=2), n_estimators=3, method="seeds", random_state=0)
    one = ensemble.fit(X, Y).predict_proba(X)
    models = [Model(nn.mlp((4,), 2), "cross_entropy") for _ in range(4)]
    fit = {"epochs": 2, "verbose": False}
    train.fit_many(models[:2], X, Y, seeds=[0, 1], **fit)
    folds = train.cross_validate(lambda: Model(nn.mlp((4,), 2), "cross_entropy"), X, Y, folds=2, **fit)
    assert not in_processes()
    with joblib.parallel_config(backend="threading"):
        assert not in_processes()
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert in_processes()
        assert_array_equal(ensemble.fit(X, Y).predict_proba(X), one)
        histories = train.fit_many(models[2:], X, Y, seeds=[0, 1], **fit)
        apart = train.cross_validate(lambda: Model(nn.mlp((4,), 2), "cross_entropy"), X, Y, folds=2, **fit)
        assert [row["loss"] for row in apart.rows] == pytest.approx([row["loss"] for row in folds.rows])
        large = np.zeros(1 << 18)  # sent once: a file that all workers map into memory
        assert run_apart([Task(is_mapped, (i,), (large,)) for i in range(3)], None) == [(i, True) for i in range(3)]
        found = tune(X, Y, trials=2, estimator=MLPClassifier((4,), max_iter=2), random_state=0, verbose=False)
    assert len(found.trials) == 2
    assert len(histories[0].epochs) == 2
    for here, there in zip(models[:2], models[2:], strict=True):
        for name in here.params:
            assert_array_equal(there.params[name], here.params[name])


SEARCH = """
import sys
import numpy as np
from pellucid import MLPClassifier, tune
rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4)); y = (X[:, 0] * X[:, 1] > 0).astype(int)
found = tune(X, y, trials=6, estimator=MLPClassifier((4,), max_iter=2), random_state=0, n_jobs=1, verbose=False,
             storage=sys.argv[1], study="s")
print(found.best_value, len(found.trials), sorted(found.best_params.items()))
"""


def test_two_processes_share_a_search(tmp_path):
    optuna = pytest.importorskip("optuna")
    storage = f"sqlite:///{tmp_path / 'search.db'}"
    optuna.create_study(storage=storage, study_name="s", direction="maximize")
    command = [sys.executable, "-c", SEARCH, storage]
    both = [subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    words = [process.communicate(timeout=100)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    study = optuna.load_study(storage=storage, study_name="s")
    ended = [trial for trial in study.get_trials() if trial.state.is_finished()]
    assert 6 <= len(ended) <= 7  # both may have begun the last one
    assert len({trial.number for trial in ended}) == len(ended)
    assert words[0].split()[0] == words[1].split()[0] or len(ended) == 7
    with pytest.raises(ValueError, match="storage= and study="):
        tune(X, Y, trials=1, storage=storage)
