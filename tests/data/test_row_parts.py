"""Rows made part by part are those made at once."""

import numpy as np
import pytest

from pellucid.data.row_parts import PART, by_parts
from pellucid.data.samples import Samples, TakenSamples

MANY = 2 * PART + 5


@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_are_one_array_in_the_order_that_was_asked_for(order):
    x = np.random.default_rng(0).normal(size=(MANY, 3)).astype(np.float32)
    rows = by_parts(lambda some: x[some] ** 2, MANY, order)
    np.testing.assert_array_equal(rows, x**2)
    assert rows.dtype == np.float32
    assert (rows if order == "C" else rows.T).flags.c_contiguous


def test_what_a_part_raises_is_raised():
    def part(some):
        if some.start:
            raise ValueError(f"row {some.start}")
        return np.zeros((PART, 1))

    with pytest.raises(ValueError, match=f"row {PART}$"):
        by_parts(part, MANY)


def test_some_of_many_samples():
    rng = np.random.default_rng(0)
    whole = Samples(rng.normal(size=(MANY, 2)), np.arange(MANY))
    numbers = np.sort(rng.choice(MANY, PART + 100, replace=False))
    np.testing.assert_array_equal(TakenSamples(whole, numbers).X, whole.X[numbers])
