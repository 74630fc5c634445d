"""What a person sees of a long training: a bar in a terminal or a notebook, a table of lines elsewhere, or nothing.

The view knows nothing of the training loop: it is told how far things are, and draws.
"""

import math
import time
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Literal

from rich.console import Console, Group, RenderableType
from rich.errors import LiveError
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pellucid.train.callbacks.screens import Cell, in_notebook, progress_html, terminal

Mode = Literal["auto", "bar", "lines", "silent"]
LINES = 20  # as many lines as a person reads
BANDS = 3  # of numbers under the bar, so that a long list of metrics does not fill the terminal
PERIOD = 0.1  # seconds between two looks at the loss inside an epoch


def number(value: float) -> str:
    """Four digits, always as many, so that numbers do not dance.

    >>> [number(value) for value in (0.5, 1.0, 1234.5, 1e-7, float("nan"))]
    ['0.5000', '1.000', '1234', '1.000e-07', 'nan']
    """
    return f"{float(value):#.4g}".removesuffix(".")


def clock(seconds: float) -> str:
    """
    >>> [clock(seconds) for seconds in (4.56, 75, 3675, 200000)]
    ['0:05', '1:15', '1:01:15', '2 d 7:33:20']
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return (f"{days} d " if days else "") + (f"{hour}:{minute:02}" if hours else f"{minute}") + f":{second:02}"


def duration(seconds: float) -> str:
    """
    >>> [duration(seconds) for seconds in (0.0123, 4.56, 59.99, 75)]
    ['0.012 s', '4.6 s', '1:00', '1:15']
    """
    return clock(seconds) if seconds >= 59.95 else f"{seconds:#.2g} s".replace(". ", " ")


def shown(epoch: int, total: int | None) -> bool:
    """Whether an epoch gets a line: all up to 20; about 20 of more; 20 per power of ten if the end is open.

    >>> [epoch for epoch in range(1, 101) if shown(epoch, 100)][:5]
    [1, 5, 10, 15, 20]
    >>> [epoch for epoch in range(1, 1000) if shown(epoch, None)][18:22]
    [19, 20, 30, 40]
    """
    if total is None:
        return epoch % int(10 ** (len(str((epoch - 1) // 2)) - 1)) == 0
    return epoch in (1, total) or epoch % math.ceil(total / LINES) == 0


def columns(names: Iterable[str], width: int) -> list[list[str]]:
    """Names in bands that are no wider than allowed, as heads over numbers; of several, the weighty come first.

    >>> columns(["loss", "accuracy", "val_loss"], width=24)
    [['loss', 'val_loss'], ['accuracy']]
    """
    ordered = list(names)
    if sum(_width(name) + 2 for name in ordered) > width:
        ordered.sort(key=lambda name: (name != "loss", name != "rate", not name.startswith("val")))
    bands: list[list[str]] = [[]]
    for name in ordered:
        if bands[-1] and sum(_width(other) + 2 for other in [*bands[-1], name]) > width:
            bands.append([])
        bands[-1].append(name)
    return bands


def _width(name: str) -> int:
    return min(max(len(name), 9), 30)


def _under_names(names: Iterable[str], numbers: Mapping[str, str]) -> tuple[Text, Text]:
    """Heads, and the numbers below them."""
    head, row = Text(style="dim", no_wrap=True), Text(no_wrap=True)
    for name in names:
        width, value = _width(name), numbers.get(name, "")
        style = "bold red" if value in ("nan", "inf", "-inf") else "green" if name.startswith("val") else "cyan"
        head.append(f"{name[:width]:<{width}}  ")
        row.append(f"{value:<{width}}  ", style)
    return head, row


class ProgressView:
    """Progress of a training with known or open (None) number of epochs and of steps in each.

    `mode` "auto" is a bar in a terminal and in a notebook, and lines elsewhere. Epochs are counted from 1.

    >>> import sys
    >>> view = ProgressView(2, None, mode="lines", console=Console(file=sys.stdout, width=80))
    >>> view.start()
    >>> view.epoch(1, {"loss": 0.5, "val_loss": 0.625}, lr=0.01, seconds=1.5)
    epoch  loss       val_loss   rate       time
      1/2  0.5000     0.6250     0.01       1.5 s
    """

    def __init__(
        self,
        total_epochs: int | None,
        steps_per_epoch: int | None,
        *,
        mode: Mode = "auto",
        console: Console | None = None,
    ) -> None:
        if mode not in ("auto", "bar", "lines", "silent"):
            raise ValueError(f'ProgressView expects mode "auto", "bar", "lines" or "silent", got {mode!r}')
        self.mode: str = mode
        if console is None and mode in ("auto", "bar") and in_notebook():
            self.mode = "notebook"  # rich's own bar would ask for ipywidgets
        self.console = console or terminal()
        if self.mode == "auto":
            self.mode = "bar" if self.console.is_interactive else "lines"
        self.total, self.steps = total_epochs, steps_per_epoch
        self.done = self.step = self._count = 0
        self._numbers: dict[str, str] = {}  # the last known of each name
        self._pending: dict[str, str] | None = None  # those of an epoch that has no line yet
        self._heads: list[str] = []
        self._recent: deque[float] = deque(maxlen=10)  # seconds of the last epochs: the first ones may have compiled
        self._began = self._epoch_began = time.perf_counter()
        self._next = 0.0
        self._live: Live | None = None
        self._cell = Cell()
        self._running = False

    def start(self, done: int = 0) -> None:
        """Begin to show; a resumed run has some epochs done."""
        self.done, self._began = done, time.perf_counter()
        self._epoch_began = self._began
        self._running = True
        self._draw()
        if self.mode == "bar":
            self._live = Live(get_renderable=self._render, console=self.console, refresh_per_second=8)
            try:
                self._live.start()
            except LiveError:  # somebody else's bar is on this terminal already
                self._live, self.mode = None, "lines"

    def batch(self, step_in_epoch: int, loss: float) -> None:
        """After a batch (the first is 1): most calls only look at the clock."""
        now = time.perf_counter()
        if now >= self._next and self.mode in ("bar", "notebook"):
            self._next = now + PERIOD
            self.step = step_in_epoch
            self._numbers = self._numbers | {"loss": number(loss)}
            self._draw()

    def epoch(self, epoch: int, logs: Mapping[str, float], lr: float, seconds: float) -> None:
        """After an epoch: its number, its metrics, the learning rate, and how long it took."""
        if self.mode == "silent":
            return
        numbers = {name: number(value) for name, value in logs.items()} | {"rate": f"{lr:.4g}"}
        self._numbers = self._numbers | numbers  # a new dict: the drawing thread may be reading the old one
        self._recent.append(seconds)
        self.done, self.step, self._count = epoch, 0, self._count + 1
        self._epoch_began = time.perf_counter()
        self._pending = numbers | {"time": duration(seconds)} if self.mode == "lines" else None
        self._draw()
        if shown(epoch, self.total):
            self._line()

    def finish(self, reason: str | None = None) -> None:
        """Stop showing, and say how it ended. Safe to call twice, or without a start."""
        if self.mode == "silent":
            return
        self.step, self._running = 0, False
        if self._live is not None:
            self._live.stop()  # draws a last time
        self._line()
        took = time.perf_counter() - self._began
        each = f", {duration(took / self._count)} each" if self._count > 1 else ""
        text = f"{self._count} epoch{'s' * (self._count != 1)} in {duration(took)}{each}"
        text += f": {reason}" if reason else ""
        self._draw(text)
        if self.mode != "notebook":
            self.console.print(Text(text, style="bold" if self.mode == "bar" else ""))
        self.mode = "silent"

    def _line(self) -> None:
        """The last epoch as a line of a table; names that were not there before bring new heads."""
        if self._pending is None:
            return
        numbers, self._pending = self._pending, None
        of = f"/{self.total}" if self.total else ""
        edge = max(5, 2 * len(of) - 1)
        new = numbers.keys() - set(self._heads)
        self._heads += [name for name in numbers if name in new]
        names, *hidden = columns([name for name in self._heads if name != "time"], self.console.width - edge - 13)
        head, row = _under_names([*names, "time"], numbers)
        if new:
            more = sum(map(len, hidden))
            self.console.print(Text(f"{'epoch':>{edge}}  {head}".rstrip()), soft_wrap=True)
            if more:
                self.console.print(Text(f"{'':>{edge}}  ({more} more have no room here)"), soft_wrap=True)
        self.console.print(Text(f"{f'{self.done}{of}':>{edge}}  {row}".rstrip()), soft_wrap=True)

    def _status(self) -> tuple[str, float | None, str]:
        """Words, the share that is done (None where nobody knows), and the time left or passed."""
        now, fraction = time.perf_counter(), min(self.step / self.steps, 1.0) if self.steps else 0.0
        seconds_left = self._left(now, fraction) if self._running else None
        clocked = clock(now - self._began) if seconds_left is None else f"{clock(seconds_left)} left"
        if self.total:
            head = f"{self.done:>{len(str(self.total))}}/{self.total} epochs"
            return head, min((self.done + fraction) / self.total, 1.0), clocked
        # with an open end the bar fills in every epoch, or only shows that something happens
        share = 1.0 if not self._running else fraction if self.steps else None
        return f"epoch {self.done}", share, clocked

    def _draw(self, ending: str = "") -> None:
        """The notebook's display, where it is one; with an ending for the last time."""
        if self.mode != "notebook":
            return
        head, share, clocked = self._status()
        numbers = ", ".join(f"{name} {value}" for name, value in self._numbers.items())
        text = ending or f"{head.strip()}, {clocked}"
        self._cell.show(
            lambda: progress_html(head, share, clocked, self._numbers, ending),
            f"{text} ({numbers})" if numbers else text,
            last=bool(ending),
        )

    def _render(self) -> RenderableType:
        head, share, clocked = self._status()
        colour = "cyan" if self._running else "yellow"  # ended before its time
        pulse = share is None
        bar = ProgressBar(1.0, share or 0.0, pulse=pulse, complete_style=colour, finished_style="green")
        line = Table.grid(padding=(0, 2), expand=True)
        line.add_column(no_wrap=True)
        line.add_column(ratio=1)
        line.add_column(no_wrap=True, justify="right")
        line.add_row(Text(head, "bold"), bar, clocked)
        bands = columns(self._numbers, self.console.width) if self._numbers else []
        parts = [text for names in bands[:BANDS] for text in _under_names(names, self._numbers)]
        more = sum(map(len, bands[BANDS:]))
        return Group(line, *parts, *([Text(f"and {more} more", "dim")] if more else []))

    def _left(self, now: float, fraction: float) -> float | None:
        """Seconds to the end at the pace of the last epochs; in the first one, at the pace of its batches."""
        if self._recent and self.total:
            pace = sum(self._recent) / len(self._recent)
            return max(pace * (self.total - self.done) - min(now - self._epoch_began, pace), 0.0)
        return (now - self._began) * (self.total - self.done - fraction) / fraction if fraction and self.total else None
