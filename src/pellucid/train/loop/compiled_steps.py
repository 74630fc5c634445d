"""The steps of a run on an engine that compiles: whole epochs without returning to the interpreter.

The parameters live in the engine's memory; a `Snapshot` is made of them when somebody asks. A step whose loss is not
finite is not made. If only the gradient or the new parameters are not finite, that is seen after the step: then the
last snapshot is taken up again and the steps up to that one are repeated (the same bits, for nothing is random).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pellucid.data.rows import Rows
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime.stepper import Roles
from pellucid.errors import PellucidError
from pellucid.graph.core.tree import flatten, paths, unflatten
from pellucid.graph.graph import Graph
from pellucid.interrupts import uninterrupted
from pellucid.train.loop.divergence import locate
from pellucid.train.loop.step import RESULTS, Snapshot, float64s

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

AHEAD = 60_000
"""Row numbers that may be drawn ahead of time."""

LARGE = 8 << 20
"""Bytes of a step from which its parameters become the model's as they lie."""

PERIOD = 0.1
"""Seconds, about, between two looks at the clock and the keyboard."""


@dataclass
class Epoch:
    """An epoch that has been run: its order, the results of its steps, how many were made, and their sums.

    The sums are those that the run keeps, that of the weights last.
    """

    order: Any
    results: Any
    reached: int
    sums: Any


class Stepper(Protocol):
    """A compiled step with its state, bound to an engine's memory."""

    @property
    def bytes(self) -> int:
        """The memory that it holds."""

    def load(self, arrays: Sequence[Any]) -> None:
        """Copy the state in."""

    def read(self) -> list[Any]:
        """A copy of the state."""

    def look(self) -> list[Any]:
        """The state, valid until the next step."""

    def feed(self, data: Sequence[Any]) -> None:
        """The arrays from which batches are gathered."""

    def prepare(self, rows: int) -> None:
        """Make ready for batches of another number of rows."""

    def run(self, orders: Any, first: int, last: int, numbers: Any) -> tuple[Any, int]:
        """Make steps first ... last - 1: their results, and the number of the step that was not made, or `last`."""


class CompiledSteps(ABC):
    """The compiled step of a run, with its state. Subclasses say how a step is bound to memory."""

    engine: str
    threads: int
    stepper: Stepper
    rows: int  # of a whole batch
    chunk: int  # steps between two looks at the clock

    def __init__(self, run: Run) -> None:
        data, start = run.plan.data.example, run.now
        self.epoch, self.begin = run.epoch + (not run.batch), run.step - run.batch  # the first epoch and its first step
        self.skipped = 0  # batches of the epoch that came before those of the source
        self._bind(run, data, min(run.plan.batch_size, len(data)))
        self.feed(data)
        self.means = [RESULTS.index(name) for name in run.means] if len(run.means) > 1 else [0]  # columns of results
        self.tree = flatten(start)[1]
        self.factors: list[tuple[int, float]] = []
        self.fixed: dict[float, dict[str, float]] = {}  # the rule's numbers by the factor, where no others change them
        self.given_away = False
        self.ahead: dict[int, Epoch] = {}  # what has been run but not noted
        self.constant = run.trainer.optimizer.constant and not run.plan.settings
        self.past: dict[int, Snapshot] = {}  # states to which it can go back, by their numbers of steps
        self.load(start, run)
        if not run.step:  # a rule's first state can be made again, so nobody keeps it
            self.past = {0: start._replace(rule={})}

    @abstractmethod
    def _bind(self, run: Run, data: Rows, rows: int) -> None:
        """The stepper for batches of up to so many rows of such data, `threads`, `rows` and `chunk`."""

    @abstractmethod
    def _suits(self, rows: int) -> bool:
        """Can a shorter batch go through the same program?"""

    @abstractmethod
    def _release(self) -> None:
        """The stepper is no longer needed: its memory may serve another run."""

    def feed(self, data: Rows, used: int | None = None) -> None:
        """The rows from which batches are gathered; so many of them are used, or all."""
        self.source, self.weights = data, data.weights
        used = len(data) if used is None else used
        self.count = -(-used // self.rows)
        rest = used % self.rows
        if rest and not self._suits(rest):
            raise CannotCompile(
                f"the last batch of an epoch has {rest} row{'s' if rest > 1 else ''}, which this network treats in "
                "another way than larger ones (batch normalisation): take another batch size"
            )
        self.stepper.feed(data.arrays)
        if rest:
            self.stepper.prepare(rest)

    # the state

    def snapshot(self, run: Run) -> Snapshot:
        """A copy of the state; the one that was made last, where no step was made since."""
        self.catch_up(run)
        state = self.mark(run)
        if state is not None:
            return run.with_rule(state)
        self.past[run.step] = unflatten(self.tree, self.stepper.read())
        needed = {max((s for s in self.past if s <= mark.step), default=run.step) for mark in run.begins} | {run.step}
        self.past = {step: old for step, old in self.past.items() if step in needed}
        return self.past[run.step]

    def mark(self, run: Run) -> Snapshot | None:
        self._check_that_it_runs()
        return self.past.get(run.step)

    def _check_that_it_runs(self) -> None:
        if not self.past:
            raise PellucidError("the run is over: its parameters are in the model")

    def view(self, run: Run) -> Snapshot:
        self._check_that_it_runs()
        self.catch_up(run)
        return unflatten(self.tree, self.stepper.look())  # type: ignore[no-any-return]

    def load(self, state: Snapshot | None, run: Run) -> None:
        """Steps are repeated where there is no snapshot of the state."""
        self.past = {step: old for step, old in self.past.items() if step <= run.step}
        if state is None:
            self._repeat(run)
        else:
            self.stepper.load(flatten(state)[0])
            self.past[run.step] = state

    def last(self, run: Run) -> Snapshot:
        """Large arrays are given away instead of being copied."""
        self.given_away = self.mark(run) is None and self.stepper.bytes > LARGE
        return self.view(run) if self.given_away else self.snapshot(run)

    def close(self) -> None:
        """The memory may serve another run."""
        if not self.given_away:
            self._release()
        self.past = {}
        del self.stepper

    # the steps

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        if run.epoch not in self.ahead and self._nobody_looks(run, listening):
            self._run_ahead(run)
        if run.epoch in self.ahead:
            yield self._note_ahead(run, run.epoch)
            return
        (order,) = self._orders(run, run.epoch, 1)
        while run.batch - self.skipped < self.count:
            first = run.batch - self.skipped
            run.look(lambda: self._batch(run, order))
            last = first + 1 if listening["batch_end"] else min(self.count, first + self.chunk, first + run.until_look)
            if run.plan.steps is not None:
                last = min(last, first + run.plan.steps - run.step)
            words = self._words(run, first, last, run.step - first, run.factor)
            with uninterrupted():
                self._keep_factor(run)
                results, reached = self._run(order[None], first, last, words)
                taken = self._note(run, order, results, first, reached, last)
            yield taken

    def _nobody_looks(self, run: Run, listening: Mapping[str, bool]) -> bool:
        """Is there nothing to do between epochs but to note the loss?"""
        plan, events = run.plan, ("epoch_begin", "look", "batch_end", "epoch_end", "checkpoint")
        limited = plan.steps is not None or plan.max_time is not None or plan.validation is not None
        return not run.batch and not limited and not any(listening[event] for event in events)

    def _run_ahead(self, run: Run) -> None:
        """As many whole epochs at once as there is time for until the next look at the keyboard."""
        count = self.count
        epochs = max(1, min(self.chunk // count, AHEAD // len(self.source), (run.plan.epochs or 1) - run.epoch + 1))
        if count > self.chunk or epochs == 1:
            return
        orders = self._orders(run, run.epoch, epochs)
        words = self._words(run, 0, epochs * count, run.step, run.factor)
        with uninterrupted():
            self._keep_factor(run)
            results, reached = self._run(orders, 0, epochs * count, words)
            parts = results.reshape(epochs, count, -1)
            whole = reached == epochs * count and bool(np.isfinite(results).all())
            sums = self._sums(orders, np.moveaxis(parts[:, :, self.means], 2, 0)) if whole else [None] * epochs
            for e in range(min(epochs, reached // count + 1)):
                self.ahead[run.epoch + e] = Epoch(orders[e], parts[e], min(reached - e * count, count), sums[e])

    def _run(self, orders: Any, first: int, last: int, words: Any) -> tuple[Any, int]:
        """Make steps, as `Stepper.run` does."""
        return self.stepper.run(orders, first, last, words)

    def _sums(self, orders: Any, means: Any) -> list[Any]:
        """Sums of what was measured, times weights, and of the weights, of each epoch, added up as `_note` does.

        means: (kinds, epochs, batches) -> (epochs, kinds + 1)
        """
        different = orders[:1] if self.weights is None else orders
        weights = np.stack([self._weights(order, 0, self.count) for order in different])
        weights = np.broadcast_to(weights, means.shape[1:])
        return np.cumsum([*(means * weights), weights], axis=2)[:, :, -1].T.tolist()  # type: ignore[no-any-return]

    def _keep_factor(self, run: Run) -> None:
        """Remember from which step on the rate has which factor, for a replay."""
        if not self.factors or self.factors[-1][1] != run.factor:
            self.factors.append((run.step, run.factor))

    def _note_ahead(self, run: Run, epoch: int) -> bool:
        """Note an epoch that has been run already."""
        epoch_run = self.ahead.pop(epoch)
        if epoch_run.sums is None or run.weight:
            return self._note(run, epoch_run.order, epoch_run.results, 0, epoch_run.reached, len(epoch_run.results))
        self._tell(run, self.count, epoch_run.sums, epoch_run.results[-1])
        return True

    def catch_up(self, run: Run) -> None:
        """Note the epochs that have been run already (the user pressed Ctrl-C between them)."""
        while self.ahead:
            epoch = min(self.ahead)
            run.begin_epoch(epoch)
            if self._note_ahead(run, epoch):
                run.end_epoch()

    def _note(self, run: Run, order: Any, results: Any, first: int, reached: int, last: int) -> bool:
        """Bring the run up to date; False where a step had to be given up."""
        end = min(reached + 1, last)
        steps = end - first
        if run.plan.on_divergence != "ignore":
            good = np.isfinite(results[first:end]).all(axis=1)
            steps = steps if good.all() else int(np.argmin(good))
        if steps:
            numbers = results[first : first + steps]
            weights = self._weights(order, first, first + steps)
            # one after the other, so that the parts of an epoch do not matter
            summands = np.column_stack([numbers[:, self.means] * weights[:, None], weights])
            sums = np.cumsum([[*run.sums.values(), run.weight], *summands], axis=0)[-1].tolist()
            self._tell(run, steps, sums, numbers[-1])
        if first + steps == last:
            return True
        self.ahead.clear()
        if first + steps < reached:  # seen too late: the state is already beyond
            self._repeat(run)
        batch = self._batch(run, order)
        settings, loss = run.settings(run.step), float(results[first + steps, 0])
        trouble = locate(run.trainer, run.now, batch, run.step, settings, loss)
        run.diverge(trouble, batch)
        return False

    def _batch(self, run: Run, order: Any) -> Rows:
        """The rows of the next step."""
        at = (run.batch - self.skipped) * self.rows
        return self.source.take(order[at : at + self.rows])

    def _tell(self, run: Run, steps: int, sums: list[float], results: Any) -> None:
        """So many steps were made: the sums of the epoch so far (that of the weights last), the last one's results."""
        run.numbers = self._rule_numbers(run, run.step + steps - 1, run.factor)
        loss, objective, gradient_norm = float(results[self.means[0]]), float(results[0]), float(np.sqrt(results[1]))
        run.note(steps, dict(zip(run.means, sums, strict=False)), sums[-1], loss, objective, gradient_norm)

    def _repeat(self, run: Run) -> None:
        """From the last snapshot to where the run stands."""
        step, count = max(self.past), self.count
        self.stepper.load(flatten(run.with_rule(self.past[step]))[0])
        while step < run.step:
            epoch, batch = self.epoch + (step - self.begin) // count, (step - self.begin) % count
            factor = next(f for start, f in reversed(self.factors) if start <= step)
            change = min((start for start, _ in self.factors if start > step), default=run.step)
            last = min(count, batch + min(run.step, change) - step)
            words = self._words(run, batch, last, step - batch, factor)
            self.stepper.run(self._orders(run, epoch, 1), batch, last, words)
            step += last - batch

    def _orders(self, run: Run, first: int, count: int) -> Any:
        """The orders of epochs."""
        seed = run.plan.seed if run.plan.shuffle else None
        return np.stack([self.source.order(seed, epoch - 1) for epoch in range(first, first + count)])

    def _words(self, run: Run, first: int, last: int, offset: int, factor: float) -> Any:
        """Step number, rule's numbers and settings for each step, as 64-bit words."""
        steps = range(offset + first, offset + last)
        times = steps[:1] if self.constant else steps  # one row for all where nothing but the step's number changes
        rows = [[*self._rule_numbers(run, t, factor).values(), *run.settings(t).values()] for t in times]
        words = np.zeros((last, 1 + len(rows[0])), np.int64)
        words[first:, 0] = steps
        words.view(np.float64)[first:, 1:] = rows
        return words

    def _rule_numbers(self, run: Run, t: int, factor: float) -> dict[str, float]:
        if not self.constant:
            return run.rule_numbers(t, factor)
        if factor not in self.fixed:
            self.fixed = {factor: run.rule_numbers(t, factor)}
        return self.fixed[factor]

    def _weights(self, order: Any, first: int, last: int) -> Any:
        """How much each batch counts."""
        if self.weights is None:
            sizes = np.full(last - first, float(self.rows))
            if last * self.rows > len(order):
                sizes[-1] = len(order) - (last - 1) * self.rows
            return sizes
        each = [self.weights[order[k * self.rows : (k + 1) * self.rows]] for k in range(first, last)]
        return np.array([float(np.sum(w)) for w in each])


def graph_of(run: Run, data: Rows) -> Graph:
    """The graph of a step of this run on batches of such data."""
    return run.trainer.graph_of_step(run.now, data.arrays, float64s(run.rule_numbers(run.step)), run.settings(run.step))


def roles(graph: Graph, check: bool = True, checked: bool = False) -> Roles:
    """Who is who in `Trainer.whole`: (now, batch, t, numbers, settings) -> (now, *RESULTS)."""
    names_in, names_out = paths(graph.in_tree), paths(graph.out_tree)
    place = {name: i for i, name in enumerate(names_in)}
    parts = (("[0]",), ("[1]",), ("[2]", "[3]", "[4]"))
    state, batch, numbers = ([i for name, i in place.items() if name.startswith(part)] for part in parts)
    updates = {o: place[name] for o, name in enumerate(names_out) if name.startswith("[0]")}
    results = [o for o, name in enumerate(names_out) if not name.startswith("[0]")]
    return Roles(state, batch, numbers, updates, results, results[:1] if check else [], checked)
