"""What it uses: importance of columns, partial dependence, and what it says all over a plane of two inputs."""

from __future__ import annotations

from typing import Any

from pellucid.report.elements import absent, chart, heading, joined, paragraph
from pellucid.report.numbers.influence import COLUMNS, Dependence, Importance
from pellucid.report.numbers.regions import Regions
from pellucid.report.sections.section import Section, figures


def influence_section(
    importance: Importance | None,
    dependences: tuple[Dependence, ...],
    regions: Regions | None,
    *,
    given: bool,
    asked: bool,
) -> Section:
    """`given`: were there rows? `asked`: was it wanted?"""
    title = "What it uses"
    if not given:
        return Section("influence", title, absent("Needs rows:", "pellucid.report(model, 'run.html', X, y)"))
    parts: list[Any] = []
    records: dict[str, Any] = {}
    if regions is not None:
        records["regions"] = regions
        parts.append(figures(chart("regions", "regions", "All over the plane", regions.caption, wide=True)))
    if importance is not None:
        records["importance"] = importance
        rest = (
            f" The {len(importance.columns)} largest of {importance.total} columns."
            if importance.total > len(importance.columns)
            else ""
        )
        parts.append(
            figures(chart("importance", "importance", "Permutation importance", importance.caption + rest, wide=True))
        )
    else:
        why = f"is measured for dense rows of at most {COLUMNS:,} columns" if asked else "was not asked for"
        parts.append(absent(f"Permutation importance {why}.", "" if asked else "pellucid.report(..., influence=True)"))
    if dependences:
        words = (
            f"The mean {dependences[0].what} when one column is set to each value for all rows and the others are left "
            "as they are. The band shows how differently 80 % of the rows react; ticks are deciles of the column. A "
            "flat line: by itself the column hardly matters. A wide band: it matters together with others."
        )
        curves = [chart("dependence", f"dependence{i}", each.column) for i, each in enumerate(dependences)]
        parts += [heading("Partial dependence"), paragraph(words), figures(*curves)]
        records |= {f"dependence{i}": each for i, each in enumerate(dependences)}
    if regions is None:
        parts.append(
            absent(
                "A picture of what is predicted all over the plane is drawn for models of two columns of numbers.", ""
            )
        )
    return Section("influence", title, joined(parts), records)
