"""Dataset: a table larger than memory, known by its columns, read again and again, in order or shuffled by a seed.

`pellucid.data.door` makes one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from pellucid.amounts import check_number, check_whole
from pellucid.data.background import ahead
from pellucid.data.dependent_shares import split_by_group, split_by_time
from pellucid.data.parts import Columns, Part, joined_parts
from pellucid.data.pools import Cursor, Encoder, Pool, chosen_parts, pooled, shuffled, taken_in_turn
from pellucid.data.samples import Samples
from pellucid.data.shares import Share, SomeRows, count_chosen
from pellucid.data.sharing import Sharing
from pellucid.data.sources import Block, Source
from pellucid.data.types import Array
from pellucid.errors import ShapeError

POOL = 1 << 25
"""Bytes of the rows that are shuffled together, if nothing else is asked for. Up to three pools are in memory."""

PLACES = 8
"""Blocks, at most, that a few rows are taken from."""

SEED = 1 << 31
"""Of the hash that draws a few rows of a shared data set; other draws have smaller ones."""

T = TypeVar("T")

LISTED = 20
"""Names that an error lists at most."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table that need not fit into memory: its columns, target and weights, and batches, again and again.

    `pellucid.data.dataset` makes one. It is a value: what changes it gives another.

    Parameters
    ----------
    source : Source
        where rows come from
    read : Columns
        names of features, target and weight
    shares : tuple[SomeRows, ...]
        parts of the rows, by a hash of their numbers, or by a bit of each; () is all rows
    counted_rows : int | None
        how many rows there are, where it has been counted
    buffer : int | None
        rows that are shuffled together; None is 32 MB of them
    encode : Encoder | None
        makes floats of rows; None for numbers as they are
    sharing : Sharing | None
        which rows each of several processes reads (`pellucid.distributed.share`); None reads all of them here
    """

    source: Source
    read: Columns
    shares: tuple[SomeRows, ...] = ()
    counted_rows: int | None = None
    buffer: int | None = None
    encode: Encoder | None = field(default=None, repr=False)
    sharing: Sharing | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        rows = "unknown" if self.rows is None else f"{self.rows:,}"
        about = f"rows: {rows}, columns: {len(self.columns)}, target: {', '.join(self.read.target) or None}"
        return f"Dataset({self.source.identity}; {about})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.read.features

    @property
    def has_target(self) -> bool:
        """Do its rows bring a target?"""
        return bool(self.read.target) or self.source.has_target

    @cached_property
    def rows(self) -> int | None:
        """How many rows there are; None where that is known only by reading them (see `counted`)."""
        if self.counted_rows is not None:
            return self.counted_rows
        counts = self._block_rows if self.sharing is None else self.sharing.counts(self.shares)
        return None if None in counts else sum(count for count in counts if count is not None)

    @cached_property
    def _block_rows(self) -> list[int | None]:
        return [
            None if block.rows is None else count_chosen(self.shares, number, block.rows)
            for number, block in enumerate(self.source.blocks)
        ]

    def counted(self) -> Dataset:
        """The same with a known number of rows: where it is not in the files, they are read.

        Returns
        -------
        Dataset
            whose `rows` is a number
        """
        if self.rows is not None:
            return self
        if not self.shares:
            return replace(self, counted_rows=sum(block.count() for block in self.source.blocks))
        return replace(self, counted_rows=sum(len(part) for part in self.target_alone().parts()))

    def target_alone(self) -> Dataset:
        """The same without features, but for one: what is left of the columns is read fast.

        Returns
        -------
        Dataset
            of one feature, with target and weights
        """
        return replace(self, read=replace(self.read, features=self.read.features[:1]), encode=None)

    def select(self, names: Sequence[str]) -> Dataset:
        """The same with these features, in this order.

        Parameters
        ----------
        names : list of str
            columns that the source has

        Returns
        -------
        Dataset
            with others of its columns as features
        """
        absent = [name for name in names if name not in self.source.names]
        if absent:
            raise ShapeError(
                f"the data set has no column {', '.join(map(repr, absent[:5]))}: its columns are "
                f"{', '.join(map(repr, self.source.names[:LISTED]))}"
            )
        return replace(self, read=replace(self.read, features=tuple(names)))

    def features_alone(self) -> Dataset:
        """The same without target and weights.

        Returns
        -------
        Dataset
            for predictions
        """
        return replace(self, read=Columns(self.read.features), encode=None)

    def split(
        self, share: float, *, seed: int = 0, groups: str | None = None, time: str | None = None
    ) -> tuple[Dataset, Dataset]:
        """Two parts of the rows: rows to train on, and a share of them held out, by a hash of the place of each.

        Whole groups, or the latest rows, are told by two passes over their column; a bit is kept of each row. The cut
        in time is found from 131,072 rows, so that the share is off by 0.74 % of the rows at most, but for one chance
        in a million; of fewer rows it is the nearest that can be.

        Parameters
        ----------
        share : float
            of the rows in the second part, about
        seed : int
            of the hash
        groups : str | None
            a column of names: rows of one group are in the same part
        time : str | None
            a column of numbers, dates or ISO texts: the second part has the latest rows; those of one time stay
            together

        Returns
        -------
        tuple of Datasets
            without rows in common

        Examples
        --------
        >>> import pandas as pd
        >>> from pellucid.data import dataset
        >>> table = pd.DataFrame({"day": [3, 1, 2, 3], "x": range(4), "y": range(4)})
        >>> [part.gather().target.tolist() for part in dataset(table, target="y").split(0.5, time="day")]
        [[1, 2], [0, 3]]
        """
        check_number("a share in (0, 1)", 0, 1, above=True, share=share)
        check_whole(0, seed=seed)
        if groups is not None and time is not None:
            raise ValueError("a data set is split by groups or by time, got both: take one of them")
        parts: tuple[SomeRows, SomeRows]
        if groups is not None:
            parts = split_by_group(self._with_column("groups", groups), groups, share, seed)
        elif time is not None:
            parts = split_by_time(self._with_column("time", time), time, share)
        else:
            parts = Share(seed, share, 1.0), Share(seed, 0.0, share)
        first, second = (replace(self, shares=(*self.shares, part), counted_rows=None) for part in parts)
        return first, second

    def _with_column(self, what: str, name: str) -> Dataset:
        """Itself, if its source has the column."""
        if name in self.source.names:
            return self
        listed = ", ".join(map(repr, self.source.names[:LISTED]))
        raise ShapeError(f"{what}={name!r} names a column that is not there: the columns are {listed}")

    def encoded(self, encode: Encoder) -> Dataset:
        """The same rows, made floats by a function of a part.

        Parameters
        ----------
        encode : Encoder
            from a `Part` to `Samples` of as many rows

        Returns
        -------
        Dataset
            whose batches are what it gives
        """
        return replace(self, encode=encode)

    def checksum(self) -> str:
        """Which data these are, as far as that is known without reading them."""
        return f"{self.source.identity}; {self.read}; {self.shares}; {self.buffer}"

    # rows in order

    def parts(self) -> Iterator[Part]:
        """All rows in order, as they come, read ahead by another thread. Of a shared data set, those of this process.

        Returns
        -------
        iterator of Part
            rows of one block each
        """
        return ahead(self._parts(), 4)

    def _parts(self) -> Iterator[Part]:
        if self.sharing is not None:
            for _, segment in self.sharing.own:
                yield from segment.parts(self.source.blocks[segment.block], self.read, self.shares)
            return
        for number, block in enumerate(self.source.blocks):
            yield from chosen_parts(block, number, self.read, self.shares)

    def told(self, own: T) -> list[T]:
        """What was found in the rows of each process that reads the data set; of one alone, what it found.

        Parameters
        ----------
        own : object
            what this process has found; all of them must ask

        Returns
        -------
        list
            one for each process, in their order
        """
        return [own] if self.sharing is None else self.sharing.told(own)

    def in_memory(self) -> Part:
        """All rows as they come, as one part: for those that are few. Each process has those of all of them.

        Returns
        -------
        Part
            in the order of the rows
        """
        if self.sharing is None:
            return joined_parts(list(self.parts()))
        blocks = self.source.blocks
        own = {
            number: list(segment.parts(blocks[segment.block], self.read, self.shares))
            for number, segment in self.sharing.own
        }
        everywhere = {number: parts for each in self.told(own) for number, parts in each.items()}
        return joined_parts([part for number in sorted(everywhere) for part in everywhere[number]])

    def some(self, most: int) -> Part:
        """At most so many rows: the first ones of blocks that are evenly taken.

        Of a shared data set about so many are drawn by their hash: the same ones, whoever reads them.

        Parameters
        ----------
        most : int
            rows

        Returns
        -------
        Part
            in memory
        """
        if self.sharing is not None:
            share, drawn = most / max(self.rows or 0, 1), self
            while share < 1 and not (drawn := self.split(share, seed=SEED)[1]).rows:
                share *= 2  # few of few may be none
            return (drawn if share < 1 else self).in_memory()
        blocks = list(enumerate(self.source.blocks))
        spread = blocks[:: max(1, -(-len(blocks) // PLACES))]
        rows: list[Part] = []
        left = most
        for place, (number, block) in enumerate(spread):
            rows += self._first_rows(number, block, -(-left // (len(spread) - place)))
            left = most - sum(map(len, rows))
        for number, block in blocks if not rows else ():  # a small share may have none in these
            rows = self._first_rows(number, block, most)
            if rows:
                break
        return joined_parts(rows)

    def _first_rows(self, number: int, block: Block, most: int) -> list[Part]:
        """At most so many rows of a block, from its beginning."""
        rows: list[Part] = []
        with closing(chosen_parts(block, number, self.read, self.shares)) as parts:
            while most > 0 and (part := next(parts, None)) is not None:
                rows.append(part.take(slice(0, most)))
                most -= len(rows[-1])
        return rows

    def gather(self, dtype: Any = np.float32) -> Samples:
        """All rows in memory, in order: for those that are few.

        Parameters
        ----------
        dtype : dtype
            of the floats

        Returns
        -------
        Samples
            floats, target and weights
        """
        return self.encoder(dtype)(self.in_memory())

    def own_samples(self, dtype: Any) -> list[Samples]:
        """The rows that this process reads, in memory, part by part: none where it has none.

        Parameters
        ----------
        dtype : dtype
            of the floats

        Returns
        -------
        list of Samples
            floats, target and weights
        """
        return list(map(self.encoder(dtype), self.parts()))

    # shuffled rows

    def encoder(self, dtype: Any) -> Encoder:
        """What makes floats of its rows.

        Parameters
        ----------
        dtype : dtype
            of numbers as they are; an encoder of its own knows better

        Returns
        -------
        Encoder
            from parts to samples
        """
        return partial(Part.samples, dtype=dtype) if self.encode is None else self.encode

    def pools(
        self, size: int, batch: int, dtype: Any, *, seed: int | None = None, epoch: int = 0, start: int = 0
    ) -> Generator[Pool, None, None]:
        """The rows of an epoch in pools, encoded.

        Parameters
        ----------
        size : int
            rows of a pool, about: a multiple of those of a batch is taken
        batch : int
            rows of a batch
        dtype : dtype
            of the floats
        seed : int | None
            of the order; None is that of the files
        epoch : int
            number of the pass, which has an order of its own
        start : int
            number of the first batch that is wanted

        Returns
        -------
        generator of Pool
            rows, and the order in which batches take them
        """
        if self.sharing is not None:
            raise TypeError(
                "a data set that processes share is read into their memories, not in pools: give it to fit with "
                "devices='all', or take the data set that was shared"
            )
        size = max(1, size // batch) * batch
        blocks, counts, encode = self.source.blocks, self._block_rows, self.encoder(dtype)
        order = np.arange(len(blocks)) if seed is None else shuffled(len(blocks), seed, epoch)
        cursors = [
            Cursor(blocks[number], number, self.read, self.shares, encode, counts[number]) for number in map(int, order)
        ]
        number, begun = divmod(start * batch, size)
        samples = taken_in_turn(cursors, 1 if seed is None else self.source.ways, number * size)
        with closing(samples):
            for place, pool in enumerate(pooled(samples, size), number):
                rows = np.arange(len(pool)) if seed is None else shuffled(len(pool), seed, epoch, place + 1)
                if begun < len(rows):
                    yield Pool(pool, rows[begun:])
                begun = 0

    def batches(
        self, size: int = 1024, *, seed: int | None = None, epoch: int = 0, start: int = 0, dtype: Any = np.float32
    ) -> Generator[tuple[Array, ...], None, None]:
        """Batches of floats, (X, y) or (X, y, weights), or (X,) without a target; for a training loop of one's own.

        Parameters
        ----------
        size : int
            rows of a batch
        seed : int | None
            shuffles: blocks, and rows of about 32 MB together; None keeps the order of the rows
        epoch : int
            number of the pass: with a seed, each has an order of its own
        start : int
            number of the first batch that is wanted; what is before is not read, where that can be
        dtype : dtype
            of the floats

        Returns
        -------
        generator of tuples
            arrays
        """
        check_whole(size=size)
        row = self.encoder(dtype)(self.some(1))
        rows = self.pool_rows(sum(array.nbytes for array in (row.X, row.target)))
        with closing(ahead(self.pools(rows, size, dtype, seed=seed, epoch=epoch, start=start))) as pools:
            for pool in pools:
                for first in range(0, len(pool.order), size):
                    X, y, weights = pool.rows.take(pool.order[first : first + size]).arrays(sparse=False)
                    yield (X, *([y] if self.has_target else []), *([] if weights is None else [weights]))

    def pool_rows(self, row_bytes: int) -> int:
        """How many rows of so many bytes are shuffled together.

        Parameters
        ----------
        row_bytes : int
            of a row in memory

        Returns
        -------
        int
            rows
        """
        return max(1, POOL // max(row_bytes, 1)) if self.buffer is None else self.buffer
