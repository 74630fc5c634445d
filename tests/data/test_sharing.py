"""A data set that processes share: every row is read once, by one of them, whatever its blocks are."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pellucid import Model, nn
from pellucid.data import dataset
from pellucid.data.sharing import even_sharing
from pellucid.distributed import share
from pellucid.engine.jax.holdings import Holdings, even

X = np.arange(46.0).reshape(23, 2)
Y = np.arange(23) % 3


def table(*lengths):
    """Batches of these lengths."""
    ends = np.cumsum([0, *lengths])
    return dataset([(X[a:b], Y[a:b]) for a, b in itertools.pairwise(ends)])


def of_process(data, count, index):
    """What one of several processes reads."""
    return replace(data, sharing=even_sharing(data.source.blocks, count, index))


@pytest.mark.parametrize("lengths", [(23,), (5, 0, 10, 8), (1,) * 23])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("split", [False, True])
def test_every_row_is_read_once_and_in_order(lengths, count, split):
    data = table(*lengths)
    expected = data.split(0.3, seed=1)[0] if split else data
    read, held = [], []
    for index in range(count):
        own = of_process(data, count, index)
        own = own.split(0.3, seed=1)[0] if split else own
        parts = [part.X for part in own.parts()]
        read += parts
        held.append(sum(map(len, parts)))
        assert own.rows == expected.rows
    assert_array_equal(np.concatenate(read), expected.in_memory().X)
    holdings = of_process(data, count, 0).sharing.holdings(expected.shares)
    assert holdings.shares == tuple(held)
    if not split:
        assert max(held) - min(held) <= 1


def test_holdings():
    """Where a row lies, and which rows a process holds, are two sides of one thing."""
    holdings = Holdings(owners=(1, 0, 2, 1, 0), lengths=(3, 0, 4, 2, 5), processes=4)
    held = [holdings.held_by(process) for process in range(4)]
    assert [len(rows) for rows in held] == list(holdings.shares) == [5, 5, 4, 0]
    process, place = holdings.located(np.arange(len(holdings)))
    assert all(held[p][i] == row for row, (p, i) in enumerate(zip(process, place, strict=True)))
    assert_array_equal(holdings.joined(held), np.arange(14))
    some = holdings.taken(np.array([7, 0, 13])).taken(np.array([2, 0]))
    assert_array_equal(some.joined(held), [13, 7])
    assert even(5, 2).shares == (2, 3)


def test_one_process_reads_all_rows_into_memory():
    """The order of a training is that of rows in memory, not that of pools."""

    def losses(X, y=None):
        model = Model(nn.mlp((4,), 3), "cross_entropy", engine="numpy")
        return [row["loss"] for row in model.fit(X, y, epochs=2, batch_size=5, verbose=False).epochs]

    assert losses(share(table(10, 13))) == losses(X, Y)


@pytest.mark.parametrize("most", [1, 8, 100])
def test_some_rows_are_at_least_one(most):
    rows = len(share(table(10, 13)).some(most))
    assert rows == 23 if most >= 23 else 1 <= rows < 23


def test_a_shared_table_has_no_pools():
    with pytest.raises(TypeError, match="read into their memories"):
        next(share(table(23)).batches(4))
