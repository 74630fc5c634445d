"""The training step on JAX's devices, a whole epoch in one `lax.scan`: state that lives there and is overwritten.

The graph is that of the native engine's stepper: (state ..., batch ..., numbers of the step ...) -> (new state ...,
results ...). Batches are gathered on the device, buffers of the old state are given to the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from pellucid.engine.jax.evaluate import evaluate
from pellucid.engine.jax.library import exact
from pellucid.engine.jax.placement import Placement
from pellucid.engine.jax.processes import together
from pellucid.engine.native.runtime.stepper import Roles
from pellucid.errors import ShapeError
from pellucid.graph.core.dims import resolve
from pellucid.graph.graph import Graph


class StepProgram:
    """The step of a graph, jitted: JAX keeps one compiled form for each number of rows and of steps."""

    def __init__(self, graph: Graph, roles: Roles, placement: Placement) -> None:
        self.graph, self.roles, self.placement = graph, roles, placement
        self.sources = {i: o for o, i in roles.updates.items()}
        self.epoch = jax.jit(self._epoch, donate_argnums=0)
        self.part = jax.jit(self._part, donate_argnums=0)

    def step(self, state: list[Any], batch: list[Any], numbers: Sequence[Any]) -> tuple[list[Any], Any]:
        """One step: the new state, and the results as float64."""
        roles = self.roles
        leaves: list[Any] = [None] * self.graph.inputs
        for places, values in ((roles.state, state), (roles.batch, batch), (roles.numbers, numbers)):
            for i, value in zip(places, values, strict=True):
                leaves[i] = value
        faults: list[Any] | None = None if roles.checked else []
        rows = batch[0].shape[0]
        outputs = evaluate(self.graph, leaves, {"n": rows}, faults, self.placement.row_sums(rows))
        after = [
            jnp.asarray(outputs[self.sources[i]], x.dtype) if i in self.sources else x
            for i, x in zip(roles.state, state, strict=True)
        ]
        results = jnp.stack([jnp.asarray(outputs[o], jnp.float64) for o in roles.results])
        if faults:  # shown as a loss that is not a number: the step is then looked at by NumPy, which says why
            results = jnp.where(jnp.any(jnp.stack(faults)), jnp.nan, results)
        return after, results

    def _taken(self, state: Any, data: Any, rows: Any, t: Any, numbers: Any) -> tuple[Any, Any]:
        return self.step(
            state, self.placement.gathered(data, rows), [t, *(numbers[k] for k in range(numbers.shape[0]))]
        )

    def _epoch(self, state: Any, data: Any, rows: Any, times: Any, numbers: Any) -> Any:
        """One step for each row of `rows` (steps, batch)."""
        return lax.scan(lambda now, each: self._taken(now, data, *each), state, (rows, times, numbers))

    def _part(self, state: Any, data: Any, rows: Any, times: Any, numbers: Any, count: Any) -> Any:
        """The first `count` of them, a number that may change from call to call."""

        def body(k: Any, carry: Any) -> Any:
            now, results = carry
            now, numbers_after = self._taken(now, data, rows[k], times[k], numbers[k])
            return now, results.at[k].set(numbers_after)

        return lax.fori_loop(0, count, body, (state, jnp.zeros((rows.shape[0], len(self.roles.results)))))


def program_for(graph: Graph, roles: Roles, placement: Placement) -> StepProgram:
    """One is kept with its graph for each way to run it."""
    programs: list[StepProgram] = graph.kept.setdefault(StepProgram, [])
    for program in programs:
        if (program.roles, program.placement) == (roles, placement):
            return program
    programs.append(StepProgram(graph, roles, placement))
    return programs[-1]


class JaxStepper:
    """A step with its state, for batches of `rows` rows."""

    threads = 1

    def __init__(self, graph: Graph, roles: Roles, rows: int, placement: Placement) -> None:
        self.graph, self.roles, self.rows, self.placement = graph, roles, rows, placement
        self.program = program_for(graph, roles, placement)
        self.data: list[Any] = []
        self.state: list[Any] = []
        self.prepare(rows)

    @property
    def bytes(self) -> int:
        """The memory of the state."""
        return sum(int(x.nbytes) for x in self.state)

    def prepare(self, rows: int) -> None:
        """See that a step of so many rows can be lowered: `CannotCompile` says what is in the way."""
        nodes = self.graph.nodes

        def example(i: int) -> Any:
            shape = tuple(int(resolve(size, {"n": rows})) for size in nodes[i].shape)
            return jax.ShapeDtypeStruct(shape, nodes[i].dtype)

        parts = ([example(i) for i in places] for places in (self.roles.state, self.roles.batch, self.roles.numbers))
        with exact():
            jax.eval_shape(self.program.step, *parts)

    # state

    def load(self, arrays: Sequence[Any]) -> None:
        """Copy the state in."""
        kinds = [self.graph.nodes[i].dtype for i in self.roles.state]
        with exact():
            self.state = [self.placement.copied(np.asarray(a, kind)) for a, kind in zip(arrays, kinds, strict=True)]

    def read(self) -> list[Any]:
        """A copy of the state."""
        with together():  # a step that another process did not finish shows here as well
            return [np.array(x)[()] for x in self.state]

    look = read

    # running

    def feed(self, data: Sequence[Any]) -> None:
        """The arrays from which batches are gathered, one for each array of a batch."""
        for i, array in zip(self.roles.batch, data, strict=True):
            if array.shape[1:] != tuple(self.graph.nodes[i].shape[1:]):
                raise ShapeError(
                    f"{self.graph.name}: rows of shape {array.shape[1:]} where the first batch had "
                    f"{tuple(self.graph.nodes[i].shape[1:])}: all batches have the same columns"
                )
        kinds = [self.graph.nodes[i].dtype for i in self.roles.batch]
        with exact():
            self.data = [self.placement.rows(np.asarray(a, kind)) for a, kind in zip(data, kinds, strict=True)]

    def run(self, orders: Any, first: int, last: int, numbers: Any) -> tuple[Any, int]:
        """Steps first ... last - 1, counted through the epochs that `orders` (epochs, rows) describes.

        `numbers` has a row of 64-bit words for each step: its number, and float64s. All steps are made: what is not
        finite is seen in the results (a row for each step), and gone back to.
        """
        length = orders.shape[1]
        count, whole = -(-length // self.rows), length // self.rows
        results = np.zeros((last, len(self.roles.results)))
        while first < last:
            epoch, batch = divmod(first, count)
            end = min(last - first + batch, count)
            order = self.placement.places(orders[epoch])
            if batch < whole:  # those that have all their rows
                end = min(end, whole)
                rows = order[batch * self.rows : end * self.rows].reshape(end - batch, self.rows)
            else:
                rows = order[whole * self.rows :][None]
            words = numbers[first : first + len(rows)]
            results[first : first + len(rows)] = self._steps(rows, words, complete=not batch and end == whole)
            first += len(rows)
        return results, last

    def _steps(self, rows: Any, words: Any, complete: bool) -> Any:
        """The results of steps on these rows (steps, batch). Parts of an epoch share a program with others."""
        steps = len(rows)
        length = steps if complete else 1 << (steps - 1).bit_length()
        rows, words = (np.concatenate([a, np.repeat(a[-1:], length - steps, axis=0)]) for a in (rows, words))
        given = (rows.astype(np.int32), words[:, 0], words.view(np.float64)[:, 1:])
        with exact(), together():
            given = tuple(map(self.placement.everywhere, given))
            if complete:
                self.state, results = self.program.epoch(self.state, self.data, *given)
            else:
                self.state, results = self.program.part(self.state, self.data, *given, np.int32(steps))
            return np.asarray(results)[:steps]
