"""Where progress is drawn: a terminal, the cell of a notebook, or neither.

In a notebook one display is made and then written over, by IPython alone: no widgets are needed.
"""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from pellucid.markup import table

PERIOD = 0.2
"""Seconds between two drawings in a notebook: each is a message to the browser, and kept until the next."""


def in_notebook() -> bool:
    """Is this the kernel of a notebook? (IPython in a terminal has a shell, but no kernel.)"""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def terminal(*, stderr: bool = False) -> Console:
    """A console that is interactive on a terminal alone: neither where colours are forced on, as kernels and build
    servers do, nor in a notebook, where rich would make a display of every line."""
    stream = sys.stderr if stderr else sys.stdout
    is_terminal = bool(stream is not None and stream.isatty())
    return Console(stderr=stderr, force_jupyter=False, force_interactive=None if is_terminal else False)


class Cell:
    """One display of a notebook's cell. `show` draws it, the first time anew, then in its place.

    What changes nothing is left out, and what comes too fast, unless it is the `last`.
    """

    def __init__(self) -> None:
        self.handle: Any = None
        self.drawn: dict[str, str] = {}
        self.next = 0.0
        self.lock = threading.Lock()

    def show(self, markup: Callable[[], str], text: str, *, last: bool = False) -> None:
        """HTML, made where it is needed, and the plain text for where there is none."""
        with self.lock:
            now = time.monotonic()
            if now < self.next and not last:
                return
            self.next = now + PERIOD
            bundle = {"text/html": markup(), "text/plain": text}
            if bundle == self.drawn:
                return
            self.drawn = bundle
            if self.handle is None:
                from IPython.display import display

                self.handle = display(bundle, raw=True, display_id=True)
            else:
                self.handle.update(bundle, raw=True)


def progress_html(
    head: str, share: float | None, aside: str, numbers: Mapping[str, str] | None = None, below: str = ""
) -> str:
    """A bar with words on both sides, numbers under their names, and a last line.

    Without a share the bar shows that something happens, and nobody knows how far it is.

    >>> progress_html("1/2 epochs", 0.5, "0:03 left").count("<progress value='0.5000'")
    1
    """
    value = "" if share is None else f" value='{share:.4f}'"
    bar = f"<progress{value} max='1' style='flex:1;min-width:6em'></progress>"
    line = f"<b>{html.escape(head)}</b>{bar}<span>{html.escape(aside)}</span>"
    top = f"<div style='display:flex;align-items:center;gap:1em;max-width:40em;white-space:nowrap'>{line}</div>"
    middle = table([list(numbers.values())], list(numbers)) if numbers else ""
    return top + middle + (f"<div>{html.escape(below)}</div>" if below else "")


@contextmanager
def bar(what: str, verbose: bool = True) -> Iterator[Callable[[float, str], None]]:
    """A function (share done, words) that draws a bar on the terminal or in the notebook's cell; elsewhere nothing."""
    if verbose and in_notebook():
        cell, latest = Cell(), [(0.0, what)]

        def draw(share: float, words: str, last: bool = False) -> None:
            latest[0] = (share, words)
            cell.show(lambda: progress_html(words, share, ""), words, last=last)

        draw(0.0, what)
        try:
            yield draw
        finally:
            draw(*latest[0], last=True)
        return
    console = terminal(stderr=True)
    if not verbose or not console.is_interactive:
        yield lambda share, words: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda share, words: progress.update(task, description=words, completed=share)
