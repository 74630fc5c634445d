"""What a loss is: a frozen record of its value for each sample and its link, from scores to predictions.

Losses take scores, the plain output of the last layer, never probabilities: log(softmax(s)) is computed as one step
that cannot overflow, and training and prediction cannot disagree about it. The records are in `numbers` and
`classes`, by name in `table`; `link` says what a link is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from pellucid.errors import ShapeError
from pellucid.graph.core.spec import format_shape
from pellucid.graph.core.tracer import Tracer
from pellucid.nn.losses.link import IDENTITY, LINKS, Link, kind_of
from pellucid.precision import like
from pellucid.records import Record

Kind = TypeVar("Kind", bound="Loss")


class Loss(Record, ABC):
    """A frozen description of a loss: `per_sample` and `link`, and which targets fit (`prepare`, `outputs`).

    Called with scores (n, k) and a prepared target it gives the mean over samples, one number. `weights` (n,) count
    samples: a weight of 2 is the same as the row twice, the value is Σ w l / Σ w.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.nn.losses.table import loss
    >>> bce = loss("binary_cross_entropy")
    >>> y = bce.prepare([0, 1])
    >>> float(bce(np.array([[0.0], [np.log(3.0)]]), y).round(6)), bce.link(np.array([[0.0]]))
    (0.490415, array([[0.5]]))
    """

    name: str = ""
    formula: str = ""
    target: str = "numbers, (n,) or (n, outputs)"
    reference: str = ""
    link: Link = IDENTITY
    labels: bool = False  # may the target be one class label for each sample?
    members: int = 1  # of the network, whose scores lie side by side

    def __init_subclass__(cls, **settings: Any) -> None:
        """A class of one's own may write its link as a method `link(self, scores)` and a text `link_name`."""
        super().__init_subclass__(**settings)
        written = vars(cls).get("link")
        if not isinstance(written, Link | property) and ("link" in vars(cls) or "link_name" in vars(cls)):
            cls.link = property(_as_written(cls))  # type: ignore[assignment]

    @property
    def link_name(self) -> str:
        """The name of the link."""
        return self.link.name

    @property
    def per_output(self) -> int:
        """How many scores belong to one column of the target."""
        return 1

    @property
    def point(self) -> int:
        """Which of the numbers that the link gives for a column is the answer, where one is wanted: the middle one."""
        return self.per_output // 2

    @property
    def single(self) -> Loss:
        """The loss of joined scores (see `joined`): this one, unless scores are those of several members."""
        return self

    def joined(self, scores: Any) -> Any:
        """One network's scores in the place of those of its members; as they are where there are none.

        Parameters
        ----------
        scores : array of shape (n, k)
            of the network

        Returns
        -------
        array of shape (n, outputs)
            scores with the same prediction
        """
        return scores

    @abstractmethod
    def each(self, s: Any, y: Any) -> Any:
        """The formula, in plain NumPy.

        Parameters
        ----------
        s : array of shape (n, k)
            scores
        y : array
            as prepared

        Returns
        -------
        array of shape (n,)
            the loss of each sample
        """

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        """Check a target and bring it to the form the loss computes with, once, before training.

        Parameters
        ----------
        y : array of shape (n,) or (n, k)
            the target
        outputs : int | None
            the number of scores, where it is known

        Returns
        -------
        array
            numbers become floats, (n, k)
        """
        return self._fits(numbers(self, y), outputs)

    def outputs(self, y: Any) -> int:
        """How many scores for each sample this target asks for.

        Parameters
        ----------
        y : array
            the target

        Returns
        -------
        int
            scores
        """
        y = self.prepare(y)
        return self.per_output * int(y.shape[1]) if y.ndim == 2 else max(2, int(y.max()) + 1)

    # what every loss can do by these

    def per_sample(self, scores: Any, y: Any) -> Any:
        """The loss of every sample.

        Parameters
        ----------
        scores : array of shape (n, k)
            of the network
        y : array
            as prepared

        Returns
        -------
        array of shape (n,)
            in the dtype of the scores
        """
        target, shape = tuple(y.shape), tuple(scores.shape)
        if len(shape) != 2:
            raise ShapeError(f"{self.name}: scores have shape (n, outputs), got {format_shape(shape)}")
        rows_fit = target[:1] == shape[:1]
        if not rows_fit or not (
            (len(target) == 2 and target[1] * self.per_output == shape[1]) or (len(target) == 1 and self.labels)
        ):
            raise ShapeError(
                f"{self.name}: scores of shape {format_shape(shape)} do not fit a target of shape "
                f"{format_shape(target)}: use y = loss.prepare(y), and a network with {self.name}'s number of outputs"
            )
        return self.each(scores, like(y, scores) if len(target) == 2 else y)

    def __call__(self, scores: Any, y: Any, weights: Any = None) -> Any:
        """The mean over samples.

        Parameters
        ----------
        scores : array of shape (n, k)
            of the network
        y : array
            as prepared
        weights : array of shape (n,)
            how much each sample counts

        Returns
        -------
        number
            Σ w l / Σ w
        """
        each = self.per_sample(scores, y)
        if weights is None:
            return np.mean(each)
        if tuple(weights.shape) != tuple(each.shape):
            raise ShapeError(
                f"{self.name}: weights of shape {format_shape(tuple(weights.shape))} for samples of shape "
                f"{format_shape(tuple(each.shape))}: give one weight for each row"
            )
        w = like(weights, each)
        share = np.mean(w)  # means, not sums: weights of 1 then change no bit
        return np.mean(each * w) / np.where(np.equal(share, 0), 1.0, share)  # a batch of weight 0 counts 0

    def with_(self: Kind, **settings: Any) -> Kind:
        """The same loss with other settings.

        Parameters
        ----------
        **settings
            by name; one may be a traced number, so that it can follow a schedule

        Returns
        -------
        Loss
            a new one
        """
        names = [one.name for one in fields(self)] if is_dataclass(self) else list[str]()
        for key in settings:
            if key not in names:
                raise ValueError(f"{self.name} has no setting {key!r}: it has {', '.join(names) or 'none'}")
        return replace(self, **settings)  # type: ignore[type-var]

    @staticmethod
    def from_function(f: Callable[[Any, Any], Any], link: Any = None, like: Loss | None = None, name: str = "") -> Own:
        """A loss of one's own.

        Of outputs the mean is taken, unless f sums them itself (`axis=1`); of samples always the mean, outside, so
        that weights count and the rate does not depend on the batch size: f has no `np.mean` or `np.sum` over rows.
        Targets are numbers and the link is the identity, unless they are taken from another loss by `like`.

        Parameters
        ----------
        f : Callable[[Any, Any], Any]
            `f(scores, y)` gives a number for each sample (n,), or for each output (n, k)
        link : function | Link
            a function gives what the link of `like` gives, a `Link` says so itself
        like : Loss | None
            whose targets and link are taken over
        name : str
            in histories

        Returns
        -------
        Loss
            to be given to a `Model`

        Examples
        --------
        >>> import numpy as np
        >>> mean = Loss.from_function(lambda s, y: np.abs(s - y))
        >>> total = Loss.from_function(lambda s, y: np.sum(np.abs(s - y), axis=1))
        >>> s, y = np.array([[1.0, 3.0], [0.0, 0.0]]), np.zeros((2, 2))
        >>> float(mean(s, y)), float(total(s, y))
        (1.0, 2.0)
        """
        return Own(f, link, like, name or getattr(f, "__name__", "own").strip("<>"))

    def _fits(self, y: Any, outputs: int | None) -> Any:
        if outputs is not None and y.shape[1] * self.per_output != outputs:
            asked = y.shape[1] * self.per_output
            raise ShapeError(f"{self.name}: y of shape {y.shape} asks for {asked} outputs, not {outputs}")
        return y


@dataclass(frozen=True)
class Own(Loss):
    """A function of the user's as a loss (see `Loss.from_function`)."""

    function: Callable[[Any, Any], Any]
    own_link: Any = None
    like: Loss | None = None
    name: str = "own"

    @property
    def per_output(self) -> int:
        return self.like.per_output if self.like else 1

    @property
    def labels(self) -> bool:  # type: ignore[override]
        return self.like.labels if self.like else False

    @property
    def link(self) -> Link:  # type: ignore[override]
        if self.own_link is None:
            return self.like.link if self.like else IDENTITY
        if isinstance(self.own_link, Link):
            return self.own_link
        name = str(getattr(self.own_link, "__name__", "own")).strip("<>")
        return Link(name, self.own_link, self.like.link.kind if self.like else kind_of(self.own_link))

    def each(self, s: Any, y: Any) -> Any:
        out = self.function(s, y)
        shape = tuple(np.shape(out))
        if shape not in (s.shape[:1], (s.shape[0], 1), s.shape):
            raise ShapeError(
                f"{self.name} gave shape {format_shape(shape)} for scores of shape {format_shape(s.shape)}: a loss "
                "gives one number for each sample (n,), without np.mean or np.sum over rows, so that samples can be "
                "weighted; the mean is taken outside"
            )
        return out if len(shape) == 1 else np.mean(out, axis=-1)

    def prepare(self, y: Any, outputs: int | None = None) -> Any:
        return self.like.prepare(y, outputs) if self.like else super().prepare(y, outputs)


def _as_written(cls: type[Loss]) -> Callable[[Loss], Link]:
    """The link of a class that has a method `link`, or a text `link_name`, or both, as a record.

    The text is its name, and its kind if it is a name out of `LINKS`; else these are of the link that it replaces.
    """
    replaced = next(vars(base)["link"] for base in cls.__mro__[1:] if "link" in vars(base))
    function, name = vars(cls).get("link"), vars(cls).get("link_name")

    def link(self: Loss) -> Link:
        before = _of(replaced, self)
        own = Link(_of(name, self) or before.name, before.function if function is None else _of(function, self))
        return replace(own, kind=(LINKS.get(own.name, before) if name else before).kind)

    return link


def _of(attribute: Any, loss: Loss) -> Any:
    """What an attribute of a class is for one of its objects: a method bound, a property read."""
    return attribute.__get__(loss, type(loss)) if hasattr(attribute, "__get__") else attribute


def must(loss: Loss, setting: str, is_: str, fine: Callable[[Any], bool]) -> None:
    """Check a setting of a loss; a traced number has no value yet."""
    value = getattr(loss, setting)
    if type(value) is not Tracer and (isinstance(value, bool | np.bool_ | str) or not fine(value)):
        raise ValueError(f"{loss.name}: {setting} is {is_}, got {value!r}")


# targets, checked and converted once


def numbers(loss: Loss, y: Any) -> Any:
    """Finite floats (n, k), float32 kept."""
    y = np.asarray(y)
    if y.dtype.kind not in "fiub":
        raise TypeError(
            f"{loss.name}: y holds numbers, got {y.dtype}: for names use np.unique(y, return_inverse=True)[1]"
        )
    if y.ndim not in (1, 2) or not y.size:
        raise ShapeError(f"{loss.name}: y has shape (n,) or (n, outputs), got {y.shape}")
    y = y if y.dtype == np.float32 else y.astype(np.float64)
    bad = np.argwhere(~np.isfinite(y))
    if len(bad):
        raise ValueError(f"{loss.name}: y is {y[tuple(bad[0])]} in row {bad[0][0]}: leave such rows out, or fill them")
    return y[:, None] if y.ndim == 1 else y


def refuse(loss: Loss, y: Any, wrong: Any, expected: str) -> None:
    """Raise for the first value of y that is marked as wrong."""
    if np.any(wrong):
        row = np.argwhere(wrong)[0]
        raise ValueError(f"{loss.name}: y is {expected}, got {y[tuple(row)]:g} in row {row[0]}")


def labels(loss: Loss, y: Any, outputs: int | None) -> Any:
    """Class labels 0 ... K-1 as integers (n,)."""
    y = np.asarray(y)
    if y.ndim != 1:
        remedy = "y.ravel()" if y.ndim == 2 and y.shape[1] == 1 else "np.argmax(y, axis=1) for unit vectors"
        raise ShapeError(f"{loss.name}: class labels have shape (n,), got {y.shape}: use {remedy}")
    values = numbers(loss, y)[:, 0]
    top = "K-1" if outputs is None else outputs - 1
    wrong = (values != np.floor(values)) | (values < 0) | (values > (np.inf if outputs is None else outputs - 1))
    refuse(loss, values, wrong, f"a class label in 0 ... {top}")
    return values.astype(np.int64)


def sample_weights(weights: Any, n: int, *, part: bool = False) -> Any:
    """Sample weights, checked once before training: finite, from 0, not all 0.

    Parameters
    ----------
    weights : array of shape (n,)
        how much each row counts
    n : int
        rows
    part : bool
        they are those of a part of the rows, and may all be 0

    Returns
    -------
    array of shape (n,)
        floats

    Examples
    --------
    >>> sample_weights([1, 2], 2)
    array([1., 2.])
    """
    w = np.asarray(weights)
    if w.shape != (n,):
        raise ShapeError(f"sample weights have shape ({n},), one for each row, got {w.shape}")
    if w.dtype.kind not in "fiubO":
        raise TypeError(f"sample weights are numbers, got {w.dtype}")
    w = w if w.dtype == np.float32 else w.astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(wrong):
        raise ValueError(f"sample weights are finite numbers from 0, got {w[wrong[0]]} in row {wrong[0]}")
    if not part and not np.any(w):
        raise ValueError("all sample weights are 0: nothing is left to learn from")
    return w


def over_outputs(each: Any) -> Any:
    """Losses of several outputs are averaged."""
    return np.mean(each, axis=-1)
