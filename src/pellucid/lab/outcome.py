"""What an experiment finds: numbers, the lecture's beside ours, tables, figures, a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pellucid.markup import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Beside:
    """A number of the lecture beside ours.

    Parameters
    ----------
    what : str
        it is
    lecture : number | text | None
        the lecture's; None where it has none
    ours : number | text
        what came out here
    """

    what: str
    lecture: Any
    ours: Any

    @property
    def cells(self) -> tuple[str, str, str]:
        return self.what, "" if self.lecture is None else cell(self.lecture), cell(self.ours)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows under a head; the cells may be numbers or text.

    Parameters
    ----------
    title : str
        above it
    head : tuple[str, ...]
        names of the columns
    rows : Sequence[Sequence[Any]]
        a value for each column
    """

    title: str
    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    @property
    def cells(self) -> list[list[str]]:
        return [[cell(value) for value in row] for row in self.rows]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The columns that hold numbers: they are set flush right."""
        return tuple(
            c for c in range(len(self.head)) if all(not isinstance(row[c], str) or row[c] == "" for row in self.rows)
        )


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, drawn when it is asked for, and words below it that say what it shows.

    Parameters
    ----------
    name : str
        of its file
    caption : str
        what it shows
    draw : Callable[[], Figure]
        makes the figure
    """

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an experiment returns.

    Parameters
    ----------
    passed : bool
        is the criterion met?
    verdict : str
        why, in one sentence with its numbers
    numbers : Mapping[str, Any]
        for programs
    compared : tuple[Beside, ...]
        the lecture's numbers beside ours
    tables : tuple[Table, ...]
        for people
    pictures : tuple[Picture, ...]
        for people
    """

    passed: bool
    verdict: str
    numbers: Mapping[str, Any]
    compared: tuple[Beside, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = field(default=())


def cell(value: Any) -> str:
    """A value as it stands in a table.

    >>> cell(0.1234567), cell(3), cell("none"), cell((1.0, 2.5)), cell(True)
    ('0.1235', '3', 'none', '(1, 2.5)', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list):
        return f"({', '.join(map(cell, value))})"
    return f"{value:,}" if isinstance(value, int) else short(value)
