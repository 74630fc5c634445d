"""Losses of numbers, of classes, and of one's own: what comes out of them predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special
from sklearn.metrics import d2_pinball_score, mean_pinball_loss

from pellucid import MLPClassifier, MLPRegressor, nn
from tests.estimators import few_rows as few
from tests.estimators.marks import few_epochs
from tests.estimators.three_classes import X, classifier, numbers, regressor, y

pytestmark = few_epochs
rng = np.random.default_rng(0)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "squared_error", "quantile", nn.loss("huber", delta=0.5)])
def test_losses_of_numbers(loss: Any) -> None:
    noisy = numbers.copy()
    noisy[::20] += 30.0  # outliers
    reg = regressor(loss=loss).fit(X, noisy)
    error = float(np.median(np.abs(reg.predict(X) - numbers)))
    assert error < (3.0 if loss == "squared_error" else 0.5)


def test_losses_of_positive_numbers() -> None:
    mean = np.exp(0.5 * X[:, 0])
    for loss, target in (("poisson", rng.poisson(mean)), ("gamma", mean * rng.gamma(5, 0.2, len(X)))):
        reg = regressor(loss=loss).fit(X, target)
        assert reg.out_activation_ == "exp"
        assert reg.predict(X).min() > 0
        assert np.corrcoef(reg.predict(X), mean)[0, 1] > 0.8
        assert_allclose(np.exp(reg.logits(X)[:, 0]), reg.predict(X), rtol=1e-6)


def test_quantiles_are_sorted_and_right() -> None:
    A = rng.uniform(-1, 1, (800, 1))
    target = A[:, 0] + (0.2 + np.abs(A[:, 0])) * rng.normal(size=800)
    reg = regressor(loss=nn.loss("quantile", quantiles=(0.1, 0.5, 0.9)), max_iter=150).fit(A, target)
    found = reg.predict(A)
    assert found.shape == (800, 3)
    assert np.all(np.diff(found, axis=1) >= 0)
    assert_allclose((target[:, None] < found).mean(axis=0), [0.1, 0.5, 0.9], atol=0.06)
    explained = [d2_pinball_score(target, found[:, i], alpha=q) for i, q in enumerate((0.1, 0.5, 0.9))]
    assert reg.score(A, target) == pytest.approx(np.mean(explained))
    single = regressor(loss=nn.loss("quantile", quantiles=0.9), max_iter=150).fit(A, target)
    assert mean_pinball_loss(target, single.predict(A), alpha=0.9) < mean_pinball_loss(target, found[:, 1], alpha=0.9)


def test_a_loss_of_ones_own() -> None:
    def log_cosh(s: Any, y: Any) -> Any:
        return np.log(np.cosh(s - y))

    assert regressor(loss=log_cosh).fit(X, numbers).score(X, numbers) > 0.5

    def focal(s: Any, y: Any) -> Any:
        return nn.loss("cross_entropy").each(s, y) * 2.0

    assert classifier(loss=focal, max_iter=60, learning_rate_init=0.01).fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("loss", ["brier", "focal", nn.loss("focal", gamma=3.0), "log_loss"])
@pytest.mark.parametrize("classes", [2, 3])
def test_losses_of_classes(loss: Any, classes: int) -> None:
    target = np.minimum(y, classes - 1)
    clf = classifier(loss=loss, max_iter=60, learning_rate_init=0.01).fit(X, target)
    assert clf.score(X, target) > 0.7
    assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0, rtol=1e-6)


def test_margins_have_no_probabilities() -> None:
    clf = classifier(loss="hinge", max_iter=60, learning_rate_init=0.01).fit(X, y == 0)
    assert clf.score(X, y == 0) > 0.8
    assert not hasattr(clf, "predict_proba")
    assert_array_equal(clf.decision_function(X) > 0, clf.predict(X))


def test_label_smoothing_keeps_probabilities_from_the_ends() -> None:
    settings: dict[str, Any] = {"max_iter": 150, "learning_rate_init": 0.01, "n_iter_no_change": 1000}
    plain, smooth = (classifier(label_smoothing=e, **settings).fit(X, y).predict_proba(X).max() for e in (0.0, 0.2))
    assert plain > 0.999
    assert smooth < 0.99


def test_probabilities_follow_a_link_of_ones_own() -> None:
    """Those of the loss, not of the log-loss that would be usual."""
    halves = nn.Link("halves", lambda s: special.expit(s / 2.0), nn.LinkKind.PROBABILITY)
    loss = nn.loss(lambda s, y: np.logaddexp(0.0, s / 2.0) - y * s / 2.0, like="bce", link=halves)
    clf = MLPClassifier(**few.SMALL, loss=loss).fit(few.X, few.TWO)
    second = special.expit(clf.logits(few.X) / 2.0)
    assert_allclose(clf.predict_proba(few.X), np.concatenate([1.0 - second, second], axis=1), rtol=1e-12)
    assert_allclose(clf.predict_log_proba(few.X), np.log(clf.predict_proba(few.X)), rtol=1e-12)


def test_a_name_makes_no_classifier() -> None:
    """A link that happens to be called like a word of another kind."""
    loss = nn.loss(lambda s, y: (s - y) ** 2, link=nn.Link("sigmoid-like, expensive design", lambda s: 2.0 * s))
    reg = MLPRegressor(**few.SMALL, loss=loss).fit(few.X, few.NUMBERS)
    assert reg.out_activation_ == "identity"
    assert_allclose(reg.predict(few.X), 2.0 * reg.logits(few.X)[:, 0], rtol=1e-12)


def test_a_changed_parameter_keeps_the_penalty_of_partial_fit() -> None:
    clf = MLPClassifier(**few.SMALL | {"alpha": 1.0}).partial_fit(few.X, few.TWO, classes=np.unique(few.TWO))
    before = clf.model_.penalty
    assert before is not None
    clf.set_params(learning_rate_init=0.01).partial_fit(few.X, few.TWO)
    assert clf.model_.penalty == before
