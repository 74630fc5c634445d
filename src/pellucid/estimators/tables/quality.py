"""What a quality means: sizes, views and folds, by the number of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pellucid.estimators.recipe import layer_sizes
from pellucid.estimators.tables.parameters import TableParameters, is_auto
from pellucid.estimators.tables.views import VIEWS, View


@dataclass(frozen=True)
class Quality:
    """What "auto" is in the parameters, for tables of up to `most` rows.   epochs: the share of the usual ones"""

    most: float
    sizes: tuple[int, ...]
    views: tuple[str, ...]
    folds: int
    epochs: float = 1.0


SMALL, WIDE = (64, 64), (128, 128, 128)
LINES = ("linear", "loose", "straight")
FEW = ("waves", "pieces", "rough", "coded", *LINES)
MANY = ("waves", "pieces", "rough", "fine", "coded", *LINES)
ALL = ("waves", "pieces", "rough", "fine", "noisy", "noisy_rough", "coded", *LINES)
QUALITIES = {
    "fast": (Quality(2_000, SMALL, ("coded_rough",), 1, 0.5), Quality(math.inf, SMALL, ("coded_rough",), 1, 0.25)),
    "default": (
        Quality(2_000, WIDE, FEW, 8),
        Quality(10_000, WIDE, MANY, 3),
        Quality(math.inf, WIDE, MANY, 2),
    ),
    "best": (Quality(2_000, WIDE, ALL, 16), Quality(10_000, WIDE, ALL, 10), Quality(math.inf, WIDE, ALL, 5)),
}
"""Few rows need many networks, and can afford them; more rows can be followed more finely."""


def quality_of(parameters: TableParameters, rows: float) -> Quality:
    """What the parameter `quality` means for so many rows."""
    return next(one for one in QUALITIES[parameters.quality] if rows <= one.most)


def sizes_of(parameters: TableParameters, rows: int) -> list[int]:
    """Units of the hidden layers."""
    asked = parameters.hidden_layer_sizes
    return layer_sizes(quality_of(parameters, rows).sizes if is_auto(asked) else asked)


def views_of(parameters: TableParameters, rows: float) -> tuple[View, ...]:
    """How the networks see numbers, one for each."""
    asked = parameters.numbers
    if is_auto(asked):
        return tuple(VIEWS[name] for name in quality_of(parameters, rows).views)
    names = ["plain" if asked is None else asked] if asked is None or isinstance(asked, str) else asked
    return tuple(VIEWS["plain" if name is None else name] for name in names)


def folds_of(parameters: TableParameters, rows: int) -> int:
    """Networks of each kind."""
    asked = parameters.folds
    return quality_of(parameters, rows).folds if isinstance(asked, str) else int(asked)
