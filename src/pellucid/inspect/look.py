"""One look at a network: every layer in numbers. And many of them: what a `Watch` gathers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from pellucid.inspect import look_views
from pellucid.inspect.blocks import Block
from pellucid.inspect.statistics import Statistics

DEAD = 1e-3
"""A unit is dead where the slope of its activation is smaller than this for every row."""

Raw = dict[str, Any]
"""The numbers of a look by name: "loss", "hidden1/a", ..."""


@dataclass(frozen=True, eq=False)
class LayerLook:
    """A layer with weights, and what follows it until the next such layer.

    Gradients are None where there are no targets.

    Parameters
    ----------
    name : str
        of the layer
    activation : str | None
        that follows, by name
    units : int
        how many
    z : Statistics
        what goes into its activation
    a : Statistics
        what comes out
    weight : Statistics
        its weights
    unit_mean : array of shape (units,)
        mean activation of each unit
    unit_std : array of shape (units,)
        its deviation over the rows
    rank : float
        effective rank of the activations, (tr C)² / |C|² of their covariances C: 1 if all units say the same, at
        most their number
    copies : tuple[tuple[int, ...], ...]
        groups of units that say the same
    bias : Statistics
        its biases
    dz : Statistics
        the adjoint of z, for one sample (not divided by the number of rows)
    da : Statistics
        the adjoint of a, likewise
    dweight : Statistics
        the gradient of the mean loss by the weights
    dbias : Statistics
        and by the biases
    update : Statistics
        what the next step adds to the weights
    unit_open : array of shape (units,)
        share of rows where the slope of the activation is at least 0.01
    unit_slope : array of shape (units,)
        the largest slope
    norm_shift : float | None
        of a batch normalisation: the difference between the means of the batch and the stored ones, in stored
        deviations
    norm_ratio : float | None
        and the ratio of the deviations
    """

    name: str
    activation: str | None
    units: int
    z: Statistics
    a: Statistics
    weight: Statistics
    unit_mean: Any
    unit_std: Any
    rank: float
    copies: tuple[tuple[int, ...], ...]
    bias: Statistics | None = None
    dz: Statistics | None = None
    da: Statistics | None = None
    dweight: Statistics | None = None
    dbias: Statistics | None = None
    update: Statistics | None = None
    unit_open: Any = None
    unit_slope: Any = None
    norm_shift: float | None = None
    norm_ratio: float | None = None

    @property
    def saturated(self) -> float | None:
        """The share of rows and units where the slope of the activation is below 0.01."""
        return None if self.unit_open is None else float(1.0 - np.mean(self.unit_open))

    @property
    def dead(self) -> tuple[int, ...]:
        """The units through which no gradient passes, whatever the row."""
        if self.unit_slope is None:
            return ()
        return tuple(int(unit) for unit in np.flatnonzero(np.asarray(self.unit_slope) < DEAD))

    @property
    def update_ratio(self) -> float | None:
        """The size of the next step over that of the weights."""
        if self.update is None:
            return None
        return self.update.rms / self.weight.rms if self.weight.rms else float("inf")


STATISTICS = ("z", "a", "weight", "bias", "dz", "da", "dweight", "dbias", "update")


@dataclass(frozen=True, eq=False)
class Look:
    """One look at a network: after how many steps, on how many rows, and what every layer shows. Print it for a table.

    `look["hidden1"]` is the layer of that name.

    Parameters
    ----------
    step : int
        updates made before it
    epoch : int
        in which it was taken
    rows : int
        on how many rows
    layers : tuple[LayerLook, ...]
        one record for each layer with weights
    columns : tuple[str, ...]
        names of the inputs
    column_mean : array of shape (columns,)
        mean of each input on these rows
    column_std : array of shape (columns,)
        its deviation
    column_low : array of shape (columns,)
        its smallest number
    column_high : array of shape (columns,)
        its largest number
    loss : float | None
        the mean loss on these rows
    gradient_norm : float | None
        of all gradients together
    """

    step: int
    epoch: int
    rows: int
    layers: tuple[LayerLook, ...]
    columns: tuple[str, ...]
    column_mean: Any
    column_std: Any
    column_low: Any
    column_high: Any
    loss: float | None = None
    gradient_norm: float | None = None

    def __getitem__(self, name: str) -> LayerLook:
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(f"there is no layer {name!r}: there are {', '.join(layer.name for layer in self.layers)}")

    def __str__(self) -> str:
        return look_views.text(self)

    def __repr__(self) -> str:
        return look_views.line(self)

    def _repr_html_(self) -> str:
        return look_views.html(self)


@dataclass(frozen=True)
class Sight:
    """What does not change from look to look: which layers there are, and what the inputs are called."""

    layers: tuple[tuple[str, str | None, int], ...]  # name, activation, units
    columns: tuple[str, ...]

    @staticmethod
    def of(watched: tuple[Block, ...], columns: Sequence[str]) -> Sight:
        return Sight(tuple((block.name, block.label, block.units) for block in watched), tuple(columns))

    def read(self, raw: Mapping[str, Any], step: int, epoch: int, rows: int) -> Look:
        """The look that these numbers are."""
        names = ("column_mean", "column_std", "column_low", "column_high")
        gradient = raw.get("gradient")
        return Look(
            step,
            epoch,
            rows,
            tuple(self._layer(raw, *layer) for layer in self.layers),
            self.columns,
            loss=float(raw["loss"]) if "loss" in raw else None,
            gradient_norm=None if gradient is None else float(np.sqrt(gradient)),
            **dict(zip(names, np.asarray(raw["columns"]), strict=True)),
        )

    def _layer(self, raw: Mapping[str, Any], name: str, activation: str | None, count: int) -> LayerLook:
        start = f"{name}/"
        numbers = {key[len(start) :]: value for key, value in raw.items() if key.startswith(start)}
        rank, *first = np.asarray(numbers["likeness"]).tolist()
        units = np.asarray(numbers["units"])
        statistics: Any = {key: Statistics.read(numbers[key]) for key in STATISTICS if key in numbers}
        norms: Any = {key: float(numbers[key]) for key in ("norm_shift", "norm_ratio") if key in numbers}
        return LayerLook(
            name,
            activation,
            count,
            unit_mean=units[0],
            unit_std=units[1],
            unit_open=numbers.get("open"),
            unit_slope=numbers.get("slopes"),
            rank=rank,
            copies=_groups(first),
            **statistics,
            **norms,
        )


def _groups(first: list[float]) -> tuple[tuple[int, ...], ...]:
    """Groups of units that are copies of each other."""
    members: dict[int, list[int]] = {}
    for unit, earlier in enumerate(first):
        members.setdefault(int(earlier), []).append(unit)
    return tuple(tuple(group) for group in members.values() if len(group) > 1)


class Looks(Sequence[Look]):
    """Looks at one network over a training, in their order; kept as arrays, read when they are asked for.

    Parameters
    ----------
    sight : Sight | None
        what is looked at, and how it is laid out
    """

    def __init__(self, sight: Sight | None = None) -> None:
        self.sight = sight or Sight((), ())
        self.places: list[tuple[int, int, int]] = []  # step, epoch, rows
        self.raws: list[Raw] = []

    def add(self, raw: Raw, step: int, epoch: int, rows: int) -> None:
        """One more.

        Parameters
        ----------
        raw : Raw
            numbers as the engine gives them
        step : int
            updates made before it
        epoch : int
            in which it was taken
        rows : int
            on how many rows
        """
        self.places.append((step, epoch, rows))
        self.raws.append(raw)

    def thin(self) -> None:
        """Drop every other look."""
        self.places, self.raws = self.places[::2], self.raws[::2]

    def __len__(self) -> int:
        return len(self.raws)

    @overload
    def __getitem__(self, which: int) -> Look: ...
    @overload
    def __getitem__(self, which: slice) -> list[Look]: ...
    def __getitem__(self, which: int | slice) -> Look | list[Look]:
        if isinstance(which, slice):
            return [self[i] for i in range(*which.indices(len(self)))]
        return self.sight.read(self.raws[which], *self.places[which])

    def __iter__(self) -> Iterator[Look]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        if not self:
            return "<Looks: none yet>"
        names = ", ".join(name for name, _, _ in self.sight.layers)
        return f"<Looks: {len(self)} of {names}; steps {self.places[0][0]} to {self.places[-1][0]}>"

    @property
    def steps(self) -> Any:
        """After how many steps each look was taken.   (looks,)"""
        return np.array([step for step, _, _ in self.places], np.int64)

    def series(self, layer: str, what: str, number: str | None = None) -> Any:
        """One number of one layer over the looks: `series("hidden1", "a", "std")`, `series("hidden1", "saturated")`.

        Parameters
        ----------
        layer : str
            its name
        what : str
            a field of `LayerLook`
        number : str | None
            a field of `Statistics`, where `what` is such

        Returns
        -------
        array of shape (looks,)
            NaN where a look has none
        """
        values = [getattr(look[layer], what) for look in self]
        if number is not None:
            values = [None if value is None else getattr(value, number) for value in values]
        return np.array([np.nan if value is None else value for value in values], np.float64)

    # in files

    def state(self) -> dict[str, Any]:
        """All of it as plain data and arrays, for a file."""
        names = sorted({name for raw in self.raws for name in raw})
        return {
            "layers": [list(layer) for layer in self.sight.layers],
            "columns": list(self.sight.columns),
            "places": np.array(self.places, np.int64).reshape(-1, 3),
            "values": {name: np.stack([np.asarray(raw[name]) for raw in self.raws]) for name in names},
        }

    @staticmethod
    def restored(state: Mapping[str, Any]) -> Looks:
        """What `state` described.

        Parameters
        ----------
        state : Mapping[str, Any]
            what `state` gave
        """
        layers = tuple(
            (str(name), label if label is None else str(label), int(n)) for name, label, n in state["layers"]
        )
        looks = Looks(Sight(layers, tuple(map(str, state["columns"]))))
        for i, place in enumerate(np.asarray(state["places"]).tolist()):
            looks.add({name: np.asarray(values[i]) for name, values in state["values"].items()}, *place)
        return looks
