"""Letters as the Mark I saw them: 20 × 20 photocells, each lit or dark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SIDE = 20

DRAWN = """
.###./#...#/#...#/#####/#...#/#...#/#...#  ####./#...#/#...#/####./#...#/#...#/####.
.####/#..../#..../#..../#..../#..../.####  ####./#...#/#...#/#...#/#...#/#...#/####.
#####/#..../#..../####./#..../#..../#####  #####/#..../#..../####./#..../#..../#....
.####/#..../#..../#..##/#...#/#...#/.####  #...#/#...#/#...#/#####/#...#/#...#/#...#
.###./..#../..#../..#../..#../..#../.###.  ..###/...#./...#./...#./...#./#..#./.##..
#...#/#..#./#.#../##.../#.#../#..#./#...#  #..../#..../#..../#..../#..../#..../#####
#...#/##.##/#.#.#/#.#.#/#...#/#...#/#...#  #...#/##..#/##..#/#.#.#/#..##/#..##/#...#
.###./#...#/#...#/#...#/#...#/#...#/.###.  ####./#...#/#...#/####./#..../#..../#....
.###./#...#/#...#/#...#/#.#.#/#..#./.##.#  ####./#...#/#...#/####./#.#../#..#./#...#
.####/#..../#..../.###./....#/....#/####.  #####/..#../..#../..#../..#../..#../..#..
#...#/#...#/#...#/#...#/#...#/#...#/.###.  #...#/#...#/#...#/#...#/.#.#./.#.#./..#..
#...#/#...#/#...#/#.#.#/#.#.#/##.##/#...#  #...#/#...#/.#.#./..#../.#.#./#...#/#...#
#...#/#...#/.#.#./..#../..#../..#../..#..  #####/....#/...#./..#../.#.../#..../#####
"""
"""A to Z, two on a line, each in 7 rows of 5 dots."""


def letters() -> NDArray[np.float64]:
    """All capital letters, 15 cells wide and 14 high in the middle of the field; lit cells are 1.   -> (26, 20, 20)

    >>> for row in letters()[0][3:17:2]:
    ...     print("".join("-#"[int(cell)] for cell in row))
    -----#########------
    --###---------###---
    --###---------###---
    --###############---
    --###---------###---
    --###---------###---
    --###---------###---
    """
    fields = np.zeros((len(ALPHABET), SIDE, SIDE))
    for field, drawing in zip(fields, DRAWN.split(), strict=True):
        dots = np.array([[dot == "#" for dot in row] for row in drawing.split("/")], float)
        field[3:17, 2:17] = np.kron(dots, np.ones((2, 3)))
    return fields


def letter_photographs(
    copies: int = 8, flipped: float = 0.02, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Letters shifted by up to two cells each way, some cells wrong.   -> pixels (26 copies, 400), letter numbers

    The first of each letter is in the middle and clean. `flipped` is the share of wrong cells of the others.

    >>> pixels, numbers = letter_photographs(copies=3)
    >>> pixels.shape, np.bincount(numbers).tolist() == [3] * 26
    ((78, 400), True)
    """
    rng = np.random.default_rng(seed)
    clean = np.repeat(letters(), copies, axis=0)
    pixels = np.empty((len(clean), SIDE * SIDE))
    for i, field in enumerate(clean):
        if i % copies:
            down, right = rng.integers(-2, 3, 2)
            field = np.roll(field, (down, right), axis=(0, 1))
            field = np.where(rng.random(field.shape) < flipped, 1.0 - field, field)
        pixels[i] = field.ravel()
    return pixels, np.repeat(np.arange(len(ALPHABET)), copies)
