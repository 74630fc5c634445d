"""What happened, epoch by epoch, as data."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from pellucid.figures import COLOURS, GREY, INK, Mark, annotate, axes, end_of


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
        if not self.epochs:
            raise ValueError("the history has no epochs to draw yet: call fit first")
        ax = axes(ax)
        epochs = [row["epoch"] for row in self.epochs]
        drawn = [name for name in names if any(name in row for row in self.epochs)]
        ends, marks = [], []
        for name, colour in zip(drawn, cycle(COLOURS), strict=False):
            values = [math.nan if value is None else value for value in self[name]]
            ax.plot(epochs, values, color=colour, lw=2, marker="o" if len(epochs) == 1 else None)
            ends.append(end_of(epochs, values, name, colour))
        if best is not None:
            row = self.best(best)
            if best in drawn:
                ax.plot([row["epoch"]], [row[best]], "o", color=INK, zorder=3)
            marks.append(Mark(row["epoch"], f"best {best}\n{row[best]:.4g}, epoch {row['epoch']}", INK))
        if self.stopped and not self.stopped.startswith("all "):
            marks.append(Mark(epochs[-1], "stopped", GREY, ":"))
        ax.set(xlabel="epoch", ylabel="loss" if all("loss" in name for name in drawn) else "")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.margins(x=0)
        annotate(ax, ends, marks, weight="bold")
        return ax
