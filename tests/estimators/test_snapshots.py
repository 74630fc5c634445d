"""Snapshots: members out of one training, at the ends of its cycles."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from pellucid import optim
from pellucid.estimators.ensembles.bagged import BaggedMLPRegressor
from pellucid.train import Callback
from tests.both_engines import each_engine
from tests.estimators.ensemble_cases import NUMBERS, X, regressor
from tests.estimators.marks import few_epochs, odd_data

pytestmark = [few_epochs, odd_data]


@each_engine
def test_snapshots_are_one_training_at_the_ends_of_its_cycles(engine):
    rates, kept = [], []

    class Watch(Callback):
        def on_epoch_end(self, run):
            rates.append(run.lr)
            kept.append({name: np.array(w) for name, w in run.prediction[0].items()})

        def __deepcopy__(self, memo):
            return self

    base = regressor(max_iter=11, engine=engine, callbacks=[Watch()])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)  # all cycles were meant to be done, and no more
        ensemble = BaggedMLPRegressor(base, 3, method="snapshots", random_state=0).fit(X, NUMBERS)
    assert len(rates) == 12  # rounded up to cycles of 4
    assert rates[3] < 0.1 * rates[0]
    assert rates[:4] == rates[4:8] == rates[8:]
    assert len(ensemble.estimators_) == 3
    for member, end in zip(ensemble.estimators_, (3, 7, 11), strict=True):
        for name, w in member.model_.params.items():
            assert_array_equal(w, kept[end][name])
    mean = np.mean([m.predict(X) for m in ensemble.estimators_], axis=0)
    assert_allclose(ensemble.predict(X), mean, rtol=1e-6)
    assert np.ptp([m.predict(X[:1])[0] for m in ensemble.estimators_]) > 0


def test_snapshots_begin_each_cycle_with_the_rules_own_rate():
    for given, rate in (
        ({"optimizer": optim.RMSprop(0.02)}, 0.02),
        ({"optimizer": optim.chain(optim.ClipNorm(1.0), optim.SGD(0.3))}, 0.3),
        ({"optimizer": "adamw", "learning_rate_init": 0.005}, 0.005),
    ):
        ensemble = BaggedMLPRegressor(regressor(**given), 2, method="snapshots", random_state=0).fit(X, NUMBERS)
        assert ensemble.estimators_[0].model_.optimizer.rule.lr.start == rate


def test_snapshots_need_steps():
    with pytest.raises(ValueError, match=r"snapshots.*solver='lbfgs'"):
        BaggedMLPRegressor(regressor(solver="lbfgs"), 2, method="snapshots").fit(X, NUMBERS)
    with pytest.raises(ValueError, match=r"snapshots.*Pipeline has no"):
        BaggedMLPRegressor(make_pipeline(regressor()), 2, method="snapshots").fit(X, NUMBERS)


def test_time_that_is_over_leaves_the_snapshots_there_are():
    ensemble = BaggedMLPRegressor(regressor(max_iter=10_000, max_time=1e-3), 3, method="snapshots").fit(X, NUMBERS)
    assert len(ensemble.estimators_) == len(ensemble.estimators_samples_) == 1
    with pytest.raises(ValueError, match="return_std needs 2 members"):
        ensemble.predict(X, return_std=True)
