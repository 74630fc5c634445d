"""Rates that follow what training shows: controllers, which the loop tells how it goes. The only mutable things."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

from pellucid.amounts import is_number
from pellucid.optim.checks import check_amounts, check_choice


class Controller(ABC):
    """Told a value after every epoch; `factor` multiplies the rate. `state` and `load` are plain JSON."""

    def __init__(self) -> None:
        self._state: dict[str, Any] = {"factor": 1.0, "best": None, "bad": 0, "rest": 0}

    @abstractmethod
    def observe(self, value: float) -> None:
        """The newest value of what is watched.

        Parameters
        ----------
        value : float
            of the epoch that just ended
        """

    @property
    def factor(self) -> float:
        """What the rate is to be multiplied by now."""
        return float(self._state["factor"])

    @property
    def spent(self) -> bool:
        """Nothing is left to lower: training may as well stop."""
        return False

    def state(self) -> dict[str, Any]:
        """All that changes, as plain JSON."""
        return dict(self._state)

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state.

        Parameters
        ----------
        state : dict[str, Any]
            what `state` gave
        """
        if set(state) != set(self._state):
            raise ValueError(
                f"{type(self).__name__}: a state has {', '.join(self._state)}, got {', '.join(state) or 'nothing'}"
            )
        self._state = dict(state)

    def _gain(self, value: float, mode: str) -> float:
        """How much better than the best: any first value is, NaN never."""
        best = self._state["best"]
        if math.isnan(value):
            return -math.inf
        if best is None:
            return math.inf
        return float(best - value if mode == "min" else value - best)


class ReduceOnPlateau(Controller):
    """Multiply the rate by a factor when a value no longer improves. The numbers are PyTorch's, with an absolute
    threshold.

    Parameters
    ----------
    factor : float
        below 1
    patience : int
        more epochs than these without a gain
    min_delta : float
        a gain by less is none
    mode : str
        "min" or "max" is better
    cooldown : int
        epochs after a fall that do not count
    min_factor : float
        all falls together go no lower

    Examples
    --------
    >>> plateau = ReduceOnPlateau(factor=0.5, patience=1)
    >>> for loss in (1.0, 1.0, 1.0):
    ...     plateau.observe(loss)
    >>> plateau.factor
    0.5
    """

    def __init__(
        self,
        factor: float = 0.5,
        patience: int = 5,
        min_delta: float = 0.0,
        mode: str = "min",
        cooldown: int = 0,
        min_factor: float = 0.0,
    ) -> None:
        super().__init__()
        self.by, self.patience, self.min_delta = factor, patience, min_delta
        self.mode, self.cooldown, self.min_factor = mode, cooldown, min_factor
        check_choice(self, "mode", "min", "max")
        check_amounts(self, "patience", "min_delta", "cooldown", "min_factor")
        if not is_number(factor, 0, 1, above=True):
            raise ValueError(f"ReduceOnPlateau: factor is a number in (0, 1), got {factor!r}")

    def observe(self, value: float) -> None:
        s = self._state
        if self._gain(value, self.mode) > self.min_delta:
            s["best"], s["bad"] = float(value), 0
        else:
            s["bad"] += 1
        if s["rest"] > 0:
            s["rest"], s["bad"] = s["rest"] - 1, 0
        if s["bad"] > self.patience:
            s["factor"] = max(s["factor"] * self.by, self.min_factor)
            s["rest"], s["bad"] = self.cooldown, 0

    @property
    def spent(self) -> bool:
        return self.factor <= self.min_factor


class Adaptive(Controller):
    """scikit-learn's learning_rate="adaptive": divide the rate by 5 when a value no longer improves.

    It does so when `patience` epochs in a row and one more bring no gain. `spent` when the rate is down to 1e-6 and
    it happens again, where scikit-learn stops.

    Parameters
    ----------
    start : float
        the first rate
    patience : int
        epochs
    min_delta : float
        a gain by less is none
    mode : str
        "min" or "max" is better
    divide : float
        what the rate is divided by

    Examples
    --------
    >>> adaptive = Adaptive(start=1e-3, patience=1)
    >>> for loss in (1.0, 1.0, 1.0):
    ...     adaptive.observe(loss)
    >>> adaptive.factor
    0.2
    """

    def __init__(
        self, start: float = 1e-3, patience: int = 10, min_delta: float = 1e-4, mode: str = "min", divide: float = 5.0
    ) -> None:
        super().__init__()
        self.start, self.patience, self.min_delta, self.mode, self.divide = start, patience, min_delta, mode, divide
        check_choice(self, "mode", "min", "max")
        check_amounts(self, "start", "patience", "min_delta")
        if not is_number(divide, 1, above=True):
            raise ValueError(f"Adaptive: divide is a number above 1, got {divide!r}")

    def observe(self, value: float) -> None:
        s, gain = self._state, self._gain(value, self.mode)
        s["bad"] = s["bad"] + 1 if gain < self.min_delta else 0
        if gain > 0:  # unlike on a plateau, small gains raise the bar, too
            s["best"] = float(value)
        if s["bad"] > self.patience:
            if self.start * s["factor"] <= 1e-6:
                s["rest"] = 1
            else:
                s["factor"], s["bad"] = s["factor"] / self.divide, 0

    @property
    def spent(self) -> bool:
        return bool(self._state["rest"])
