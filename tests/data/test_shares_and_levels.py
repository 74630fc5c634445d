"""Random shares by hashes, levels counted in bounded memory, work ahead of time."""

import numpy as np
import pytest

from pellucid.data.background import ahead
from pellucid.data.levels import Levels
from pellucid.data.shares import Share, chosen, count_chosen, hashes, rank_error


def test_shares_do_not_depend_on_how_rows_are_read():
    whole = hashes(7, 3, 0, 10_000)
    np.testing.assert_array_equal(whole[1234:1300], hashes(7, 3, 1234, 66))
    low, high = (Share(7, *ends).of(3, 0, 10_000) for ends in ((0.0, 0.3), (0.3, 1.0)))
    assert np.array_equal(low, ~high)
    assert count_chosen((Share(7, 0.0, 0.3),), 3, 10_000) == low.sum()
    assert chosen((), 0, 0, 5) is None
    assert 0.28 < low.mean() < 0.32
    assert abs(np.corrcoef(whole, hashes(7, 4, 0, 10_000))[0, 1]) < 0.05
    assert abs(np.corrcoef(whole, hashes(8, 3, 0, 10_000))[0, 1]) < 0.05


def test_quantiles_of_a_sample_have_the_rank_error_that_is_stated():
    """Of ten heavy-tailed columns in the order of their values, which is the worst for a sample by row numbers."""
    rows, most = 200_000, 5_000
    stated = rank_error(most)
    for column in range(10):
        values = np.sort(np.random.default_rng(column).lognormal(sigma=3, size=rows))
        sample = values[Share(column, 0.0, most / rows).of(0, 0, rows)]
        shares = np.linspace(0.001, 0.999, 500)
        ranks = np.searchsorted(values, np.quantile(sample, shares)) / rows
        worst = np.abs(ranks - shares).max()
        assert worst < stated
        assert worst > stated / 10  # the bound is not an empty one


def test_few_levels_are_counted_exactly():
    rng, levels = np.random.default_rng(0), Levels()
    parts = [rng.choice(["a", "b", None, "c"], 1000).astype(object) for _ in range(5)]
    for part in parts:
        levels.add(part)
    whole = np.concatenate(parts)
    assert levels.counts == {name: int(np.sum(whole == name)) for name in "abc"}
    assert (levels.names(), levels.lost) == (["a", "b", "c"], 0)


def test_of_many_levels_the_frequent_ones_stay():
    rng, most, levels = np.random.default_rng(0), 50, Levels(50)
    truth: dict[str, int] = {}
    for _ in range(40):
        part = np.array([f"v{v}" for v in rng.zipf(1.3, 1000)], object)
        levels.add(part)
        for name in part:
            truth[name] = truth.get(name, 0) + 1
    rows, names = 40_000, levels.names()
    assert len(names) <= most
    assert {name for name, count in truth.items() if count > rows / most} <= set(names)
    assert levels.lost <= rows / most
    for name in names:
        assert truth[name] - levels.lost <= levels.counts[name] <= truth[name]


def test_what_is_made_ahead_comes_in_order_with_its_error():
    def items():
        yield from range(3)
        raise RuntimeError("the disk is gone")

    stream = ahead(items())
    assert [next(stream) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="the disk is gone"):
        next(stream)


def test_no_more_is_made_than_waits():
    made = []

    def items():
        for number in range(100):
            made.append(number)
            yield number

    stream = ahead(items(), 2)
    assert next(stream) == 0
    stream.close()
    assert len(made) <= 5
