"""The table of schedules by name."""

from __future__ import annotations

from numbers import Real
from typing import Any

from pellucid.lookup import look_up
from pellucid.optim.schedules import cycles, decays
from pellucid.optim.schedules.schedule import Schedule

SCHEDULES: dict[str, type[Schedule]] = {
    "constant": decays.Constant,
    "exp_steps": decays.ExpSteps,
    "inverse_time": decays.InverseTime,
    "inverse_sqrt": decays.InverseSqrt,
    "inverse_scaling": decays.InverseScaling,
    "invscaling": decays.InverseScaling,
    "step": decays.Step,
    "exponential": decays.Exponential,
    "polynomial": decays.Polynomial,
    "linear": decays.Polynomial,
    "piecewise": decays.Piecewise,
    "warmup": decays.Warmup,
    "cosine": cycles.Cosine,
    "coslog": cycles.CosLog,
    "flat_cos": cycles.FlatCos,
    "one_cycle": cycles.OneCycle,
}


def schedule(which: Any, **settings: Any) -> Schedule:
    """A schedule by name with its settings, of a number (constant), or itself.

    Parameters
    ----------
    which : str | number | Schedule
        a name of `SCHEDULES`, a number (constant), or itself
    **settings
        of the schedule, where it is given by name

    Returns
    -------
    Schedule
        the record

    Examples
    --------
    >>> schedule("cosine", start=0.1, steps=100)(50)
    0.05
    >>> schedule(0.1)
    Constant(value=0.1)
    """
    if isinstance(which, str):
        return look_up("schedule", which, SCHEDULES)(**settings)
    if isinstance(which, Schedule | Real) and settings:
        raise TypeError(f"settings belong to a schedule by name, got {which!r} and {', '.join(settings)}")
    if isinstance(which, Real):
        return decays.Constant(float(which))
    if isinstance(which, Schedule):
        return which
    raise TypeError(f"a schedule is a name, a number or a Schedule, got {which!r}")
