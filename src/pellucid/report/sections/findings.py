"""What is wrong, said first: the findings of a diagnosis."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pellucid.markup import short
from pellucid.report.elements import Markup, absent, code, element, joined, paragraph
from pellucid.report.sections.section import Section

if TYPE_CHECKING:
    from pellucid.inspect import Finding

SEVERITIES = {"error": ("✖", "Error"), "warning": ("▲", "Warning"), "note": ("●", "Note")}
PICTURED = 6
"""Findings whose figures are drawn."""

HOW = "pellucid.report(model, 'run.html', X, y, validation=(X_val, y_val))"


def findings_section(findings: Sequence[Finding] | None, trouble: str = "") -> Section:
    """Best first; None where nobody looked."""
    if trouble:
        body = paragraph("The diagnosis could not be made: ", trouble, class_="absent")
        return Section("findings", "Findings", body)
    if findings is None:
        return Section("findings", "Findings", absent("Nobody has looked yet. Give the rows to be diagnosed:", HOW))
    if not len(findings):
        body = element(
            "div",
            element("strong", "✓ Nothing wrong was found."),
            " Inputs, targets, layers, gradients, steps and curves are in their healthy ranges, as far as they were "
            "given.",
            class_="healthy",
        )
        return Section("findings", "Findings", body, mark="✓")
    serious = sum(finding.severity != "note" for finding in findings)
    if not serious:
        lead = f"{_counted(findings)}: nothing that must be repaired."
    elif len(findings) == 1:
        lead = f"{_counted(findings)}. Repair it and look again."
    else:
        lead = f"{_counted(findings)}, the likeliest cause first. Repair it and look again: the others may go with it."
    cards = [_card(finding, pictured=i < PICTURED) for i, finding in enumerate(findings)]
    return Section("findings", "Findings", joined([paragraph(lead), *cards]), mark=str(serious) if serious else "")


def _counted(findings: Sequence[Finding]) -> str:
    counts = {kind: sum(finding.severity == kind for finding in findings) for kind in SEVERITIES}
    words = [f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items() if count]
    return " and ".join(words) if len(words) < 3 else f"{words[0]}, {words[1]} and {words[2]}"


def _card(finding: Finding, *, pictured: bool) -> Markup:
    sign, name = SEVERITIES.get(finding.severity, ("●", finding.severity))
    where = [
        joined([label, " ", element("code", value)])
        for label, value in (("layer", finding.layer), ("column", finding.column))
        if value
    ]
    measured = [
        element("li", element("span", f"{key.replace('_', ' ')} "), element("b", _value(value)))
        for key, value in finding.measured.items()
    ]
    picture = _picture(finding) if pictured and finding.figure is not None else None
    return element(
        "article",
        element(
            "header",
            element("span", f"{sign} {name}", class_="severity"),
            element("h3", finding.code.replace("-", " ").capitalize()),
            element("span", joined(piece if i == 0 else joined([", ", piece]) for i, piece in enumerate(where))),
            element("code", finding.code, class_="tag"),
        ),
        element(
            "div",
            element(
                "div",
                paragraph(finding.means),
                element("ul", *measured, class_="measured") if measured else None,
                element("div", element("h4", "What to do"), code(finding.remedy)) if finding.remedy else None,
            ),
            picture,
            class_="finding-body" if picture else None,
        ),
        class_=f"finding {finding.severity if finding.severity in SEVERITIES else 'note'}",
    )


def _value(value: Any) -> str:
    return short(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _picture(finding: Finding) -> Markup | None:
    """The figure of a finding, drawn by matplotlib where that is installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(5.4, 4.0), layout="constrained", dpi=130)
    FigureCanvasAgg(figure)
    assert finding.figure is not None
    finding.figure(figure.add_subplot())
    file = io.BytesIO()
    figure.savefig(file, format="png")
    source = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    picture = element("img", src=source, alt=f"What was measured: {finding.code}", width="540", height="400")
    return Markup(picture.removesuffix("</img>"))
