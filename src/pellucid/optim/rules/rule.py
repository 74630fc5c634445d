"""What an update rule is: `init` makes the state of one parameter array, `step` the next array and state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.graph.core.spec import Array
from pellucid.named_arrays import Arrays
from pellucid.optim.checks import check_amounts, check_shares
from pellucid.optim.schedules.schedule import Number
from pellucid.precision import like
from pellucid.records import Record


@dataclass(frozen=True)
class Rule(Record, ABC):
    """How one parameter array changes. A rule of one's own is `init` and `step`.

    Any setting may be a `Schedule`; at each step the optimizer puts the current number in its place. Write plain NumPy
    that can be recorded: nothing changes in place, choices are `np.where`.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate

    Examples
    --------
    >>> class SignDescent(Rule):
    ...     def init(self, w):
    ...         return {}
    ...
    ...     def step(self, w, g, s, lr, t):
    ...         return w - lr * np.sign(g), {}
    >>> SignDescent(lr=0.5).step(np.array([1.0, 2.0]), np.array([-3.0, 0.1]), {}, 0.5, 1)[0]
    array([1.5, 1.5])
    """

    lr: Number = 0.01

    amounts: ClassVar[tuple[str, ...]] = ("lr",)  # settings that are numbers from 0
    shares: ClassVar[tuple[str, ...]] = ()  # settings in [0, 1)

    def __post_init__(self) -> None:
        check_amounts(self, *self.amounts)
        check_shares(self, *self.shares)

    @abstractmethod
    def init(self, w: Array) -> Arrays:
        """The state ahead of the first step: arrays like w, and numbers (0-d float64 arrays). Names have no dots.

        Parameters
        ----------
        w : Array
            one parameter array

        Returns
        -------
        dict of arrays
            by name
        """

    def init_all(self, params: Arrays) -> dict[str, Arrays]:
        """The state of all arrays: `init` of each. A rule that goes by their names or order decides here.

        Parameters
        ----------
        params : Arrays
            arrays by name

        Returns
        -------
        dict of dicts of arrays
            the state by name of the parameter
        """
        return {name: self.init(w) for name, w in params.items()}

    @abstractmethod
    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        """One step of one parameter array.

        Parameters
        ----------
        w : Array
            the array
        g : Array
            its gradient
        s : Arrays
            its state
        lr : number
            the current rate
        t : int
            the number of this step, from 1

        Returns
        -------
        tuple
            new array, new state
        """

    def for_prediction(self, w: Array, s: Arrays) -> Array:
        """The array to predict with: itself, or an average that the rule keeps.

        Parameters
        ----------
        w : Array
            the array
        s : Arrays
            its state

        Returns
        -------
        array
            like w
        """
        return w

    def moved(self, w: Array, s: Arrays) -> Arrays:
        """The state for an array that somebody else has put elsewhere: what the rule knows of places begins there.

        Parameters
        ----------
        w : Array
            the array
        s : Arrays
            the state so far

        Returns
        -------
        dict of arrays
            by name
        """
        return s


def zeros(w: Array, *names: str) -> Arrays:
    """State arrays that begin at 0, like w.

    >>> zeros(np.ones(2), "m", "s")
    {'m': array([0., 0.]), 's': array([0., 0.])}
    """
    return {name: np.zeros(np.shape(w), np.asarray(w).dtype) for name in names}  # not touched before it is used


def counts(*names: str, start: float = 0.0) -> Arrays:
    """State that is one number; in float64, whatever the parameters are.

    >>> counts("c")
    {'c': array(0.)}
    """
    return {name: np.array(start) for name in names}


def mix(beta: Any, old: Array, new: Array) -> Array:
    """A moving average: beta old + (1 - beta) new.

    >>> mix(0.75, np.array([4.0]), np.array([8.0]))
    array([5.])
    """
    return like(beta, old) * old + like(1 - beta, old) * new


def correction(beta: Any, c: Any) -> Any:
    """What a moving average from 0 has gathered of a constant 1: c <- beta c + (1 - beta), one number.

    Dividing by it retains a constant gradient at every step, also when beta changes on the way: it is the lectures'
    Σ_k λ_k Π_{l>k} (1 - λ_l) with λ = 1 - beta. For a constant beta it is 1 - beta^t.

    >>> c = correction(0.5, correction(0.5, 0.0))
    >>> c, 1 - 0.5**2
    (0.75, 0.75)
    """
    return beta * c + (1 - beta)


def root(s: Array, eps: Any, inside: bool) -> Array:
    """√s + eps (Kingma and Ba, PyTorch, Keras), or √(s + eps) (the lectures).

    >>> root(np.array([0.0]), 0.25, inside=False), root(np.array([0.0]), 0.25, inside=True)
    (array([0.25]), array([0.5]))
    """
    eps = like(eps, s)
    return np.sqrt(s + eps) if inside else np.sqrt(s) + eps
