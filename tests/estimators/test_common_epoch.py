"""Networks of one kind keep one epoch, which all rows held out choose; and train longer where they learn to the end."""

from typing import Any

import numpy as np
import pytest

from pellucid import TabularMLPClassifier, TabularMLPRegressor
from pellucid.estimators.tables import common_epoch
from pellucid.train import Callback, Run

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
NOISY = (X[:, 0] + RNG.normal(size=300) > 0).astype(int)
SMOOTH = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])
SMALL: dict[str, Any] = {"hidden_layer_sizes": (32,), "folds": 4, "numbers": "waves", "random_state": 0}


def test_one_epoch_for_all_folds_and_the_best_for_all_rows_together():
    members = TabularMLPClassifier(**SMALL, max_iter=32).fit(X, NOISY).fitted.networks
    assert len(members) == 4
    (epoch,) = {member.curves.best_iter for member in members}
    curves = np.array([member.curves.scores for member in members])  # all folds have as many rows
    every = 32 // common_epoch.CANDIDATES
    candidates = np.arange(every, 33, every)
    assert epoch == candidates[np.argmin(curves.mean(axis=0)[candidates - 1])]


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_network_is_what_it_was_after_that_epoch():
    """As one that was trained for as long, with a schedule that does not look at the end."""
    settings = SMALL | {"schedule": "constant", "learning_rate_init": 0.01}
    model = TabularMLPClassifier(**settings, max_iter=32).fit(X, NOISY)
    epoch = model.best_iter_
    assert 1 < epoch < 32
    shorter = TabularMLPClassifier(**settings, max_iter=epoch, early_stopping=True).fit(X, NOISY)
    ended = [one for one in shorter.fitted.networks if one.curves.best_iter == epoch]
    assert ended
    for one in ended:
        place = shorter.fitted.networks.index(one)
        for name, array in one.model.params.items():
            np.testing.assert_array_equal(array, model.fitted.networks[place].model.params[name])


def test_without_room_each_keeps_its_own(monkeypatch):
    monkeypatch.setattr(common_epoch, "MEMORY", 1e4)
    members = TabularMLPClassifier(**SMALL, max_iter=32).fit(X, NOISY).fitted.networks
    for member in members:
        assert member.curves.scores[member.curves.best_iter - 1] == min(member.curves.scores)
    assert len({member.curves.best_iter for member in members}) > 1


def test_longer_where_the_first_networks_are_best_near_the_end():
    model = TabularMLPRegressor(**SMALL).fit(X, SMOOTH)
    assert model.get_recipe()["max_iter"] == 2 * model.get_recipe(rows=300)["max_iter"] == len(model.loss_curve_)
    usual = TabularMLPRegressor(**SMALL, max_iter=64).fit(X, SMOOTH)
    assert len(usual.loss_curve_) == 64  # what the user says is done
    early = TabularMLPClassifier(**SMALL).fit(X, NOISY)
    assert early.get_recipe()["max_iter"] == early.get_recipe(rows=300)["max_iter"]


@pytest.mark.parametrize("y", [NOISY, SMOOTH])
def test_the_same_bits_for_any_number_of_threads(y):
    kind = TabularMLPClassifier if y is NOISY else TabularMLPRegressor
    one, two = (kind(**SMALL, threads=threads).fit(X, y) for threads in (1, 2))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.filterwarnings("ignore:.*linear model")
def test_shorter_where_that_is_better():
    """Many rows of noise: a long training learns them by heart."""
    rng = np.random.default_rng(2)
    many = rng.normal(size=(2600, 4))
    noisy = (many[:, 0] + 3 * rng.normal(size=2600) > 0).astype(int)
    settings = SMALL | {"folds": 2}
    model = TabularMLPClassifier(**settings).fit(many, noisy)
    usual = model.get_recipe(rows=2600)["max_iter"]
    assert model.get_recipe()["max_iter"] == usual // 2 == len(model.loss_curve_)
    assert TabularMLPClassifier(**settings, max_iter=usual).fit(many, noisy).get_recipe()["max_iter"] == usual


class Counted(Callback):
    """What it is told of networks, and how many there are."""

    def __init__(self) -> None:
        self.announced, self.begun, self.anew = 0, 0, 0

    def on_networks(self, count: int, *, anew: bool) -> None:
        self.announced += count
        self.anew += anew

    def on_fit_begin(self, run: Run) -> None:
        self.begun += 1


@pytest.mark.filterwarnings("ignore:.*linear model")
@pytest.mark.parametrize(("y", "again"), [(SMOOTH, False), (np.random.default_rng(0).normal(size=len(X)), True)])
def test_callbacks_are_told_how_many_networks_will_follow(y, again):
    """With the second ones of those that are tried for longer, and with all of a training that begins anew."""
    counted = Counted()
    views = ("waves", "pieces", "coded", "linear")
    model = TabularMLPRegressor(**SMALL | {"numbers": views, "callbacks": [counted]}).fit(X, y)
    assert counted.announced == counted.begun >= 2 * model.get_recipe()["folds"]
    assert (counted.anew > 0) == (len(model.attempts_) > 1) == again
