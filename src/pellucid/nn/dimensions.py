"""The dimension table of a network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.markup import plural, table
from pellucid.nn.activations.layers import Activate, Mixed
from pellucid.nn.layers.compose import Sequential
from pellucid.nn.layers.dense import Dense
from pellucid.nn.layers.layer import Features, Layer, sample_shape

HEAD = ["layer", "", "output", "parameters", "count"]


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
        body = self._body()
        widths = [max(len(line[c]) for line in [HEAD, *body]) for c in range(5)]
        lines = ["  ".join(_cells(line, widths)).rstrip() for line in [HEAD, *body]]
        rule = "─" * (sum(widths) + 8)
        return "\n".join([lines[0], rule, *lines[1:], rule, self._total()])

    def __repr__(self) -> str:
        ends = f"{_shape(self.features)} → {_shape(self.rows[-1].output)}" if self.rows else _shape(self.features)
        return f"<Summary: {self._total()}, {ends}; print it for the table>"

    def _repr_html_(self) -> str:
        return table(self._body(), HEAD, caption=self._total(), numbers=[4])

    def _body(self) -> list[list[str]]:
        body = [["input", "", _shape(self.features), "", ""]]
        for row in self.rows:
            shapes = ", ".join(f"{name} {'×'.join(map(str, shape)) or '1'}" for name, shape in row.shapes.items())
            body.append([row.name, row.layer, _shape(row.output), shapes, f"{row.count:,}" if row.count else ""])
        return body

    def _total(self) -> str:
        return f"{plural(self.layers, 'layer')}, {plural(self.count, 'parameter')}"


def summary(net: Layer, features: Any) -> Summary:
    """Layer by layer: the shape behind it and its parameters, for samples of this shape (or data).

    Rows are samples: W[r] is m_{r-1} × m_r here, the transpose of the lectures' m_r × m_{r-1}; Z[r] and A[r] are n ×
    m_r.

    Parameters
    ----------
    net : Layer
        a network
    features : int | tuple | array
        the number of features, the shape of a sample, or data

    Returns
    -------
    Summary
        print it

    Examples
    --------
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
    return Summary(shape, tuple(_row(*layer) for layer in innermost(net, shape)))


def _row(name: str, layer: Layer, features: Features) -> Row:
    shapes = {key: parameter.shape for key, parameter in layer.parameters(features).items()}
    return Row(name, brief(layer), layer.output(features), shapes)


def count_parameters(net: Layer, features: Any) -> int:
    """The number of learned numbers.

    Parameters
    ----------
    net : Layer
        a network
    features : int | tuple | array
        the number of features, the shape of a sample, or data

    Returns
    -------
    int
        how many

    Examples
    --------
    >>> from pellucid import nn
    >>> count_parameters(nn.mlp((40,), 1), 1000)  # the multiplication network of the lectures has no output bias
    40081
    """
    return sum(int(np.prod(parameter.shape)) for parameter in net.parameters(sample_shape(features)).values())


def innermost(net: Layer, features: Features, name: str = "") -> Iterator[tuple[str, Layer, Features]]:
    """The innermost layers in order, each with its name and the shape of a sample that goes into it."""
    if not net.children:
        yield name, net, features
    for part, child in net.children:
        yield from innermost(child, features, f"{name}.{part}" if name else part)
        if isinstance(net, Sequential):
            features = child.output(features)


def outline(net: Layer, features: Features = ()) -> str:
    """A network in a few words: the sizes of its layers, and what else is in it. Without `features`, not the input's.

    >>> from pellucid import nn
    >>> outline(nn.mlp((64, 32), 1, norm="batch", dropout=0.2), (8,))
    '8-64-32-1 relu, BatchNorm, Dropout(rate=0.2)'
    """
    leaves, chained = _leaves(net)
    sizes = [str(layer.units) for layer in leaves if hasattr(layer, "units")]
    if features:
        sizes = ["×".join(map(str, features)), *sizes]
    rest = sorted((leaf for leaf in leaves if not isinstance(leaf, Dense)), key=lambda leaf: not _acts(leaf))
    named = ", ".join(dict.fromkeys(brief(layer).removesuffix("()") for layer in rest))
    if chained and len(sizes) > bool(features):
        return f"{'-'.join(sizes)} {named}".rstrip()
    return f"{type(net).__name__} of {plural(len(leaves), 'layer')}" + (f" for {sizes[0]}" if features else "")


def _acts(layer: Layer) -> bool:
    return isinstance(layer, Activate | Mixed)


def _leaves(net: Layer) -> tuple[list[Layer], bool]:
    """The innermost layers in order, and whether each takes what the one before it gives."""
    if not net.children:
        return [net], True
    parts = [_leaves(child) for _, child in net.children]
    chained = isinstance(net, Sequential) and all(inner for _, inner in parts)
    return [leaf for leaves, _ in parts for leaf in leaves], chained


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
