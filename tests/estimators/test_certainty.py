"""Networks of all folds together may be surer than those of one fold, which is what rows held out can judge."""

import numpy as np
import pytest
from scipy.special import expit, logit

from pellucid.estimators.tables.certainty import growth
from pellucid.train.temperature import temperature

ROWS, KINDS = 20_000, 3


def answers(noise: float, networks: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores of networks that err apart from each other, each over its own temperature; and what is true."""
    odds = rng.normal(size=ROWS) * 2
    truth = (rng.random(ROWS) < expit(odds)).astype(int)
    scores = odds + noise * rng.normal(size=(networks, ROWS))
    return np.stack([one / temperature(one[:, None], truth) for one in scores]), truth


def pooled(scores: np.ndarray, shares: np.ndarray) -> np.ndarray:
    return logit(shares @ expit(scores))[:, None]


@pytest.mark.parametrize("noise", [0.3, 0.8])
@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.6, 0.4, 0.0)])
@pytest.mark.parametrize("folds", [2, 8])
def test_what_one_fold_shows_tells_the_temperature_of_all(noise: float, shares: tuple[float, ...], folds: int) -> None:
    rng = np.random.default_rng(0)
    scores, truth = answers(noise, KINDS * folds, rng)
    weights = np.array(shares)
    one_fold = temperature(pooled(scores[:KINDS], weights), truth)
    told = one_fold * growth(
        lambda some: temperature(pooled(scores[:KINDS], some), truth), weights, folds, [True] * KINDS
    )
    best = temperature(pooled(scores, np.tile(weights, folds) / folds), truth)
    assert abs(np.log(told / best)) < 0.25 * abs(np.log(one_fold / best)) + 0.005


def test_a_kind_alone_or_a_fold_alone_shows_nothing() -> None:
    surer = lambda shares: 0.8
    assert growth(surer, np.array([0.0, 1.0]), 8, [True, True]) == 1.0
    assert growth(surer, np.array([0.5, 0.5]), 8, [True, False]) == 1.0
    assert growth(surer, np.array([0.5, 0.5]), 1, [True, True]) == 1.0


def test_networks_that_agree_stay_as_sure() -> None:
    assert growth(lambda shares: 1.1, np.array([0.5, 0.5]), 8, [True, True]) == 1.0
