"""Temperatures: the best one is found, classes stay, nothing becomes certain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax

from pellucid.train.temperature import calibrated_log_loss, temperature

ROWS = 20_000


def drawn(true: float, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels that are drawn from their probabilities at a temperature."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(ROWS, classes)) * 2.0
    likely = softmax(scores / true, axis=1)
    return scores, np.array([rng.choice(classes, p=row) for row in likely])


@pytest.mark.parametrize("true", [0.3, 1.0, 4.0])
def test_labels_drawn_at_a_temperature_give_it_back(true: float) -> None:
    scores, y = drawn(true, 3)
    assert temperature(scores, y) == pytest.approx(true, rel=0.06)


def test_it_is_where_the_log_loss_is_lowest() -> None:
    scores, y = drawn(2.0, 4)

    def cost(log: float) -> float:
        return float(-log_softmax(scores * np.exp(log), axis=1)[np.arange(ROWS), y].mean())

    best = np.exp(-minimize_scalar(cost, bounds=(-3, 3), method="bounded").x)
    assert temperature(scores, y) == pytest.approx(best, rel=1e-3)


def test_one_score_of_two_classes_is_the_same_as_two() -> None:
    scores, y = drawn(2.0, 2)
    difference = scores[:, 1:] - scores[:, :1]
    assert temperature(difference, y) == pytest.approx(temperature(scores, y), rel=1e-6)


def test_labels_are_calibrated_together() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(ROWS, 3)) * 3
    y = (rng.random(scores.shape) < expit(scores / 2.0)).astype(float)
    assert temperature(scores, y) == pytest.approx(2.0, rel=0.05)


def test_a_weight_of_two_is_the_row_twice() -> None:
    scores, y = drawn(2.0, 3)
    weights = np.where(np.arange(ROWS) % 2, 2.0, 1.0)
    twice = np.repeat(np.arange(ROWS), weights.astype(int))
    assert temperature(scores, y, weights) == pytest.approx(temperature(scores[twice], y[twice]), rel=1e-3)


@pytest.mark.parametrize("rows", [1, 3, 30])
def test_a_few_rows_that_are_all_right_make_nothing_certain(rows: int) -> None:
    scores = np.full((rows, 1), 1.0)
    sure = expit(1.0 / temperature(scores, np.ones(rows, int)))
    assert expit(1.0) < sure < 1 - 0.1 / (rows + 1)


def test_thousands_of_rows_that_are_all_right_say_little() -> None:
    y = np.arange(5000) % 3
    scores = 8.0 * np.eye(3)[y]
    assert 1 / temperature(scores, y) < 1.5


def test_few_rows_leave_scores_nearly_as_they_are() -> None:
    scores, y = drawn(3.0, 3)
    few, some, many = (abs(np.log(temperature(scores[:n], y[:n]))) for n in (3, 100, ROWS))
    assert few < 0.5 * some < 0.8 * many


def test_scores_that_say_nothing_stay() -> None:
    assert temperature(np.zeros((5, 3)), np.array([0, 1, 2, 0, 1])) == 1.0


def test_wrong_scores_are_not_believed() -> None:
    scores = np.random.default_rng(0).normal(size=(2000, 1)) * 5
    y = np.random.default_rng(1).integers(0, 2, 2000)
    assert np.abs(scores / temperature(scores, y)).max() < 1.0


@given(st.floats(0.3, 100.0))
def test_the_log_loss_after_a_temperature_hardly_knows_the_scale_of_scores(factor: float) -> None:
    scores, y = SCORES[:300], LABELS[:300]
    assert calibrated_log_loss(y, factor * scores) == pytest.approx(calibrated_log_loss(y, scores), rel=2e-3)


SCORES, LABELS = drawn(1.0, 3, seed=5)
