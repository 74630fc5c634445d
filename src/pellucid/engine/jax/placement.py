"""Where arrays lie: on one device, or rows split over several while the state is on all of them.

Programs are the same for all placements: XLA sums gradients over devices where a batch is split. So a batch is one
batch, also for batch normalisation, whoever computes which part of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from pellucid.engine.jax.holdings import Holdings

ROWS = "rows"


@dataclass(frozen=True)
class Placement:
    """On the device that JAX prefers."""

    def copied(self, array: Any) -> Any:
        """The state: a copy, for its buffer is given away."""
        return jnp.array(array, copy=True)

    def rows(self, array: Any) -> Any:
        """The data."""
        return jnp.asarray(array)

    def everywhere(self, array: Any) -> Any:
        """What every device reads."""
        return array

    def gathered(self, data: Any, places: Any) -> Any:
        """The rows of a step, inside a program."""
        return data.at[places].get(mode="promise_in_bounds")

    def places(self, order: Any) -> Any:
        """Where the rows of these numbers lie."""
        return order


@dataclass(frozen=True)
class Spread(Placement):
    """Over all devices of all processes, those of a process side by side.

    `holdings` says which rows each process holds. `whole` says that every process is given all rows, and keeps its
    share of them.
    """

    devices: tuple[Any, ...]
    holdings: Holdings = field(compare=False)
    whole: bool = field(compare=False, default=True)

    @cached_property
    def mesh(self) -> Any:
        return Mesh(np.array(self.devices), (ROWS,))

    @property
    def most(self) -> int:
        """Rows that a process has place for: the same for all, and the same for each of its devices."""
        local = len(self.devices) // self.holdings.processes
        return max(1, -(-max(self.holdings.shares) // local)) * local

    def copied(self, array: Any) -> Any:
        return self.everywhere(array)

    def everywhere(self, array: Any) -> Any:
        array = np.array(array)  # a buffer of its own
        sharding = NamedSharding(self.mesh, PartitionSpec())
        return jax.make_array_from_callback(array.shape, sharding, lambda index: array[index].copy())

    def rows(self, array: Any) -> Any:
        """Each process gives its share; places behind it are filled, and never read."""
        if self.whole:
            array = array[self.holdings.held_by(jax.process_index())]
        rest = np.zeros((self.most - len(array), *array.shape[1:]), array.dtype)
        filled = np.concatenate([array, rest])
        shape = (self.most * self.holdings.processes, *array.shape[1:])
        sharding = NamedSharding(self.mesh, PartitionSpec(ROWS))
        return jax.make_array_from_process_local_data(sharding, filled, shape)

    def gathered(self, data: Any, places: Any) -> Any:
        """Each device gives what it has of the batch, the sum has all of it; of that each device takes its part."""

        def own_part(data: Any, places: Any) -> Any:
            here = places - lax.axis_index(ROWS) * data.shape[0]
            held = (here >= 0) & (here < data.shape[0])
            rows = data.at[jnp.where(held, here, 0)].get(mode="promise_in_bounds")
            return lax.psum(jnp.where(held.reshape(-1, *(1,) * (data.ndim - 1)), rows, 0), ROWS)

        split, whole = PartitionSpec(ROWS), PartitionSpec()
        batch = jax.shard_map(own_part, mesh=self.mesh, in_specs=(split, whole), out_specs=whole)(data, places)
        return lax.with_sharding_constraint(batch, NamedSharding(self.mesh, split))

    def places(self, order: Any) -> Any:
        process, place = self.holdings.located(order)
        return process * self.most + place
