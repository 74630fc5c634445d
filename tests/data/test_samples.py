"""Samples by number: their rows are copied when they are asked for."""

from __future__ import annotations

import numpy as np
import pytest

from pellucid.data.samples import Samples, TakenSamples


@pytest.mark.parametrize("weighted", [False, True])
def test_taken_samples_are_those_that_take_gives(weighted):
    rng = np.random.default_rng(0)
    whole = Samples(rng.normal(size=(20, 3)), rng.normal(size=20), rng.random(20) if weighted else None)
    numbers = np.array([3, 17, 4, 9])
    taken, wanted = TakenSamples(whole, numbers), whole.take(numbers)
    assert (len(taken), taken.width, taken.total) == (4, 3, wanted.total)
    assert "X" not in vars(taken)
    again = taken.take(np.array([2, 0]))
    np.testing.assert_array_equal(again.X, whole.X[[4, 3]])
    assert "X" not in vars(taken)
    for one, other in zip(taken.arrays(sparse=False), wanted.arrays(sparse=False), strict=True):
        np.testing.assert_array_equal(one, other)
    assert taken.X is taken.X
