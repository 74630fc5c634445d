"""How a look shows itself: a line, a table, HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid.markup import plural, short, table

if TYPE_CHECKING:
    from pellucid.inspect.look import LayerLook, Look

HEAD = [
    "layer",
    "activation",
    "units",
    "mean",
    "std",
    "zeros",
    "saturated",
    "dead",
    "rms δ",
    "rms dW",
    "step / W",
    "rank",
]


def cells(layer: LayerLook) -> list[str]:
    """A line of the table."""
    ratio = layer.update_ratio
    return [
        layer.name,
        layer.activation or "",
        str(layer.units),
        short(layer.a.mean),
        short(layer.a.std),
        f"{layer.a.zeros:.0%}",
        "" if layer.saturated is None else f"{layer.saturated:.0%}",
        "" if layer.unit_slope is None else str(len(layer.dead)),
        "" if layer.dz is None else f"{layer.dz.rms:.1e}",
        "" if layer.dweight is None else f"{layer.dweight.rms:.1e}",
        "" if ratio is None else f"{ratio:.1e}",
        f"{layer.rank:.1f}",
    ]


def caption(look: Look) -> str:
    place = f"after {plural(look.step, 'step')}, on {plural(look.rows, 'row')}"
    return place if look.loss is None else f"{place}: loss {short(look.loss)}"


def text(look: Look) -> str:
    body = [cells(layer) for layer in look.layers]
    widths = [max(len(line[c]) for line in [HEAD, *body]) for c in range(len(HEAD))]
    lines = [
        "  ".join(
            cell.ljust(width) if c < 2 else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in [HEAD, *body]
    ]
    rule = "─" * len(lines[0])
    return "\n".join([lines[0].rstrip(), rule, *(line.rstrip() for line in lines[1:]), rule, caption(look)])


def line(look: Look) -> str:
    return f"<Look at {plural(len(look.layers), 'layer')} {caption(look)}; print it for the table>"


def html(look: Look) -> str:
    return table([cells(layer) for layer in look.layers], HEAD, caption=caption(look), numbers=range(2, len(HEAD)))
