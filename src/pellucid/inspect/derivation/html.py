"""A derivation as HTML: a page for the projector, a fragment for notebooks. Light and dark, no script, no network."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from pellucid.inspect.derivation.content import Equation, Item, Phase, Side, Step
from pellucid.inspect.derivation.formulas import as_html
from pellucid.inspect.derivation.numbers import SPARED, Numbers

COLOURS = {Phase.FORWARD: "#0072B2", Phase.LOSS: "#B45309", Phase.BACKWARD: "#A43E78", Phase.UPDATE: "#00785A"}
"""Okabe and Ito's hues, dark enough to be read on white."""

LIGHTER = {Phase.FORWARD: "#6EB9E8", Phase.LOSS: "#F0A750", Phase.BACKWARD: "#E39CC3", Phase.UPDATE: "#4FCBA6"}
"""The same on dark pages."""

POSITIVE, NEGATIVE = "213,94,0", "0,114,178"
"""The tints of cells: orange above 0, blue below."""


def _rules(dark: bool) -> str:
    colours = LIGHTER if dark else COLOURS
    ink, soft, line, card, paper = (
        ("#e8e8ea", "#a2a4ab", "#3a3c42", "#202226", "#17181b") if dark else
        ("#1c1d20", "#5d6068", "#d9dbe0", "#ffffff", "#f6f7f9")
    )  # fmt: skip
    phases = "".join(f"--{phase.name.lower()}:{colour};" for phase, colour in colours.items())
    return f"--ink:{ink};--soft:{soft};--line:{line};--card:{card};--paper:{paper};{phases}"


STYLE = f"""
.pel-d{{{_rules(False)}color:var(--ink);background:var(--paper);font:15px/1.5 system-ui,"Segoe UI",sans-serif;
padding:1.2em 1.4em;border-radius:10px;max-width:1180px}}
@media (prefers-color-scheme:dark){{.pel-d{{{_rules(True)}}}}}
.pel-d header{{margin-bottom:1em}}
.pel-d header b{{font-size:1.35em;font-weight:650;display:block;line-height:1.25}}
.pel-d header span{{color:var(--soft)}}
.pel-d section{{margin:0 0 1.4em;border-left:4px solid var(--hue);padding-left:1em}}
.pel-d h2{{font-size:1em;letter-spacing:.06em;text-transform:uppercase;color:var(--hue);margin:.2em 0 .6em;border:0}}
.pel-d article{{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.65em .9em;
margin:0 0 .6em;break-inside:avoid;overflow-x:auto}}
.pel-d h3{{font-size:1em;font-weight:600;margin:0 0 .35em;display:flex;gap:.6em;align-items:center}}
.pel-d h3 em{{font-style:normal;font-size:.85em;font-weight:700;min-width:1.7em;height:1.7em;border-radius:1em;
flex:none;display:inline-flex;align-items:center;justify-content:center;color:var(--card);background:var(--hue)}}
.pel-d .e{{display:flex;flex-wrap:wrap;align-items:center;gap:.4em .55em;margin:.35em 0 .35em 2.3em;
font:1.12em/1.4 Cambria,"STIX Two Text","Times New Roman",Georgia,serif}}
.pel-d .e>span{{display:inline-flex;align-items:center;gap:.4em;flex-wrap:wrap;white-space:nowrap}}
.pel-d .n{{margin:.15em 0 .3em 2.3em;color:var(--hue);
font:1em/1.5 Cambria,"STIX Two Text","Times New Roman",Georgia,serif}}
.pel-d .t{{margin:.2em 0 0 2.6em;color:var(--soft);font-size:.92em}}
.pel-d .w{{font-family:system-ui,sans-serif;font-size:.9em;white-space:pre-wrap}}
.pel-d .z{{color:var(--soft);font:.78em system-ui,sans-serif}}
.pel-d .f{{display:inline-flex;flex-direction:column;vertical-align:middle;text-align:center;line-height:1.2;
font-size:.92em}}
.pel-d .f>span:first-child{{border-bottom:1px solid currentColor;padding:0 .2em .08em}}
.pel-d .f>span:last-child{{padding:.08em .2em 0}}
.pel-d .r{{border-top:1px solid currentColor}}
.pel-d table{{border-collapse:separate;border-spacing:0;margin:0;display:inline-table;border:0;width:auto;
border-left:1.6px solid var(--ink);border-right:1.6px solid var(--ink);border-radius:5px;padding:1px 3px;
background:none;font:.82em/1.3 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}}
.pel-d td{{text-align:right;padding:.16em .45em;border:0;border-radius:3px;font-variant-numeric:tabular-nums;
white-space:nowrap;background:none}}
.pel-d tr{{background:none!important}}
.pel-d td.o{{color:var(--soft);opacity:.65}}
.pel-d sub,.pel-d sup{{font-size:.7em;line-height:0;margin-left:.08em}}
@media (max-width:600px){{.pel-d{{padding:.6em}}.pel-d section{{padding-left:.5em}}
.pel-d .e,.pel-d .n,.pel-d .t{{margin-left:.2em}}}}
@media print{{.pel-d{{padding:0;max-width:none}}}}
"""


def page(title: str, convention: str, steps: Sequence[Step], digits: int, limit: int) -> str:
    """A whole page."""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<title>{html.escape(title)}</title><style>:root{{color-scheme:light dark}}body{{margin:0;background:#f6f7f9}}"
        "@media (prefers-color-scheme:dark){body{background:#17181b}}.pel-d{margin:0 auto}</style></head>\n"
        f"<body>{fragment(title, convention, steps, digits, limit)}</body></html>\n"
    )


def fragment(title: str, convention: str, steps: Sequence[Step], digits: int, limit: int) -> str:
    """What a notebook shows."""
    head = f"<header><b>{html.escape(title)}</b><span>{html.escape(convention)}</span></header>"
    return f"<div class='pel-d'><style>{STYLE}</style>{head}{''.join(_sections(steps, digits, limit))}</div>"


def _sections(steps: Sequence[Step], digits: int, limit: int) -> Iterator[str]:
    for phase, group in groupby(steps, key=lambda step: step.phase):
        yield f"<section style='--hue:var(--{phase.name.lower()})'><h2>{phase.value}</h2>"
        previous = 0
        for step in group:
            if previous and step.number != previous + 1:
                between = f"steps {previous + 1} to {step.number - 1}: the layers between, in the same way"
                yield f"<p class='t'>⋮ {between}</p>"
            previous = step.number
            yield _article(step, digits, limit)
        yield "</section>"


def _article(step: Step, digits: int, limit: int) -> str:
    body = "".join(_equation(equation, digits, limit) for equation in step.equations)
    words = "".join(f"<p class='t'>{html.escape(text)}</p>" for text in step.words)
    return f"<article><h3><em>{step.number}</em>{html.escape(step.title)}</h3>{body}{words}</article>"


def _equation(equation: Equation, digits: int, limit: int) -> str:
    first = _side(equation.sides[0], digits, limit)
    rest = [
        f"<span>{as_html(equation.relation) if i == 0 else '='} {_side(side, digits, limit)}</span>"
        for i, side in enumerate(equation.sides[1:])
    ]
    size = f"<span class='z'>{html.escape(equation.size)}</span>" if equation.size else ""
    entry = f"<div class='n'>{as_html(equation.entry)}</div>" if equation.entry else ""
    return f"<div class='e'><span>{first}</span>{''.join(rest)}{size}</div>{entry}"


def _side(side: Side, digits: int, limit: int) -> str:
    return " ".join(_item(item, digits, limit, i == 0) for i, item in enumerate(side))


def _item(item: Item, digits: int, limit: int, first: bool) -> str:
    if isinstance(item, Numbers) and not item.single:
        return matrix(item, digits, limit)
    return f"<span>{as_html(item if isinstance(item, str) else item.formula(digits, first))}</span>"


def matrix(numbers: Numbers, digits: int, limit: int) -> str:
    """A table between brackets; cells are tinted by sign and size."""
    cells = numbers.cells(digits, limit)
    most = max((abs(v) for row in cells for _, v in row if math.isfinite(v)), default=0.0)
    rows = "".join(f"<tr>{''.join(_cell(text, value, most) for text, value in row)}</tr>" for row in cells)
    return f"<table>{rows}</table>"


def _cell(text: str, value: float, most: float) -> str:
    if text == SPARED or value == 0 or not math.isfinite(value) or not most:
        return f"<td class='o'>{html.escape(text)}</td>"
    strength = 0.06 + 0.26 * abs(value) / most
    return f"<td style='background:rgba({POSITIVE if value > 0 else NEGATIVE},{strength:.2f})'>{html.escape(text)}</td>"
