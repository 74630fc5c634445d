"""A network as a drawing: a column of units for each layer with weights, its shape and its counts below."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.nn.dimensions import Summary
from pellucid.report.elements import Markup

SHOWN = 10
"""Units of a layer that are all drawn; of more, the first and the last four."""

GAP, LIFT, RADIUS = 172, 21, 6.5
"""Pixels between layers (at most) and between units, and the size of a unit."""

NARROWEST, WIDTH = 118, 900
"""Pixels between layers at least, and of the whole drawing where they allow it."""

EDGES = 1200
"""Lines between two layers at most."""


@dataclass(frozen=True)
class Stage:
    """A layer with weights, and what follows it until the next one."""

    name: str
    units: int
    notes: tuple[str, ...]
    count: int
    weight: str = ""  # the name of its matrix


def stages(summary: Summary) -> tuple[Stage, ...]:
    """The input and the layers of a dimension table."""
    parts = [Stage("input", int(np.prod(summary.features, dtype=int)), (), 0)]
    for row in summary.rows:
        weighty = any(len(shape) > 1 for shape in row.shapes.values())
        if weighty:
            names = [name for name, shape in row.shapes.items() if len(shape) == 2]
            weight = f"{row.name}.{names[0]}" if len(names) == 1 else ""
            size = int(np.prod(row.output, dtype=int))
            plain = row.layer.startswith("Dense(")
            parts.append(Stage(row.name, size, () if plain else (row.layer,), row.count, weight))
        else:
            last = parts[-1]
            size = int(np.prod(row.output, dtype=int))
            notes = (*last.notes, row.layer)
            parts[-1] = Stage(
                last.name, size if last.weight else last.units, notes, last.count + row.count, last.weight
            )
    return tuple(parts)


def drawing(
    layers: Sequence[Stage], params: Mapping[str, Any], inputs: Sequence[str] = (), outputs: Sequence[str] = ()
) -> Markup:
    """An SVG picture; its colours are the page's."""
    columns = [_units(stage.units) for stage in layers]
    left = 130 if inputs and layers[0].units <= SHOWN else 70
    right = 120 if outputs and len(outputs) == layers[-1].units <= SHOWN else 80
    tallest = max(len(units) for units in columns)
    middle, bottom = 24 + (tallest - 1) * LIFT / 2, 24 + (tallest - 1) * LIFT + 34
    step = min(GAP, max(NARROWEST, (WIDTH - left - right) // max(len(layers) - 1, 1)))
    width, height = left + right + step * (len(layers) - 1), bottom + 74
    xs = [float(left + step * i) for i in range(len(layers))]
    places = [
        [(x, middle + (k - (len(units) - 1) / 2) * LIFT) for k in range(len(units))]
        for x, units in zip(xs, columns, strict=True)
    ]
    parts = []
    for i in range(1, len(layers)):
        weight = params.get(layers[i].weight)
        parts += _edges(columns[i - 1], places[i - 1], columns[i], places[i], weight)
    for i, stage in enumerate(layers):
        parts += _dots(columns[i], places[i])
        parts += _words(stage, xs[i], bottom, step // 7, first=i == 0)
    if inputs and layers[0].units <= SHOWN:
        parts += [
            _text(x - 14, y + 4, _cut(str(name), 16), "end", "small", title=str(name))
            for name, (x, y) in zip(inputs, places[0], strict=False)
        ]
    if right > 80:
        parts += [
            _text(x + 14, y + 4, _cut(str(name), 14), "start", "small", title=str(name))
            for name, (x, y) in zip(outputs, places[-1], strict=False)
        ]
    label = "Network: " + ", ".join(f"{stage.name} {stage.units}" for stage in layers)
    return Markup(
        f'<svg class="network" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" role="img" '
        f'aria-label="{html.escape(label)}">{"".join(parts)}</svg>'
    )


def _units(count: int) -> list[int | None]:
    """Which units are drawn; None is a gap."""
    return list(range(count)) if count <= SHOWN else [0, 1, 2, 3, None, count - 4, count - 3, count - 2, count - 1]


Place = tuple[float, float]


def _edges(
    sources: list[int | None], starts: list[Place], targets: list[int | None], ends: list[Place], weight: Any
) -> list[str]:
    pairs = [
        (i, j, start, end)
        for i, start in zip(sources, starts, strict=True)
        for j, end in zip(targets, ends, strict=True)
        if i is not None and j is not None
    ][:EDGES]
    known = weight is not None and np.ndim(weight) == 2 and max((p[0] for p in pairs), default=0) < np.shape(weight)[0]
    known = known and max((p[1] for p in pairs), default=0) < np.shape(weight)[1]
    largest = float(np.max(np.abs([weight[i, j] for i, j, _, _ in pairs]))) if known and pairs else 0.0
    lines = []
    for i, j, (x1, y1), (x2, y2) in pairs:
        kind, size = "edge", 0.25
        if largest and np.isfinite(largest):
            size = abs(float(weight[i, j])) / largest
            kind = "edge plus" if weight[i, j] > 0 else "edge minus"
        lines.append(
            f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
            f'stroke-width="{0.4 + 1.8 * size:.2f}" stroke-opacity="{0.08 + 0.62 * size:.2f}"/>'
        )
    return lines


def _dots(units: list[int | None], places: list[Place]) -> list[str]:
    return [
        _text(x, y + 5, "⋮", "middle", "gap")
        if unit is None
        else f'<circle class="unit" cx="{x:g}" cy="{y:g}" r="{RADIUS}"/>'
        for unit, (x, y) in zip(units, places, strict=True)
    ]


def _words(stage: Stage, x: float, top: float, room: int, *, first: bool) -> list[str]:
    lines = [
        (stage.name, "name"),
        (f"{stage.units:,} {'columns' if first else 'units' if stage.units > 1 else 'unit'}", ""),
    ]
    lines += [(", ".join(stage.notes), "small")] if stage.notes else []
    lines += [(f"{stage.count:,} parameters", "small")] if stage.count else []
    return [
        _text(x, top + 16 * k, _cut(words, room), "middle", kind, title=words) for k, (words, kind) in enumerate(lines)
    ]


def _text(x: float, y: float, words: str, anchor: str, kind: str, title: str = "") -> str:
    whole = f"<title>{html.escape(title)}</title>" if title and title != words else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(words)}{whole}</text>'


def _cut(words: str, limit: int) -> str:
    return words if len(words) <= limit else f"{words[: limit - 1]}…"
