"""The update rule of a table's networks: by name or as a record, with a rate that follows a schedule."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace

from pellucid import optim
from pellucid.lookup import look_up

USUAL = optim.Adam(beta2=0.95)
"""What "auto" is."""

SCHEDULES = {
    name: kind
    for name, kind in optim.SCHEDULES.items()
    if all(field.default is not MISSING for field in fields(kind)[1:])
}
"""Schedules that need no more than a rate: their first setting."""


def step_rule(rule: str | optim.Rule, schedule: str | optim.Schedule, rate: float | str, usual: float) -> optim.Rule:
    """The rule with its rate.

    rate: the peak of the learning rate, or "auto": `usual` for Adam, and for others as much more or less as their
    usual rates are; a rule that is a record brings its own.

    >>> step_rule("sgd", "constant", "auto", usual=0.04)
    SGD(lr=Constant(value=0.4))
    """
    if isinstance(rule, str):
        record = USUAL if rule == "auto" else look_up("rule", rule, optim.RULES)()
        peak = usual * _rate(record) / _rate(USUAL) if isinstance(rate, str) else rate
    elif isinstance(rule.lr, optim.Schedule):
        return rule
    else:
        record, peak = rule, _rate(rule) if isinstance(rate, str) else rate
    if isinstance(schedule, optim.Schedule):
        return replace(record, lr=schedule)
    if schedule == "auto":
        return replace(record, lr=optim.CosLog(peak, cycles=1))
    return replace(record, lr=look_up("schedule", schedule, SCHEDULES)(peak))


def peak_of(rule: optim.Rule) -> float | str:
    """The peak of its learning rate, where its schedule tells; else "auto".

    >>> peak_of(step_rule("auto", "auto", "auto", usual=0.04))
    0.04
    """
    first = getattr(rule.lr, fields(rule.lr)[0].name) if isinstance(rule.lr, optim.Schedule) else rule.lr
    return float(first) if isinstance(first, int | float) else "auto"


def _rate(rule: optim.Rule) -> float:
    assert not isinstance(rule.lr, optim.Schedule)
    return float(rule.lr)
