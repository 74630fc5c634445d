"""Rows to validate on, what is watched on them, and that the best epoch is kept."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import log_loss, make_scorer, roc_auc_score

from pellucid import MLPRegressor, TabularMLPClassifier, TabularMLPRegressor, load
from pellucid.train import Callback
from tests.both_engines import each_engine
from tests.estimators import animals
from tests.estimators import few_rows as few
from tests.estimators.marks import few_epochs
from tests.estimators.three_classes import X, classifier, numbers, regressor, y

pytestmark = few_epochs


# rows


def test_ones_own_validation_data() -> None:
    train, held = np.arange(150), np.arange(150, 200)
    a = classifier(early_stopping=True, max_iter=8).fit(X[train], y[train], X_val=X[held], y_val=y[held])
    b = classifier(early_stopping=True, max_iter=8).fit(X, y, val_rows=held)
    mask = np.isin(np.arange(200), held)
    c = classifier(early_stopping=True, max_iter=8).fit(X, y, val_rows=mask)
    for other in (b, c):
        assert a.validation_scores_ == other.validation_scores_
        assert len(a.validation_scores_) == 8
        assert a.validation_loss_curve_ == other.validation_loss_curve_
    assert a.best_validation_score_ == max(a.validation_scores_) == a.score(X[held], y[held])
    watched = classifier(max_iter=8).fit(X[train], y[train], X_val=X[held], y_val=y[held])
    plain = classifier(max_iter=8).fit(X[train], y[train])
    assert_array_equal(watched.coefs_[0], plain.coefs_[0])  # without early stopping they are only looked at
    assert len(watched.validation_loss_curve_) == 8
    assert plain.validation_loss_curve_ is None
    assert watched.validation_loss_curve_[-1] == pytest.approx(log_loss(y[held], watched.predict_proba(X[held])))
    assert watched.validation_scores_[-1] == watched.score(X[held], y[held])


def test_a_class_may_be_absent_from_the_validation_rows() -> None:
    some = np.flatnonzero(y < 2)[:40]
    for monitor in ("neg_log_loss", "accuracy", "loss", "f1_macro"):
        clf = classifier(early_stopping=True, monitor=monitor).fit(X, y, val_rows=some)
        assert np.isfinite(clf.validation_scores_).all()
    best = classifier(early_stopping=True, monitor="neg_log_loss").fit(X, y, val_rows=some)
    loss = log_loss(y[some], best.predict_proba(X[some]), labels=[0, 1, 2])
    assert best.best_validation_score_ == pytest.approx(-loss)


def test_weights_of_validation_rows():
    w = np.random.default_rng(2).uniform(0.1, 3, 50)
    clf = TabularMLPClassifier(folds=1, **animals.QUICK, numbers="waves", monitor="accuracy", random_state=0)
    clf.fit(
        animals.X[:150], animals.LABELS[:150], X_val=animals.X[150:], y_val=animals.LABELS[150:], sample_weight_val=w
    )
    right = clf.predict(animals.X[150:]) == animals.LABELS[150:]
    assert_allclose(clf.best_validation_score_, np.average(right, weights=w), rtol=1e-6)
    with pytest.raises(ValueError, match="give X_val and y_val"):
        clf.fit(animals.X, animals.LABELS, sample_weight_val=w)
    with pytest.raises(ValueError, match="sample_weight"):
        clf.fit(
            animals.X[:150],
            animals.LABELS[:150],
            X_val=animals.X[150:],
            y_val=animals.LABELS[150:],
            sample_weight_val=w[:9],
        )


# what is watched


def own_score(truth: Any, prediction: Any) -> float:
    return -log_loss(truth, prediction)


@pytest.mark.parametrize(
    "monitor",
    [
        "loss",
        "accuracy",
        "neg_log_loss",
        "roc_auc",
        "roc_auc_ovr",
        "balanced_accuracy",
        "f1_macro",
        own_score,
        make_scorer(log_loss, greater_is_better=False, response_method="predict_proba"),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_monitored(monitor: Any, classes: int) -> None:
    target = np.minimum(y, classes - 1)
    if monitor == "roc_auc_ovr" and classes == 2:
        pytest.skip("a scorer for several classes")
    clf = classifier(early_stopping=True, monitor=monitor, max_iter=10).fit(X, target, val_rows=np.arange(60))
    scores = clf.validation_scores_
    best = max(scores)
    assert clf.best_validation_score_ == best == scores[clf.best_iter_ - 1]
    p = clf.predict_proba(X[:60])
    if monitor in ("loss", "neg_log_loss", own_score):
        assert best == pytest.approx(-log_loss(target[:60], p))
    elif monitor == "roc_auc":
        truth = roc_auc_score(target[:60], p[:, 1] if classes == 2 else p, multi_class="ovr")
        assert best == pytest.approx(truth)


@pytest.mark.parametrize(
    "monitor", ["r2", "mae", "rmse", "loss", "neg_mean_absolute_error", "neg_median_absolute_error"]
)
def test_what_is_monitored_of_numbers(monitor: str) -> None:
    reg = regressor(early_stopping=True, monitor=monitor, max_iter=10).fit(X, numbers)
    assert reg.best_validation_score_ == max(reg.validation_scores_)
    assert (reg.best_validation_score_ < 0) == (monitor != "r2")  # what is better when smaller has a minus ahead of it
    assert reg.validation_scores_[reg.best_iter_ - 1] == reg.best_validation_score_


@pytest.mark.parametrize("monitor", ["d2_absolute_error_score", make_scorer(few.worst, greater_is_better=False)])
def test_scorers_of_numbers_watch_regressors(monitor: Any) -> None:
    reg = MLPRegressor(**few.SMALL, early_stopping=True, monitor=monitor).fit(few.X, few.NUMBERS)
    assert len(reg.validation_scores_) == 3
    assert reg.validation_scores_[-1] > reg.validation_scores_[0]


def largest_error(y, prediction):
    return -np.max(np.abs(y - prediction))


@pytest.mark.parametrize("monitor", ["rmse", "neg_mean_squared_error", largest_error])
def test_what_a_regressor_watches_is_in_the_users_units(monitor, tmp_path):
    reg = TabularMLPRegressor(folds=1, **animals.QUICK, numbers="waves", monitor=monitor, random_state=0)
    reg.fit(animals.X[:150], animals.VALUES[:150], X_val=animals.X[150:], y_val=animals.VALUES[150:])
    error = reg.predict(animals.X[150:]) - animals.VALUES[150:]
    wanted = {
        "rmse": -np.sqrt(np.mean(error**2)),
        "neg_mean_squared_error": -np.mean(error**2),
        largest_error: -np.max(np.abs(error)),
    }
    curve = np.array(reg.validation_scores_)
    assert_allclose(curve[reg.best_iter_ - 1], wanted[monitor], rtol=1e-4)
    if monitor == "rmse":
        reg.save(tmp_path / "reg.pel")  # the metric is one of ours: the file is whole
        assert_allclose(load(tmp_path / "reg.pel").predict(animals.X), reg.predict(animals.X), rtol=1e-6)


def test_a_metric_without_weights_is_named():
    with pytest.raises(ValueError, match="takes no sample_weight"):
        TabularMLPRegressor(folds=1, **animals.QUICK, monitor=largest_error).fit(
            animals.X, animals.VALUES, np.ones(200) * 0.5
        )


@pytest.mark.parametrize(
    ("monitor", "words"),
    [
        (None, r"Validation score: 0\.\d{6} \(accuracy\)\n"),
        ("loss", r"Validation loss: \d\.\d{6}\n"),
        ("roc_auc", r"Validation score: 0\.\d{6} \(roc_auc\)\n"),
        ("neg_log_loss", r"Validation score: -\d\.\d{6} \(log_loss\)\n"),
    ],
)
def test_what_is_printed_is_called_a_score_or_a_loss(monitor, words, capsys):
    classifier(early_stopping=True, monitor=monitor, max_iter=3, verbose=True).fit(X, y)
    assert len(re.findall(words, capsys.readouterr().out)) == 3


def test_a_metric_of_which_less_is_better_is_printed_as_a_loss(capsys):
    reg = regressor(early_stopping=True, monitor="rmse", max_iter=30, n_iter_no_change=2, tol=1e9, verbose=True)
    reg.fit(X, numbers)
    text = capsys.readouterr().out
    assert f"Validation loss: {-reg.validation_scores_[0]:f} (rmse)" in text
    assert "Validation loss did not improve more than tol" in text


# the best epoch


class Spoil(Callback):
    """After some epochs training does harm."""

    def __init__(self, ending: str, epoch: int = 6) -> None:
        self.ending, self.epoch = ending, epoch

    def on_epoch_end(self, run: Any) -> None:
        if run.epoch >= self.epoch:
            run.now = type(run.now)({k: -v for k, v in run.now.params.items()}, run.now.state, run.now.rule)
        if run.epoch < self.epoch + 2:
            return
        if self.ending == "callback":
            run.stop("enough")
        elif self.ending == "Ctrl-C":
            raise KeyboardInterrupt
        elif self.ending == "time":
            run.plan.max_time = run.elapsed / 2  # it is later than anybody thought


@pytest.mark.filterwarnings("ignore:Training interrupted by user")
@each_engine
@pytest.mark.parametrize("ending", ["patience", "max_iter", "time", "callback", "Ctrl-C"])
def test_the_best_parameters_are_kept_however_training_ends(ending: str, engine: str) -> None:
    settings: dict[str, Any] = {"max_iter": 12, "n_iter_no_change": 3 if ending == "patience" else 1000}
    settings |= {"max_time": 1e6 if ending == "time" else None, "engine": engine, "learning_rate_init": 0.02}
    clf = classifier(early_stopping=True, callbacks=[Spoil(ending)], **settings)
    clf.fit(X, y, val_rows=np.arange(60))
    assert clf.n_iter_ == (12 if ending == "max_iter" else len(clf.validation_scores_))
    assert clf.n_iter_ >= 7
    assert ending == "max_iter" or clf.n_iter_ < 12
    assert clf.best_iter_ <= 7
    assert clf.validation_scores_[-1] < clf.best_validation_score_
    assert clf.score(X[:60], y[:60]) == clf.best_validation_score_
