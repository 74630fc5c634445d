"""Many small steps quickly: by the engine where the fit has compiled the same step, else without compiling.

Then the recorded graph of a step is a flat list of calls. The NumPy executor checks and resolves everything at every
call; a trial makes the same call a hundred times on batches of one size, so that is done once here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.data.rows import Rows
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime.work import threads_for
from pellucid.graph.core.dims import Dim, resolve
from pellucid.graph.core.tree import flatten, paths, unflatten
from pellucid.graph.graph import Graph
from pellucid.graph.node import Literal
from pellucid.processors import default_threads
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
    compiled: bool = False,
) -> Trained:
    """A model after so many steps at this rate, from its parameters on; the model is left as it is.

    Batches have one size; rows that fill none are left out of their epoch. After the steps whose numbers are in `halts`
    somebody may `look`. `compiled` says that a fit has compiled such a step.
    """
    size = max(min(batch, len(rows)), 1)
    per_epoch = max(len(rows) // size, 1)
    optimizer = model.optimizer.fit(steps, per_epoch)
    trainer = Trainer(model.net, model.loss, optimizer, model.penalty, key=seed, precision=model.precision)
    now = Snapshot(model.params, model.state, optimizer.init(model.params))
    settings = {name: np.float64(s.fit(steps, per_epoch)(0)) for name, s in model.settings.items()}
    numbers = float64s(optimizer.numbers(0) | {"lr": rate})
    graph = trainer.graph_of_step(now, (rows.X[:size], rows.y[:size]), numbers, settings)
    state, tree = flatten((now.params, now.state, now.rule))
    orders = np.stack([rows.order(seed, epoch)[: size * per_epoch] for epoch in range(-(-steps // per_epoch))])
    given = [np.asarray(leaf)[()] for leaf in flatten((numbers, settings))[0]]
    work: Interpreted | Compiled | None = None
    if compiled:
        with suppress(CannotCompile):  # a machine that cannot do what that of the fit could
            threads = threads_for(graph, {"n": size}, model.threads or default_threads())
            work = Compiled(graph, state, rows, orders, size, given, threads=threads, checked=trainer.ours)
    work = work or Interpreted(graph, state, rows, orders, size, given)
    step, sound = 0, True
    for halt in sorted({*halts, steps} - {0}):
        sound = work.advance(step, halt) == halt
        if not sound:
            break
        step = halt
        if look is not None and halt in halts:
            look(_read(tree, work.state(), optimizer, diverged=False))
    leaves = work.state()
    work.close()
    return _read(tree, leaves, optimizer, diverged=not (sound and all(np.isfinite(leaf).all() for leaf in leaves)))


class Interpreted:
    """Steps one after the other, by NumPy."""

    def __init__(self, graph: Graph, state: list[Any], rows: Rows, orders: Any, size: int, given: list[Any]) -> None:
        self.calls = Calls(graph, size, len(state) + 1)
        self.rows, self.batches, self.given = rows, orders.reshape(-1, size), given
        self.leaves = [np.asarray(leaf, dtype)[()] for leaf, dtype in zip(state, self.calls.dtypes, strict=False)]

    def advance(self, first: int, last: int) -> int:
        """From one step to another; the first step that was not made."""
        for t in range(first, last):
            index = self.batches[t]
            *after, objective = self.calls(
                [*self.leaves, self.rows.X[index], self.rows.y[index], np.int64(t), *self.given]
            )
            if not np.isfinite(objective):
                return t
            self.leaves = after
        return last

    def state(self) -> list[Any]:
        return self.leaves

    def close(self) -> None:
        """Nothing is held."""


class Compiled:
    """The same by the native engine, on as many threads as the fit: they have kernels of their own."""

    def __init__(
        self,
        graph: Graph,
        state: list[Any],
        rows: Rows,
        orders: Any,
        size: int,
        given: list[Any],
        *,
        threads: int,
        checked: bool,
    ) -> None:
        from pellucid.engine.native.runtime.stepper import stepper
        from pellucid.train.loop.compiled_steps import roles

        self.machine = stepper(graph, roles(graph, checked=checked), size, threads)
        self.machine.load(state)
        self.machine.feed((rows.X, rows.y))
        self.orders = orders
        self.words = np.zeros((orders.size // size, 1 + len(given)), np.int64)
        self.words[:, 0] = np.arange(len(self.words))
        self.words.view(np.float64)[:, 1:] = given

    def advance(self, first: int, last: int) -> int:
        return self.machine.run(self.orders, first, last, self.words)[1]

    def state(self) -> list[Any]:
        return self.machine.read()

    def close(self) -> None:
        """The next trial takes the machine up again."""
        from pellucid.engine.native.runtime.stepper import release

        release(self.machine)


def _read(tree: Any, leaves: list[Any], optimizer: Any, *, diverged: bool) -> Trained:
    params, state, rule = unflatten(tree, leaves)
    return Trained(optimizer.for_prediction(params, rule), state, diverged)
