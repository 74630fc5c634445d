"""The dimension table of a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.nn.activate import Activate, Mixed
from pellucid.nn.compose import Sequential
from pellucid.nn.layer import Features, Layer, sample_shape


@dataclass(frozen=True)
class Row:
    name: str
    layer: str
    output: Features
    shapes: dict[str, tuple[int, ...]]

    @property
    def count(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.shapes.values())


@dataclass(frozen=True)
class Summary:
    """What `summary` found. Print it for the table."""

    features: Features
    rows: tuple[Row, ...]

    @property
    def count(self) -> int:
        """The number of learned numbers."""
        return sum(row.count for row in self.rows)

    @property
    def layers(self) -> int:
        """The number of layers as the lectures count: those with weights, the input not among them."""
        return sum(any("weight" in name for name in row.shapes) for row in self.rows)

    def __str__(self) -> str:
        head = ["layer", "", "output", "parameters", "count"]
        body = [["input", "", _shape(self.features), "", ""]]
        for row in self.rows:
            shapes = ", ".join(f"{name} {'×'.join(map(str, shape)) or '1'}" for name, shape in row.shapes.items())
            body.append([row.name, row.layer, _shape(row.output), shapes, f"{row.count:,}" if row.count else ""])
        widths = [max(len(line[c]) for line in [head, *body]) for c in range(5)]
        lines = ["  ".join(_cells(line, widths)).rstrip() for line in [head, *body]]
        rule = "─" * (sum(widths) + 8)
        total = f"{self.layers} layer{'s' * (self.layers != 1)}, {self.count:,} parameters"
        return "\n".join([lines[0], rule, *lines[1:], rule, total])


def summary(net: Layer, features: Any) -> Summary:
    """Layer by layer: the shape behind it and its parameters, for samples of this shape (or data).

    Rows are samples: W[r] is m_{r-1} × m_r here, the transpose of the lectures' m_r × m_{r-1}; Z[r] and A[r] are n ×
    m_r.

    >>> from pellucid import nn
    >>> print(summary(nn.mlp((4,), 2), 3))
    layer                         output  parameters          count
    ───────────────────────────────────────────────────────────────
    input                         n × 3
    hidden1             Dense(4)  n × 4   weight 3×4, bias 4     16
    hidden1.activation  relu      n × 4
    output              Dense(2)  n × 2   weight 4×2, bias 2     10
    ───────────────────────────────────────────────────────────────
    2 layers, 26 parameters
    """
    shape = sample_shape(features)
    rows: list[Row] = []
    _walk("", net, shape, rows)
    return Summary(shape, tuple(rows))


def count_parameters(net: Layer, features: Any) -> int:
    """The number of learned numbers.

    >>> from pellucid import nn
    >>> count_parameters(nn.mlp((40,), 1), 1000)  # the multiplication network of the lectures has no output bias
    40081
    """
    return sum(int(np.prod(made.shape)) for made in net.parameters(sample_shape(features)).values())


def _walk(name: str, layer: Layer, features: Features, rows: list[Row]) -> None:
    """Rows of the innermost layers, in order."""
    if not layer.children:
        shapes = {key: made.shape for key, made in layer.parameters(features).items()}
        rows.append(Row(name, brief(layer), layer.output(features), shapes))
        return
    sequential = isinstance(layer, Sequential)
    inside = features
    for part, child in layer.children:
        _walk(f"{name}.{part}" if name else part, child, inside, rows)
        if sequential:
            inside = child.output(inside)


def brief(layer: Layer) -> str:
    """A layer in few words: its class and what is not as usual."""
    if isinstance(layer, Activate):
        return layer.activation.label
    if isinstance(layer, Mixed):
        return f"Mixed({', '.join(record.label for record in layer.activations)})"
    fields = getattr(layer, "__dataclass_fields__", {})
    shown = [
        repr(getattr(layer, key)) if field.default is field.default_factory else f"{key}={getattr(layer, key)!r}"
        for key, field in fields.items()
        if not _same(getattr(layer, key), field.default)
    ]
    return f"{type(layer).__name__}({', '.join(shown)})"


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and not isinstance(a, np.ndarray) and bool(a == b)


def _shape(features: Features) -> str:
    return " × ".join(["n", *map(str, features)])


def _cells(line: list[str], widths: list[int]) -> list[str]:
    return [cell.rjust(w) if c == 4 else cell.ljust(w) for c, (cell, w) in enumerate(zip(line, widths, strict=True))]
