"""What happened, epoch by epoch, as data."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pellucid.train.atomic import write_atomically


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
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, names)
        writer.writeheader()
        writer.writerows(self.epochs)
        write_atomically(path, text.getvalue().encode())

    def to_json(self, path: str | os.PathLike[str]) -> None:
        text = json.dumps({"stopped": self.stopped, "epochs": self.epochs}, indent=1) + "\n"
        write_atomically(path, text.encode())

    def plot(self, names: Sequence[str] = ("loss", "val_loss"), *, best: str | None = None, ax: Any = None) -> Any:
        """Curves over the epochs, each named at its end; `best` marks the epoch where that quantity was lowest."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'pellucid[plot]'") from error
        ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")[1] if ax is None else ax
        epochs = [row["epoch"] for row in self.epochs]
        for name, colour in zip((n for n in names if n in self.epochs[0]), _COLOURS, strict=False):
            ax.plot(epochs, self[name], color=colour, lw=2)
            ax.annotate(f" {name}", (epochs[-1], self[name][-1]), color=colour, va="center", fontweight="bold")
        if best is not None:
            row = self.best(best)
            ax.axvline(row["epoch"], color="0.5", lw=1, ls="--")
            ax.plot([row["epoch"]], [row[best]], "o", color="0.25", zorder=3)
            text = f" best {best}\n {row[best]:.4g}, epoch {row['epoch']}"
            ax.annotate(
                text, (row["epoch"], 0.97), xycoords=("data", "axes fraction"), va="top", color="0.3", fontsize=9
            )
        if self.stopped and not self.stopped.startswith("all "):
            ax.axvline(epochs[-1], color="0.5", lw=1, ls=":")
            ax.annotate(
                "stopped ", (epochs[-1], 0.97), xycoords=("data", "axes fraction"), va="top", ha="right", color="0.5"
            )
        ax.set(xlabel="epoch", ylabel="loss", xlim=(epochs[0], epochs[-1] + 0.16 * (epochs[-1] - epochs[0] + 1)))
        ax.grid(color="0.92", lw=0.8)
        ax.spines[["top", "right"]].set_visible(False)
        return ax


_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
