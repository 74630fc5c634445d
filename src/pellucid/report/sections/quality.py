"""How good it is: confusion, calibration and ranking of classes, or residuals of numbers."""

from __future__ import annotations

from typing import Any

from pellucid.report.elements import Markup, absent, chart, heading, joined, paragraph, table
from pellucid.report.numbers.confusion import Confusion
from pellucid.report.numbers.ranking import Ranking
from pellucid.report.numbers.reliability import Reliability
from pellucid.report.numbers.residuals import Residuals
from pellucid.report.numbers.scores import Score
from pellucid.report.sections.section import Section, figures
from pellucid.report.sections.summary import tiles

MANY = 40
"""Classes up to which each has its line in the table."""


def quality_section(
    measured: str | None,
    scores: tuple[Score, ...] = (),
    confusion: Confusion | None = None,
    reliability: Reliability | None = None,
    ranking: Ranking | None = None,
    residuals: tuple[Residuals, ...] = (),
    *,
    new: bool = False,
    trouble: str = "",
) -> Section:
    """Scores and charts on rows; without rows, how to get them.

    measured: on how many of which rows, in words.   new: was nothing trained on them?
    """
    title = "How good it is"
    if trouble:
        return Section("quality", title, absent(trouble, ""))
    if measured is None:
        how = "pellucid.report(model, 'run.html', X, y, validation=(X_val, y_val))"
        return Section("quality", title, absent("Without rows nothing can be measured. With them:", how))
    warning = (
        None
        if new
        else absent(
            "If these rows were trained on, new rows will look worse than this. Rows that were kept aside tell the "
            "truth:",
            "pellucid.report(model, 'run.html', X, y, validation=(X_val, y_val))",
        )
    )
    parts: list[Any] = [paragraph(f"Measured on {measured}."), tiles(scores), warning]
    records: dict[str, Any] = {}
    charts: list[Markup | None] = []
    if confusion is not None:
        records["confusion"] = confusion
        many = len(confusion.labels) > 8
        charts.append(chart("confusion", "confusion", "Confusion matrix", confusion.caption, wide=many))
    if reliability is not None:
        records["reliability"] = reliability
        charts.append(chart("reliability", "reliability", "Reliability of probabilities", reliability.caption))
    if ranking is not None:
        records["ranking"] = ranking
        charts.append(chart("roc", "ranking", "ROC", ranking.roc_caption))
        charts.append(chart("precision_recall", "ranking", "Precision and recall", ranking.precision_recall_caption))
    for i, each in enumerate(residuals):
        key = f"residuals{i}"
        records[key] = each
        charts.append(chart("predictions", key, f"Predicted against true{each.of_output}", each.prediction_caption))
        charts.append(chart("residuals", key, f"Residuals{each.of_output}", each.residual_caption))
        heap = "How often a residual of each size occurs: a narrow heap around 0 is what one wants."
        charts.append(chart("residual_histogram", key, f"Sizes of residuals{each.of_output}", heap, wide=True))
    parts.append(figures(*charts))
    if confusion is not None and len(confusion.labels) <= MANY:
        lines = zip(
            confusion.labels, confusion.support, confusion.precision, confusion.recall, confusion.f1, strict=True
        )
        rows_of_table = [(label, f"{n:,}", f"{p:.3f}", f"{r:.3f}", f"{f:.3f}") for label, n, p, r, f in lines]
        parts += [
            heading("Class by class"),
            table(rows_of_table, ("class", "rows", "precision", "recall", "F1"), numbers=(1, 2, 3, 4)),
        ]
    return Section("quality", title, joined(parts), records)
