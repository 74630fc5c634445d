"""What happened, epoch by epoch: as data, in a line, as a small table, as curves."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.markup import plural, short, table
from pellucid.train.files.container import CELL, COUNT, MAPPING, MAPPINGS, NUMBER, TEXTS, among, entry, maybe
from pellucid.train.history_plot import plot_histories
from pellucid.train.loop.ending import Ending, described, ending_of_text, restored
from pellucid.whole_files import write_atomically

COUNTS = ("epoch", "step")
"""What tells when, not how well."""

NAMED = 4
"""Quantities in the line."""


@dataclass
class History:
    """One dict for each epoch: epoch (from 1), step, loss, lr, and val_loss and metrics where there are any.

    `loss` is the mean over the epoch's batches while the parameters change, without the penalty, as `val_loss` is.
    A model with a penalty has two more: `penalty`, and `objective`, their sum, which is what is minimised.

    Parameters
    ----------
    epochs : list[dict[str, Any]]
        a dict for each epoch
    ending : Ending | None
        how the run ended; None before that
    modes : dict[str, str]
        "min" or "max" for each quantity: which is better
    converged : bool | None
        did a method that can tell (L-BFGS) find a minimum?
    batch_size : int | None
        rows of a step; None where batches come from outside
    rows : int | None
        rows of the training data; None where batches come from outside
    columns : tuple[str, ...]
        the quantities of an epoch, in order
    looks : dict[str, Any] | None
        what an `inspect.Watch` saw, as plain data
    seconds : float | None
        how long the run took; None before its end

    Examples
    --------
    >>> history = History([{"epoch": 1, "loss": 0.7}, {"epoch": 2, "loss": 0.5}])
    >>> history["loss"], history.best("loss")
    ([0.7, 0.5], {'epoch': 2, 'loss': 0.5})
    >>> History()["loss"]
    []
    """

    epochs: list[dict[str, Any]] = field(default_factory=list)
    ending: Ending | None = None  # of which kind, and why; a text is taken for the reason
    modes: dict[str, str] = field(default_factory=dict)  # is larger ("max") or smaller ("min") better?
    converged: bool | None = None  # did a method that can tell (L-BFGS) find a minimum?
    batch_size: int | None = None
    rows: int | None = None
    columns: tuple[str, ...] = ("epoch", "step", "loss", "lr")  # what an epoch has, also before the first one
    looks: dict[str, Any] | None = None  # what an `inspect.Watch` saw, as plain data; `inspect.looks` reads it
    seconds: float | None = field(default=None, compare=False)  # of another run of the same it is another

    def __post_init__(self) -> None:
        if isinstance(self.ending, str):
            self.ending = ending_of_text(self.ending)

    @property
    def stopped(self) -> str:
        """Why the run ended."""
        return "" if self.ending is None else self.ending.text

    def __len__(self) -> int:
        return len(self.epochs)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.epochs)

    def __getitem__(self, name: str) -> list[Any]:
        """The values of one quantity over the epochs; None for an epoch that has none."""
        names = self._names()
        if name not in names:
            raise KeyError(f"there is no {name!r} in the history: there are {', '.join(sorted(names))}")
        return [row.get(name) for row in self.epochs]

    def _names(self) -> list[str]:
        """The columns, in order: those that the epochs have, or will have."""
        return list(dict.fromkeys(key for row in self.epochs for key in row) if self.epochs else self.columns)

    def best(self, name: str, mode: str = "auto") -> dict[str, Any]:
        """The epoch in which a quantity was best.

        Parameters
        ----------
        name : str
            of the quantity
        mode : str
            smallest ("min") or largest ("max"); "auto" knows the metrics

        Returns
        -------
        dict
            the row of that epoch
        """
        pairs = zip(self.epochs, self[name], strict=True)
        rows = [row for row, value in pairs if value is not None and value == value]  # NaN is never the best
        if not rows:
            raise ValueError(
                f"no epoch of the history has a {name!r} that could be the best: it has {len(self)} epochs"
            )
        mode = self.modes.get(name, "min") if mode == "auto" else mode
        return (min if mode == "min" else max)(rows, key=lambda row: row[name])

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """A line for each epoch.

        Parameters
        ----------
        path : str | PathLike
            of the file
        """
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self._names())
        writer.writeheader()
        writer.writerows(self.epochs)
        write_atomically(path, text.getvalue().encode())

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Everything that happened.

        Parameters
        ----------
        path : str | PathLike
            of the file
        """
        write_atomically(path, (json.dumps(self.described(), indent=1) + "\n").encode())

    def described(self) -> dict[str, Any]:
        """All of it as plain data, for a file."""
        return {
            **described(self.ending),
            "converged": self.converged,
            "batch_size": self.batch_size,
            "rows": self.rows,
            "columns": list(self.columns),
            "modes": self.modes,
            "epochs": self.epochs,
            "seconds": self.seconds,
            **({} if self.looks is None else {"looks": plain(self.looks)}),
        }

    def restored(self, data: Any, path: Any) -> History:
        """The history that `described` described; what a file of an older version lacks is as it is here.

        Parameters
        ----------
        data : dict
            what `described` gave
        path
            of the file, for errors

        Returns
        -------
        History
            a new one
        """
        modes = entry(data, "modes", MAPPING, path, default={})
        return replace(
            self,
            epochs=epochs_of(data, "epochs", path),
            ending=restored(data, path),
            converged=entry(data, "converged", among(None, True, False), path, default=None),
            batch_size=entry(data, "batch_size", maybe(COUNT), path, default=None),
            rows=entry(data, "rows", maybe(COUNT), path, default=None),
            columns=tuple(entry(data, "columns", TEXTS, path, default=list(self.columns))),
            seconds=entry(data, "seconds", maybe(NUMBER), path, default=None),
            looks=entry(data, "looks", maybe(MAPPING), path, default=None),
            modes=self.modes | {name: entry(modes, name, among("min", "max", "?"), path) for name in modes},
        )

    def plot(self, names: Sequence[str] = ("loss", "val_loss"), *, best: str | None = None, ax: Any = None) -> Any:
        """Curves over the epochs, each named at its end.

        Quantities that the history does not have are left out. Several runs may share the axes.

        Parameters
        ----------
        names : Sequence[str]
            of the quantities
        best : str | None
            marks the epoch where that quantity was best
        ax : matplotlib axes
            to draw on; None makes new ones

        Returns
        -------
        matplotlib axes
            those drawn on
        """
        return plot_histories([self], names, best=best, ax=ax)

    def __repr__(self) -> str:
        """Epochs, what was measured at the beginning and at the end, and why it ended."""
        measured = {name: values for name, values in quantities(self.epochs).items() if name != "lr"}
        parts = [f"{name} {short(values[0])} → {short(values[-1])}" for name, values in list(measured.items())[:NAMED]]
        if len(measured) > NAMED:
            parts.append(f"{len(measured) - NAMED} more")
        about = f"{plural(len(self), 'epoch')}: {', '.join(parts)}" if len(self) else "no epochs"
        ending = self.stopped if len(self.stopped) <= 100 else f"{self.stopped[:100]}..."
        return f"History({about}{f'; {ending}' if ending else ''})"

    def _repr_html_(self) -> str:
        """A row for each quantity: the first epoch, the last one, the best one."""
        rows = []
        for name, values in quantities(self.epochs).items():
            best, mode = "", self.modes.get(name, "min" if "loss" in name else "")
            if name != "lr" and mode in ("min", "max") and not all(map(math.isnan, values)):
                row = self.best(name)
                best = f"{short(row[name])} (epoch {row['epoch']})"
            rows.append([name, short(values[0]), short(values[-1]), best])
        caption = f"{plural(len(self), 'epoch')}{f': {self.stopped}' if self.stopped else ''}"
        return table(rows, ["", "first", "last", "best"], caption=caption, numbers=(1, 2, 3))


def quantities(epochs: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """The values of everything measured, in the epochs in which it was."""
    names = dict.fromkeys(name for row in epochs for name in row if name not in COUNTS)
    values = {name: [row[name] for row in epochs if isinstance(row.get(name), int | float)] for name in names}
    return {name: numbers for name, numbers in values.items() if numbers}


def last_of(epochs: Sequence[Mapping[str, Any]]) -> str:
    """How it was at the end: the loss on validation rows, or else on training rows.

    >>> last_of([{"epoch": 1, "loss": 0.7, "val_loss": 0.8}])
    'val_loss 0.8'
    """
    measured = quantities(epochs)
    name = next((n for n in ("val_loss", "loss") if n in measured), next(iter(measured), ""))
    return f"{name} {short(measured[name][-1])}" if name else ""


def plain(value: Any) -> Any:
    """Arrays and numbers of NumPy as lists and numbers of Python, also inside lists and dicts."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def epochs_of(data: Any, name: str, path: Any) -> list[dict[str, Any]]:
    """The epochs in the data of a file: plain numbers by name."""
    rows: list[dict[str, Any]] = entry(data, name, MAPPINGS, path)
    for row in rows:
        for key in row:
            entry(row, key, CELL, f"{path}: {name}")
    return rows
