"""An optimizer: one rule, the links ahead of it and behind it, and groups; what the training loop uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pellucid.errors import ShapeError
from pellucid.lookup import look_up
from pellucid.named_arrays import Arrays, chosen
from pellucid.optim.groups import Group, factors
from pellucid.optim.links import Accumulate, Link
from pellucid.optim.rules.rule import Rule
from pellucid.optim.rules.table import RULES
from pellucid.optim.schedules.schedule import Schedule, fitted
from pellucid.precision import like

P = TypeVar("P", Rule, Link)


@dataclass(frozen=True)
class Optimizer:
    """Pure functions from parameters, gradients and state to the next parameters and state; made by `chain`.

    Parameters
    ----------
    rule : Rule
        how one array changes
    links : tuple[Link, ...]
        what goes around it
    groups : tuple[Group, ...]
        factors for some parameters

    Examples
    --------
    >>> from pellucid.optim import SGD
    >>> opt = chain(SGD(0.5))
    >>> w, g = {"w": np.array([1.0])}, {"w": np.array([0.5])}
    >>> opt.update(w, g, opt.init(w), 1, opt.numbers(0))
    ({'w': array([0.75])}, {})
    """

    rule: Rule
    links: tuple[Link, ...] = ()
    groups: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        if _predicts_itself(self.rule):
            for link in self.links:
                if type(link).after is not Link.after:
                    name = type(self.rule).__name__
                    raise ValueError(
                        f"{name} makes the parameters anew at every step, from its own average that predicts; what "
                        f"{link} does to them would be lost: leave it out (decay is a setting of {name})"
                    )

    @property
    def every(self) -> int:
        """Calls for one update: 1 without `Accumulate`."""
        return next((link.k for link in self.links if isinstance(link, Accumulate)), 1)

    @property
    def averages(self) -> bool:
        """Does prediction use other parameters than those that are trained?"""
        linked = any(type(link).for_prediction is not Link.for_prediction for link in self.links)
        return linked or _predicts_itself(self.rule)

    @property
    def constant(self) -> bool:
        """Are its numbers the same at every step?"""
        parts = (self.rule, *(link for _, link in self._named()))
        return not isinstance(self.rule.lr, Schedule) and not any(_scheduled(part) for part in parts)

    def init(self, params: Arrays) -> Arrays:
        """The state ahead of the first step, flat: "rule.hidden1.weight.m", "ema.hidden1.weight".

        Parameters
        ----------
        params : Arrays
            arrays by name

        Returns
        -------
        dict of arrays
            by name
        """
        for group in self.groups:
            chosen(group.on, params, "Group")
        state = {}
        for name, entries in self.rule.init_all(params).items():
            for entry, value in entries.items():
                if "." in entry:
                    raise ValueError(f"{type(self.rule).__name__}: state is named without dots, got {entry!r}")
                state[f"rule.{name}.{entry}"] = value
        for key, link in self._named():
            state |= {f"{key}.{entry}": value for entry, value in link.init(params).items()}
        return state

    def numbers(self, t: int) -> dict[str, float]:
        """The current value of the rate and of every scheduled setting.

        Parameters
        ----------
        t : int
            the number of calls so far: 0, 1, ...

        Returns
        -------
        dict
            numbers by name
        """
        t //= self.every
        rate = self.rule.lr
        values = {"lr": float(rate(t) if isinstance(rate, Schedule) else rate)}
        for name, schedule in self._schedules:
            values[name] = float(schedule(t))
        return values

    @cached_property
    def _schedules(self) -> list[tuple[str, Schedule]]:
        """All but that of the rate, by the name of the number: it is asked for them at every step."""
        parts = (("rule", self.rule), *self._named())
        return [(f"{key}.{name}", schedule) for key, part in parts for name, schedule in _scheduled(part).items()]

    def update(self, params: Arrays, grads: Arrays, state: Arrays, t: Any, numbers: Any) -> tuple[Arrays, Arrays]:
        """The next parameters and state.

        Parameters
        ----------
        params : Arrays
            arrays by name
        grads : Arrays
            arrays by name
        state : Arrays
            of `init`, or of the last update
        t : int
            the number of this call, from 1
        numbers : dict
            of `numbers(t - 1)`

        Returns
        -------
        tuple
            new parameters, new state
        """
        rule, links, lr = self._at(numbers)
        parts = self._parts(params, grads, state)
        for key, link in links.items():
            grads, parts[key] = link.before(grads, params, parts[key], t)
        k = self.every
        count = t if k == 1 else (t + (k - 1)) // k
        old = dict(parts)
        new, parts["rule"] = self._step(rule, params, grads, parts["rule"], count, lr)
        for key, link in links.items():
            new, parts[key] = link.after(new, parts[key], count, lr, params)
        if k > 1:  # between updates everything stays as it is, to the bit
            due = t % k == 0
            new = _select(due, new, params)
            parts = {key: _select(due, part, old[key]) for key, part in parts.items()}
        return new, {f"{key}.{entry}": value for key, part in parts.items() for entry, value in part.items()}

    def for_prediction(self, params: Arrays, state: Arrays) -> Arrays:
        """The parameters to predict with: averages, where the rule or the chain keeps some.

        Parameters
        ----------
        params : Arrays
            arrays by name
        state : Arrays
            of the last update

        Returns
        -------
        dict of arrays
            by name
        """
        if _predicts_itself(self.rule):
            by_name = _by_parameter(params, _part(state, "rule"))
            params = {name: self.rule.for_prediction(w, by_name[name]) for name, w in params.items()}
        for key, link in self._named():
            params = link.for_prediction(params, _part(state, key))
        return params

    def moved(self, params: Arrays, state: Arrays) -> Arrays:
        """The state for parameters that are not those of the last update: set by hand, or those of an earlier epoch.

        Parameters
        ----------
        params : Arrays
            arrays by name
        state : Arrays
            of the last update

        Returns
        -------
        dict of arrays
            by name
        """
        by_name = _by_parameter(params, _part(state, "rule"))
        moved = {name: self.rule.moved(w, by_name[name]) for name, w in params.items()}
        return state | {f"rule.{name}.{entry}": value for name, part in moved.items() for entry, value in part.items()}

    def fit(self, total_steps: int, steps_per_epoch: float) -> Optimizer:
        """The same for a run of this many calls: times in epochs and of the whole run are filled in.

        Parameters
        ----------
        total_steps : int
            of the run
        steps_per_epoch : float
            of the run

        Returns
        -------
        Optimizer
            a new one
        """
        run = (max(total_steps // self.every, 1), steps_per_epoch / self.every)
        return replace(self, rule=fitted(self.rule, *run), links=tuple(link.fit(*run) for link in self.links))

    def unscheduled(self) -> Optimizer:
        """The same with 0 in the place of every schedule: a step is recorded without them, their numbers come later.

        Returns
        -------
        Optimizer
            a new one; equal for runs of any length

        Examples
        --------
        >>> from pellucid.optim import SGD, Cosine
        >>> chain(SGD(Cosine(0.1, steps=5))).unscheduled() == chain(SGD(Cosine(0.1, steps=7))).unscheduled()
        True
        """
        links = tuple(_without_schedules(link) for link in self.links)
        return replace(self, rule=_without_schedules(self.rule), links=links)

    def _named(self) -> list[tuple[str, Link]]:
        """Links by name; a second one of a kind is called decay2."""
        kinds = [link.name for link in self.links]
        numbered = [f"{kind}{n}" if (n := kinds[: i + 1].count(kind)) > 1 else kind for i, kind in enumerate(kinds)]
        return list(zip(numbered, self.links, strict=True))

    def _at(self, numbers: Any) -> tuple[Rule, dict[str, Link], Any]:
        """Rule and links with numbers for schedules; all are float64, so eager and recorded steps agree to the bit."""
        now = {name: value if hasattr(value, "dtype") else np.float64(value) for name, value in numbers.items()}

        def at(key: str, part: Any) -> Any:
            names = _scheduled(part)
            missing = [f"{key}.{name}" for name in names if f"{key}.{name}" not in now]
            if missing or "lr" not in now:
                raise ValueError(
                    f"the numbers of a step lack {', '.join(missing or ['lr'])}: pass optimizer.numbers(t)"
                )
            return replace(part, **{name: now[f"{key}.{name}"] for name in names}) if names else part

        return (
            at("rule", self.rule),
            {key: at(key, link.for_groups(self.groups)) for key, link in self._named()},
            now["lr"],
        )

    def _parts(self, params: Arrays, grads: Arrays, state: Arrays) -> dict[str, Arrays]:
        """The state of the rule and of each link, after a look at whether everything fits together."""
        for name, w in params.items():
            if name not in grads:
                raise ValueError(f"there is no gradient for {name!r}; there are {', '.join(grads)}")
            if tuple(grads[name].shape) != tuple(w.shape):
                raise ShapeError(f"{name} has shape {tuple(w.shape)}, its gradient {tuple(grads[name].shape)}")
        grouped = {key: _part(state, key) for key in ("rule", *(key for key, _ in self._named()))}
        if sum(map(len, grouped.values())) != len(state):
            foreign = [key for key in state if key.split(".", 1)[0] not in grouped]
            raise ValueError(f"the state of another optimizer: this one does not know {', '.join(foreign)}")
        return grouped

    def _step(self, rule: Rule, params: Arrays, grads: Arrays, state: Arrays, t: Any, lr: Any) -> tuple[Arrays, Arrays]:
        """The rule on each array, with the factors of its groups."""
        new: Arrays = {}
        new_state: Arrays = {}
        by_name = _by_parameter(params, state)
        for name, w in params.items():
            by = factors(name, self.groups)
            mine = rule
            if by.decay != 1.0 and hasattr(rule, "decay"):
                mine = replace(rule, decay=rule.decay * by.decay)  # type: ignore[call-arg]
            rate = like(lr if by.lr == 1.0 else lr * by.lr, w)
            try:
                moved, after = mine.step(w, grads[name], by_name[name], rate, t)
            except KeyError as error:
                raise ValueError(
                    f"the state lacks {error} for {name}: was it made by init of this optimizer, {type(rule).__name__}?"
                ) from error
            new[name] = like(moved, w)  # a rule of one's own may forget dtypes
            new_state |= {f"{name}.{entry}": like(value, by_name[name][entry]) for entry, value in after.items()}
        return new, new_state


def chain(*parts: Any, groups: Iterable[Group] = ()) -> Optimizer:
    """One rule, links on gradients ahead of it, links on parameters behind it, each in order.

    Parameters
    ----------
    *parts : Link | Rule | str | Optimizer
        in the place of the rule may be its name, or an `Optimizer` (of `optimizer` or `chain`), whose links and
        groups are kept
    groups : Iterable[Group]
        factors for the learning rate and the decay of some parameters, by patterns of their names:
        `chain(Adam(1e-3), groups=[Group("*.bias", lr=0.1, decay=0.0)])`. They hold for the rule and for
        `WeightDecay` wherever it stands; a pattern that meets no parameter is an error when training begins

    Returns
    -------
    Optimizer
        to be given to a `Model`

    Examples
    --------
    >>> from pellucid.optim import SGD, ClipNorm, WeightDecay
    >>> chain(ClipNorm(1.0), SGD(0.1), WeightDecay(0.01)).links
    (ClipNorm(limit=1.0), WeightDecay(rate=0.01, on='*.weight', groups=()))
    >>> chain(ClipNorm(1.0), optimizer("sgd", lr=0.1)) == chain(ClipNorm(1.0), SGD(0.1))
    True
    >>> slow = chain(SGD(0.1), groups=[Group("hidden1.*", lr=0.5)])
    """
    members: list[Any] = [look_up("rule", part, RULES)() if isinstance(part, str) else part for part in parts]
    centres = [part for part in members if isinstance(part, Rule | Optimizer)]
    for part in members:
        if not isinstance(part, Rule | Optimizer | Link):
            raise TypeError(
                f"a chain is made of links and one rule, got {part!r}{_remedy(part)}: such as "
                "chain(ClipNorm(1.0), Adam(1e-3))"
            )
    if len(centres) != 1:
        raise ValueError(
            f"a chain has one rule, such as Adam(1e-3) or optimizer('adam'), got {len(centres)}: "
            f"{', '.join(map(repr, members)) or 'nothing'}"
        )
    centre = centres[0]
    whole = centre if isinstance(centre, Optimizer) else Optimizer(centre)
    place, name = members.index(centre), type(whole.rule).__name__
    ahead, behind = members[:place], members[place + 1 :]
    for part in behind:
        if type(part).after is Link.after and type(part).before is not Link.before:
            raise ValueError(f"{part} works on gradients: put it ahead of {name}")
    for part in ahead:
        if type(part).before is Link.before and type(part).after is not Link.after:
            raise ValueError(f"{part} works on parameters: put it behind {name}")
    links = (*ahead, *whole.links, *behind)
    if sum(isinstance(link, Accumulate) for link in links) > 1:
        raise ValueError("a chain has one Accumulate")
    return Optimizer(whole.rule, links, (*whole.groups, *_listed(groups)))


def _listed(groups: Any) -> tuple[Group, ...]:
    listed = tuple(groups) if isinstance(groups, Iterable) and not isinstance(groups, str) else (groups,)
    if isinstance(groups, Group) or not all(isinstance(group, Group) for group in listed):
        raise TypeError(f'groups is a list of optim.Group, such as [Group("*.bias", lr=0.1)], got {groups!r}')
    return listed


def _remedy(part: Any) -> str:
    return f" (write {part.__name__}(...), with brackets)" if isinstance(part, type) else ""


def optimizer(which: Any = "adam", *, groups: Iterable[Group] = (), **settings: Any) -> Optimizer:
    """An optimizer by the name of its rule with settings, of a rule, of a sequence of links and a rule, or itself.

    `groups` are factors for the rate and the decay of some parameters, as in `chain`.

    Parameters
    ----------
    which : str | Rule | sequence | Optimizer
        a name of `RULES`, a rule, links and a rule, or itself
    groups : Iterable[Group]
        factors for the rate and the decay of some parameters, as in `chain`
    **settings
        of the rule, where it is given by name

    Returns
    -------
    Optimizer
        to be given to a `Model`

    Examples
    --------
    >>> optimizer("sgd", lr=0.1).rule
    SGD(lr=0.1)
    """
    if isinstance(which, str):
        return chain(look_up("rule", which, RULES)(**settings), groups=groups)
    if settings:
        raise TypeError(f"settings belong to a rule by name, got {which!r} and {', '.join(settings)}")
    if isinstance(which, Optimizer | Rule):
        return chain(which, groups=groups)
    if isinstance(which, tuple | list):
        return chain(*which, groups=groups)
    raise TypeError(f"an optimizer is a name, a Rule, links and a rule, or an Optimizer, got {which!r}")


def _scheduled(part: Any) -> dict[str, Schedule]:
    """Settings that are schedules; the rate is passed on its own."""
    if not is_dataclass(part):
        return {}
    values = {field.name: getattr(part, field.name) for field in fields(part) if field.name != "lr"}
    return {name: value for name, value in values.items() if isinstance(value, Schedule)}


def _without_schedules(part: P) -> P:
    names = [*_scheduled(part), *(["lr"] if isinstance(getattr(part, "lr", None), Schedule) else [])]
    return replace(part, **dict.fromkeys(names, 0.0)) if names else part  # type: ignore[type-var]


def _part(state: Arrays, key: str) -> Arrays:
    return {name[len(key) + 1 :]: value for name, value in state.items() if name.startswith(f"{key}.")}


def _by_parameter(params: Arrays, state: Arrays) -> dict[str, Arrays]:
    """The state of the rule, of each array: {"out.weight.m": ...} as {"out.weight": {"m": ...}}."""
    by_name: dict[str, Arrays] = {name: {} for name in params}
    for key, value in state.items():
        name, entry = key.rsplit(".", 1)
        if name not in by_name:
            raise ValueError(f"the state is of other parameters: {key}")
        by_name[name][entry] = value
    return by_name


def _predicts_itself(rule: Rule) -> bool:
    """Does the rule keep an average to predict with?"""
    return type(rule).for_prediction is not Rule.for_prediction


def _select(due: Any, new: Arrays, old: Arrays) -> Arrays:
    return {name: np.where(due, value, old[name]) for name, value in new.items()}
