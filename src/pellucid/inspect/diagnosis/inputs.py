"""Checks of the inputs: missing values, constants, duplicates, sizes and offsets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.data.splits import evenly
from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.evidence import Evidence
from pellucid.inspect.diagnosis.finding import Finding
from pellucid.inspect.diagnosis.remedies import afresh, standardising, variant
from pellucid.inspect.diagnosis.trials import gain
from pellucid.train import Model

SIZE = (0.1, 6.0)
"""Root mean squares of inputs that nobody needs to look at: initialisers suppose 1, deviations of 2 to 4 are mild."""

SPREAD = 30.0
"""The factor between the largest column and the middle one from which on a trial decides."""

OFFSET = 4.0
"""Means over deviations from which on a trial decides."""

SCALER = "make_pipeline(StandardScaler(), ...)   # or X = (X - X.mean(0)) / X.std(0)\n"
FRONT = 'nn.Sequential(("input.norm", nn.BatchNorm(average="cumulative", affine=False)), *model.net.children)'


def nan(count: int, rows: int, columns: list[str]) -> Finding:
    """Inputs that are not finite; found before anything else can be measured."""
    return Finding(
        "input-nan",
        "error",
        {"values": count, "rows": rows, "columns": ", ".join(columns[:5])},
        remedy="SimpleImputer(strategy='median', add_indicator=True).fit_transform(X)   # or TabularMLPClassifier, "
        "which takes missing values",
        column=columns[0] if columns else None,
    )


LOUD = 3.0
"""How many times as large as the others a constant column is, from which on it is more than good to know."""


def constant(e: Evidence) -> list[Finding]:
    """Columns without variance: good to know. One that is far larger than the others move is a second bias with a rate
    of its own, which moves the output more than all of them."""
    X = e.flat
    if len(X) < 2:
        return []
    still = np.flatnonzero(np.ptp(X, axis=0) == 0)
    if not len(still):
        return []
    moving = np.delete(X, still, axis=1)
    usual = float(np.sqrt(np.mean(np.square(moving)))) if moving.size else 0.0
    loud = [j for j in still if abs(X[0, j]) > LOUD * usual]
    everything = len(still) == X.shape[1]
    names = [e.columns[j] for j in (loud or still)]
    severity = "error" if everything else "warning" if loud else "note"
    return [
        Finding(
            "input-constant",
            severity,
            {
                "columns": len(still),
                "of": X.shape[1],
                "value": float(X[0, (loud or list(still))[0]]),
                "which": ", ".join(names[:5]),
            },
            remedy="VarianceThreshold().fit_transform(X)   # drops columns without variance",
            column=names[0],
            figure=views.bars(
                {e.columns[j]: float(np.std(X[:, j])) for j in range(min(X.shape[1], 20))}, "Deviations", "deviation"
            ),
        )
    ]


def duplicate(e: Evidence) -> list[Finding]:
    """Columns that say the same: copies, or copies in other units. Rare accidents of few rows do not count."""
    X = e.flat[evenly(len(e.flat), 2000)]
    n, d = X.shape
    if n < 8 or d < 2:
        return []
    deviation = X.std(axis=0)
    moving = np.flatnonzero(deviation > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300))
    if len(moving) < 2 or len(moving) > 3000:
        return []
    U = (X[:, moving] - X[:, moving].mean(axis=0)) / deviation[moving]
    products = np.abs(U.T @ U) / n
    np.fill_diagonal(products, 0.0)
    first, second = np.nonzero(np.triu(products > 1.0 - 1e-6))
    pairs = [
        (int(moving[i]), int(moving[j]))
        for i, j in zip(first, second, strict=True)
        if not _accident(X[:, moving[i]], X[:, moving[j]], len(moving))
    ]
    if not pairs:
        return []
    equal = [pair for pair in pairs if np.array_equal(X[:, pair[0]], X[:, pair[1]])]
    a, b = (equal or pairs)[0]
    extra = len({j for _, j in pairs})
    return [
        Finding(
            "input-duplicate",
            "warning" if any(len(np.unique(X[:, j])) > 2 for _, j in equal) else "note",
            {"columns": extra, "of": d, "first": e.columns[a], "again": e.columns[b], "correlation": 1.0},
            remedy=f"{e.without(sorted({j for _, j in pairs})[:8])}   # keep one of each",
            column=e.columns[b],
        )
    ]


def _accident(a: Any, b: Any, columns: int) -> bool:
    """Could columns of one value but for few rows agree by chance, or are they the two sides of one yes and no?"""
    values, counts = np.unique(a, return_counts=True)
    if len(values) < 2:
        return True
    if len(values) == 2 and np.corrcoef(a, b)[0, 1] < 0:
        return True  # one-hot codes of two categories
    n, k = len(a), int(len(a) - counts.max())  # rows that are not as most
    if len(values) > 2 and k > FEW_ROWS:
        return False
    chance = math.lgamma(k + 1) + math.lgamma(n - k + 1) - math.lgamma(n + 1)  # log 1 / (n over k)
    return chance + math.log(columns * columns / 2) > math.log(1e-3)


FEW_ROWS = 5
"""So few rows that hold several values may agree as easily as if they held one."""


def scale(e: Evidence) -> list[Finding]:
    """Columns of sizes that no rate suits, or far from 0. Suspects go to trial: does scaling help?"""
    X = e.seen
    if X is None or len(X) < 4 or not np.isfinite(X).all():
        return []
    X = np.asarray(X, np.float64)
    mean, deviation = X.mean(axis=0), X.std(axis=0)
    moving = deviation > 1e-7 * np.maximum(np.abs(mean), 1e-300)
    if not moving.any():
        return []
    sizes = np.sqrt(np.square(mean) + np.square(deviation))[moving]
    size = float(np.sqrt(np.mean(np.square(sizes))))
    spread = float(sizes.max() / np.sort(sizes)[(len(sizes) - 1) // 2])
    centred = float(np.sqrt(np.mean(np.square(deviation[moving]))))
    offset = float(np.median(np.abs(mean[moving]) / deviation[moving]))
    wide = float(deviation[moving].max() / np.median(deviation[moving]))
    odd_size = not SIZE[0] <= size <= SIZE[1] or (spread > SPREAD and sizes.max() > 1.0)
    off_centre = offset > OFFSET and size > 1.0
    if not odd_size and not off_centre:
        return []
    only_offset = off_centre and SIZE[0] <= centred <= SIZE[1] and wide <= SPREAD
    worst = int(np.flatnonzero(moving)[np.argmax(sizes) if size > SIZE[0] else np.argmin(sizes)])
    column = e.columns[worst] if len(e.columns) == X.shape[1] else None
    measured: dict[str, float | int | str] = {
        "size": size,
        "largest over middle": spread,
        "means over deviations": offset,
    }
    weight, severity = _verdict(e, measured, extreme=size > 50.0 or size < 0.01 or (spread > 300 and size > SIZE[1]))
    if severity == "":
        return []
    return [
        Finding(
            "not-zero-centred" if only_offset else "input-scale",
            severity,
            measured,
            remedy=f"{SCALER}{FRONT}",
            column=column,
            repair=lambda: scaled_inputs(e),
            figure=views.bars(
                {
                    e.columns[j]: float(np.hypot(mean[j], deviation[j]))
                    for j in range(min(X.shape[1], len(e.columns), 20))
                },
                "Sizes of the columns",
                "root mean square",
                limit=SIZE[1],
                log=True,
            ),
            weight=weight,
        )
    ]


def scaled_inputs(e: Evidence) -> Model:
    """A new model that standardises its inputs itself."""
    return afresh(variant(e.model, net=standardising(e.model.net)), e.it.X)


def _verdict(e: Evidence, measured: dict[str, float | int | str], *, extreme: bool) -> tuple[float, str]:
    """How much scaling is worth, by trial, and how bad it is not to scale."""
    if not e.trained:
        return (0.5, "warning") if extreme else (0.0, "")
    laboratory = e.laboratory
    with_scale = laboratory.begin("scaled", lambda model: variant(model, net=standardising(model.net)))
    as_is = laboratory.begin("as it is")
    better_start = gain(as_is.losses.inside, with_scale.losses.inside, e.unit)
    better_end = gain(laboratory.now.inside, with_scale.losses.inside, e.unit)
    measured["gain of scaling"] = round(min(max(better_start.size, -9.0), 9.0), 4)
    failed = e.curve.diverged or not e.finite
    if better_start.beyond(0.05) and (failed or better_end.beyond(0.02, 2.0)):
        return max(better_end.size if not failed else 1.0, 0.0), "warning"
    if extreme and (e.behind.beyond(0.05, 2.0) or failed):
        return max(e.behind.size, 0.1), "warning"
    if better_start.beyond(0.05) or extreme:
        return 0.0, "note"
    return 0.0, ""
