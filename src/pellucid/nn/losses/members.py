"""EachMember: the loss of many networks in one. Each learns by itself; the mean of what they predict is the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.amounts import is_whole
from pellucid.nn.losses.link import IDENTITY, Link
from pellucid.nn.losses.loss import Loss
from pellucid.nn.losses.sums import Around


@dataclass(frozen=True)
class EachMember(Around):
    """The mean of the members' losses; its link gives the mean of their predictions.

    It is never the loss of the mean: members that correct each other's errors would have to be right together only.
    Scores are those of `Heads`, the columns of the first member first.

    Parameters
    ----------
    of : Loss
        that of one member
    members : int
        how many

    Examples
    --------
    >>> from pellucid import nn
    >>> loss = EachMember(nn.loss("squared_error"), 2)
    >>> scores = np.array([[1.0, 3.0]])
    >>> float(loss(scores, np.array([[2.0]]))), loss.link(scores).tolist()
    (1.0, [[2.0]])
    """

    members: int = 1

    def __post_init__(self) -> None:
        if not is_whole(self.members):
            raise ValueError(f"EachMember: members is a whole number from 1, got {self.members!r}")
        if self.of.members != 1:
            raise ValueError(f"EachMember: the loss is that of one member, got one of {self.of.members}")

    @property
    def formula(self) -> str:  # type: ignore[override]
        return f"mean over members of {self.of.formula}"

    @property
    def per_output(self) -> int:
        return self.members * self.of.per_output

    @property
    def link(self) -> Link:  # type: ignore[override]
        own = self.of.link
        return MemberLink(own.name, self._predicted, own.kind, own.idempotent, self)

    @property
    def single(self) -> Loss:
        return self.of

    def joined(self, scores: Any) -> Any:
        return self.of.link.pooled(self._grouped(scores))

    def outputs(self, y: Any) -> int:
        return self.members * self.of.outputs(y)

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        return self.of.prepare(y, None if outputs is None else outputs // self.members)

    def each(self, s: Any, y: Any) -> Any:
        n, k = s.shape[0], self.members
        rows = np.reshape(s, (n * k, s.shape[1] // k))
        target = np.reshape(np.broadcast_to(y[:, None], (n, k, *y.shape[1:])), (n * k, *y.shape[1:]))
        return np.mean(np.reshape(self.of.each(rows, target), (n, k)), axis=1)

    def _grouped(self, s: Any) -> Any:
        return np.reshape(s, (s.shape[0], self.members, s.shape[1] // self.members))

    def _predicted(self, scores: Any) -> Any:
        return self.of.link(self.joined(scores))


@dataclass(frozen=True)
class MemberLink(Link):
    """The link of `loss`, of the joined scores of its members."""

    loss: Loss | None = None

    def probabilities(self, scores: Any) -> Any:
        return self._own.probabilities(self._joined(scores))

    def log_probabilities(self, scores: Any) -> Any:
        return self._own.log_probabilities(self._joined(scores))

    @property
    def _own(self) -> Link:
        return IDENTITY if self.loss is None else self.loss.single.link

    def _joined(self, scores: Any) -> Any:
        return scores if self.loss is None else self.loss.joined(scores)
