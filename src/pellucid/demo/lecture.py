"""The lecture's trace tables, and XOR learned by gradient descent."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.table import Table as RichTable

from pellucid.graph.graph import Graph
from pellucid.graph.record import record
from pellucid.graph.show.notation import text
from pellucid.graph.show.table import Block
from pellucid.lab import xor


def show_lecture(console: Console) -> None:
    """Forward and reverse mode on the lecture's example; then a 2-2-1 network learns XOR."""

    def f(x1: float, x2: float) -> float:
        return np.log(x1) + x1 * x2 - np.sin(x2)  # type: ignore[no-any-return]

    graph = record(f, 2.0, 5.0)
    console.print(Panel.fit("f(x₁, x₂) = ln x₁ + x₁ x₂ − sin x₂   at (2, 5)", title="Automatic differentiation"))
    show_traces(console, graph)
    console.print(Panel.fit("2 inputs, 2 hidden units, 1 output; full-batch gradient descent", title="XOR"))
    show_xor(console)


def show_traces(console: Console, graph: Graph) -> None:
    forward, reverse = graph.table("forward"), graph.table("reverse")
    for block in (*forward.blocks, reverse.blocks[1]):
        console.print(_rich(block, forward.digits))


def _rich(block: Block, digits: int) -> RichTable:
    table = RichTable(title=block.title, title_justify="left", show_header=False)
    for style, justify in (("bold", "left"), ("", "left"), ("dim", "left"), ("cyan", "right")):
        table.add_column(style=style, justify=justify)  # type: ignore[arg-type]
    for name, formula, numbers, value in block.rows(text(digits)):
        table.add_row(name, f"= {formula}", f"= {numbers}" if numbers else "", value)
    return table


def show_xor(console: Console) -> None:
    with console.status("training"):
        result = xor.train_xor()
    losses = result.losses
    console.print(
        f"solved at start {result.chosen + 1}; {result.chosen} before it got stuck: "
        f"loss {losses[0]:.3f} → {losses[-1]:.3f} in {len(losses) - 1} steps"
    )
    table = RichTable("x₁", "x₂", "wanted", "score", "answer")
    for x, wanted, score, answer in zip(xor.X, xor.Y, result.scores, result.predictions, strict=True):
        right = "[green]✓[/]" if answer == wanted else "[red]✗[/]"
        table.add_row(f"{x[0]:.0f}", f"{x[1]:.0f}", f"{wanted:+.0f}", f"{score:+.3f}", f"{answer:+.0f} {right}")
    console.print(table)
