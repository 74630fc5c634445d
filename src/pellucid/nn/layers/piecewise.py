"""PiecewiseLinear: learned piecewise-linear functions beside every number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.nn.activations.activation import Activation
from pellucid.nn.initialisers.initializer import initializer
from pellucid.nn.layers.beside import apart, beside, first_columns, other_columns
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.dense import positive
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params

NARROW = 1e-6
"""Share of a column's range below which a bin is no bin of its own: just outside of it numbers would explode."""


@dataclass(frozen=True)
class PiecewiseLinear(Layer):
    """Numbers with piecewise-linear functions beside them.   (n, columns + others) -> (n, columns (1 + dims) + others)

    Each of the first columns x is cut into bins: component t is (x - b) / (c - b) between the edges b and c of bin t,
    0 below and 1 above; the first bin goes on below, the last above. A learned linear map makes `dims` numbers of the
    components; x itself stays. Other columns pass. (Gorishniy et al., 2022.)

    Edges are state, not parameters. `Model.fit`, `Model.initialize` with data and estimators take the quantiles of
    their rows; by hand it is `nn.quantile_edges`. Until then they lie evenly between -3 and 3.

    Parameters
    ----------
    columns : int
        how many of the first features get functions
    bins : int
        of each column, at most
    dims : int
        functions of each column
    init : str | number | array | Initializer
        how the map starts, (columns, bins, dims): at 0 it learns smooth functions first, as standard normal numbers it
        can follow rough ones

    Examples
    --------
    >>> import numpy as np
    >>> layer = PiecewiseLinear(2, bins=4, dims=3)
    >>> params, state = layer.initialize(5)
    >>> layer.predict(params, np.ones((7, 5)), state).shape
    (7, 11)
    """

    columns: int
    bins: int = 48
    dims: int = 8
    init: Any = 0.0

    def __post_init__(self) -> None:
        for name in ("columns", "bins", "dims"):
            positive(self, name, getattr(self, name))
        initializer(self.init)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        other_columns(self, self.columns, features)
        return {"mix": Parameter((self.columns, self.bins, self.dims), initializer(self.init), self.bins, self.dims)}

    def state(self, features: Features) -> dict[str, Any]:
        return self.bins_between([np.linspace(-3.0, 3.0, self.bins + 1)] * self.columns)

    def output(self, features: Features) -> Features:
        return (self.columns * (1 + self.dims) + other_columns(self, self.columns, features),)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        numbers = ctx.tap(first_columns(self, self.columns, x), "input")
        places = (apart(numbers) - ctx.read("start")[:, None, :]) * ctx.read("slope")[:, None, :]  # (d, n, bins)
        lowest, highest = np.zeros(self.bins, x.dtype), np.ones(self.bins, x.dtype)
        lowest[0], highest[-1] = -np.inf, np.inf
        return beside(numbers, np.matmul(np.clip(places, lowest, highest), p["mix"]), x)

    # edges

    def quantile_bins(self, numbers: Any, weights: Any = None) -> dict[str, Any]:
        """The state for these numbers: bins that hold equally many of them.

        Parameters
        ----------
        numbers : array of shape (n, columns)
            what the layer gets
        weights : array of shape (n,)
            how much each row counts

        Returns
        -------
        dict of arrays
            "start" and "slope"
        """
        shares = np.linspace(0.0, 1.0, self.bins + 1)
        kind = {"method": "inverted_cdf", "weights": weights}  # a weight of 2 is the row twice
        return self.bins_between([_apart(np.quantile(column, shares, **kind)) for column in np.transpose(numbers)])

    def bins_between(self, edges: list[Any]) -> dict[str, Any]:
        """The state for these edges.

        Parameters
        ----------
        edges : list of arrays
            increasing, of each column; one edge makes no bin

        Returns
        -------
        dict of arrays
            "start", where a bin begins, and "slope", 1 / its width and 0 for no bin; (columns, bins)
        """
        start, slope = np.zeros((2, self.columns, self.bins))
        for j, cuts in enumerate(edges):
            if len(cuts) == 2 and self.bins > 1:  # the only bin is open at both ends: two halves are
                cuts = np.array([cuts[0], (cuts[0] + cuts[1]) / 2, cuts[1]])
            if len(cuts) > 1:
                places = np.r_[0 : len(cuts) - 2, self.bins - 1]  # the last bin is at the end, whatever their number
                start[j, places], slope[j, places] = cuts[:-1], 1.0 / np.diff(cuts)
        return {"start": start, "slope": slope}


def _apart(edges: Any) -> Any:
    """Edges without those that are too near to the one before; the last one stays.   increasing -> increasing"""
    tiny = NARROW * (edges[-1] - edges[0])
    kept = [edges[0]]
    for edge in edges[1:-1]:
        if edge - kept[-1] > tiny and edges[-1] - edge > tiny:
            kept.append(edge)
    return np.array([*kept, edges[-1]] if edges[-1] > kept[-1] else kept)
