"""Links: from the scores of a network to its prediction, each with the kind of prediction that it gives.

What a prediction is (a number, a class, a probability) is asked of the kind, never of a name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy import special

from pellucid.graph.core.tracer import Tracer
from pellucid.graph.numpy_api import log_softmax, logsumexp, softmax


class LinkKind(Enum):
    """What a link gives: numbers, or something about classes.

    Examples
    --------
    >>> LinkKind.SIGN.tells_classes, LinkKind.SIGN.gives_probabilities
    (True, False)
    """

    NUMBERS = "numbers"  # in the units of the target: means, medians, quantiles
    POSITIVE = "positive numbers"  # exp of the score: the score is a logarithm
    SIGN = "signs"  # a class by the side on which the score lies
    PROBABILITY = "a probability for each score"  # two classes from one score, or several labels
    PROBABILITIES = "probabilities that share 1"  # one class for each row, a score for each class
    EITHER = "a probability for one score, probabilities for several"

    @property
    def tells_classes(self) -> bool:
        """Is the prediction about classes?"""
        return self not in (LinkKind.NUMBERS, LinkKind.POSITIVE)

    @property
    def gives_probabilities(self) -> bool:
        """Does it say how likely each class is?"""
        return self.tells_classes and self is not LinkKind.SIGN

    def for_scores(self, count: int) -> LinkKind:
        """The kind for so many scores in a row: EITHER is one of two.

        Parameters
        ----------
        count : int
            scores in a row

        Returns
        -------
        LinkKind
            that kind
        """
        if self is LinkKind.EITHER:
            return LinkKind.PROBABILITY if count == 1 else LinkKind.PROBABILITIES
        return self


@dataclass(frozen=True)
class Link:
    """A function from scores to predictions.

    Parameters
    ----------
    name : str
        in words
    function : Callable[[Any], Any]
        (n, k) -> (n, k)
    kind : LinkKind
        what kind of prediction it gives
    idempotent : bool
        does it leave its own predictions as they are?

    Examples
    --------
    >>> halves = Link("halves", lambda s: special.expit(s / 2), LinkKind.PROBABILITY)
    >>> halves(np.zeros((1, 1)))
    array([[0.5]])
    """

    name: str
    function: Callable[[Any], Any]
    kind: LinkKind = LinkKind.NUMBERS
    idempotent: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function) or not isinstance(self.kind, LinkKind):
            raise TypeError(
                "Link: expects a function of scores and a kind, as in Link('exp', np.exp, LinkKind.POSITIVE), got "
                f"{self.function!r} and {self.kind!r}"
            )

    def __call__(self, scores: Any) -> Any:
        """What the network predicts by these scores.

        Parameters
        ----------
        scores : array of shape (n, k)
            of the network

        Returns
        -------
        array of shape (n, k)
            predictions
        """
        return self.function(scores)

    def probabilities(self, scores: Any) -> Any:
        """How likely each class is; one score is that of the second of two classes.

        Parameters
        ----------
        scores : array of shape (n, k)
            of the network

        Returns
        -------
        array of shape (n, classes)
            probabilities

        Examples
        --------
        >>> SIGMOID.probabilities(np.array([[0.0], [np.log(3.0)]]))
        array([[0.5 , 0.5 ],
               [0.25, 0.75]])
        """
        exact = self._exact(scores)
        if exact is not None:
            return exact.value(_both_sides(scores))
        likely = self.function(scores)
        return np.concatenate([1 - likely, likely], axis=1) if likely.shape[1] == 1 else likely

    def log_probabilities(self, scores: Any) -> Any:
        """Logarithms of the probabilities, none of them -inf.

        Parameters
        ----------
        scores : array of shape (n, k)
            of the network

        Returns
        -------
        array of shape (n, classes)
            logarithms

        Examples
        --------
        >>> SIGMOID.log_probabilities(np.array([[-1000.0]])).tolist()
        [[0.0, -1000.0]]
        """
        likely, exact = self.probabilities(scores), self._exact(scores)
        if exact is None:
            return np.log(np.maximum(likely, np.finfo(likely.dtype).tiny))
        # small ones from the scores, so that none is -inf; large ones by the probability, so that ties stay ties
        return np.where(likely > 0.5, np.log(np.maximum(likely, 0.5)), exact.log(_both_sides(scores)))

    def pooled(self, scores: Any, shares: Any = None) -> Any:
        """The scores whose prediction is the mean of all members' predictions.

        So it is for the links of the losses; for a function of one's own it is the mean of the scores.

        Parameters
        ----------
        scores : array of shape (n, members, k)
            of members
        shares : array of shape (members,)
            how much each member counts; they add up to 1. None: all the same

        Returns
        -------
        array of shape (n, k)
            scores

        Examples
        --------
        >>> pooled = SIGMOID.pooled(np.array([[[-1.0], [4.0]]]))
        >>> bool(np.isclose(SIGMOID(pooled)[0, 0], (SIGMOID(-1.0) + SIGMOID(4.0)) / 2))
        True
        """
        count = scores.shape[1]
        each = np.full(count, 1 / count) if shares is None else np.asarray(shares)
        logs = np.log(each).astype(scores.dtype)[:, None]
        exact = self._exact(scores) if self.kind.gives_probabilities else None
        if exact is _APART:  # log p̄ - log (1 - p̄): no digits are lost near 0 and 1
            return logsumexp(exact.log(scores) + logs, axis=1) - logsumexp(exact.log(-scores) + logs, axis=1)
        if exact is _SHARED:
            return logsumexp(exact.log(scores) + logs, axis=1)
        if self.function in (bounded_exp, np.exp):
            return logsumexp(scores + logs, axis=1)
        weighted = each.astype(scores.dtype)[:, None] * (self.function(scores) if self.idempotent else scores)
        return np.sum(weighted, axis=1)

    def _exact(self, scores: Any) -> Formula | None:
        """What is computed from the scores themselves; None for a function of one's own."""
        if not self.kind.gives_probabilities:
            raise ValueError(
                f"the link {self.name} gives {self.kind.value}, no probabilities: use a log-loss, such as "
                "'cross_entropy', or say the kind of your own link: nn.Link(name, function, nn.LinkKind.PROBABILITY)"
            )
        together = self.kind.for_scores(scores.shape[-1]) is LinkKind.PROBABILITIES
        formula = _SHARED if together else _APART
        return formula if any(self.function is one for one in formula.links) else None


@dataclass(frozen=True)
class Formula:
    """Probabilities and their logarithms by scores, and the functions that stand for them as links."""

    value: Callable[[Any], Any]
    log: Callable[[Any], Any]
    links: tuple[Callable[[Any], Any], ...]


def _both_sides(scores: Any) -> Any:
    """Scores of both classes where one score stands for two: 1 - p would lose the digits of small probabilities."""
    return np.concatenate([-scores, scores], axis=1) if scores.shape[1] == 1 else scores


# the functions of the losses

HIGHEST = 50.0  # a mean of 5e21; beyond it exp goes on as its tangent, so that values and slopes stay finite


def identity(s: Any) -> Any:
    """The score itself."""
    return s


def bounded_exp(s: Any) -> Any:
    """exp(s), beyond `HIGHEST` its tangent."""
    low = np.minimum(s, HIGHEST)
    return np.exp(low) * (1.0 + (s - low))


def sign(s: Any) -> Any:
    """1 for scores above 0, else -1."""
    return np.where(s > 0, 1.0, -1.0).astype(s.dtype)


def sigmoid_or_softmax(s: Any) -> Any:
    """The sigmoid of one score, the softmax of several.   (n, k) -> (n, k)"""
    return special.expit(s) if s.shape[1] == 1 else softmax(s)


def _shares(s: Any) -> Any:
    """SciPy's softmax, and its twin where it is recorded.   (n, k) -> (n, k)"""
    return softmax(s, axis=1) if type(s) is Tracer else special.softmax(s, axis=1)


_APART = Formula(special.expit, special.log_expit, (special.expit, sigmoid_or_softmax))
_SHARED = Formula(_shares, log_softmax, (softmax, special.softmax, sigmoid_or_softmax))

IDENTITY = Link("identity", identity, idempotent=True)
EXP = Link("exp", bounded_exp, LinkKind.POSITIVE)
SIGN = Link("sign", sign, LinkKind.SIGN)
SIGMOID = Link("sigmoid", special.expit, LinkKind.PROBABILITY)
SOFTMAX = Link("softmax", softmax, LinkKind.PROBABILITIES)
SIGMOID_OR_SOFTMAX = Link("sigmoid, or softmax", sigmoid_or_softmax, LinkKind.EITHER)

LINKS = {link.name: link for link in (IDENTITY, EXP, SIGN, SIGMOID, SOFTMAX, SIGMOID_OR_SOFTMAX)}
"""The links of the losses, by name."""

# not the sigmoid: where no class is spoken of, its values are numbers between 0 and 1, such as rates
_KINDS_OF_FUNCTIONS = (
    (np.exp, LinkKind.POSITIVE),
    (bounded_exp, LinkKind.POSITIVE),
    (np.sign, LinkKind.SIGN),
    (softmax, LinkKind.PROBABILITIES),
    (special.softmax, LinkKind.PROBABILITIES),
)


def kind_of(function: Callable[[Any], Any]) -> LinkKind:
    """The kind of a link of which nothing but the function is told: numbers, unless it is a well-known one.

    >>> kind_of(np.exp), kind_of(lambda s: s)
    (<LinkKind.POSITIVE: 'positive numbers'>, <LinkKind.NUMBERS: 'numbers'>)
    """
    return next((kind for one, kind in _KINDS_OF_FUNCTIONS if one is function), LinkKind.NUMBERS)
