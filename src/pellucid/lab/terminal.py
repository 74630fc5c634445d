"""How a result looks in a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from pellucid.lab.experiment import TOPICS, Experiment
from pellucid.lab.outcome import cell
from pellucid.lab.result import Result, lectures_of


def show(result: Result, console: Console | None = None) -> None:
    """Print a result: claim, setting, the lecture's numbers beside ours, verdict, what to notice, what to try."""
    console = console or Console()
    it, outcome = result.experiment, result.outcome
    console.print(Panel(Text(it.claim), title=Text(it.title, "bold"), title_align="left", padding=(0, 1)))
    _pairs(
        console,
        (
            ("lecture", lectures_of(it)),
            ("setting", it.setting),
            ("criterion", it.criterion),
            ("parameters", ", ".join(f"{k}={v!r}" for k, v in result.settings.items()) or "none"),
        ),
    )
    if outcome.compared:
        rows = [beside.cells for beside in outcome.compared]
        console.print(_table("", ("", "lecture", "here"), rows, (1, 2)))
    for table in outcome.tables:
        console.print(_table(table.title, table.head, table.cells, table.numbers))
    mark = ("✓ shown", "bold green") if result.passed else ("✗ not shown", "bold red")
    console.print(Text.assemble(mark, "  ", result.verdict), f"[dim]({result.seconds:.1f} s)[/]")
    for title, lines in (("Notice", it.notice), ("Try next", it.further)):
        console.print(Text(title, "bold"))
        for line in lines:
            console.print(Padding(Text(f"· {line}"), (0, 0, 0, 2)))


def listing(experiments: Iterable[Experiment], console: Console | None = None) -> None:
    """Print all experiments by topic, each with its lectures."""
    console = console or Console()
    topic = ""
    table = RichTable.grid(padding=(0, 2))
    for it in experiments:
        if it.topic != topic:
            topic = it.topic
            table.add_row(Text(f"\n{TOPICS[topic]}" if table.row_count else TOPICS[topic], "bold"))
        table.add_row(Text(f"  {it.name}", "cyan"), Text(it.title), Text(", ".join(it.lectures), "dim"))
    console.print(table)
    console.print("\n[dim]pellucid lab NAME runs one; --full as in the lecture, where that is larger[/]")


def text(result: Result) -> str:
    """The same as plain text."""
    console = Console(file=io.StringIO(), width=100, color_system=None)
    show(result, console)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def _pairs(console: Console, pairs: Sequence[tuple[str, str]]) -> None:
    grid = RichTable.grid(padding=(0, 2))
    for name, words in pairs:
        grid.add_row(Text(name, "dim"), Text(words))
    console.print(Padding(grid, (0, 0, 1, 0)))


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> RichTable:
    table = RichTable(title=title or None, title_justify="left", title_style="bold", header_style="dim")
    for c, name in enumerate(head):
        table.add_column(Text(name), justify="right" if c in numbers else "left")
    for row in rows:
        table.add_row(*(Text(cell(value)) for value in row))
    return table
