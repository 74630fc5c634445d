"""Networks of a fit that are kept in a folder: a fit that ends early goes on there, with the same bits."""

import numpy as np
import pytest

from pellucid import TabularMLPRegressor
from pellucid.errors import CheckpointError
from pellucid.train import Callback

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = X[:, 0] * X[:, 1] + X[:, 2]
SMALL = {"hidden_layer_sizes": (8,), "max_iter": 4, "folds": 3, "numbers": ("waves", "linear"), "random_state": 0}


class Killed(BaseException):
    """In the place of SIGKILL."""


class Trainings(Callback):
    """Counts trainings, and ends all in the middle of one of them."""

    def __init__(self, last: int = 1000) -> None:
        self.last, self.begun = last, 0

    def on_fit_begin(self, run) -> None:
        self.begun += 1

    def on_epoch_end(self, run) -> None:
        if self.begun == self.last and run.epoch == 3:
            raise Killed


def test_a_fit_goes_on(tmp_path):
    whole = TabularMLPRegressor(**SMALL).fit(X, Y)
    killed = Trainings(2)
    with pytest.raises(BaseException) as end:  # noqa: PT011 (what a callback raises is told as an error of it)
        TabularMLPRegressor(**SMALL, callbacks=[killed], checkpoint=tmp_path / "n").fit(X, Y)
    assert isinstance(end.value.__cause__ or end.value, Killed)
    there = len(list((tmp_path / "n").glob("*.pel")))
    assert there >= 1
    others = Trainings()
    resumed = TabularMLPRegressor(**SMALL, callbacks=[others], checkpoint=tmp_path / "n").fit(X, Y)
    assert others.begun == 2
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))
    assert resumed.fitted.crew.shares == whole.fitted.crew.shares


def test_a_network_that_takes_long_has_a_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr("pellucid.estimators.tables.kept_networks.SECONDS", 0.0)
    whole = TabularMLPRegressor(**SMALL).fit(X, Y)
    with pytest.raises(BaseException):  # noqa: B017, PT011
        TabularMLPRegressor(**SMALL, callbacks=[Trainings(1)], checkpoint=tmp_path).fit(X, Y)
    assert len(list(tmp_path.glob("*.ckpt"))) == 1
    epochs = []
    more = TabularMLPRegressor(**SMALL, callbacks=[lambda run: epochs.append(run.epoch)], checkpoint=tmp_path).fit(X, Y)
    assert epochs[0] == 3  # two were done
    assert not list(tmp_path.glob("*.ckpt"))
    np.testing.assert_array_equal(more.predict(X), whole.predict(X))


def test_networks_of_another_fit_are_refused(tmp_path):
    TabularMLPRegressor(**SMALL, checkpoint=tmp_path).fit(X, Y)
    for parameters, y in (({"random_state": 1}, Y), ({"max_iter": 5}, Y), ({}, Y + 1e-3 * X[:, 0])):
        with pytest.raises(CheckpointError, match="another fit"):
            TabularMLPRegressor(**(SMALL | parameters), checkpoint=tmp_path).fit(X, y)


@pytest.mark.filterwarnings("ignore:TabularMLPRegressor. on the")
def test_a_second_opinion_is_not_kept(tmp_path):
    """A straight line is what the linear model is best at: networks are trained again, to see what several gain."""
    line = X @ np.array([1.0, 2.0, 3.0])
    settings = SMALL | {"max_iter": 16, "numbers": "waves"}
    model = TabularMLPRegressor(**settings, checkpoint=tmp_path).fit(X, line)
    assert any("linear model" in attempt["failure"] for attempt in model.attempts_)
    again = TabularMLPRegressor(**settings, checkpoint=tmp_path).fit(X, line)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
