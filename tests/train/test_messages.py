"""Who hears of compilation: who has asked for messages, and nobody else."""

from __future__ import annotations

import contextvars

import numpy as np
import pytest

from pellucid import MLPRegressor, Model, fit_many, nn, optim
from pellucid.engine.native.runtime import announcement, cache
from pellucid.train import Callback

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
BATCHES = [(X[:20], X[:20, 0]), (X[20:], X[20:, 0])]


@pytest.fixture
def heard(monkeypatch, capsys):
    """Was anything said while a function ran, if every use of a kernel took long, in a terminal?"""
    real = cache.addresses

    def addresses(kernels):
        announcement._told = False
        with announcement.compiling(1, None) as one_more:
            one_more()
        return real(kernels)

    monkeypatch.setattr(cache, "addresses", addresses)
    monkeypatch.setattr(announcement, "_told", False)
    monkeypatch.setattr(announcement, "LONG", 0.0)
    monkeypatch.setattr(announcement, "is_terminal", lambda: True)
    capsys.readouterr()

    def said(work):
        contextvars.Context().run(work)
        return "compiling" in capsys.readouterr().err

    return said


class Watch(Callback):
    def on_gradients(self, run, gradients):
        return None


def model():
    return Model(nn.mlp((4,), 1), optimizer=optim.SGD(0.1), engine="native")


CASES = {
    "fit": lambda v: model().fit(X, X[:, 0], epochs=1, verbose=v),
    "validation": lambda v: model().fit(X, X[:, 0], epochs=1, validation=0.2, verbose=v),
    "batches": lambda v: model().fit(BATCHES, epochs=1, verbose=v),
    "callback": lambda v: model().fit(X, X[:, 0], epochs=1, callbacks=[Watch()], verbose=v),
    "fit_many": lambda v: fit_many([model(), model()], X, X[:, 0], epochs=1, batch_size=7, verbose=v),
    "estimator": lambda v: MLPRegressor(hidden_layer_sizes=(4,), engine="native", max_iter=1, tol=1e9, verbose=v).fit(
        X, X[:, 0]
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_verbose_decides(heard, case):
    assert heard(lambda: CASES[case](True))
    assert not heard(lambda: CASES[case](False))


@pytest.mark.parametrize("verbose", [True, False])
def test_prediction_says_nothing(heard, verbose):
    fitted = model()
    fitted.fit(X, X[:, 0], epochs=1, verbose=verbose)
    assert not heard(lambda: (fitted.predict(X), fitted.scores(X[:7]), fitted.evaluate(X, X[:, 0])))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators_say_nothing_unless_asked(heard):
    def work():
        estimator = MLPRegressor(hidden_layer_sizes=(4,), engine="native", max_iter=1).fit(X, X[:, 0])
        estimator.predict(X)
        estimator.partial_fit(X, X[:, 0])

    assert not heard(work)


def test_the_silent_progress_is_silent(heard):
    assert not heard(lambda: CASES["fit"]("silent"))
