"""Where arrays lie: on one device, or rows split over several while the state is on all of them.

Programs are the same for all placements: XLA sums gradients over devices where a batch is split. So a batch is one
batch, also for batch normalisation, whoever computes which part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from pellucid.engine.jax.holdings import Holdings
from pellucid.engine.jax.row_sums import ROWS, RowSums


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

    def gathered(self, data: Sequence[Any], places: Any) -> list[Any]:
        """The rows of a step, inside a program."""
        return [array.at[places].get(mode="promise_in_bounds") for array in data]

    def places(self, order: Any) -> Any:
        """Where the rows of these numbers lie."""
        return order

    def row_sums(self, rows: int) -> RowSums | None:
        """How sums over so many rows of a batch are made, if it is split; None leaves it to XLA."""
        return None


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

    def gathered(self, data: Sequence[Any], places: Any) -> list[Any]:
        """Each device gives what it has of the batch, the sum has all of it; of that each device takes its part.

        All arrays travel as one, as bits: each number is a sum of itself and zeros.
        """
        even = places.shape[0] % len(self.devices) == 0

        def own_part(places: Any, *data: Any) -> Any:
            here = places - lax.axis_index(ROWS) * data[0].shape[0]
            held = (here >= 0) & (here < data[0].shape[0])
            rows = [array.at[jnp.where(held, here, 0)].get(mode="promise_in_bounds") for array in data]
            bits = jnp.where(held[:, None], jnp.concatenate([_bits(each) for each in rows], axis=1), jnp.uint32(0))
            return lax.psum_scatter(bits, ROWS, tiled=True) if even else lax.psum(bits, ROWS)

        split, whole = PartitionSpec(ROWS), PartitionSpec()
        specs = (whole, *[split] * len(data))
        joined = jax.shard_map(own_part, mesh=self.mesh, in_specs=specs, out_specs=split if even else whole)
        bits = lax.with_sharding_constraint(joined(places, *data), NamedSharding(self.mesh, split))
        ends = np.cumsum([_words(array) for array in data])[:-1]
        return [_numbers(part, array) for part, array in zip(jnp.split(bits, ends, axis=1), data, strict=True)]

    def places(self, order: Any) -> Any:
        process, place = self.holdings.located(order)
        return process * self.most + place

    def row_sums(self, rows: int) -> RowSums | None:
        return None if rows % len(self.devices) else RowSums(self.mesh)


def _words(array: Any) -> int:
    """Words of 32 bits that a row takes: numbers have one or two."""
    return int(np.prod(array.shape[1:], dtype=int)) * int(array.dtype.itemsize // 4)


def _bits(rows: Any) -> Any:
    """Rows as words.   (n, ...) -> (n, words)"""
    return lax.bitcast_convert_type(rows, jnp.uint32).reshape(len(rows), _words(rows))


def _numbers(bits: Any, like: Any) -> Any:
    """The rows again."""
    pairs = (2,) if like.dtype.itemsize == 8 else ()
    return lax.bitcast_convert_type(bits.reshape(len(bits), *like.shape[1:], *pairs), like.dtype)
