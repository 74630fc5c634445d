"""What a schedule is: a number as a pure function of the step. Any hyper-parameter may be one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from pellucid.amounts import is_count
from pellucid.optim.checks import check_above
from pellucid.records import Record

T = TypeVar("T")


@dataclass(frozen=True)
class Epochs:
    """A time in epochs, where a schedule asks for steps; `fit` turns it into steps.

    Parameters
    ----------
    count : float
        how many

    Examples
    --------
    >>> Epochs(2.5).fit(total_steps=1000, steps_per_epoch=40)
    100
    """

    count: float

    def __post_init__(self) -> None:
        check_above(self, "count")

    def fit(self, total_steps: int, steps_per_epoch: float) -> int:
        """So many steps, at least one.

        Parameters
        ----------
        total_steps : int
            of the run
        steps_per_epoch : float
            of the run

        Returns
        -------
        int
            steps
        """
        return max(1, round(self.count * steps_per_epoch))


Steps = int | Epochs | None
"""A time: a number of steps, epochs, or None for the whole run."""


@dataclass(frozen=True)
class Schedule(Record, ABC):
    """A number for each step. t = 0, 1, 2, ... is the number of updates made so far.

    Times in epochs and the length of the whole run are open until `fit` fills them in; the training loop does that.
    """

    @abstractmethod
    def __call__(self, t: int) -> float:
        """The number for the next update.

        Parameters
        ----------
        t : int
            updates made so far

        Returns
        -------
        float
            the number
        """

    def fit(self, total_steps: int, steps_per_epoch: float) -> Schedule:
        """The same for a run of this length: epochs become steps, `steps=None` the whole run.

        Parameters
        ----------
        total_steps : int
            of the run
        steps_per_epoch : float
            of the run

        Returns
        -------
        Schedule
            a new one
        """
        return fitted(self, total_steps, steps_per_epoch)

    def known(self, field: str) -> int:
        """A time in steps, or an error that says how to get it.

        Parameters
        ----------
        field : str
            its name

        Returns
        -------
        int
            steps
        """
        return _known(self, field, getattr(self, field))

    def known_times(self, field: str) -> list[int]:
        """Several.

        Parameters
        ----------
        field : str
            its name

        Returns
        -------
        list of int
            steps
        """
        return [_known(self, field, time) for time in getattr(self, field)]


def _known(who: Schedule, field: str, time: Steps) -> int:
    if isinstance(time, Epochs) or time is None:
        raise ValueError(
            f"{type(who).__name__}: {field}={time!r} depends on the run: give a number of steps, or call "
            ".fit(total_steps, steps_per_epoch) first, as training does"
        )
    return time


Number = float | Schedule
"""A hyper-parameter: fixed or scheduled."""


def fitted(record: T, total_steps: int, steps_per_epoch: float) -> T:
    """A record (schedule, rule, link) whose schedules and times are those of a run."""

    def resolve(name: str, value: Any) -> Any:
        if isinstance(value, Schedule | Epochs):
            return value.fit(total_steps, steps_per_epoch)
        if isinstance(value, tuple):
            return tuple(resolve(name, part) for part in value)
        return total_steps if name == "steps" and value is None else value

    old = {field.name: getattr(record, field.name) for field in fields(record)}  # type: ignore[arg-type]
    new = {name: resolve(name, value) for name, value in old.items()}
    changed = {name: value for name, value in new.items() if value is not old[name]}
    return replace(record, **changed) if changed else record  # type: ignore[type-var]


def check_times(who: Any, *names: str) -> None:
    """Fields that are times: at least one step."""
    for name in names:
        value = getattr(who, name)
        if value is not None and not isinstance(value, Epochs) and not is_count(value):
            raise ValueError(f"{type(who).__name__}: {name} is a number of steps from 1 or Epochs, got {value!r}")
