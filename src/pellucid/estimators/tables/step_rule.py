"""The update rule of a table's networks: by name or as a record, with a rate that follows a schedule."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace

from pellucid import optim
from pellucid.lookup import look_up

USUAL = optim.Adam(beta2=0.95)
"""What "auto" is."""

MULTIPLES: dict[type[optim.Rule], float] = {
    optim.SGD: 60.0,
    optim.AverageMomentum: 60.0,
    optim.Momentum: 30.0,
    optim.Nesterov: 30.0,
    optim.VelocityMomentum: 30.0,
    optim.VelocityNesterov: 30.0,
    optim.SklearnSGD: 30.0,
    optim.RMSprop: 1.0,
    optim.Lion: 0.2,
}
"""Rates as multiples of Adam's, where usual ones would mislead: a weight counts as much less as its layer is wide (the
NTK's scaling), which rules feel whose steps are as large as gradients are. Of others their usual rates tell."""

SCHEDULES = {
    name: kind
    for name, kind in optim.SCHEDULES.items()
    if all(field.default is not MISSING for field in fields(kind)[1:])
}
"""Schedules that need no more than a rate: their first setting."""


def step_rule(rule: str | optim.Rule, schedule: str | optim.Schedule, rate: float | str, usual: float) -> optim.Rule:
    """The rule with its rate.

    rate: the peak of the learning rate, or "auto": `usual` for Adam, and a multiple of it for others; a rule that is a
    record brings its own.

    >>> step_rule("sgd", "constant", "auto", usual=0.04)
    SGD(lr=Constant(value=2.4))
    >>> step_rule("schedule_free_adamw", "auto", "auto", usual=0.04).lr
    Constant(value=0.1)
    """
    if isinstance(rule, str):
        record = _record(rule)
        peak = usual * multiple(record) if isinstance(rate, str) else rate
    elif isinstance(rule.lr, optim.Schedule):
        return rule
    else:
        record, peak = rule, _rate(rule) if isinstance(rate, str) else rate
    if isinstance(schedule, optim.Schedule):
        return replace(record, lr=schedule)
    if schedule == "auto":
        return replace(record, lr=optim.Constant(peak) if averages(record) else optim.CosLog(peak, cycles=1))
    return replace(record, lr=look_up("schedule", schedule, SCHEDULES)(peak))


def averages(rule: optim.Rule) -> bool:
    """Does the rule predict with an average of its own? Then it takes no other average, nor a decay beside it."""
    return optim.Optimizer(rule).averages


def multiple(rule: str | optim.Rule) -> float:
    """How many times Adam's the rate of a rule is.

    Decoupled decay is a share of the rate: it has to be so many times smaller, or it is all that such a rule does.

    >>> multiple("auto"), multiple("momentum"), multiple(optim.NAdam(0.5))
    (1.0, 30.0, 2.0)
    """
    kind = type(_record(rule))
    if kind in MULTIPLES or kind not in optim.RULES.values():
        return MULTIPLES.get(kind, 1.0)  # of one's own nothing is known
    return _rate(kind()) / _rate(USUAL)


def _record(rule: str | optim.Rule) -> optim.Rule:
    if isinstance(rule, optim.Rule):
        return rule
    record: optim.Rule = USUAL if rule == "auto" else look_up("rule", rule, optim.RULES)()
    return record


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
