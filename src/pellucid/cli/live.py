"""The training as it goes: how far it is, loss, validation, rate, time left, and what is found on the way."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pellucid.cli.curves import spark
from pellucid.inspect import Watch
from pellucid.train import Callback
from pellucid.train.callbacks.progress import clock, number

if TYPE_CHECKING:
    from pellucid.train import Run

DEAD = 0.3
"""Share of dead units of a layer from which it is told."""

MOST_NOTES = 6


@dataclass
class OneTraining:
    """What is known of a network that is being trained."""

    place: int
    watch: Watch
    share: float = 0.0
    epoch: str = ""
    numbers: dict[str, str] = field(default_factory=dict)
    curve: list[float] = field(default_factory=list)


class LiveTraining(Callback):
    """A display for all networks of a fit, several at a time; where there is no terminal it only looks and remembers.

    Parameters
    ----------
    console : Console
        where it is drawn
    every : int
        steps from one look at the layers of a network to the next
    silent : bool
        draw nothing
    """

    side_by_side = True

    def __init__(self, console: Console, every: int, *, silent: bool = False) -> None:
        self.console, self.networks, self.every = console, 0, every
        self.look_every = every
        self.done, self.begun, self.began = 0, 0, time.perf_counter()
        self.trainings: dict[int, OneTraining] = {}
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

    def on_networks(self, count: int, *, anew: bool) -> None:
        self.networks += count
        if anew:
            self.again = "the training failed, and begins anew with a lower rate"

    def on_fit_begin(self, run: Run) -> None:
        self.begun += 1
        self.trainings[id(run)] = OneTraining(self.begun, Watch(self.every))

    def on_look(self, run: Run, batch: Any) -> None:
        one = self.trainings[id(run)]
        if run.step % one.watch.look_every == 0:
            one.watch.on_look(run, batch)
        steps, epochs = run.steps_per_epoch, run.plan.epochs
        if steps and epochs:
            one.share = min((max(run.epoch - 1, 0) + run.batch / steps) / epochs, 1.0)

    def on_epoch_end(self, run: Run) -> None:
        one = self.trainings[id(run)]
        logs = {k: v for k, v in run.logs.items() if k not in ("epoch", "step", "lr", "objective", "penalty")}
        numbers = {name: number(value) for name, value in logs.items() if isinstance(value, float)}
        one.numbers = numbers | {"rate": f"{run.lr:.3g}"}
        held = [value for name, value in logs.items() if name.startswith("val_")]
        one.curve = [*one.curve, float(held[-1] if held else logs.get("loss", math.nan))]
        one.share = run.epoch / run.plan.epochs if run.plan.epochs else 0.0
        one.epoch = f"{run.epoch}/{run.plan.epochs}"
        self._search(one, run.epoch)

    def on_fit_end(self, run: Run) -> None:
        self.trainings.pop(id(run)).watch.on_fit_end(run)
        self.done += 1

    def _search(self, one: OneTraining, epoch: int) -> None:
        """Dead units, in the latest look."""
        for layer in one.watch.looks[-1].layers if len(one.watch.looks) else ():
            if len(layer.dead) >= DEAD * layer.units:
                share = len(layer.dead) / layer.units
                self.note(f"{share:.0%} of the units of {layer.name} are dead in epoch {epoch}: a lower --rate helps")

    # drawing

    def _render(self) -> RenderableType:
        running = list(self.trainings.values())  # at once: other threads begin and end trainings
        running.sort(key=lambda one: one.place)
        share = min((self.done + sum(one.share for one in running)) / max(self.networks, 1), 1.0)
        passed = time.perf_counter() - self.began
        left = f"{clock(passed / share - passed)} left" if share > 0.02 else clock(passed)
        places = " and ".join(str(one.place) for one in running[:3])
        of = f" of {self.networks}" if self.networks > 1 else ""
        head = f"network {places}{of}" if running else "testing" if self.done else "preparing the columns"
        line = Table.grid(padding=(0, 2), expand=True)
        line.add_column(no_wrap=True)
        line.add_column(ratio=1)
        line.add_column(no_wrap=True, justify="right")
        bar = ProgressBar(1.0, share, style="bright_black", complete_style="cyan", finished_style="green")
        line.add_row(Text(head, "bold"), bar, left)
        notes = [*self.notes[-MOST_NOTES:], *[self.again] * bool(self.again)]
        return Group(
            "",
            line,
            *(self._figures(running[0]) if running else ()),
            *(Text.assemble(("! ", "bold yellow"), note) for note in notes),
        )

    def _figures(self, one: OneTraining) -> tuple[Text, ...]:
        """Numbers of the first of those that are being trained, and its course."""
        if not one.numbers:
            return ()
        figures = [Text.assemble(("epoch ", "dim"), one.epoch)] + [
            Text.assemble((f"{name} ", "dim"), (value, "green" if name.startswith("val_") else "cyan"))
            for name, value in one.numbers.items()
        ]
        curve = Text.assemble(("validation ", "dim"), (spark(one.curve, 40), "green"))
        return Text("  ").join(figures), *([curve] if len(one.curve) > 1 else [])
