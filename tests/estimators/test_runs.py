"""A fit as it goes: callbacks, time, what is shown, checkpoints."""

from __future__ import annotations

import time
from typing import Any

import pytest
from numpy.testing import assert_array_equal

from pellucid.estimators import TrainingSettings
from tests.both_engines import each_engine
from tests.estimators.marks import few_epochs
from tests.estimators.three_classes import X, classifier, y

pytestmark = few_epochs


def test_callbacks_and_time() -> None:
    seen: list[int] = []
    clf = classifier(callbacks=[lambda run: seen.append(run.epoch), lambda run: "enough" if run.epoch == 3 else None])
    clf.set_params(max_iter=10).fit(X, y)
    assert seen == [1, 2, 3]
    assert clf.n_iter_ == 3
    slow = classifier(max_iter=1000, max_time=0.2, callbacks=[lambda run: time.sleep(0.05)], tol=0.0).fit(X, y)
    assert 1 <= slow.n_iter_ < 1000


def test_a_progress_bar(capsys: Any) -> None:
    classifier(verbose="bar").fit(X, y)
    shown = capsys.readouterr()
    assert "loss" in shown.out + shown.err
    classifier(verbose=True, early_stopping=True).fit(X, y)
    assert "Iteration 4, loss" in (text := capsys.readouterr().out)
    assert "Validation score" in text
    classifier().fit(X, y)
    assert capsys.readouterr() == ("", "")


@each_engine
@pytest.mark.parametrize(
    "more",
    [
        {"early_stopping": True},
        {"solver": "sgd", "learning_rate": "adaptive", "tol": 0.1, "n_iter_no_change": 2, "learning_rate_init": 0.3},
        {"solver": "sgd", "learning_rate": "invscaling", "learning_rate_init": 0.5},
    ],
)
def test_a_resumed_fit_is_the_whole_fit(more: dict[str, Any], engine: str, tmp_path: Any) -> None:
    settings = {"dropout": 0.2, "engine": engine, **more}
    whole = classifier(max_iter=9, **settings).fit(X, y)
    path = tmp_path / "run.ckpt"

    def power_cut(run: Any) -> None:
        if run.epoch == 5:
            raise RuntimeError("no power")

    with pytest.raises(RuntimeError, match="no power"):
        classifier(max_iter=9, training=TrainingSettings(checkpoint=path), callbacks=[power_cut], **settings).fit(X, y)
    resumed = classifier(max_iter=9, training=TrainingSettings(checkpoint=path, resume=path), **settings).fit(X, y)
    for mine, other in zip(whole.coefs_ + whole.intercepts_, resumed.coefs_ + resumed.intercepts_, strict=True):
        assert_array_equal(mine, other)
    assert whole.loss_curve_ == resumed.loss_curve_
    assert whole.n_iter_ == resumed.n_iter_
    assert whole.validation_scores_ == resumed.validation_scores_
    assert whole.best_iter_ == resumed.best_iter_
