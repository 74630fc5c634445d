"""The different texts of a column with their numbers of rows: all of them, or the frequent ones where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pellucid.data.types import Array

MOST = 1 << 17
"""Levels that are counted at most."""


@dataclass(eq=False)
class Levels:
    """Counts by level. Of more than `most` levels every one is kept that more than 1/most of the rows have.

    After Misra and Gries (1982): where there are too many, the count of the last that is to stay is taken from all.
    What is taken in all is `lost`: no count is too low by more.

    Examples
    --------
    >>> import numpy as np
    >>> levels = Levels(most=2)
    >>> levels.add(np.array(["a", "b", "a", None, "c", "d", "e", "a"], object))
    >>> levels.names(), levels.lost
    (['a'], 1)
    """

    most: int = MOST
    counts: dict[str, int] = field(default_factory=dict)
    lost: int = 0

    def add(self, texts: Array) -> None:
        """Count some rows; None is missing.   texts: (n,) of str or None"""
        import pandas as pd

        for text, count in pd.Series(texts, dtype=object).value_counts().items():
            self.counts[text] = self.counts.get(text, 0) + count
        if len(self.counts) > 2 * self.most:
            self._thin_out()

    def names(self) -> list[str]:
        """The levels in the order of their names."""
        if len(self.counts) > self.most:
            self._thin_out()
        return sorted(self.counts)

    def _thin_out(self) -> None:
        least = sorted(self.counts.values(), reverse=True)[self.most]
        self.lost += least
        self.counts = {text: count - least for text, count in self.counts.items() if count > least}


def joined_levels(parts: Sequence[Levels]) -> Levels:
    """The levels of several parts of a column, counted together.

    >>> import numpy as np
    >>> parts = Levels(), Levels()
    >>> for levels, texts in zip(parts, (["a", "b"], ["b", "c"]), strict=True):
    ...     levels.add(np.array(texts, object))
    >>> joined_levels(parts).counts
    {'a': 1, 'b': 2, 'c': 1}
    """
    counts: dict[str, int] = {}
    for part in parts:
        for text, count in part.counts.items():
            counts[text] = counts.get(text, 0) + count
    return Levels(parts[0].most, counts, sum(part.lost for part in parts))
