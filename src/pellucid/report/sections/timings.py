"""How long it took, and how long a prediction takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.report.elements import absent, chart, joined, table
from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample
from pellucid.report.sections.section import Section, figures

REPEATS = 5


def timings_section(
    asked: Predictor,
    rows: Sample | None,
    seconds: Sequence[float],
    spent: Mapping[str, float],
    training_rows: int | None,
) -> Section:
    """Epochs by a stopwatch, predictions measured now, and the sections of this report."""
    lines: list[tuple[str, str, str]] = []
    if len(seconds):
        total, usual = float(np.sum(seconds)), float(np.median(seconds))
        rate = f"{training_rows / usual:,.0f} rows a second" if training_rows and usual else ""
        lines += [("training", _time(total), f"{len(seconds)} epochs"), ("an epoch (median)", _time(usual), rate)]
    if rows is not None and len(rows):
        one, many = _predicting(asked, rows.some(1).X), _predicting(asked, rows.some(1000).X)
        count = min(len(rows), 1000)
        lines += [
            ("predicting one row", _time(one), ""),
            (f"predicting {count:,} rows", _time(many), f"{count / many:,.0f} rows a second" if many else ""),
        ]
    lines += [(f"for this report: {name}", _time(took), "") for name, took in spent.items()]
    epochs = None
    records = {}
    if len(seconds) > 1:
        records["seconds"] = {"seconds": list(seconds)}
        epochs = figures(chart("seconds", "seconds", "Epochs", _about(seconds), wide=True))
    missing = None
    if not len(seconds):
        missing = absent(
            "The time of the training was not measured. To measure it:",
            "clock = pellucid.report.Stopwatch(); model.fit(X, y, callbacks=[clock]); "
            "pellucid.report(..., stopwatch=clock)",
        )
    return Section(
        "timings", "Timings", joined([epochs, table(lines, ("what", "time", ""), numbers=(1,)), missing]), records
    )


def _about(seconds: Sequence[float]) -> str:
    first, usual = float(seconds[0]), float(np.median(seconds[1:]))
    words = "Seconds of each epoch. "
    if usual and first > 3 * usual:
        return f"{words}The first took {first / usual:.0f} times as long as the others: programs were compiled."
    return f"{words}Even bars: nothing got in the way."


def _predicting(asked: Predictor, X: Any) -> float:
    """The median time of a few calls, after one that warms up."""
    asked.predict(X)
    took = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        asked.predict(X)
        took.append(time.perf_counter() - start)
    return float(np.median(took))


def _time(seconds: float) -> str:
    """
    >>> _time(0.00012), _time(0.25), _time(75.0)
    ('0.12 ms', '250 ms', '1 min 15 s')
    """
    if seconds < 1.0:
        return f"{1000 * seconds:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 60 else f"{int(seconds // 60)} min {seconds % 60:.0f} s"
