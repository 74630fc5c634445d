"""Figures that are no races: a value, and the limit it must keep."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """What was measured for whom; `limit` is the most it may be, where there is one."""

    name: str
    who: str
    value: float
    unit: str
    limit: float | None = None
    note: str = ""

    @property
    def met(self) -> bool | None:
        return None if self.limit is None else self.value <= self.limit
