"""Where a command speaks: tables for people, one object of JSON for machines, or nothing."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from pellucid.train.callbacks.screens import terminal
from pellucid.train.history import plain

WIDEST = 120
OUTPUT = "Output"

Json = Annotated[
    bool, typer.Option("--json", help="One JSON object for machines, nothing else.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=OUTPUT)]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.", rich_help_panel=OUTPUT)]


class Screen:
    """What a command says: `say` is for people, `result` for machines that asked for JSON."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False, console: Console | None = None) -> None:
        self.console = terminal() if console is None else console
        self.console.width = min(self.console.width, WIDEST)
        self.as_json, self.silent = as_json, as_json or quiet

    def say(self, *parts: RenderableType, wrap: bool = True) -> None:
        """Print, unless nobody is to hear it. Texts are taken as they are: brackets are no markup."""
        if not self.silent:
            for part in parts:
                shown = Text(part) if isinstance(part, str) else part
                self.console.print(shown, soft_wrap=not wrap, highlight=False)

    def heading(self, words: str, remark: str = "") -> None:
        """A line that begins a part."""
        self.say(Text.assemble("\n", (words, "bold"), (f"  {remark}" if remark else "", "dim")))

    def note(self, words: str, sign: str = "!") -> None:
        """A line that is to be noticed."""
        self.say(Text.assemble((f"{sign} ", "bold yellow"), words))

    def result(self, values: dict[str, Any]) -> None:
        """The outcome, for machines."""
        if self.as_json:
            print(json.dumps(json_ready(values), ensure_ascii=False))


def json_ready(value: Any) -> Any:
    """Plain data, in which what is not finite is null, as JSON has no word for it.

    >>> json_ready({"loss": float("nan"), "rows": (1, 2)})
    {'loss': None, 'rows': [1, 2]}
    """
    value = plain(value)
    if isinstance(value, dict):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_ready(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def grid(*names: str, right: tuple[int, ...] = (), long: int | None = None) -> Table:
    """A table with a line under its head and none around it; the columns in `right` are set flush right.

    Where there is no room, the column `long` is cut (its cells are `line`s), and the others are left alone.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, collapse_padding=True, pad_edge=False)
    for place, name in enumerate(names):
        table.add_column(line(name), justify="right" if place in right else "left", no_wrap=place != long)
    return table


def line(words: str, style: str = "") -> Text:
    """Words on one line: cut with an ellipsis where there is no room."""
    return Text(words, style, no_wrap=True, overflow="ellipsis")
