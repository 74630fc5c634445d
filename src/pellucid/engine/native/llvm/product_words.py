"""The table of words that a product reads: one layout for who writes it and for the compiled code that reads it."""

from __future__ import annotations

from typing import NamedTuple

COPY_LEFT, COPY_RIGHT, TURN_RIGHT, TURN_RESULT, NARROW = 1, 2, 4, 8, 16
"""Ways of a product, which may be joined: sides that are copied before they are read, what is turned on its side, and
vectors along the depth for few columns (then turning takes the columns of the right side apart)."""

GROUP = 48
"""Rows of a left side that are copied side by side."""


class Words(NamedTuple):
    """Steps are in elements."""

    ways: int
    rows: int
    columns: int
    depth: int
    block: int  # of the depth, summed at a time; with NARROW the step between columns that were taken apart
    a: int  # the left side: element (i, k) is at i * a_row + k * a_step
    a_row: int
    a_step: int
    b: int  # the right side: (k, j) at k * b_row + j, or at j * b_row + k where it is to be turned
    b_row: int
    c: int  # the result: (i, j) at i * c_row + j
    c_row: int
    left: int  # where copies of the left side go
    right: int  # where panels of the right side go
    turned: int  # where the result goes once it is turned: (i, j) at j * turned_row + i
    turned_row: int


def most_narrow(lanes: int) -> int:
    """Columns up to which a product may be narrow: a tile would leave most lanes of its vectors empty."""
    return min(6, lanes // 2)
