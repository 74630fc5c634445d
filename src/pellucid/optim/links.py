"""Links of a chain: what happens to all gradients ahead of the rule, and to all parameters behind it."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.amounts import is_count
from pellucid.named_arrays import Arrays, On, chosen, matches
from pellucid.optim.checks import check_above, check_amounts
from pellucid.optim.groups import Group, factors
from pellucid.optim.schedules.schedule import Number, fitted
from pellucid.precision import like
from pellucid.records import Record


class Link(Record, ABC):
    """A part of a chain. It overrides `before` (gradients) or `after` (parameters), or both.

    Links are frozen dataclasses, their settings may be schedules. State is a flat dict of arrays, named after
    parameters; keys in round brackets are numbers.
    """

    name: ClassVar[str] = "link"

    def init(self, params: Arrays) -> Arrays:
        """The state ahead of the first step.

        Parameters
        ----------
        params : Arrays
            arrays by name

        Returns
        -------
        dict of arrays
            by name
        """
        return {}

    def before(self, grads: Arrays, params: Arrays, state: Arrays, t: Any) -> tuple[Arrays, Arrays]:
        """Ahead of the rule, at every call.

        Parameters
        ----------
        grads : Arrays
            arrays by name
        params : Arrays
            arrays by name
        state : Arrays
            of this link
        t : int
            counts calls from 1

        Returns
        -------
        tuple
            new gradients, new state
        """
        return grads, state

    def after(self, params: Arrays, state: Arrays, t: Any, lr: Any, old: Arrays) -> tuple[Arrays, Arrays]:
        """Behind the rule, at every update.

        Parameters
        ----------
        params : Arrays
            arrays by name, those after the rule
        state : Arrays
            of this link
        t : int
            counts updates from 1
        lr : number
            the current rate
        old : Arrays
            the parameters ahead of the update

        Returns
        -------
        tuple
            new parameters, new state
        """
        return params, state

    def for_prediction(self, params: Arrays, state: Arrays) -> Arrays:
        """The parameters to predict with.

        Parameters
        ----------
        params : Arrays
            arrays by name
        state : Arrays
            of this link

        Returns
        -------
        dict of arrays
            by name
        """
        return params

    def fit(self, total_steps: int, steps_per_epoch: float) -> Link:
        """The same for a run of this length.

        Parameters
        ----------
        total_steps : int
            of the run
        steps_per_epoch : float
            of the run

        Returns
        -------
        Link
            a new one
        """
        return fitted(self, total_steps, steps_per_epoch)

    def for_groups(self, groups: tuple[Group, ...]) -> Link:
        """The same, knowing the factors of the groups.

        Parameters
        ----------
        groups : tuple[Group, ...]
            of the chain

        Returns
        -------
        Link
            a new one
        """
        return self


@dataclass(frozen=True)
class ClipNorm(Link):
    """All gradients together have at most this Euclidean norm: g <- g limit / max(‖g‖, limit) (Pascanu et al., 2013).

    Gradients within the limit keep every bit. Squares are summed in float64, where they do not overflow.

    Parameters
    ----------
    limit : Number
        the largest norm

    Examples
    --------
    >>> ClipNorm(1.0).before({"a": np.array([3.0]), "b": np.array([4.0])}, {}, {}, 1)[0]
    {'a': array([0.6]), 'b': array([0.8])}
    """

    limit: Number
    name: ClassVar[str] = "clip_norm"

    def __post_init__(self) -> None:
        check_above(self, "limit")

    def before(self, grads: Arrays, params: Arrays, state: Arrays, t: Any) -> tuple[Arrays, Arrays]:
        limit: Any = self.limit
        norm = np.sqrt(sum(np.sum(np.square(g.astype(np.float64))) for g in grads.values()))
        scale = limit / np.maximum(norm, limit)
        return {name: g * like(scale, g) for name, g in grads.items()}, state


@dataclass(frozen=True)
class ClipValue(Link):
    """Every entry of every gradient is clipped to [-limit, limit].

    Parameters
    ----------
    limit : Number
        the largest size of an entry

    Examples
    --------
    >>> ClipValue(1.0).before({"a": np.array([3.0, -0.5])}, {}, {}, 1)[0]
    {'a': array([ 1. , -0.5])}
    """

    limit: Number
    name: ClassVar[str] = "clip_value"

    def __post_init__(self) -> None:
        check_above(self, "limit")

    def before(self, grads: Arrays, params: Arrays, state: Arrays, t: Any) -> tuple[Arrays, Arrays]:
        limit: Any = self.limit
        clipped = {k: np.minimum(np.maximum(g, like(-limit, g)), like(limit, g)) for k, g in grads.items()}
        return clipped, state


@dataclass(frozen=True)
class Accumulate(Link):
    """Update on every k-th call, by the mean of the k gradients: batches k times as large as memory allows.

    In between parameters and the state of everything behind stay as they are. Schedules count updates, not calls. For
    batches of the same size it is one batch of all; the last calls of a run that do not fill k are lost.

    Parameters
    ----------
    k : int
        calls for one update

    Examples
    --------
    >>> link, grads = Accumulate(2), {"w": np.array([4.0])}
    >>> _, state = link.before({"w": np.array([2.0])}, grads, link.init(grads), 1)
    >>> link.before(grads, grads, state, 2)[0]
    {'w': array([3.])}
    """

    k: int
    name: ClassVar[str] = "accumulate"

    def __post_init__(self) -> None:
        if not is_count(self.k):
            raise ValueError(f"Accumulate: k is a number of batches from 1, got {self.k!r}")

    def init(self, params: Arrays) -> Arrays:
        return {name: np.zeros(np.shape(w), np.asarray(w).dtype) for name, w in params.items()}

    def before(self, grads: Arrays, params: Arrays, state: Arrays, t: Any) -> tuple[Arrays, Arrays]:
        first = (t - 1) % self.k == 0
        total = {name: np.where(first, g, state[name] + g) for name, g in grads.items()}
        return {name: g / self.k for name, g in total.items()}, total


@dataclass(frozen=True)
class WeightDecay(Link):
    """Decoupled decay (Loshchilov and Hutter, 2019): w <- w - lr rate w_old, whatever the rule has done.

    lr is the current rate, schedule and group included, so a lower rate decays less. With SGD it is the same as the
    penalty ½ rate ‖w‖², with Adam it is not: there the penalty's gradient is scaled like any other.

    Parameters
    ----------
    rate : Number
        of the decay
    on : On
        names of parameters, with * for anything
    groups : tuple[Group, ...]
        factors; a chain fills them in

    Examples
    --------
    >>> link, w = WeightDecay(0.5), {"out.weight": np.array([2.0]), "out.bias": np.array([2.0])}
    >>> link.after(w, {}, 1, 0.25, w)[0]
    {'out.weight': array([1.75]), 'out.bias': array([2.])}
    """

    rate: Number
    on: On = "*.weight"
    groups: tuple[Group, ...] = ()  # given by the optimizer
    name: ClassVar[str] = "decay"

    def __post_init__(self) -> None:
        check_amounts(self, "rate")

    def init(self, params: Arrays) -> Arrays:
        chosen(self.on, params, "WeightDecay")
        return {}

    def after(self, params: Arrays, state: Arrays, t: Any, lr: Any, old: Arrays) -> tuple[Arrays, Arrays]:
        def shrunk(name: str, w: Any) -> Any:
            by = factors(name, self.groups)
            return w - like(lr * (by.lr * by.decay) * self.rate, w) * old[name]

        return {name: shrunk(name, w) if matches(name, self.on) else w for name, w in params.items()}, state

    def for_groups(self, groups: tuple[Group, ...]) -> Link:
        return WeightDecay(self.rate, self.on, groups)


@dataclass(frozen=True)
class Constraint(Link):
    """What has `project(params)` is applied after every update, for instance `nn.MaxNorm(3.0)`.

    Parameters
    ----------
    by : object
        has `project(params)`, which returns the new ones

    Examples
    --------
    >>> class NonNegative:
    ...     def project(self, params):
    ...         return {name: np.maximum(w, 0.0) for name, w in params.items()}
    >>> Constraint(NonNegative()).after({"w": np.array([-1.0, 2.0])}, {}, 1, 0.1, {})[0]
    {'w': array([0., 2.])}
    """

    by: Any
    name: ClassVar[str] = "constraint"

    def __post_init__(self) -> None:
        if not callable(getattr(self.by, "project", None)):
            raise TypeError(f"Constraint: expects an object with project(params), got {self.by!r}")

    def after(self, params: Arrays, state: Arrays, t: Any, lr: Any, old: Arrays) -> tuple[Arrays, Arrays]:
        return dict(self.by.project(params)), state
