"""The data: what came in."""

from __future__ import annotations

from pellucid.markup import number, plural, short
from pellucid.report.elements import absent, chart, element, joined, paragraph, table
from pellucid.report.numbers.data import Column, Data
from pellucid.report.rows import Sample
from pellucid.report.sections.section import Section, figures

FEW = 12
"""Columns up to which the table is open from the start."""

HEAD = ("column", "", "kind", "missing", "mean", "deviation", "smallest", "largest", "distinct")


def data_section(data: Data | None, held: Sample | None = None) -> Section:
    """Rows, columns and target; without rows, how to get it."""
    if data is None:
        return Section(
            "data", "Data", absent("No rows were given. With them:", "pellucid.report(model, 'run.html', X, y)")
        )
    shape = "×".join(map(str, data.shape))
    counted = f"{data.counted[:1].upper()}{data.counted[1:]}"
    words = [f"{counted} of {shape} {'columns' if len(data.shape) == 1 else 'numbers'} ({data.kind})"]
    if held is not None:
        words.append(held.counted)
    if data.missing:
        words.append(f"{data.missing:.2%} of the values are missing")
    lead = paragraph("; ".join(words), ". ", data.caption)
    targets = [
        chart("bars", f"target{i}", f"{each.name[:1].upper()}{each.name[1:]}", _target_words(each))
        for i, each in enumerate(data.target)
    ]
    listed = None
    if data.columns:
        rows = table([_row(i, each) for i, each in enumerate(data.columns)], HEAD, numbers=(3, 4, 5, 6, 7, 8))
        title = plural(len(data.columns) + data.more, "column")
        rest = paragraph(f"and {plural(data.more, 'more column')}.", class_="quiet") if data.more else None
        opened = {"open": ""} if len(data.columns) <= FEW else {}
        listed = element("details", element("summary", title), rows, rest, **opened)
    records = {f"target{i}": each.bars for i, each in enumerate(data.target)}
    records |= {f"column{i}": each.bars for i, each in enumerate(data.columns)}
    return Section("data", "Data", joined([lead, figures(*targets), listed]), records)


def _target_words(each: Column) -> str:
    if each.kind == "number":
        return (
            f"Mean {number(each.mean)}, deviation {number(each.std)}, from {number(each.low)} to {number(each.high)}."
        )
    counts = each.bars.counts
    words = f"{plural(each.distinct, 'class') if each.distinct == 1 else f'{each.distinct} {each.kind}'}."
    if len(counts) > 1 and counts.max() > 4 * max(counts.min(), 1):
        rare = each.bars.labels[int(counts.argmin())]
        words += (
            f" “{rare}” is rare: {counts.min() / max(counts.sum(), 1):.1%} of the rows. Accuracy says little about it; "
            "look at its recall."
        )
    return words


def _row(place: int, each: Column) -> tuple[object, ...]:
    small = element("div", class_="spark", data_chart="spark", data_key=f"column{place}", aria_hidden="true")
    return (
        element("span", each.name, class_="name", title=each.name),
        small,
        each.kind,
        f"{each.missing:.1%}" if each.missing else "",
        *(_number(value, each.std) for value in (each.mean, each.std, each.low, each.high)),
        f"{each.distinct:,}",
    )


def _number(value: float, scale: float) -> str:
    """A number; one that is 0 but for roundings is 0."""
    if value != value:
        return ""
    if 1000 <= abs(value) < 1e7:
        return f"{value:,.0f}"
    return short(0.0 if abs(value) < 1e-9 * scale else value)
