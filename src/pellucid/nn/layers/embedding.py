"""Embed: a learned vector for every category."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.nn.activations.activation import Activation
from pellucid.nn.initialisers.initializer import Initializer, initializer
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.dense import positive
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params, check_columns, rows_of


@dataclass(frozen=True)
class Embed(Layer):
    """A learned vector in place of each category.   (n, others + k) -> (n, others + sum of dims)

    The last k = len(sizes) columns hold codes, whole numbers 0 ... size - 1, as floats; columns before them pass.
    Code 0 stands for unknown or missing, and so does anything outside, NaN included. Its vector starts at 0: it
    says nothing unless training has something to say about missing values.

    Parameters
    ----------
    sizes : tuple[int, ...]
        numbers of codes of each column
    dims : int | tuple[int, ...]
        the length of the vectors, one for all columns or one for each
    init : str | number | array | Initializer
        how vectors start

    Examples
    --------
    >>> import numpy as np
    >>> layer = Embed((3,), dims=2)
    >>> params = layer.initialize(2).params
    >>> params["table1"].shape, layer.predict(params, np.array([[0.5, 1.0], [0.5, 7.0]])).shape
    ((3, 2), (2, 3))
    >>> layer.predict(params, np.array([[0.5, 7.0]])).tolist()
    [[0.5, 0.0, 0.0]]
    """

    sizes: tuple[int, ...]
    dims: int | tuple[int, ...] = 8
    init: Any = "standard_normal"

    def __post_init__(self) -> None:
        for size in self.sizes:
            positive(self, "each size", size)
        if isinstance(self.dims, tuple) and len(self.dims) != len(self.sizes):
            raise ValueError(f"Embed: dims has {len(self.dims)} entries for {len(self.sizes)} columns of codes")
        for dim in self._lengths:
            positive(self, "each of dims", dim)

    @property
    def _lengths(self) -> tuple[int, ...]:
        return self.dims if isinstance(self.dims, tuple) else (self.dims,) * len(self.sizes)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        columns_before(self, self.sizes, features)
        start = _zero_first(initializer(self.init))
        both = zip(self.sizes, self._lengths, strict=True)
        return {f"table{i}": Parameter((size, dim), start, 1, dim) for i, (size, dim) in enumerate(both, start=1)}

    def output(self, features: Features) -> Features:
        return (columns_before(self, self.sizes, features) + sum(self._lengths),)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        if len(x.shape) != 2 or x.shape[1] < len(self.sizes):
            check_columns(self, x, len(self.sizes), ctx.path)
        others = x.shape[1] - len(self.sizes)
        parts = [x[:, :others]] if others else []
        return np.concatenate([*parts, *coded_rows(p, x, others, self.sizes)], axis=1)


def columns_before(layer: Layer, sizes: tuple[int, ...], features: Features) -> int:
    """How many columns stand ahead of codes; an error where there are not even these."""
    others = rows_of(layer, features) - len(sizes)
    if others < 0:
        raise ShapeError(f"{layer} expects {len(sizes)} columns of codes at least, got {features[0]} features")
    return others


def coded_rows(p: Params, x: Any, first: int, sizes: tuple[int, ...]) -> Iterator[Any]:
    """The row of `table1`, `table2`, ... for each code; what is no code is 0.   codes: x[:, first:] -> (n, dims)"""
    for i, size in enumerate(sizes):
        code = x[:, first + i]
        known = np.where((code >= 0) & (code < size), code, 0.0)
        yield p[f"table{i + 1}"][known.astype(np.int64)]


def _zero_first(usual: Initializer) -> Initializer:
    """The same start, but a first row of zeros."""

    def start(rng: np.random.Generator, shape: tuple[int, ...], fan_in: int, fan_out: int, gain: float) -> Any:
        table = np.array(usual(rng, shape, fan_in, fan_out, gain))
        table[0] = 0.0
        return table

    return Initializer(f"{usual.name}, first row 0", start)
