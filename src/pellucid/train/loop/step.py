"""One training step as a pure function, recorded once with the batch size left open.

(parameters, statistics, rule state, batch, step number, settings) -> (new parameters, ..., what was measured)

What is minimised is the objective: the mean loss of the batch, plus the penalty where the model has one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pellucid.autodiff import value_and_grad
from pellucid.data.rows import Rows
from pellucid.engine import engine_named
from pellucid.graph.core.dims import Dim
from pellucid.graph.core.spec import Spec
from pellucid.graph.core.tree import flatten, paths, tree_map
from pellucid.graph.graph import Graph
from pellucid.graph.passes import short_products
from pellucid.graph.primitives.sparse import SparseMatrix
from pellucid.graph.record import record
from pellucid.nn.layers.layer import Layer
from pellucid.nn.losses.loss import Loss
from pellucid.nn.penalties import PerRow
from pellucid.optim import Optimizer
from pellucid.train.shared_graphs import is_ours, shared_graph

Arrays = dict[str, Any]
RESULTS = ("objective", "size", "total", "loss", "penalty")
"""What `Trainer.whole` gives behind the new state, in order; the last two where there is a penalty."""


GRADIENT = {"step": ("[1]", "[2]"), "gradient": ("",), "update": ()}
"""By graph: where paths of those outputs begin that need the network and its gradient, but nothing of the rule."""


class Snapshot(NamedTuple):
    """Everything that a step changes."""

    params: Arrays
    state: Arrays
    rule: Arrays


class Mark(NamedTuple):
    """A place in a run to which it can go back. Without a snapshot the steps find the state again."""

    epoch: int
    step: int
    batch: int
    now: Snapshot | None


@dataclass(frozen=True)
class Measured:
    """The numbers of a step: the objective, the norm of the gradient, the sum of the new parameters, the parts of the
    objective.

    The sum is finite where all parameters are, so nobody else need look at them. `parts` has "loss" and "penalty" where
    there is a penalty; else the objective is the loss.
    """

    objective: float
    gradient_norm: float
    parameter_sum: float
    parts: dict[str, float]

    @property
    def finite(self) -> bool:
        return all(map(math.isfinite, (self.objective, self.gradient_norm, self.parameter_sum)))

    @property
    def means(self) -> dict[str, float]:
        """What an epoch has the mean of, by its name in the history."""
        return {"loss": self.objective, **self.parts, **({"objective": self.objective} if self.parts else {})}


def mean_names(penalty: Any) -> tuple[str, ...]:
    """The names of `Measured.means` for a model with this penalty, or None."""
    return ("loss",) if penalty is None else ("loss", "penalty", "objective")


@dataclass
class Trainer:
    """The graphs of one training task; made when they are first needed."""

    net: Layer
    loss: Loss
    optimizer: Optimizer
    penalty: Any = None
    key: int = 0
    engine: str = "numpy"
    precision: str = "full"
    graphs: dict[Any, Graph] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        """Is everything in it defined in this package (no function of the user's that may change its mind)?"""
        return is_ours((self.net, self.loss, self.optimizer, self.penalty))

    # the mathematics, in plain NumPy

    def cost(
        self,
        now: tuple[Arrays, Arrays],
        batch: tuple[Any, ...],
        t: Any,
        settings: Mapping[str, Any],
        taps: Arrays | None = None,
        probes: Arrays | None = None,
    ) -> Any:
        """objective, (new statistics, parts). The parts, loss and penalty, where there is a penalty.

        `taps` is filled with what flows by, `probes` are added to it (see `nn.layers.context`).
        """
        params, state = now
        X, y, *weights = batch
        loss = self.loss.with_(**{k[5:]: v for k, v in settings.items() if k.startswith("loss.")})
        scores, after = self.net.apply(
            params, X, state, training=True, key=self.key, counter=t, settings=settings, taps=taps, probes=probes
        )
        value = loss(scores, y, *weights)
        penalty = self.penalty
        if penalty is None:
            return value, (after, {})
        if isinstance(penalty, PerRow):
            penalty = penalty.for_rows(np.sum(weights[0]) if weights else X.shape[0])
        extra = penalty(params)
        counts = np.dtype(getattr(extra, "dtype", type(extra))).kind != "f"  # a penalty may count; results are floats
        shown = extra + np.zeros((), value.dtype) if counts else extra
        return value + extra, (after, {"loss": value, "penalty": shown})

    def gradient(self, now: tuple[Arrays, Arrays], batch: tuple[Any, ...], t: Any, settings: Mapping[str, Any]) -> Any:
        """(objective, (new statistics, parts)), gradient."""
        params, state = now
        return value_and_grad(lambda p: self.cost((p, state), batch, t, settings), has_aux=True, warn=False)(params)

    def finish(self, now: tuple[Arrays, Arrays], grads: Arrays, t: Any, numbers: Arrays) -> Any:
        """From gradients to (new parameters, rule state), the squared norm of gradients, the sum of new parameters."""
        params, rule = self.optimizer.update(now[0], grads, now[1], t, numbers)
        return (params, rule), squared_norm(grads), total(params)

    def whole(
        self, now: tuple[Arrays, Arrays, Arrays], batch: tuple[Any, ...], t: Any, numbers: Arrays, settings: Arrays
    ) -> Any:
        """One step, from batch to new parameters."""
        params, state, rule = now
        (objective, (after, parts)), grads = self.gradient((params, state), batch, t, settings)
        (params, rule), size, total = self.finish((params, rule), grads, t + 1, numbers)
        return (params, after, rule), objective, size, total, parts

    # the same, recorded and run

    def step(self, now: Snapshot, batch: Rows, t: int, numbers: Arrays, settings: Arrays) -> tuple[Snapshot, Measured]:
        args = (tuple(now), batch.arrays, np.int64(t), numbers, settings)
        new, *numbers_after = engine_named(self.engine)(self._graph("step", self.whole, args), *args)
        return Snapshot(*new), measured(*numbers_after)

    def gradients(self, now: Snapshot, batch: Rows, t: int, settings: Arrays, watch: Any = None) -> Any:
        """(objective, (new statistics, parts)), gradients; `watch` sees every value on the way."""
        args = (now[:2], batch.arrays, np.int64(t), settings)
        graph = self._graph("gradient", self.gradient, args)
        if watch is not None:  # node by node, whatever the engine
            return engine_named("numpy")(graph, *args, watch=watch)
        return engine_named("numpy" if batch.sparse else self.engine)(graph, *args)  # SciPy has the sparse products

    def update(self, now: Snapshot, grads: Arrays, t: int, numbers: Arrays) -> tuple[tuple[Arrays, Arrays], Any, Any]:
        """What `finish` gives for the update after t updates."""
        args = ((now.params, now.rule), grads, np.int64(t + 1), numbers)
        return engine_named(self.engine)(self._graph("update", self.finish, args), *args)  # type: ignore[no-any-return]

    def graph_of_step(self, now: Snapshot, batch: tuple[Any, ...], numbers: Arrays, settings: Arrays) -> Graph:
        """The graph of a whole step, with the number of rows left open."""
        return self._graph("step", self.whole, (tuple(now), batch, np.int64(0), numbers, settings))

    def _graph(self, name: str, f: Any, args: tuple[Any, ...]) -> Graph:
        key = name, flatten(args[1])[1]  # with and without weights, of dense and of sparse rows
        if key not in self.graphs:
            self.graphs[key] = shared(self, name, f, args)
        return self.graphs[key]


def shared(trainer: Trainer, name: str, f: Any, args: tuple[Any, ...]) -> Graph:
    """The graph of a function of a trainer; equal tasks share one."""
    leaves, tree = flatten(args)
    batch = len(flatten(args[1])[0]) if isinstance(args[1], tuple) else 0  # whose number of rows is open
    first = len(flatten(args[0])[0])
    kinds = tuple((np.shape(x)[first <= i < first + batch :], np.asarray(x).dtype) for i, x in enumerate(leaves))
    optimizer = trainer.optimizer.unscheduled() if is_ours(trainer.optimizer) else trainer.optimizer
    parts = (trainer.net, trainer.loss, optimizer, trainer.penalty)

    def recorded() -> Graph:
        graph = record(f, *_specs(args), name=name)
        if trainer.precision == "full":
            return graph
        return short_products(
            graph, [o for o, path in enumerate(paths(graph.out_tree)) if path.startswith(GRADIENT[name])]
        )

    return shared_graph((name, kinds, tree, trainer.precision), parts, recorded, key=trainer.key)


def measured(objective: Any, size: Any, total: Any, parts: Mapping[str, Any]) -> Measured:
    """The numbers as a step gives them: the norm squared."""
    parts = {name: float(value) for name, value in parts.items()}
    return Measured(float(objective), float(np.sqrt(size)), float(total), parts)


def float64s(numbers: Mapping[str, float]) -> Arrays:
    """Numbers as a step takes them."""
    return {name: np.float64(number) for name, number in numbers.items()}


def squared_norm(arrays: Arrays) -> Any:
    """The sum of all squares, in float64."""
    return sum((np.sum(np.square(array.astype(np.float64))) for array in arrays.values()), 0.0)


def total(arrays: Arrays) -> Any:
    """The sum of all numbers, in float64 from the sums of the arrays on."""
    return sum((np.sum(array).astype(np.float64) for array in arrays.values()), 0.0)


def _specs(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Shapes of the arguments; those of a batch (a tuple in second place) with the number of rows left open."""
    now, batch, *others = (tree_map(array_spec, arg) for arg in args)
    if isinstance(batch, tuple):
        batch = tuple(part.opened() if isinstance(part, SparseMatrix) else _opened(part) for part in batch)
    return now, batch, *others


def _opened(spec: Spec) -> Spec:
    return Spec((Dim.symbol("n"), *spec.shape[1:]), spec.dtype)


def array_spec(value: Any) -> Spec:
    """Shape and dtype; a number has those of an array."""
    return Spec(np.shape(value), np.asarray(value).dtype)
