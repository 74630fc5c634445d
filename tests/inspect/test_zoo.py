"""The cases are what they say they are, and the diagnosis finds what is wrong with them, and nothing with healthy ones.

Limits are those of the issue: 95 % of the faults are detected, 80 % are named by a right code among the first three
findings, and at most 3 % of the healthy runs raise an alarm; on all cases, and on the half that no threshold was
chosen on.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from tests.inspect.zoo import BROKEN, CODES, HEALTHY, measures
from tests.inspect.zoo.evaluation import Outcome, of_half, outcomes, share
from tests.inspect.zoo.records import Broken, Healthy
from tests.inspect.zoo.references import reference


def test_there_are_enough_cases_and_every_code_is_in_both_halves():
    assert len(BROKEN) >= 70
    assert len(HEALTHY) >= 130
    names = [case.name for case in BROKEN] + [case.name for case in HEALTHY]
    assert len(set(names)) == len(names)
    counts = Counter((case.codes[0], case.half) for case in BROKEN)
    assert all(counts[code, half] >= 1 for code in CODES for half in "ab")


# what the diagnosis makes of them


@pytest.fixture(scope="module")
def broken() -> tuple[Outcome, ...]:
    return outcomes(BROKEN)


@pytest.fixture(scope="module")
def healthy() -> tuple[Outcome, ...]:
    return outcomes(HEALTHY)


def test_broken_cases_are_detected_and_named(broken):
    """One test, so that one worker trains the cases."""
    wrong = [f"{case.name}: {problem(case)}" for case in BROKEN if problem(case)]
    assert not wrong, "\n".join(wrong)
    for half in ("", "b"):
        results = of_half(broken, half)
        missed = "\n".join(f"{r.name} ({r.codes[0]}): {r.findings}" for r in results if not r.right(3))
        assert share([result.detected for result in results]) >= 0.95, missed
        assert share([result.right(3) for result in results]) >= 0.80, missed


def test_healthy_cases_raise_no_alarm(healthy):
    ill = [f"{case.name}: {illness(case)}" for case in HEALTHY if illness(case)]
    assert not ill, "\n".join(ill)
    for half in ("", "b"):
        results = of_half(healthy, half)
        alarms = "\n".join(f"{r.name}: {r.findings}" for r in results if r.alarm)
        assert share([result.alarm for result in results]) <= 0.03, alarms


# what they are, without its help


def problem(case: Broken) -> str:
    """Why a case is not as broken as it should be, or its twin not as healthy; "" where both are."""
    trained, twin = case.make(), case.twin()
    if case.quantity.healthy(trained):
        return f"{case.quantity.name} is {case.quantity.measure(trained):.3g}, which is healthy"
    if not case.quantity.healthy(twin):
        return f"{case.quantity.name} of the twin is {case.quantity.measure(twin):.3g}, which is not healthy"
    if case.training and not measures.risk(twin) < 0.8 * measures.risk(trained):
        return f"validation rows: {measures.risk(trained):.3g}, the twin {measures.risk(twin):.3g}: hardly better"
    return ""


def illness(case: Healthy) -> str:
    """Why a case is not healthy: not as good as scikit-learn's models, or worse at its end than on the way."""
    trained = case.make()
    score, good = measures.score(trained), reference(trained.rows)
    if not score >= good - case.margin:
        return f"scores {score:.3f}, a good model {good:.3f}"
    curve = [row["val_loss"] for row in trained.history if "val_loss" in row]
    stopped = trained.budget.get("patience") is not None
    if curve and not stopped and not curve[-1] <= min(curve) + 0.2 * abs(min(curve)) + 0.02:
        return f"validation loss {curve[-1]:.3f}, which was {min(curve):.3f} in epoch {int(np.argmin(curve)) + 1}"
    return "" if math.isfinite(measures.risk(trained)) else "predictions that are not finite"
