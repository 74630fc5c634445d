"""A drawing as text for tools that lay it out themselves: Graphviz and Mermaid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pellucid.graph.show.drawing import COLOURS, Box, Drawing


def dot(drawing: Drawing) -> str:
    """The drawing for Graphviz: `dot -Tsvg`.

    >>> x, y = Box(0, ("x",), "input"), Box(1, ("y = ln x",), "output")
    >>> print(dot(Drawing("log", (x, y), ((0, 1),))))
    digraph {
      graph [label="log", labelloc=t, fontname="sans-serif", rankdir=TB]
      node [shape=box, style="rounded,filled", fontname="sans-serif"]
      edge [color="#7b8794"]
      n0 [label="x", fillcolor="#e3f0fb", color="#5b9bd0"]
      n1 [label="y = ln x", fillcolor="#fdeeda", color="#dd9a3c"]
      n0 -> n1
    }
    <BLANKLINE>
    """
    names = _names(drawing)

    def node(box: Box) -> str:
        fill, edge = COLOURS[box.kind]
        label = "\\n".join(_dot_escape(line) for line in box.lines)
        return f'{names[box.key]} [label="{label}", fillcolor="{fill}", color="{edge}"]'

    def opening(number: int, name: str) -> str:
        return f'subgraph cluster_{number} {{ label="{_dot_escape(name)}"; style=rounded; color="#c5cfe2"'

    lines = [
        "digraph {",
        f'  graph [label="{_dot_escape(drawing.title)}", labelloc=t, fontname="sans-serif", rankdir=TB]',
        '  node [shape=box, style="rounded,filled", fontname="sans-serif"]',
        '  edge [color="#7b8794"]',
        *_nested(drawing, node, opening, "}"),
        *(f"  {names[source]} -> {names[target]}" for source, target in drawing.arrows),
        "}",
    ]
    return "\n".join(lines) + "\n"


def mermaid(drawing: Drawing) -> str:
    """The drawing as a Mermaid flowchart, as Markdown renderers (GitHub, Jupyter) understand it.

    >>> x, y = Box(0, ("x",), "input"), Box(1, ("y = ln x",), "output")
    >>> print("\\n".join(mermaid(Drawing("", (x, y), ((0, 1),))).splitlines()[:4]))
    flowchart TD
      n0(["x"]):::input
      n1(["y = ln x"]):::output
      n0 --> n1
    """
    names = _names(drawing)

    def node(box: Box) -> str:
        left, right = ("[", "]") if box.kind == "operation" else ("([", "])")
        label = "<br/>".join(_mermaid_escape(line) for line in box.lines)
        return f'{names[box.key]}{left}"{label or " "}"{right}:::{box.kind}'

    def opening(number: int, name: str) -> str:
        return f'subgraph s{number}["{_mermaid_escape(name)}"]'

    # The front matter is YAML, in which a double-quoted string knows the escapes of JSON.
    title = re.sub(r'["\\]', r"\\\g<0>", " ".join(drawing.title.split()))
    used = {box.kind for box in drawing.boxes}
    lines = [
        *(["---", f'title: "{title}"', "---"] if title else []),
        "flowchart TD",
        *_nested(drawing, node, opening, "end"),
        *(f"  {names[source]} --> {names[target]}" for source, target in drawing.arrows),
        *(
            f"  classDef {kind} fill:{fill},stroke:{edge},color:#1f2933"
            for kind, (fill, edge) in COLOURS.items()
            if kind in used
        ),
    ]
    return "\n".join(lines) + "\n"


def _names(drawing: Drawing) -> dict[int, str]:
    """Identifiers by position: a key may be negative, which neither language allows in a name."""
    return {box.key: f"n{i}" for i, box in enumerate(drawing.boxes)}


def _nested(
    drawing: Drawing, node: Callable[[Box], str], opening: Callable[[int, str], str], closing: str
) -> Iterator[str]:
    """One line per box, indented inside the scopes it belongs to. Every scope is opened once."""
    number = {scope: i for i, scope in enumerate(sorted({s for box in drawing.boxes for s in box.scopes}))}
    path: tuple[str, ...] = ()
    # Sorted by scope, the boxes of a scope and of those within it are neighbours; the sort keeps their order.
    for box in sorted(drawing.boxes, key=lambda box: box.scopes):
        while path != box.scopes[: len(path)]:
            path = path[:-1]
            yield "  " * (1 + len(path)) + closing
        for scope in box.scopes[len(path) :]:
            yield "  " * (1 + len(path)) + opening(number[scope], scope.rpartition("/")[2])
            path = (*path, scope)
        yield "  " * (1 + len(path)) + node(box)
    while path:
        path = path[:-1]
        yield "  " * (1 + len(path)) + closing


def _dot_escape(text: str) -> str:
    """Inside a double-quoted Graphviz string. A backslash is doubled, or \\n and \\G would mean something."""
    return " ".join(text.splitlines()).replace("\\", "\\\\").replace('"', '\\"')


def _mermaid_escape(text: str) -> str:
    """Inside a double-quoted Mermaid label: what Mermaid, Markdown or HTML would read becomes #code;."""
    text = " ".join(text.splitlines())
    return re.sub(r"""["#&<>`*_~\\\[\](){}|;]""", lambda match: f"#{ord(match[0])};", text)
