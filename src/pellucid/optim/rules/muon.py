"""Muon: hidden matrices go in orthogonal steps, everything else by AdamW."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pellucid.amounts import is_count
from pellucid.graph.core.spec import Array
from pellucid.named_arrays import Arrays, On, chosen, matches
from pellucid.optim.checks import check_amounts, check_choice
from pellucid.optim.rules.adam import AdamW
from pellucid.optim.rules.rule import Rule, mix, zeros
from pellucid.optim.schedules.schedule import Number
from pellucid.precision import like

QUINTIC = (3.4445, -4.7750, 2.0315)
"""a, b, c of the round σ <- a σ + b σ³ + c σ⁵: steep at 0, so that small singular values are soon near 1."""

TINY = 1e-7
"""Keeps the norm of a gradient of zeros from 0."""

ADAM_RATE = {"rms": 1.0, "spectral": 0.015}
"""The rate of AdamW over that of Muon, by the kind of scale."""


@dataclass(frozen=True)
class Muon(Rule):
    """Jordan et al., 2024: v <- beta v + (1 - beta) g;   w <- (1 - lr decay) w - lr scale · U,
    where U makes (1 - beta) g + beta v orthogonal: the same directions, singular values of about 1 (`orthogonalized`).

    That is for matrices between hidden units. Biases, scales, embeddings and the output layer go by AdamW, with the
    same `decay`; `Group` takes them out of it or changes their rate.

    Parameters
    ----------
    lr : float | Schedule
        the learning rate
    beta : float | Schedule
        the share of itself that the velocity v keeps
    nesterov : bool
        look ahead, as above; without, v itself is made orthogonal
    rounds : int
        of the iteration that makes a matrix orthogonal
    scale : str
        "rms" is 0.2 √max(n_in, n_out): steps as large as those of Adam, for its rates (Liu et al., 2025); "spectral" is
        √max(1, n_out / n_in), which bounds what a step does to the outputs, for rates around 0.02
    decay : float | Schedule
        of all parameters, times the rate
    on : On | None
        names of matrices that go by Muon; None is all matrices called weight except the last one, the output layer's
    beta1 : float | Schedule
        of AdamW
    beta2 : float | Schedule
        of AdamW
    eps : float | Schedule
        of AdamW
    adam_rate : float | Schedule | None
        the rate of AdamW is lr times this; None is 1 with "rms", and 0.015 with "spectral"

    Examples
    --------
    >>> rule = Muon(lr=0.02, scale="spectral")
    >>> W, b = np.eye(3), np.zeros(3)
    >>> list(rule.init(W)), list(rule.init(b))
    (['v'], ['m', 's', 'c1', 'c2'])
    >>> moved, _ = rule.step(W, np.diag([3.0, 1.0, -0.1]), rule.init(W), 0.5, 1)
    >>> (moved - W).diagonal().round(1)
    array([-0.4, -0.6,  0.6])
    """

    lr: Number = 1e-3
    beta: Number = 0.95
    nesterov: bool = True
    rounds: int = 5
    scale: str = "rms"
    decay: Number = 0.0
    on: On | None = None
    beta1: Number = 0.9
    beta2: Number = 0.95
    eps: Number = 1e-8
    adam_rate: Number | None = None
    amounts: ClassVar = ("lr", "decay", "eps")
    shares: ClassVar = ("beta", "beta1", "beta2")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.on is None or isinstance(self.on, str)):
            object.__setattr__(self, "on", tuple(self.on))
        if self.adam_rate is not None:
            check_amounts(self, "adam_rate")
        if not is_count(self.rounds):
            raise ValueError(f"Muon: rounds is a whole number from 1, got {self.rounds!r}")
        check_choice(self, "scale", *ADAM_RATE)

    def init(self, w: Array) -> Arrays:
        return zeros(w, "v") if np.ndim(w) == 2 else self._adam.init(w)

    def init_all(self, params: Arrays) -> dict[str, Arrays]:
        hidden = self._hidden(params)
        return {name: (self if name in hidden else self._adam).init(w) for name, w in params.items()}

    def step(self, w: Array, g: Array, s: Arrays, lr: Any, t: Any) -> tuple[Array, Arrays]:
        if "v" not in s:  # what the state was made for
            factor = ADAM_RATE[self.scale] if self.adam_rate is None else self.adam_rate
            return self._adam.step(w, g, s, lr * factor, t)
        v = mix(self.beta, s["v"], g)
        way = orthogonalized(mix(self.beta, v, g) if self.nesterov else v, self.rounds)
        n_in, n_out = w.shape
        scale = 0.2 * max(n_in, n_out) ** 0.5 if self.scale == "rms" else max(1.0, n_out / n_in) ** 0.5
        return like(1 - lr * self.decay, w) * w - like(lr * scale, w) * way, {"v": v}

    @property
    def _adam(self) -> AdamW:
        return AdamW(beta1=self.beta1, beta2=self.beta2, eps=self.eps, decay=self.decay)

    def _hidden(self, params: Arrays) -> list[str]:
        """The names of the matrices that go by Muon."""
        matrices = [name for name, w in params.items() if np.ndim(w) == 2]
        if self.on is None:
            return [name for name in matrices if matches(name, "*.weight")][:-1]
        return [name for name in chosen(self.on, params, "Muon") if name in matrices]


def orthogonalized(matrix: Array, rounds: int = 5) -> Array:
    """Nearly U Vᵀ of a matrix U Σ Vᵀ, by products alone: singular values between about 0.7 and 1.2 (Newton and Schulz).

    Those that are below a thousandth of the norm come less far in five rounds. The product of the shorter side with
    itself is the cheaper one.

    >>> orthogonalized(np.array([[0.0, 3.0], [1.0, 0.0]])).round(1)
    array([[0. , 0.8],
           [1.1, 0. ]])
    """
    a, b, c = QUINTIC
    rows, columns = matrix.shape
    X = matrix / (np.sqrt(np.sum(np.square(matrix))) + TINY)
    for _ in range(rounds):
        gram = X @ X.T if rows <= columns else X.T @ X
        more = b * gram + c * (gram @ gram)
        X = a * X + (more @ X if rows <= columns else X @ more)
    return X
