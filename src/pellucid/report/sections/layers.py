"""Inside the layers: histograms with a slider over the steps of training, and what they show over time."""

from __future__ import annotations

import numpy as np

from pellucid.report.elements import Markup, absent, chart, element, heading, joined, paragraph
from pellucid.report.numbers.layers import BACKWARD, FORWARD, MAPPED, Inside, LayerFrames
from pellucid.report.sections.section import Section, figures

HOW = "watch = pellucid.inspect.Watch(every=100); model.fit(X, y, callbacks=[watch]); pellucid.report(..., watch=watch)"


def layers_section(seen: Inside | None, trouble: str = "") -> Section:
    """Histograms of activations and gradients, and dead and saturated units over time."""
    title = "Inside the layers"
    if seen is None:
        why = f"The layers could not be looked at: {trouble} " if trouble else "Nobody looked inside. "
        return Section("layers", title, absent(f"{why}To look during training:", HOW))
    parts = [_lead(seen), _histograms(seen)]
    if seen.moving:
        parts += [heading("Over time"), figures(*_over_time(seen))]
        maps = [layer for layer in seen.layers if layer.open is not None and layer.units <= MAPPED]
        if maps:
            parts += [heading("Every unit"), _maps(seen)]
    else:
        parts.append(absent("This is one moment, the network as it is now. For a slider over the training:", HOW))
    return Section("layers", title, joined(parts), {"inside": seen})


def _lead(seen: Inside) -> Markup:
    if not seen.moving:
        return paragraph(f"Every layer as it is now, on {seen.rows:,} rows.")
    return paragraph(
        f"{len(seen.steps)} looks, from step {seen.steps[0]:,} to step {seen.steps[-1]:,}, each on the {seen.rows:,} "
        "rows of a batch. Move the slider (or use the arrow keys) to see the training pass by; the grey outline is the "
        "first look."
    )


def _choice(name: str, options: dict[str, str], label: str) -> Markup:
    chosen = [element("option", words, value=key) for key, words in options.items()]
    return element("label", f"{label} ", element("select", *chosen, id=name), class_="choice")


def _scale(name: str, *, fixed: bool) -> Markup:
    checked = {"checked": ""} if fixed else {}
    box = Markup(element("input", type="checkbox", id=name, **checked).removesuffix("</input>"))
    return element("label", box, " one scale for all steps", class_="choice")


def _histograms(seen: Inside) -> Markup:
    last = len(seen.steps) - 1
    slider = Markup(
        f'<label class="slider" for="step"><span>Step</span><input type="range" id="step" min="0" max="{last}" '
        f'value="{last}" step="1" aria-describedby="step-words"><output id="step-words" for="step"></output></label>'
    )
    play = element("button", "▶ Play", type="button", id="play", aria_pressed="false")
    choices = [_choice("forward", FORWARD, "Forward"), _scale("forward-scale", fixed=True) if seen.moving else None]
    if seen.backward:
        choices.append(_choice("backward", BACKWARD, "Backward"))
        choices.append(_scale("backward-scale", fixed=False) if seen.moving else None)
    controls = element("div", *choices, *((play, slider) if seen.moving else ()), class_="controls", id="controls")
    rows = [_row(i, layer, backward=seen.backward) for i, layer in enumerate(seen.layers)]
    words = (
        "What to notice: activations should be spread out, not heaped at one place (dead) or at the ends (saturated); "
        "gradients should have about the same width in every layer. Numbers that are exactly 0 are counted in words, "
        "not drawn; heights are on a root scale, so that tails are seen."
    )
    histograms = element("div", *rows, class_="layers", id="histograms")
    return element("div", controls, histograms, paragraph(words, class_="quiet"))


def _row(place: int, layer: LayerFrames, *, backward: bool) -> Markup:
    name = element(
        "div",
        element("strong", layer.name),
        element("span", f"{layer.units:,} units" if layer.units > 1 else "1 unit"),
        element("span", layer.activation or "no activation"),
        class_="layer-name",
    )
    sides = ("forward", "backward") if backward else ("forward",)
    cells = [
        element(
            "div",
            element("div", class_="chart histogram", data_layer=place, data_side=side, role="img"),
            element("p", class_="layer-words"),
        )
        for side in sides
    ]
    return element("div", name, *cells, class_="layer-row")


def _over_time(seen: Inside) -> list[Markup | None]:
    worst = max(seen.layers, key=lambda layer: float(np.nan_to_num(layer.dead[-1])))
    full = max(seen.layers, key=lambda layer: float(np.nan_to_num(layer.saturated[-1])))
    dead, saturated = float(np.nan_to_num(worst.dead[-1])), float(np.nan_to_num(full.saturated[-1]))
    dead_words = (
        f"Most in {worst.name}: {dead:.0%} at the end; they no longer learn."
        if dead
        else "None at the end: every unit learns."
    )
    charts: list[Markup | None] = []
    if any(np.isfinite(layer.dead).any() for layer in seen.layers):
        about_dead = f"The share that passes no gradient on for any row of the batch. {dead_words}"
        about_flat = (
            "The share of rows and units where the activation is flat (slope below 0.01). At the end "
            f"{saturated:.0%} in {full.name}. Half is usual for ReLU."
        )
        charts.append(chart("series", "dead", "Dead units", about_dead))
        charts.append(chart("series", "saturated", "Saturated units", about_flat))
    fade = "Their deviation, layer by layer: signals should neither fade nor explode on their way."
    charts.append(chart("series", "spread", "Spread of activations", fade))
    if seen.backward:
        charts.append(chart("series", "gradient", "Size of gradients", _about_gradients(seen)))
        pace = (
            "Size of a step over the size of the weights (logarithmic). About one in a thousand (dashed) is a good "
            "pace; ten times more shakes, a hundred times less sleeps."
        )
        charts.append(chart("series", "update", "Size of steps", pace))
    if any(np.isfinite(layer.rank).any() for layer in seen.layers):
        span = "Effective rank: how many directions the units of a layer span. At 1 they all say the same."
        charts.append(chart("series", "rank", "Rank", span))
    return charts


def _about_gradients(seen: Inside) -> str:
    sizes = {layer.name: float(layer.gradient[-1]) for layer in seen.layers if np.isfinite(layer.gradient[-1])}
    lost = [name for name, size in sizes.items() if size == 0.0]
    words = "Root mean square at each layer (logarithmic). The lines should stay together: at the end "
    if lost:
        return f"{words}nothing arrives at {', '.join(lost)}."
    return (
        f"{words}the largest is {max(sizes.values()) / min(sizes.values()):.3g} times the smallest." if sizes else words
    )


def _maps(seen: Inside) -> Markup:
    words = (
        "Each column is a unit, each line a look, from the first (top) to the last. Dark: it passes gradients on for "
        "many rows; white: for none. A white stripe down to the bottom is a unit that died. Units are sorted by how "
        "open they were in the end."
    )
    charts = [
        chart("units", "inside", f"{layer.name}, {layer.units:,} units", data_layer=i)
        for i, layer in enumerate(seen.layers)
        if layer.open is not None and layer.units <= MAPPED
    ]
    return joined([paragraph(words), element("div", *charts, class_="figures")])
