"""Checks of what rows say of the target: labels that contradict their neighbours, columns that know too much."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.evidence import Evidence
from pellucid.inspect.diagnosis.finding import Finding
from pellucid.inspect.diagnosis.reference import best_reference
from pellucid.inspect.diagnosis.trials import gain

CONFIDENT = 1 / 3
"""The share of rows that the reference is surest of: there, mistakes are not those of a border between classes."""

NOISE = 0.04
"""The share of contradicting labels among them that is beyond what careful people make."""

EVERYWHERE = 0.7
"""And how that share compares with that of all rows: where classes overlap, mistakes grow rarer with certainty (a half
of it and less); labels that somebody got wrong do not."""


def noise(e: Evidence) -> list[Finding]:
    """Labels that contradict a reference where it is surest (it has not seen the row), and outliers among numbers."""
    if e.misfit or len(e.sample) < 60:
        return []
    return _of_classes(e) if e.classifies else _of_numbers(e)


def _of_classes(e: Evidence) -> list[Finding]:
    if e.labels is None or e.behind.beyond(0.1):  # a network that has not learned what is easy: first things first
        return []
    if e.held_behind is not None and e.held_behind.size < -0.1:
        return []  # the network knows more of new rows than the reference, whose doubts then say little of the labels
    labels, K = e.labels, max(int(e.labels.max()) + 1, 2)
    target = np.eye(K)[labels]
    best = (e.references if e.target.shape[1] == K else best_reference(_table(e), target))[0]
    blind = np.mean(np.square(target - target.mean(axis=0)), axis=1)
    if not gain(blind, best.errors(target), float(np.mean(blind)) or 1.0).beyond(0.05, 2.0):
        return []  # little is known of these rows: no label contradicts
    sure, surest = _sure(best.loo, K, CONFIDENT), _sure(best.loo, K, 0.3 * CONFIDENT)
    wrong, still = (best.loo.argmax(axis=1)[rows] != labels[rows] for rows in (sure, surest))
    share, least = _at_least(wrong)
    overall = float(np.mean(best.loo.argmax(axis=1) != labels))
    if least < NOISE or share < EVERYWHERE * overall or still.mean() < max(0.6 * share, NOISE):
        return []
    return [
        Finding(
            "label-noise",
            "warning",
            {
                "contradicted": share,
                "among surest rows": len(sure),
                "among all rows": overall,
                "first": int(sure[wrong][0]),
                "reference": best.kind,
            },
            remedy="# look at these rows first:\n"
            f"rows = {sure[wrong][:8].tolist()}\n"
            'Model(net, nn.loss("cross_entropy", smoothing=0.1), penalty=nn.L2(1e-3)); train.EarlyStopping(10)',
            figure=views.bars({"sure and wrong": share, "limit": NOISE}, "Labels against a sure reference", "share"),
            weight=share,
        )
    ]


def _sure(said: Any, K: int, part: float) -> Any:
    """The rows that somebody is surest of: of every class some, so that a large class does not hide the others."""
    ordered = np.sort(said, axis=1)
    margin, winner = ordered[:, -1] - ordered[:, -2], said.argmax(axis=1)
    rows: list[int] = []
    for c in range(K):
        mine = np.flatnonzero(winner == c)
        rows.extend(mine[np.argsort(-margin[mine], kind="stable")][: max(int(part * len(mine)), 1)])
    return np.array(rows, np.int64)


def _at_least(wrong: Any) -> tuple[float, float]:
    """The share, and what it is at least, two standard errors below."""
    share = float(wrong.mean())
    return share, share - 2.0 * float(np.sqrt(max(share * (1 - share), 1e-4) / len(wrong)))


def _of_numbers(e: Evidence) -> list[Finding]:
    """Targets far out of all that the others make likely: a few rows own most of the squared error."""
    residuals = (e.references[0].loo - e.target)[:, 0]
    centre = float(np.median(residuals))
    deviation = 1.4826 * float(np.median(np.abs(residuals - centre)))
    if deviation <= 0 or e.target.shape[1] != 1:
        return []
    # far beside the other residuals, and beside the target itself: a smooth function that is hard to fit has small ones
    far = np.abs(residuals - centre) > max(8.0 * deviation, 1.5 * float(np.std(e.target)))
    share = float(far.mean())
    owned = float(np.sum(np.square(residuals[far])) / max(np.sum(np.square(residuals)), 1e-300))
    if not 0.005 < share < 0.25 or far.sum() < 3 or owned < 0.6:
        return []
    return [
        Finding(
            "label-noise",
            "warning",
            {"far off": int(far.sum()), "of": len(far), "their share of the squared error": owned},
            means="A few targets are far from all that similar rows say. Under squared errors they rule the gradient: "
            "a network that is trained for long learns them by heart.",
            remedy=f"# look at these rows first:\nrows = {np.flatnonzero(far)[:8].tolist()}\n"
            'Model(net, nn.loss("huber"))',
            weight=owned * 0.3,
        )
    ]


def leak(e: Evidence) -> list[Finding]:
    """A column that says the target, and rows to check by that were trained on."""
    if e.misfit or len(e.sample) < 40:
        return []
    return [*_rows_twice(e), *_knowing_column(e)][:1]


def _table(e: Evidence) -> Any:
    return np.asarray(e.sample.X, np.float64).reshape(len(e.sample.X), -1)


def _rows_twice(e: Evidence) -> list[Finding]:
    if e.held is None:
        return []
    own = Counter(row.tobytes() for row in np.ascontiguousarray(e.it.X.reshape(len(e.it.X), -1)))
    if len(own) < 0.9 * len(e.it.X) or len(e.it.X) < 40:
        return []  # rows of few values: some are the same by nature
    X = np.ascontiguousarray(e.held.X.reshape(len(e.held.X), -1))
    shared = float(np.mean([row.tobytes() in own for row in X]))
    twins = sum(count for count in own.values() if count > 1) / len(e.it.X)  # as many as a new row would meet
    if shared < 0.05 + 2.0 * twins:
        return []
    return [
        Finding(
            "leak-suspected",
            "warning",
            {"validation rows that were trained on": shared, "rows": len(X), "training rows with a twin": twins},
            remedy="train.split(X, y, ...)   # once, before anything is copied or resampled",
            weight=shared,
        )
    ]


def _knowing_column(e: Evidence) -> list[Finding]:
    """The column that tells most about the target: does it say nearly all, and the others much less?"""
    X, target = _table(e), e.target
    if X.shape[1] < 3 or target.shape[1] > 30:
        return []
    centred = X - X.mean(axis=0)
    size = np.sqrt(np.sum(np.square(centred), axis=0))
    spread = target - target.mean(axis=0)
    with np.errstate(all="ignore"):
        correlation = np.abs(centred.T @ spread) / (size[:, None] * np.sqrt(np.sum(np.square(spread), axis=0)))
    told = np.nan_to_num(correlation).max(axis=1)
    j = int(np.argmax(told))
    if told[j] < 0.6:  # no column says nearly all and is hardly correlated
        return []
    alone = best_reference(X[:, [j]], target, features=32)[0]
    skill_alone = 1.0 - float(np.mean(alone.errors(target))) / e.target_spread
    if skill_alone < 0.9:
        return []
    others = best_reference(np.delete(X, j, axis=1), target)[0]
    skill_others = 1.0 - float(np.mean(others.errors(target))) / e.target_spread
    worse = gain(others.errors(target) / e.target_spread, alone.errors(target) / e.target_spread, 1.0)
    if not worse.beyond(0.15):
        return []
    return [
        Finding(
            "leak-suspected",
            "warning" if skill_others > 0.1 or skill_alone > 0.97 else "note",
            {"told by it alone": skill_alone, "told by the others": skill_others},
            remedy=f"{e.without([j])}   # is {e.columns[j]} known before the target is?",
            column=e.columns[j],
            figure=views.bars(
                {f"{e.columns[j]} alone": skill_alone, "all others": skill_others},
                "What is told of the target",
                "share",
            ),
            weight=worse.size * 0.5,
        )
    ]
