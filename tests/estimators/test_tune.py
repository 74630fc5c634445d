"""The search: repeatable, honest about what it tried, within its limits, and better than nothing."""

import builtins
import os
import signal
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from pellucid import datasets
from pellucid.estimators import MLPClassifier, MLPRegressor
from pellucid.estimators.tables.tabular import TabularMLPClassifier, TabularMLPRegressor
from pellucid.estimators.tuning.rounds import ROUND
from pellucid.estimators.tuning.space import choose_estimator, default_space, holds_classes
from pellucid.estimators.tuning.trial import PRUNED, Watch
from pellucid.estimators.tuning.tune import tune
from pellucid.train import Callback
from pellucid.train.loop.loop import HALT


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(0)) / X.std(0), np.array(["setosa", "versicolor", "virginica"])[y]


def small(trial):
    """A space that is quick to search."""
    return {
        "hidden_layer_sizes": (trial.suggest_categorical("width", (4, 16)),),
        "learning_rate_init": trial.suggest_float("rate", 1e-3, 0.1, log=True),
    }


def quick(kind=MLPClassifier, **more):
    return kind(max_iter=15, n_iter_no_change=5, batch_size=32, engine="numpy", **more)


def search(X, y, **more):
    return tune(X, y, **{"estimator": quick(), "space": small, "trials": 4, "random_state": 0, "verbose": False} | more)


# what comes back


def test_the_best_is_the_best_and_is_fitted_on_all_rows(iris):
    X, y = iris
    found = search(X, y, trials=6)
    values = [t.value for t in found.trials]
    assert len(values) == 6
    assert found.best_value == max(v for v, t in zip(values, found.trials, strict=True) if t.state != "pruned")
    assert found.metric == "accuracy"
    assert found.mode == "max"
    best = found.best_estimator
    for name, value in found.best_params.items():
        assert best.get_params()[name] == value
    assert best.n_iter_ == found.best_epochs
    assert best.t_ == found.best_epochs * len(X)  # every row, none held out
    assert set(best.classes_) == set(y)
    assert best.score(X, y) > 0.8


def test_trial_0_is_the_estimator_as_given(iris):
    found = search(*iris, estimator=quick(alpha=0.5))
    assert found.trials[0].params == {}
    assert found.best_value >= found.trials[0].value
    assert found.best_estimator.alpha == 0.5


def test_the_given_estimator_is_left_alone_and_a_clone_of_the_best_stops_by_itself(iris):
    given = quick()
    before = repr(given.get_params())
    found = search(*iris, estimator=given)
    assert repr(given.get_params()) == before
    again = clone(found.best_estimator)
    assert again.early_stopping
    assert again.max_iter == 15
    assert again.callbacks in ((), [])


def test_frame_and_text(iris):
    found = search(*iris, trials=5)
    frame = found.to_frame()
    assert frame["trial"].tolist() == [0, 1, 2, 3, 4]
    assert {"state", "accuracy", "epochs", "seconds", "hidden_layer_sizes", "learning_rate_init"} <= set(frame)
    assert frame["accuracy"].max() == found.best_value
    text = str(found)
    assert text.startswith(f"accuracy {found.best_value:.4g}")
    assert "5 trials" in text
    assert "all trials done" in text
    for name in found.best_params:
        assert name in text
    assert max(map(len, text.splitlines())) <= 120


def test_errors_are_made_small():
    X, y = make_regression(120, 3, noise=1.0, random_state=0)
    found = search(X, y / y.std(), estimator=quick(MLPRegressor), metric="rmse")
    assert found.mode == "min"
    values = [t.value for t in found.trials if t.value is not None]
    assert all(v > 0 for v in values)
    assert found.best_value == min(values)
    assert found.ranked()[0].value == found.best_value


def test_a_scorer_by_its_name(iris):
    found = search(*iris, metric="neg_log_loss", trials=2)
    assert found.metric == "neg_log_loss"
    assert found.best_value < 0


# the same again


def test_repeatable_whatever_the_number_of_jobs(iris):
    one, two = (search(*iris, trials=ROUND + 3, n_jobs=jobs) for jobs in (1, 2))
    for a, b in zip(one.trials, two.trials, strict=True):
        assert (a.params, a.state, a.value, a.curve) == (b.params, b.state, b.value, b.curve)
    np.testing.assert_array_equal(*(r.best_estimator.predict_proba(iris[0]) for r in (one, two)))
    other = search(*iris, trials=ROUND + 3, random_state=1)
    assert [t.params for t in other.trials[1:]] != [t.params for t in one.trials[1:]]


# rows that judge


def test_given_validation_rows_judge(iris):
    X, y = iris
    found = search(X[::2], y[::2], validation=(X[1::2], np.roll(y[1::2], 25)), trials=3)
    assert found.best_value < 0.7  # they have wrong labels


def test_folds_are_averaged(iris):
    X, y = iris
    found = search(X, y, cv=3, trials=2)
    whole = [t for t in found.trials if t.state == "complete"]
    assert whole
    alone = [
        search(X[np.r_[a]], y[np.r_[a]], validation=(X[b], y[b]), trials=1, estimator=quick(random_state=7)).best_value
        for a, b in GroupKFold(3).split(X, y, np.arange(len(X)) % 3)
    ]

    class ByRow:
        def split(self, X, y):
            return GroupKFold(3).split(X, y, np.arange(len(X)) % 3)

    together = search(X, y, cv=ByRow(), trials=1, estimator=quick(random_state=7))
    assert together.best_value == pytest.approx(np.mean(alone))


def test_a_splitter_may_leave_rows_out():
    X, y = make_regression(90, 3, random_state=0)
    found = search(X, y / y.std(), estimator=quick(MLPRegressor), cv=TimeSeriesSplit(2), trials=2)
    assert len(found.trials) == 2
    assert found.best_estimator.t_ == found.best_epochs * 90


def test_weights_reach_both_sides(iris):
    X, y = iris
    counts = np.where(y == "setosa", 1.0, 0.0)
    found = search(X, y, sample_weight=counts + 1e-9, trials=1)
    assert found.best_value > 0.99  # only setosa counts
    assert (found.best_estimator.predict(X) == "setosa").mean() > 0.3


# pruning


def test_a_hopeless_trial_is_pruned():
    X, y = make_classification(300, 6, n_informative=4, random_state=0)

    def space(trial):  # the first round learns, later ones cannot
        return {"learning_rate_init": trial.suggest_float("rate", 1e-9, 0.02) if trial.number < ROUND else 1e-9}

    patient = quick(hidden_layer_sizes=(8,)).set_params(n_iter_no_change=15)
    found = search(X, y, space=space, trials=ROUND + 2, estimator=patient)
    late = found.trials[ROUND:]
    assert [t.state for t in late] == ["pruned", "pruned"]
    assert all(len(t.curve) < 15 for t in late)
    assert found.best_params != late[0].params


def test_watch_stops_a_run(iris):
    watch = Watch(lambda value, epoch: epoch == 2)
    X, y = iris
    clf = quick(early_stopping=True, callbacks=[watch], random_state=0)
    clf.fit(X, y)
    assert len(watch.curve) == clf.n_iter_ == 3
    assert watch.stopped == PRUNED
    assert watch.curve == clf.validation_scores_
    assert watch.best[0] == max(watch.curve)


# limits


def test_the_budget_cuts_trials_short(iris):
    endless = MLPClassifier(max_iter=10**6, n_iter_no_change=10**6, engine="numpy")
    found = search(*iris, estimator=endless, trials=None, budget=1.0)
    assert found.stopped == "the time is over"
    assert {t.state for t in found.trials} == {"cut"}
    assert 0 < found.best_epochs < 10**6


def test_ctrl_c_gives_the_best_so_far(iris):
    class Interrupt(Callback):
        """Sends one Ctrl-C, from the third epoch of the first training."""

        sent = threading.Event()

        def on_epoch_end(self, run):
            if run.epoch == 3 and not self.sent.is_set():
                self.sent.set()
                os.kill(os.getpid(), signal.SIGINT)

    endless = MLPClassifier(max_iter=10**6, n_iter_no_change=10**6, engine="numpy", callbacks=[Interrupt()])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may ignore it
    try:
        found = search(*iris, estimator=endless, trials=50)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stopped.startswith("interrupted")
    assert 1 <= len(found.trials) <= ROUND
    assert found.best_estimator.predict(iris[0]).shape == (150,)


class Early(Callback):
    """Sends one Ctrl-C from the first batch of all, and lets no training go on before it has been heard."""

    def __init__(self):
        self.sent = threading.Event()

    def __deepcopy__(self, memo):
        return self

    def on_batch_end(self, run):
        if not self.sent.is_set():
            self.sent.set()
            os.kill(os.getpid(), signal.SIGINT)
        HALT.get().wait(30)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("settings", [{}, {"cv": 2}])
@pytest.mark.parametrize("make", [MLPClassifier, TabularMLPClassifier])
def test_ctrl_c_ahead_of_the_first_result_is_ctrl_c(iris, n_jobs, settings, make):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt, match="before a trial had ended its first epoch"):
            search(
                *iris,
                estimator=make(callbacks=[Early()], engine="numpy", batch_size=8),
                trials=50,
                n_jobs=n_jobs,
                **settings,
            )
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("first", [1, ROUND])
def test_ctrl_c_between_rounds(iris, first):
    """While settings are proposed, no trial runs: the best of earlier rounds is the result, if there is one."""
    asked = []

    def space(trial):
        asked.append(trial.number)
        if trial.number >= first:
            raise KeyboardInterrupt
        return {"alpha": trial.suggest_float("alpha", 1e-6, 1e-2)}

    brief = MLPClassifier((4,), max_iter=2, engine="numpy")
    if first == 1:
        with pytest.raises(KeyboardInterrupt):
            search(*iris, estimator=brief, trials=50, space=space)
        return
    found = search(*iris, estimator=brief, trials=50, space=space)
    assert found.stopped.startswith("interrupted")
    assert len(found.trials) == ROUND
    assert found.best_estimator.predict(iris[0]).shape == (150,)


def test_divergence_is_an_outcome(iris):
    X, y = iris

    def space(trial):
        return {"learning_rate_init": 1e200 if trial.number % 2 else trial.suggest_float("rate", 0.01, 0.1)}

    found = search(X, y, estimator=quick(solver="sgd"), space=space, trials=4)
    assert [t.state for t in found.trials] == ["complete", "failed", "complete", "failed"]
    assert found.trials[1].value is None
    assert "2 failed" in str(found)


def test_if_all_diverge_the_error_is_told(iris):
    with pytest.raises(ValueError, match="non-finite"):
        search(*iris, estimator=quick(solver="sgd", learning_rate_init=1e200), trials=1)


# tables


def test_a_table_with_everything():
    X, y = datasets.load("penguins")
    found = tune(X, y, trials=3, random_state=0, verbose=False, estimator=TabularMLPClassifier(folds=1, max_iter=8))
    best = found.best_estimator
    assert isinstance(best, TabularMLPClassifier)
    assert best.score(X, y) > 0.9
    assert best.n_iter_ == found.best_epochs
    assert best.validation_fraction == 0.2


# what suits


def test_auto_chooses_by_data():
    X, y = datasets.load("penguins")
    number = X["body_mass_g"].fillna(0.0)
    assert isinstance(choose_estimator("auto", X, y), TabularMLPClassifier)
    assert isinstance(choose_estimator("auto", X, number), TabularMLPRegressor)
    assert isinstance(choose_estimator("auto", X[["body_mass_g"]].to_numpy(), y), MLPClassifier)
    assert isinstance(choose_estimator("auto", X[["body_mass_g"]].to_numpy(), number), MLPRegressor)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([True, False], True),
        (["a", "b"], True),
        ([0, 1, 2], True),
        ([0.0, 1.0], True),
        ([0.5, 1.0], False),
        (range(21), False),
        ([[0, 1], [1, 1]], True),
        ([[0.5, 1], [1, 1]], False),
    ],
)
def test_what_classes_look_like(y, classes):
    assert holds_classes(y) is classes


@pytest.mark.parametrize(
    "estimator",
    [
        MLPClassifier(),
        MLPRegressor(),
        TabularMLPClassifier(),
        TabularMLPClassifier(folds=1, monitor="f1"),
        TabularMLPRegressor(),
    ],
)
def test_the_default_space_has_parameters_that_exist(estimator):
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    for _ in range(20):
        tried: Any = default_space(study.ask(), estimator, rows=2000)
        assert {name.partition("__")[0] for name in tried} <= set(estimator.get_params(deep=False))
        assert tried["batch_size"] <= 250
        # smoothed losses are no losses to compare by
        smooth = isinstance(estimator, MLPClassifier | TabularMLPClassifier) and estimator.monitor != "loss"
        assert ("label_smoothing" in tried) == smooth


# what cannot be done


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": 0}, "budget is a number of seconds above 0"),
        ({"trials": 0}, "trials is a whole number from 1"),
        ({"n_jobs": 0}, "n_jobs is a whole number from 1, or -1"),
        ({"estimator": "forest"}, "estimator is 'auto' or an object"),
        ({"estimator": MLPClassifier(solver="lbfgs")}, "solver='lbfgs' has none"),
        ({"validation": 1.5}, "validation is a share of the rows"),
        ({"metric": "acuracy"}, "accuracy"),
    ],
)
def test_wrong_arguments(iris, wrong, message):
    with pytest.raises(ValueError, match=message):
        search(*iris, **wrong)


def test_a_foreign_estimator(iris):
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(TypeError, match="one of pellucid's"):
        search(*iris, estimator=LogisticRegression())


def test_wrong_data_raise_at_once(iris):
    X, y = iris
    X = X.copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        search(X, y)


def test_without_optuna(iris, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **more):
        if name == "optuna":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install pellucid\[optuna\]"):
        search(*iris)


def test_warnings_and_logging_are_as_before(iris):
    import optuna

    before, filters = optuna.logging.get_verbosity(), list(warnings.filters)
    search(*iris, trials=2)
    assert optuna.logging.get_verbosity() == before
    assert list(warnings.filters) == filters
