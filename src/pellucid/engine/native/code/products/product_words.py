"""The table of words that a product reads: one layout for who writes it and for the compiled code that reads it."""

from __future__ import annotations

from pellucid.engine.native.code.words import Words

COPY_LEFT, COPY_RIGHT, TURN_RIGHT, TURN_RESULT, NARROW, FINISH_LATER, COPY_ROWS = 1, 2, 4, 8, 16, 32, 64
"""Ways of a product, which may be joined: sides that are copied before they are read, what is turned on its side, and
vectors along the depth for few columns (then turning takes the columns of the right side apart), whether what follows a
product waits for all of it, and whether the rows of the left side are copied one after the other."""

GROUP = 48
"""Rows of a left side that are copied side by side."""

MOST_ASKED = 4
"""Arrays whose lines a tile asks for."""

PRODUCT_WORDS = Words(
    "ways rows columns depth"
    " block"  # of the depth, summed at a time; with NARROW the step between columns that were taken apart
    " a a_row a_step"  # the left side: element (i, k) is at i * a_row + k * a_step
    " b b_row"  # the right side: (k, j) at k * b_row + j, or at j * b_row + k where it is to be turned
    " c c_row"  # the result: (i, j) at i * c_row + j
    " left right"  # where copies of the left side go, and panels of the right side
    " turned turned_row"  # where the result goes once it is turned: (i, j) at j * turned_row + i
    " finish finish_table"  # the function that tiles are given to, 0 for none, and its table (see `tile.FINISH`)
    " first_row"  # of the result, as that function counts them
    " result result_rows result_columns"  # what it is given if it waits for all
    " asked_count"  # of arrays with the result's steps that are asked for: their addresses stand behind
)
"""Steps are in elements."""


def most_narrow(lanes: int) -> int:
    """Columns up to which a product may be narrow: a tile would leave many lanes of its vectors empty, and two rows of
    as many sums still find registers."""
    return min(10, 5 * lanes // 8)
