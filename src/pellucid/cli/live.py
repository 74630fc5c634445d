"""The training as it goes: how far it is, loss, validation, rate, time left, and what is found on the way."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pellucid.cli.curves import spark
from pellucid.train import Callback
from pellucid.train.callbacks.progress import clock, number

if TYPE_CHECKING:
    from pellucid.inspect import Watch
    from pellucid.train import Run

STEPS = 50
"""Steps between two looks at how far an epoch is."""

DEAD = 0.3
"""Share of dead units of a layer from which it is told."""

MOST_NOTES = 6


class LiveTraining(Callback):
    """A display for all networks of a fit; on a screen that is no terminal it only remembers what was found.

    Parameters
    ----------
    console : Console
        where it is drawn
    networks : int
        that will be trained by steps; where a fit begins anew there are more
    watch : Watch | None
        the looks that are searched for dead units
    """

    look_every = STEPS

    def __init__(self, console: Console, networks: int, watch: Watch | None = None, *, silent: bool = False) -> None:
        self.console, self.networks, self.watch = console, max(networks, 1), watch
        self.done, self.share, self.began = 0, 0.0, time.perf_counter()
        self.numbers: dict[str, str] = {}
        self.curve: list[float] = []
        self.head = "preparing the columns"
        self.notes: list[str] = []
        self.again = ""
        self._live: Live | None = None
        self._shown = not silent and console.is_interactive

    def __enter__(self) -> LiveTraining:
        if self._shown:
            self._live = Live(get_renderable=self._render, console=self.console, refresh_per_second=5, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live is not None:
            self._live.stop()

    def note(self, text: str) -> None:
        """Something that was found; once is enough."""
        if text not in self.notes:
            self.notes.append(text)

    # events

    def on_fit_begin(self, run: Run) -> None:
        if self.done >= self.networks:
            self.networks += self.done
            self.again = "the training failed, and begins anew with a lower rate"
        self.share, self.curve, self.numbers = 0.0, [], {}
        self._head(run)

    def on_look(self, run: Run, batch: Any) -> None:
        steps, epochs = run.steps_per_epoch, run.plan.epochs
        if steps and epochs:
            self.share = min((max(run.epoch - 1, 0) + run.batch / steps) / epochs, 1.0)

    def on_epoch_end(self, run: Run) -> None:
        logs = {k: v for k, v in run.logs.items() if k not in ("epoch", "step", "lr", "objective", "penalty")}
        self.numbers = {name: number(value) for name, value in logs.items() if isinstance(value, float)}
        self.numbers["rate"] = f"{run.lr:.3g}"
        held = [value for name, value in logs.items() if name.startswith("val_")]
        self.curve.append(float(held[-1] if held else logs.get("loss", math.nan)))
        self.share = run.epoch / run.plan.epochs if run.plan.epochs else 0.0
        self._head(run)
        self._search(run)

    def on_fit_end(self, run: Run) -> None:
        self.done, self.share = self.done + 1, 0.0

    def _head(self, run: Run) -> None:
        of = f" of {self.networks}" if self.networks > 1 else ""
        self.head = f"network {self.done + 1}{of}, epoch {run.epoch}/{run.plan.epochs}"

    def _search(self, run: Run) -> None:
        """Dead units, in the latest look."""
        if self.watch is None or not len(self.watch.looks):
            return
        for layer in self.watch.looks[-1].layers:
            share = len(layer.dead) / layer.units
            if share >= DEAD:
                self.note(
                    f"{share:.0%} of the units of {layer.name} are dead in epoch {run.epoch}: a lower --rate helps"
                )

    # drawing

    def _render(self) -> RenderableType:
        share = min((self.done + self.share) / self.networks, 1.0)
        passed = time.perf_counter() - self.began
        left = f"{clock(passed / share - passed)} left" if share > 0.02 else clock(passed)
        line = Table.grid(padding=(0, 2), expand=True)
        line.add_column(no_wrap=True)
        line.add_column(ratio=1)
        line.add_column(no_wrap=True, justify="right")
        line.add_row(
            Text(self.head, "bold"), ProgressBar(1.0, share, complete_style="cyan", finished_style="green"), left
        )
        figures = Text("  ").join(
            Text.assemble((f"{name} ", "dim"), (value, "green" if name.startswith("val_") else "cyan"))
            for name, value in self.numbers.items()
        )
        notes = [
            Text.assemble(("! ", "bold yellow"), note)
            for note in [*self.notes[-MOST_NOTES:], *[self.again] * bool(self.again)]
        ]
        curve = (
            Text.assemble(("validation ", "dim"), (spark(self.curve, 40), "green")) if len(self.curve) > 1 else Text()
        )
        return Group(line, figures, curve, *notes)
