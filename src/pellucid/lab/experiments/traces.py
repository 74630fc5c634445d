"""The lecture's trace tables, forward and reverse, line by line; and its exercise."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
from scipy.special import expit

import pellucid as pel
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.graph_figure import graph_figure

FORWARD = {"v₁": 0.693, "v₂": 10.0, "v₃": -0.959, "v₄": 10.693, "v₅": 11.652, "y": 11.652}
TANGENTS = {"v̇₁": 0.5, "v̇₂": 5.0, "v̇₃": 0.0, "v̇₄": 5.5, "v̇₅": 5.5, "ẏ": 5.5}
ADJOINTS = (
    ("v₅", 1.0), ("v₄", 1.0), ("v₃", -1.0), ("v₁", 1.0), ("v₂", 1.0),
    ("v₀", -0.284), ("v₋₁", 5.0), ("v₀", 1.716), ("v₋₁", 5.5),
)  # fmt: skip
"""From the output to the inputs; the last two lines add a second share."""
EXERCISE = (0.0551238710, -0.1323122296, -0.0520852299)
"""y and both derivatives at (1, 2)."""


def traced(x1: Any, x2: Any) -> Any:
    return np.log(x1) + x1 * x2 - np.sin(x2)


def exercise(x0: Any, x1: Any) -> Any:
    return 1 / (1 + np.exp(x0 * x1 + np.sin(x0)))


@experiment(
    "traces",
    "Forward and reverse traces of ln x₁ + x₁x₂ − sin x₂, line by line",
    lectures=("book", "waterloo"),
    topic="derivatives",
    claim="A function is a graph of elementary steps. At (2, 5) the forward trace of f = ln x₁ + x₁x₂ − sin x₂ gives "
    "11.652 and, with the tangent of x₁ set to 1, the derivative 5.5. The reverse trace starts with 1 at the output "
    "and gives both derivatives at once, 5.5 and 1.716. Could you check that they are right?",
    setting="The function is recorded as a graph, and each line of both tables is compared with the slide. The "
    "lecture's exercise, y = (1 + exp(x₀x₁ + sin x₀))⁻¹, is done at (1, 2) in both modes.",
    criterion="Every line of the tables is the lecture's (to its three digits), in its order, and the derivatives are "
    "1/x₁ + x₂ and x₁ − cos x₂; every step uses earlier ones only; the exercise is the logistic function of −u, and "
    "both modes give its derivatives to 1e-9.",
    notice=(
        "x₂ is used twice, in x₁x₂ and in sin x₂: its adjoint is −0.284 first, and 1.716 when the second share has "
        "been added.",
        "A forward pass gives one derivative, a reverse pass all of them: here that is two passes against one.",
        "Inputs are v₋₁ and v₀, steps v₁, v₂ and so on: as many as there are (a slide says as many as inputs).",
        "Backpropagation is reverse mode, applied to the loss of a network.",
    ),
    further=(
        'lab.run("traces", x1=1.0, x2=0.0)',
        'lab.run("which-mode")',
        'lab.run("speelpenning")',
        'lab.run("four-ways")',
    ),
    knobs={"x1": "where the lecture takes 2", "x2": "where the lecture takes 5"},
)
def traces(x1: float = 2.0, x2: float = 5.0) -> Outcome:
    graph = pel.record(traced, x1, x2)
    forward, reverse = graph.table("forward"), graph.table("reverse")
    values = {row[0]: step.value for row, step in zip(forward.rows[0], forward.blocks[0].steps, strict=True)}
    tangents = {row[0]: step.value for row, step in zip(forward.rows[1], forward.blocks[1].steps, strict=True)}
    adjoints = [(row[0], float(step.value)) for row, step in zip(reverse.rows[1], reverse.blocks[1].steps, strict=True)]
    here = (x1, x2) == (2.0, 5.0)
    beside = [(name, printed, float(values[name])) for name, printed in FORWARD.items()]
    beside += [(f"tangent of {plain(name)}", printed, float(tangents[name])) for name, printed in TANGENTS.items()]
    order = [plain(name) for name, _ in adjoints[::-1]][: len(ADJOINTS)]
    for i, ((name, printed), (_, ours)) in enumerate(zip(ADJOINTS, adjoints[::-1], strict=False)):
        beside.append((f"adjoint of {name}{', both shares' if i > 6 else ''}", printed, ours))
    lines = all(abs(printed - ours) < 5.1e-4 for _, printed, ours in beside) or not here
    lines = lines and order == [name for name, _ in ADJOINTS]

    exact = (1 / x1 + x2, x1 - np.cos(x2))
    both = (pel.grad(traced, (0, 1))(x1, x2), [pel.jvp(traced, (x1, x2), s)[1] for s in ((1.0, 0.0), (0.0, 1.0))])
    right = all(np.allclose(found, exact, rtol=1e-12) for found in both)
    ordered = all(parent < i for i, node in enumerate(graph.nodes) for parent in node.parents)
    y, pull = pel.vjp(exercise, 1.0, 2.0)
    pushed = [float(pel.jvp(exercise, (1.0, 2.0), s)[1]) for s in ((1.0, 0.0), (0.0, 1.0))]
    solved = np.allclose([y, *pull(1.0)], EXERCISE, atol=1e-9) and np.allclose([y, *pushed], EXERCISE, atol=1e-9)
    logistic = abs(y - expit(-(2.0 + np.sin(1.0)))) < 1e-15
    worked = pel.record(exercise, 1.0, 2.0)
    return Outcome(
        bool(lines and right and ordered and solved and logistic),
        f"f = {values['y']:.9f}, derivatives {both[0][0]:.9f} and {both[0][1]:.9f} in both modes; "
        f"{len(beside) if here else 'no'} numbers of the tables compared; the exercise gives y = {y:.10f} with "
        f"derivatives {pushed[0]:.10f} and {pushed[1]:.10f}.",
        {"value": values["y"], "gradient": both[0], "exercise": (y, *pushed), "forward": forward, "reverse": reverse},
        tuple(Beside(name, f"{printed:.3f}", f"{ours:.3f}") for name, printed, ours in beside) if here else (),
        (
            *(_table(title, rows) for title, rows in _blocks(forward, reverse)),
            Table(
                "The graph: inputs first, each step after what it needs",
                ("node", "what", "parents", "children"),
                [
                    (i, node.op.name if node.op else f"input {node.name}", node.parents, graph.children(i))
                    for i, node in enumerate(graph.nodes)
                ],
            ),
            _table("The exercise at (1, 2), reverse", worked.table("reverse").rows[1]),
        ),
        (
            Picture(
                "graph",
                "The graph of f at the point: each box has a step, its value, and its adjoint (the derivative of the "
                "output by it). Arrows lead from what is needed to what needs it; adjoints flow against them.",
                lambda: graph_figure(graph, "reverse", title="f = ln x₁ + x₁x₂ − sin x₂"),
            ),
        ),
    )


def plain(name: str) -> str:
    """Without the dot or bar above it, which some terminals cannot set."""
    return "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c))


def _blocks(forward: Any, reverse: Any) -> list[tuple[str, Any]]:
    titles = ("Forward primal trace", "Forward tangent trace, by x₁", "Reverse adjoint trace, read upwards")
    return list(zip(titles, (*forward.rows, reverse.rows[1]), strict=True))


def _table(title: str, rows: Any) -> Table:
    return Table(title, ("variable", "formula", "numbers", "value"), rows)
