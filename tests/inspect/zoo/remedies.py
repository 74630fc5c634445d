"""A case after its remedy: repaired, trained again, measured again."""

from __future__ import annotations

import re
from typing import Any

from tests.inspect.zoo import measures
from tests.inspect.zoo.evaluation import at_least, diagnosis
from tests.inspect.zoo.records import Broken
from tests.inspect.zoo.training import Trained

SETTINGS = {"epochs": r"\bepochs=(\d+)", "batch_size": r"batch_size=(\d+)", "patience": r"EarlyStopping\((\d+)\)"}
"""What a remedy may say about the next call of `fit`."""

MENDED = ("stale-statistics",)
"""Repairs that leave nothing to train."""

BY_HAND = ("label-noise",)
"""Faults that only who knows the rows can mend, whatever else is proposed."""


def settings(remedy: str) -> dict[str, Any]:
    """The settings of `fit` that a remedy names."""
    matches = {name: re.search(pattern, remedy) for name, pattern in SETTINGS.items()}
    named: dict[str, Any] = {name: int(match.group(1)) for name, match in matches.items() if match}
    return named | ({"class_weight": "balanced"} if 'class_weight="balanced"' in remedy else {})


def remedied(case: Broken, finding: Any) -> Trained:
    """The case after its remedy: repaired and trained again, with what the remedy says about `fit`.

    A remedy of the data (fill, drop, encode, judge otherwise) is applied by hand: that is the twin.
    """
    trained, named = case.make(), settings(finding.remedy)
    if finding.code in BY_HAND or (finding.repair is None and (not named or trained.refused)):
        return case.twin()
    if finding.repair is None:
        return trained.again(fresh(trained), **named)
    model = finding.repair()
    model.engine = "numpy"
    if finding.code in MENDED:
        rows = trained.encoded
        return Trained(model, rows.X, rows.y, trained.history, (rows.Xv, rows.yv), rows, trained.budget)
    return trained.again(model, **named)


def fresh(trained: Trained) -> Any:
    """The same model, before it was trained."""
    inside = trained.inside
    return type(inside)(
        inside.net,
        inside.loss,
        inside.optimizer,
        inside.metrics,
        penalty=inside.penalty,
        dtype=inside.dtype,
        engine="numpy",
    )


def failure(case: Broken) -> str | None:
    """What a remedy did not bring; "" where it helped, None where the fault was not named."""
    named = [f for f in diagnosis(case.make())[:3] if f.code in case.codes and at_least(f.severity, case.severity)]
    if not named:
        return None
    after = remedied(case, named[0])
    if after.refused:
        return f"{named[0].code}: {after.refused}"
    if not case.quantity.healthy(after):
        return f"{named[0].code}: {case.quantity.name} is {case.quantity.measure(after):.3g} after the remedy"
    before, now = measures.risk(case.make()), measures.risk(after)
    if case.training and not now < 0.95 * before:
        return f"{named[0].code}: validation rows were {before:.3g} and are {now:.3g}"
    return ""
