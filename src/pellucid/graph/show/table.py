"""The trace tables of the lectures, as text, Markdown and HTML."""

from __future__ import annotations

import html
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pellucid.graph.show.expression import Call, Expression, Symbol, substitute
from pellucid.graph.show.notation import Notation, html_notation, latex, text
from pellucid.graph.show.trace import Step, Trace
from pellucid.markup import plural

if TYPE_CHECKING:
    from pellucid.graph.graph import Graph


@dataclass(frozen=True, eq=False)
class Block:
    """One trace: a title and its lines in the order they are read."""

    title: str
    steps: tuple[Step, ...]
    values: dict[Symbol, Any]  # what stands for each variable in the column of numbers

    def rows(self, write: Notation) -> list[list[str]]:
        """Each line as [variable, formula, formula with numbers, value]."""
        out = []
        for step in self.steps:
            formula = self._first(step, write)
            second = write.write(self._numbers(step.formula))
            value = write.number(step.value)
            out.append([write.symbol(step.target), formula, "" if second in (formula, value) else second, value])
        return out

    def _first(self, step: Step, write: Notation) -> str:
        if step.chain is None:
            return write.write(step.formula)
        if isinstance(step.chain, Call) and step.chain.op == "add":
            bar, chain = step.chain.args
            return f"{write.write(bar)} + {_chain(chain, write)}"
        return _chain(step.chain, write)

    def _numbers(self, e: Expression) -> Expression:
        return substitute(e, self.values.get)


def _chain(e: Expression, write: Notation) -> str:
    assert isinstance(e, Call)
    return " ".join(write.write(a) for a in e.args)


@dataclass(frozen=True, eq=False)
class TraceTable:
    """A trace table. Print it, or take `.markdown()` or `.html()`; notebooks show the HTML."""

    blocks: tuple[Block, ...]
    digits: int = 3

    @property
    def rows(self) -> list[list[list[str]]]:
        """For each block its rows of text: [variable, formula, numbers, value]."""
        return [block.rows(text(self.digits)) for block in self.blocks]

    def __str__(self) -> str:
        parts = []
        for block, rows in zip(self.blocks, self.rows, strict=True):
            widths = [max((_width(row[c]) for row in rows), default=0) for c in range(4)]
            lines = [block.title, "─" * max(_width(block.title), sum(widths) + 9)]
            for name, formula, numbers, value in rows:
                equals = "=" if numbers else " "
                cells = [_pad(name, widths[0]), "=", _pad(formula, widths[1])]
                if widths[2]:
                    cells += [equals, _pad(numbers, widths[2])]
                lines.append(" ".join([*cells, "=", value]).rstrip())
            parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        parts = "; ".join(f"{block.title}, {plural(len(block.steps), 'line')}" for block in self.blocks)
        return f"<TraceTable: {parts}; print it to read it>"

    def markdown(self) -> str:
        """Tables with LaTeX formulas between dollar signs."""
        parts = []
        for block in self.blocks:
            lines = [
                f"**{block.title}**",
                "",
                "| variable | formula | numbers | value |",
                "| :-- | :-- | :-- | --: |",
            ]
            for row in block.rows(latex(self.digits)):
                cells = [f"${cell}$" if cell else "" for cell in row]
                lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
            parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def html(self) -> str:
        """One HTML table for each trace, without styles of its own beyond alignment."""
        parts = []
        for block in self.blocks:
            lines = [
                f"<table class='pellucid-trace'><caption>{html.escape(block.title)}</caption>",
                "<tbody>",
            ]
            for name, formula, numbers, value in block.rows(html_notation(self.digits)):
                middle = f"= {numbers}" if numbers else ""
                lines.append(
                    f"<tr><td>{name}</td><td style='text-align:left'>= {formula}</td>"
                    f"<td style='text-align:left'>{middle}</td><td style='text-align:left'>= {value}</td></tr>"
                )
            parts.append("\n".join([*lines, "</tbody></table>"]))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return self.html()


def trace_table(graph: Graph, mode: str, *, seed: Any, output: int, digits: int) -> TraceTable:
    trace = Trace(graph, mode, seed, output)
    values: dict[Symbol, Any] = {}
    for step in trace.primal:
        values[step.target] = step.value
        if isinstance(step.formula, Symbol):
            values[step.formula] = step.value
    primal = Block("Forward primal trace", (*trace.primal, *trace.results), values)
    blocks = [primal]
    if mode == "forward":
        tangents = dict(values)
        for step in trace.derivative:
            tangents[step.target] = step.value
            if isinstance(step.formula, Symbol):
                tangents[step.formula] = step.value
        dots = [
            Step(trace.dot(r.target), trace.dot(r.formula), tangents[trace.dot(r.formula)])
            for r in trace.results
            if isinstance(r.formula, Symbol)
        ]
        blocks.append(Block("Forward tangent (derivative) trace", (*trace.derivative, *dots), tangents))
    if mode == "reverse":
        # as in the lectures: beside the primal trace, to be read from the bottom up
        steps = list(trace.derivative)
        inputs, walk = steps[len(steps) - graph.inputs :], steps[: len(steps) - graph.inputs]
        blocks.append(Block("Reverse adjoint (derivative) trace, read upwards", (*inputs, *reversed(walk)), {}))
    trace.close()
    return TraceTable(tuple(blocks), digits)


def _width(s: str) -> int:
    return sum(not unicodedata.combining(c) for c in s)


def _pad(s: str, width: int) -> str:
    return s + " " * (width - _width(s))
