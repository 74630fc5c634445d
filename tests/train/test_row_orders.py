"""Orders of rows, drawn while other epochs are run."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pellucid.train.loop.row_orders import RowOrders


def order(epoch):
    return np.random.default_rng(epoch).permutation(50)


def test_orders_are_those_of_the_epochs_whoever_draws_them():
    orders = RowOrders(order)
    asked = [(range(1, 4), range(4, 7)), (range(4, 7), range(7, 8)), (range(5, 6), range(0)), (range(6, 8), range(0))]
    for epochs, following in asked:  # drawn at once, drawn ahead, drawn for others in vain, drawn at once
        assert_array_equal(orders.take(epochs, following), [order(epoch) for epoch in epochs])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_is_raised_where_the_orders_are_needed():
    orders = RowOrders(lambda epoch: order(epoch) if epoch < 3 else 1 / 0)
    assert len(orders.take(range(2), range(2, 4))) == 2
    with pytest.raises(ZeroDivisionError):
        orders.take(range(2, 4), range(0))
