"""What happened, epoch by epoch, as data."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pellucid.train import history_views


@dataclass
class History:
    """One dict for each epoch: epoch (from 1), step, loss, lr, and val_loss and metrics where there are any.

    `loss` is the mean over the epoch's batches while the parameters change, penalty included; `val_loss` is without it.

    >>> history = History([{"epoch": 1, "loss": 0.7}, {"epoch": 2, "loss": 0.5}])
    >>> history["loss"], history.best("loss")
    ([0.7, 0.5], {'epoch': 2, 'loss': 0.5})
    """

    epochs: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""  # why the run ended
    modes: dict[str, str] = field(default_factory=dict)  # is larger ("max") or smaller ("min") better?
    converged: bool | None = None  # did a method that can tell (L-BFGS) find a minimum?

    def __len__(self) -> int:
        return len(self.epochs)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.epochs)

    def __getitem__(self, name: str) -> list[Any]:
        """The values of one quantity over the epochs."""
        if not self.epochs:
            raise KeyError("the history has no epochs yet")
        if not any(name in row for row in self.epochs):
            known = sorted({key for row in self.epochs for key in row})
            raise KeyError(f"there is no {name!r} in the history: there are {', '.join(known)}")
        return [row.get(name) for row in self.epochs]

    def best(self, name: str, mode: str = "auto") -> dict[str, Any]:
        """The epoch in which a quantity was best: smallest ("min") or largest ("max"); "auto" knows the metrics."""
        self[name]  # an error for what is not there
        mode = self.modes.get(name, "min") if mode == "auto" else mode
        rows = [row for row in self.epochs if row.get(name) is not None]
        return (min if mode == "min" else max)(rows, key=lambda row: row[name])

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        names = list(dict.fromkeys(key for row in self.epochs for key in row))
        with Path(path).open("w", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(self.epochs)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        Path(path).write_text(json.dumps({"stopped": self.stopped, "epochs": self.epochs}, indent=1) + "\n")

    def plot(self, names: Sequence[str] = ("loss", "val_loss"), *, best: str | None = None, ax: Any = None) -> Any:
        """Curves over the epochs, each named at its end; `best` marks the epoch where that quantity was best.

        Quantities that the history does not have are left out. Returns the axes; several runs may share them.
        """
        return history_views.plot(self, names, best, ax)

    def __repr__(self) -> str:
        return history_views.line(self)

    def _repr_html_(self) -> str:
        return history_views.html(self)
