"""CodedDense: a Dense layer that takes codes of categories beside numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.nn.activations.activation import Activation
from pellucid.nn.initialisers.initializer import initializer
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.dense import positive
from pellucid.nn.layers.embedding import coded_rows, columns_before
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params, check_columns


@dataclass(frozen=True)
class CodedDense(Layer):
    """x @ weight + bias, and a learned row for each code.   (n, others + k) -> (n, units)

    The last k = len(sizes) columns hold codes as in `Embed`: whole numbers 0 ... size - 1, and what is outside is 0.
    It is what `Dense` would be on a column of ones and zeros for each code; they are never made. Without a penalty,
    the rows of codes that are rare learn their few rows by heart: name the tables, too, `nn.L2(0.01, on=("*.weight",
    "*.table*"))`.

    Parameters
    ----------
    units : int
        columns of the output
    sizes : tuple[int, ...]
        numbers of codes of each column
    init : str | number | array | Initializer
        how weights start; "auto" suits the activation that follows
    bias : str | number | array | Initializer
        how biases start
    table : str | number | array | Initializer
        how the rows of codes start

    Examples
    --------
    >>> import numpy as np
    >>> layer = CodedDense(2, sizes=(3,))
    >>> params = layer.initialize(2).params
    >>> params["weight"].shape, params["table1"].shape
    ((1, 2), (3, 2))
    >>> layer.predict(params, np.array([[0.5, 1.0], [0.5, 7.0]])).shape
    (2, 2)
    """

    units: int
    sizes: tuple[int, ...]
    init: Any = "auto"
    bias: Any = 0.0
    table: Any = 0.0

    def __post_init__(self) -> None:
        positive(self, "units", self.units)
        for size in self.sizes:
            positive(self, "each size", size)
        for start in (self.bias, self.table):
            initializer(start)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        others, units = columns_before(self, self.sizes, features), self.units
        gain = 1.0 if activation is None else activation.gain
        tables = {
            f"table{i}": Parameter((size, units), initializer(self.table), 1, units)
            for i, size in enumerate(self.sizes, start=1)
        }
        return {
            "weight": Parameter((others, units), initializer(self.init), max(others, 1), units, gain),
            "bias": Parameter((units,), initializer(self.bias), max(others, 1), units),
            **tables,
        }

    def output(self, features: Features) -> Features:
        columns_before(self, self.sizes, features)
        return (self.units,)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        others = p["weight"].shape[0]
        check_columns(self, x, others + len(self.sizes), ctx.path)
        y = x[:, :others] @ p["weight"] + p["bias"] if others else p["bias"]
        return ctx.tap(sum(coded_rows(p, x, others, self.sizes), start=y), "affine")
