"""Orders of rows by compiled code: those of NumPy, to the last row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pellucid.engine.native.code.llvm.processor import executable
from pellucid.engine.native.runtime.row_orders import row_orders


def by_numpy(rows: int, seed: int, epochs: range) -> np.ndarray:
    return np.stack([np.random.default_rng([seed, epoch]).permutation(rows) for epoch in epochs])


@pytest.mark.parametrize("name", executable())
def test_they_are_those_of_numpy(monkeypatch, name):
    monkeypatch.setenv("PELLUCID_PROCESSOR", name)
    for rows in [*range(1, 70), 127, 128, 129, 1000, 1024, 1025, 5000, 100_000]:
        assert_array_equal(row_orders(rows, rows % 7, 3, 2), by_numpy(rows, rows % 7, range(3, 5)), strict=True)


def test_many_orders_of_few_rows():
    assert_array_equal(row_orders(6, 2**40, 0, 3000), by_numpy(6, 2**40, range(3000)))


def test_where_draws_do_not_suffice_numpy_makes_the_order(monkeypatch):
    monkeypatch.setattr("pellucid.engine.native.runtime.row_orders.draws_for", lambda rows: 2)
    assert_array_equal(row_orders(50, 0, 0, 4), by_numpy(50, 0, range(4)))
