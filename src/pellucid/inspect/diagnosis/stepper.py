"""Many small steps quickly, without compiling: the recorded graph of a step as a flat list of calls.

The NumPy executor checks and resolves everything at every call; a trial makes the same call a hundred times on batches
of one size, so that is done once here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.data.rows import Rows
from pellucid.graph.core.dims import Dim, resolve
from pellucid.graph.core.tree import flatten, paths, unflatten
from pellucid.graph.graph import Graph
from pellucid.graph.node import Literal
from pellucid.train import Model
from pellucid.train.loop.step import Snapshot, Trainer, float64s


@dataclass(frozen=True, eq=False)
class Trained:
    """What so many steps made of a model: parameters and statistics to predict with, and whether numbers broke."""

    params: dict[str, Any]
    state: dict[str, Any]
    diverged: bool


class Calls:
    """A graph for batches of one size: a list of (function, places of its arguments, settings, place of its value)."""

    def __init__(self, graph: Graph, rows: int, wanted: int) -> None:
        sizes = {"n": rows}
        self.inputs = graph.inputs
        named = dict(zip(paths(graph.out_tree), graph.outputs, strict=True))  # dicts may come back in another order
        before = list(paths(graph.in_tree))[: wanted - 1]
        self.outputs = (*(named[path] for path in before), graph.outputs[wanted - 1])
        needed = _needed(graph, self.outputs)
        constants: list[Any] = []
        self.calls: list[tuple[Callable[..., Any], tuple[int, ...], dict[str, Any], int]] = []
        for i, node in enumerate(graph.nodes):
            if node.op is None or i not in needed:
                continue
            places = []
            for a in node.args:
                if isinstance(a, Literal):
                    constants.append(a.value.resolve(sizes) if isinstance(a.value, Dim) else a.value)
                    places.append(len(graph.nodes) + len(constants) - 1)
                else:
                    places.append(a)
            settings = {key: resolve(value, sizes) for key, value in node.settings.items()}
            self.calls.append((node.op.value, tuple(places), settings, i))
        self.dtypes = [node.dtype for node in graph.nodes[: graph.inputs]]
        self.values: list[Any] = [None] * len(graph.nodes) + constants

    def __call__(self, leaves: list[Any]) -> list[Any]:
        values = self.values
        values[: self.inputs] = leaves
        for function, places, settings, place in self.calls:
            values[place] = function(*[values[i] for i in places], **settings)
        return [out.value if isinstance(out, Literal) else values[out] for out in self.outputs]


def _needed(graph: Graph, outputs: tuple[int | Literal, ...]) -> set[int]:
    """The nodes that these outputs are made of."""
    needed: set[int] = set()
    waiting = [out for out in outputs if not isinstance(out, Literal)]
    while waiting:
        place = waiting.pop()
        if place not in needed:
            needed.add(place)
            waiting.extend(graph.nodes[place].parents)
    return needed


def trained(
    model: Model,
    rows: Rows,
    *,
    steps: int,
    batch: int,
    rate: float,
    seed: int = 0,
    halts: Collection[int] = (),
    look: Callable[[Trained], None] | None = None,
) -> Trained:
    """A model after so many steps at this rate, from its parameters on; the model is left as it is.

    Batches have one size; rows that fill none are left out of their epoch. After the steps whose numbers are in `halts`
    somebody may `look`.
    """
    size = max(min(batch, len(rows)), 1)
    per_epoch = max(len(rows) // size, 1)
    optimizer = model.optimizer.fit(steps, per_epoch)
    trainer = Trainer(model.net, model.loss, optimizer, model.penalty, key=seed)
    now = Snapshot(model.params, model.state, optimizer.init(model.params))
    settings = {name: np.float64(s.fit(steps, per_epoch)(0)) for name, s in model.settings.items()}
    numbers = float64s(optimizer.numbers(0) | {"lr": rate})
    first = (rows.X[:size], rows.y[:size])
    graph = trainer.graph_of_step(now, first, numbers, settings)
    state, tree = flatten((now.params, now.state, now.rule))
    calls = Calls(graph, size, len(state) + 1)
    leaves = [np.asarray(leaf, dtype)[()] for leaf, dtype in zip(state, calls.dtypes, strict=False)]
    rest = [np.asarray(leaf)[()] for leaf in flatten((numbers, settings))[0]]
    order = np.arange(len(rows))
    for t in range(steps):
        place = t % per_epoch
        if place == 0:
            order = rows.order(seed, t // per_epoch)
        index = order[place * size : (place + 1) * size]
        *after, objective = calls([*leaves, rows.X[index], rows.y[index], np.int64(t), *rest])
        if not np.isfinite(objective):
            return _read(tree, leaves, optimizer, diverged=True)
        leaves = after
        if look is not None and t + 1 in halts:
            look(_read(tree, leaves, optimizer, diverged=False))
    sound = all(np.isfinite(leaf).all() for leaf in leaves)
    return _read(tree, leaves, optimizer, diverged=not sound)


def _read(tree: Any, leaves: list[Any], optimizer: Any, *, diverged: bool) -> Trained:
    params, state, rule = unflatten(tree, leaves)
    return Trained(optimizer.for_prediction(params, rule), state, diverged)
