"""How findings show themselves: as text, as HTML, as pictures."""

from __future__ import annotations

import html as markup_html
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pellucid.figures import BLUE, GREY, INK, ORANGE, Mark, annotate, axes
from pellucid.markup import short

if TYPE_CHECKING:
    from pellucid.inspect.diagnosis.finding import Finding

WIDTH = 100
MARKS = {"note": "·", "warning": "!", "error": "✗"}
NOTHING = "Nothing found: the training looks healthy."


def numbers(finding: Finding) -> str:
    """What was measured, in a line."""
    return ", ".join(
        f"{name} {value if isinstance(value, str) else _number(value)}" for name, value in finding.measured.items()
    )


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else short(value)


def head(finding: Finding) -> str:
    """Code, severity and place."""
    return f"{finding.code} ({finding.severity}{f', {finding.where}' if finding.where else ''})"


def line(finding: Finding) -> str:
    """All of a finding in one line."""
    parts = [f"{head(finding)}: {numbers(finding)}.", finding.means]
    if finding.remedy:
        parts.append(f"Remedy: {finding.remedy}")
    return " ".join(parts)


def text(findings: Sequence[Finding], about: str) -> str:
    """A paragraph for each finding."""
    lines = [about] if about else []
    if not findings:
        return "\n".join([*lines, NOTHING])
    for number, finding in enumerate(findings, start=1):
        lines.append(f"{number}. {MARKS[finding.severity]} {head(finding)}")
        paragraphs = [f"measured: {numbers(finding)}", finding.means]
        if finding.explains:
            paragraphs.append(f"It explains: {', '.join(finding.explains)}.")
        for paragraph in paragraphs:
            lines += textwrap.wrap(paragraph, WIDTH, initial_indent="   ", subsequent_indent="   ")
        lines += [f"   > {part}" for part in finding.remedy.splitlines()]
    return "\n".join(lines)


def html(findings: Sequence[Finding], about: str) -> str:
    """The same for a notebook; without colours of its own."""
    escape = markup_html.escape
    title = f"<p>{escape(about)}</p>" if about else ""
    if not findings:
        return f"{title}<p>{NOTHING}</p>"
    items = []
    for finding in findings:
        parts = [
            f"<strong>{escape(finding.code)}</strong> <em>{escape(head(finding)[len(finding.code) + 1 :])}</em>",
            f"<small>{escape(numbers(finding))}</small>",
            escape(finding.means),
        ]
        if finding.explains:
            parts.append(f"It explains: {escape(', '.join(finding.explains))}.")
        remedy = f"<pre>{escape(finding.remedy)}</pre>" if finding.remedy else ""
        items.append(f"<li>{'<br>'.join(parts)}{remedy}</li>")
    return f"{title}<ol>{''.join(items)}</ol>"


# pictures, as functions of axes

Figure = Callable[[Any], Any]


def bars(
    values: Mapping[str, float], title: str, unit: str, *, limit: float | None = None, log: bool = False
) -> Figure:
    """Numbers by name, side by side; `limit` is a line that they should not pass."""

    def draw(ax: Any = None) -> Any:
        ax = axes(ax)
        names, heights = list(values), [value if math.isfinite(value) else 0.0 for value in values.values()]
        ax.barh(range(len(names)), heights, color=BLUE)
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.set(xlabel=unit, xscale="log" if log and min(heights, default=0.0) > 0 else "linear")
        ax.set_title(title, fontsize=11)
        if limit is not None:
            ax.axvline(limit, color=ORANGE, lw=1, ls="--")
        return ax

    return draw


def curves(values: Mapping[str, Sequence[float]], title: str, *, mark: tuple[float, str] | None = None) -> Figure:
    """Curves over epochs, each named at its end."""

    def draw(ax: Any = None) -> Any:
        from pellucid.figures import COLOURS, end_of

        ax = axes(ax)
        ends = []
        for (name, heights), colour in zip(values.items(), COLOURS, strict=False):
            places = list(range(1, len(heights) + 1))
            ax.plot(places, heights, color=colour, lw=2, marker="o" if len(places) == 1 else None)
            if places:
                ends.append(end_of(places, heights, name, colour))
        ax.set(xlabel="epoch")
        ax.set_title(title, fontsize=11)
        annotate(ax, ends, [] if mark is None else [Mark(mark[0], mark[1], INK)])
        return ax

    return draw


def histogram(counts: Sequence[int], edges: Any, title: str, unit: str) -> Figure:
    """How often which values occur."""

    def draw(ax: Any = None) -> Any:
        ax = axes(ax)
        ax.stairs(counts, edges, fill=True, color=BLUE)
        ax.axvline(0.0, color=GREY, lw=1)
        ax.set(xlabel=unit, ylabel="count")
        ax.set_title(title, fontsize=11)
        return ax

    return draw
