"""What happened, epoch by epoch, as data."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.train import history_views
from pellucid.train.files.atomic import write_atomically
from pellucid.train.files.entries import CELL, COUNT, MAPPING, MAPPINGS, TEXTS, among, entry, maybe
from pellucid.train.loop.ending import Ending, described, ending_of_text, restored


@dataclass
class History:
    """One dict for each epoch: epoch (from 1), step, loss, lr, and val_loss and metrics where there are any.

    `loss` is the mean over the epoch's batches while the parameters change, without the penalty, as `val_loss` is. A
    model with a penalty has two more: `penalty`, and `objective`, their sum, which is what is minimised. `batch_size`
    and `rows` are those of the training data; None where batches come from outside.

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
        """The epoch in which a quantity was best: smallest ("min") or largest ("max"); "auto" knows the metrics."""
        values = [value for value in self[name] if value is not None and value == value]  # NaN is never the best
        if not values:
            raise ValueError(
                f"no epoch of the history has a {name!r} that could be the best: it has {len(self)} epochs"
            )
        mode = self.modes.get(name, "min") if mode == "auto" else mode
        best = (min if mode == "min" else max)(values)
        return next(row for row in self.epochs if row.get(name) == best)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """A line for each epoch."""
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, self._names())
        writer.writeheader()
        writer.writerows(self.epochs)
        write_atomically(path, text.getvalue().encode())

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Everything that happened."""
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
            **({} if self.looks is None else {"looks": plain(self.looks)}),
        }

    def with_epochs(self, epochs: list[dict[str, Any]]) -> History:
        """The same with these epochs."""
        return replace(self, epochs=epochs)

    def restored(self, data: Any, path: Any) -> History:
        """The history that `described` described; what a file of an older version lacks is as it is here."""
        modes = entry(data, "modes", MAPPING, path, default={})
        return replace(
            self,
            epochs=epochs_of(data, "epochs", path),
            ending=restored(data, path),
            converged=entry(data, "converged", among(None, True, False), path, default=None),
            batch_size=entry(data, "batch_size", maybe(COUNT), path, default=None),
            rows=entry(data, "rows", maybe(COUNT), path, default=None),
            columns=tuple(entry(data, "columns", TEXTS, path, default=list(self.columns))),
            looks=entry(data, "looks", maybe(MAPPING), path, default=None),
            modes=self.modes | {name: entry(modes, name, among("min", "max", "?"), path) for name in modes},
        )

    def plot(self, names: Sequence[str] = ("loss", "val_loss"), *, best: str | None = None, ax: Any = None) -> Any:
        """Curves over the epochs, each named at its end; `best` marks the epoch where that quantity was best.

        Quantities that the history does not have are left out. Returns the axes; several runs may share them.
        """
        return history_views.plot(self, names, best, ax)

    def __repr__(self) -> str:
        return history_views.line(self)

    def _repr_html_(self) -> str:
        return history_views.html(self)


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
