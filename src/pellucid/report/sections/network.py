"""The network: a drawing with shapes and counts, and its table."""

from __future__ import annotations

from collections.abc import Sequence

from pellucid.markup import plural
from pellucid.report.drawing import drawing, stages
from pellucid.report.elements import element, joined, paragraph, table
from pellucid.report.predictor import Predictor
from pellucid.report.rows import word
from pellucid.report.sections.section import Section
from pellucid.train.model_views import rule

FEW = 12
"""Layers up to which the table is open from the start."""


def network_section(asked: Predictor, columns: Sequence[str]) -> Section:
    """The network, or the first one of an ensemble."""
    model = asked.model
    summary = model.summary()
    inputs = columns if len(columns) == sum(model.features) else ()
    picture = drawing(stages(summary), model.params, inputs, [word(label) for label in asked.classes])
    outputs = "×".join(map(str, summary.rows[-1].output)) if summary.rows else ""
    rows = [
        (
            element("code", row.name),
            row.layer,
            "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}".join(("n", *map(str, row.output))),
            ", ".join(f"{name} {'×'.join(map(str, shape)) or '1'}" for name, shape in row.shapes.items()),
            f"{row.count:,}" if row.count else "",
            f"{row.count / summary.count:.0%}" if row.count and summary.count else "",
        )
        for row in summary.rows
    ]
    members = ""
    if len(asked.models) > 1:
        members = f" The first of {len(asked.models)} members is shown."
    elif len(asked.crew) > 1:
        members = f" It is one of {len(asked.crew)} that answer together, the first of those that count most."
    ends = f"{'×'.join(map(str, model.features))} inputs, {outputs} {'output' if outputs == '1' else 'outputs'}"
    lead = paragraph(
        f"{ends}, {plural(summary.layers, 'layer')} with weights, {plural(summary.count, 'parameter')} of "
        f"{model.dtype}; loss {model.loss.name}, optimizer {rule(model.optimizer)}.{members}"
    )
    figure = element(
        "figure",
        element("div", picture, class_="drawing scroll", tabindex="0"),
        element(
            "figcaption",
            "Lines are weights between the units shown: blue positive, orange negative, thicker is larger. Of wide "
            "layers the first and last units are drawn.",
        ),
        class_="wide",
    )
    head = ("layer", "", "output", "parameters", "count", "share")
    opened = {"open": ""} if len(rows) <= FEW else {}
    listed = element("details", element("summary", "Dimensions"), table(rows, head, numbers=(4, 5)), **opened)
    return Section("network", "Network", joined([lead, figure, listed]))
