"""Penalties on weights, and the max-norm constraint. Functions of the parameters alone; only `PerRow` knows a batch.

The objective is the mean loss plus the penalty. L2 is written with the half, ½ λ ‖W‖², whose gradient is λ W: gradient
descent then shrinks weights by 1 - lr λ. A penalty λ ‖W‖² (gradient 2 λ W) is `L2(2 * λ)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.amounts import is_number
from pellucid.errors import ShapeError
from pellucid.graph.core.tracer import Tracer
from pellucid.named_arrays import chosen
from pellucid.precision import like
from pellucid.records import Record

On = str | tuple[str, ...]
"""Which parameters: a pattern of names ("*.weight", "hidden1.*"), or several."""


class Penalty(Record, ABC):
    """A number for the parameters of a network, to be added to the mean loss. Penalties are added with +.

    Examples
    --------
    >>> both = L2(0.5) + L1(0.25, on="out.*")
    >>> float(both({"hid.weight": np.array([[2.0]]), "hid.bias": np.ones(1), "out.weight": np.array([[4.0]])}))
    6.0
    """

    @abstractmethod
    def __call__(self, params: Mapping[str, Any]) -> Any:
        """The number.

        Parameters
        ----------
        params : Mapping[str, Any]
            arrays by name

        Returns
        -------
        number
            to be added to the mean loss
        """

    def __radd__(self, other: Any) -> Penalty:
        return self if other == 0 else NotImplemented  # sum([...]) starts with 0

    def __add__(self, other: Penalty) -> Penalties:
        if not isinstance(other, Penalty):
            return NotImplemented
        parts = [one.parts if isinstance(one, Penalties) else (one,) for one in (self, other)]
        return Penalties((*parts[0], *parts[1]))


@dataclass(frozen=True)
class Penalties(Penalty):
    """The sum of several penalties; of none it is 0.

    Parameters
    ----------
    parts : tuple[Penalty, ...]
        the penalties
    """

    parts: tuple[Penalty, ...] = ()

    def __call__(self, params: Mapping[str, Any]) -> Any:
        return sum((part(params) for part in self.parts), 0.0)


@dataclass(frozen=True)
class PerRow(Penalty):
    """A penalty divided by the number of rows of the batch at hand (the sum of their weights), as scikit-learn does.

    Its strength then depends on the batch size.

    Parameters
    ----------
    of : Penalty
        the penalty
    rows : number
        of the batch; 1 is the penalty itself

    Examples
    --------
    >>> float(PerRow(L2(0.1)).for_rows(10)({"out.weight": np.array([[-1.0, 2.0]])}))
    0.025
    """

    of: Penalty
    rows: Any = 1

    def for_rows(self, rows: Any) -> PerRow:
        """The same for a batch of so many rows.

        Parameters
        ----------
        rows : number
            of the batch
        """
        return replace(self, rows=rows)

    def __call__(self, params: Mapping[str, Any]) -> Any:
        return self.of(params) / self.rows


@dataclass(frozen=True)
class L1(Penalty):
    """strength Σ |w| (lasso): drives weights to exactly zero under a proximal step; the slope at 0 is 0.

    Parameters
    ----------
    strength : number
        the factor
    on : On
        names of parameters, with * for anything

    Examples
    --------
    >>> float(L1(0.1)({"out.weight": np.array([[-1.0, 2.0]])}).round(9))
    0.3
    """

    strength: Any
    on: On = "*.weight"

    def __post_init__(self) -> None:
        _from_zero(self, "strength")

    def __call__(self, params: Mapping[str, Any]) -> Any:
        return sum(like(self.strength, w) * np.sum(np.abs(w)) for w in _meant(self, params).values())


@dataclass(frozen=True)
class L2(Penalty):
    """½ strength Σ w² (ridge, weight decay): the gradient is strength times w.

    Parameters
    ----------
    strength : number
        the factor
    on : On
        names of parameters, with * for anything

    Examples
    --------
    >>> float(L2(0.1)({"out.weight": np.array([[-1.0, 2.0]])}))
    0.25
    """

    strength: Any
    on: On = "*.weight"

    def __post_init__(self) -> None:
        _from_zero(self, "strength")

    def __call__(self, params: Mapping[str, Any]) -> Any:
        return sum(0.5 * like(self.strength, w) * np.sum(np.square(w)) for w in _meant(self, params).values())


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """l1 Σ |w| + ½ l2 Σ w² (Zou and Hastie, 2005).

    Parameters
    ----------
    l1 : number
        factor of the sizes
    l2 : number
        factor of the halved squares
    on : On
        names of parameters, with * for anything

    Examples
    --------
    >>> float(ElasticNet(l1=1.0, l2=2.0)({"out.weight": np.array([[-1.0, 2.0]])}))
    8.0
    """

    l1: Any
    l2: Any
    on: On = "*.weight"

    def __post_init__(self) -> None:
        _from_zero(self, "l1")
        _from_zero(self, "l2")

    def __call__(self, params: Mapping[str, Any]) -> Any:
        return L1(self.l1, self.on)(params) + L2(self.l2, self.on)(params)


@dataclass(frozen=True)
class MaxNorm:
    """A constraint: the weights into each unit, a column, have at most this norm (Srivastava et al., 2014).

    Not a penalty: `project` is applied after every step. Columns within the limit keep every bit.

    Parameters
    ----------
    limit : number
        the largest norm
    on : On
        names of parameters, with * for anything

    Examples
    --------
    >>> MaxNorm(2.5).project({"out.weight": np.array([[3.0, 1.0], [4.0, 1.0]])})["out.weight"]
    array([[1.5, 1. ],
           [2. , 1. ]])
    """

    limit: Any
    on: On = "*.weight"

    def __post_init__(self) -> None:
        if type(self.limit) is not Tracer and not is_number(self.limit, above=True):
            raise ValueError(f"MaxNorm: limit is a number above 0, got {self.limit!r}")

    def project(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters, those chosen scaled down where they are too long.

        Parameters
        ----------
        params : Mapping[str, Any]
            arrays by name

        Returns
        -------
        dict of arrays
            the same names
        """
        return {**params, **{name: self._column_wise(name, w) for name, w in _meant(self, params).items()}}

    def _column_wise(self, name: str, w: Any) -> Any:
        if len(w.shape) != 2:
            raise ShapeError(f"MaxNorm limits columns of weights (n_in, units), but {name} has shape {tuple(w.shape)}")
        limit = like(self.limit, w)
        # the largest entry is taken out first, so that squares neither overflow nor vanish
        top = np.max(np.abs(w), axis=0, keepdims=True)
        top = np.where(top > 0, top, 1.0)
        norm = top * np.sqrt(np.sum(np.square(w / top), axis=0, keepdims=True))
        return w * (limit / np.maximum(norm, limit))


def _meant(who: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that `who.on` names."""
    return {name: params[name] for name in chosen(who.on, params, type(who).__name__)}


def _from_zero(who: Any, setting: str) -> None:
    value = getattr(who, setting)
    if type(value) is not Tracer and not is_number(value):
        raise ValueError(f"{type(who).__name__}: {setting} is a number from 0, got {value!r}")
