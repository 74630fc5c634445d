"""The table of losses by name, and which one suits a target or an output activation."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.lookup import enter, look_up
from pellucid.nn.activations.activation import ACTIVATIONS
from pellucid.nn.losses import classes, numbers
from pellucid.nn.losses.link import LinkKind
from pellucid.nn.losses.loss import Loss, Own

LOSSES: dict[str, Loss] = {}


def register_loss(record: Loss, *aliases: str) -> Loss:
    """Enter a loss into the table, so that it can be chosen by name.

    Parameters
    ----------
    record : Loss
        the loss
    *aliases
        more names for it

    Returns
    -------
    Loss
        the record

    Examples
    --------
    >>> own = register_loss(Loss.from_function(lambda s, y: np.abs(s - y) ** 1.5, name="power_example"))
    >>> loss("power_example") is own
    True
    """
    enter("loss", record, (record.name, *aliases), LOSSES)
    return record


register_loss(numbers.SquaredError(), "mse")
register_loss(numbers.HalfSquaredError())
register_loss(numbers.AbsoluteError(), "mae")
register_loss(numbers.Huber())
register_loss(numbers.Quantile(), "pinball")
register_loss(numbers.Gaussian())
register_loss(numbers.Poisson())
register_loss(numbers.Gamma())
register_loss(classes.CrossEntropy(), "log_loss", "softmax_cross_entropy")
register_loss(classes.Brier())
register_loss(classes.BinaryCrossEntropy(), "bce", "binary_log_loss")
register_loss(classes.Multilabel())
register_loss(classes.Focal())
register_loss(classes.Hinge())
register_loss(classes.SquaredHinge())
register_loss(classes.Perceptron())


def loss(which: Any, **settings: Any) -> Loss:
    """A loss by name with its settings, as a function of one's own, or itself.

    Parameters
    ----------
    which : str | Loss | function
        a name of `LOSSES`; a function f(scores, y) gives one number for each sample (see `Loss.from_function` for
        sums and means)
    **settings
        of the loss; of a function: link, like, name

    Returns
    -------
    Loss
        the record

    Examples
    --------
    >>> loss("huber", delta=2.0)
    Huber(delta=2.0)
    >>> loss(lambda s, y: np.abs(s - y)).link(np.ones((1, 1)))
    array([[1.]])
    """
    if isinstance(which, str):
        which = look_up("loss", which, LOSSES)
    if isinstance(which, Loss):
        return which.with_(**settings) if settings else which
    if callable(which):
        if "like" in settings:
            settings["like"] = loss(settings["like"])
        return Loss.from_function(which, **settings)
    raise TypeError(f"a loss is a name, a function f(scores, y) or a Loss, got {which!r}")


def loss_for(y: Any) -> Loss:
    """The usual loss for a target: what kind of numbers is it?

    Parameters
    ----------
    y : array
        a target

    Returns
    -------
    Loss
        the usual one

    Examples
    --------
    >>> [loss_for(y).name for y in ([0.5, 1.5], [0, 1, 1], ["a", "b", "c"], [[0, 1], [1, 1]])]
    ['squared_error', 'binary_cross_entropy', 'cross_entropy', 'multilabel']
    """
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 2 and y.dtype.kind in "biuf" and np.all((y == 0) | (y == 1)):
        return LOSSES["multilabel"]
    if y.dtype.kind == "f":
        return LOSSES["squared_error"]
    if y.ndim != 1:
        raise ShapeError(f"no loss for {y.dtype} of shape {y.shape}: for regression use y.astype(float)")
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"the target has one class only, {', '.join(map(str, classes))}: nothing to tell apart")
    return LOSSES["binary_cross_entropy" if len(classes) == 2 else "cross_entropy"]


_OF_CLASSES = ("softmax", "log_softmax", "sigmoid", "logistic", "log_sigmoid")
_INSIDE = {  # activations that a link already contains
    LinkKind.PROBABILITIES: _OF_CLASSES,
    LinkKind.PROBABILITY: _OF_CLASSES,
    LinkKind.EITHER: _OF_CLASSES,
    LinkKind.POSITIVE: ("exp", "exponential", "softplus"),
}


def check_pairing(last_activation: str | None, which: Any) -> str | None:
    """What is wrong with a network that ends in this activation, under this loss.

    Parameters
    ----------
    last_activation : str | None
        by name
    which : str | Loss
        the loss

    Returns
    -------
    str | None
        a text to warn with

    Examples
    --------
    >>> check_pairing("softmax", "cross_entropy")
    'the network ends with softmax, but cross_entropy takes scores and applies softmax itself: leave the activation out'
    >>> check_pairing("identity", "cross_entropy")
    """
    chosen = loss(which)
    if last_activation in (None, "identity", "linear"):
        return None
    if last_activation in _INSIDE.get(chosen.link.kind, ()):
        return (
            f"the network ends with {last_activation}, but {chosen.name} takes scores and applies "
            f"{chosen.link_name} itself: leave the activation out"
        )
    record = None if isinstance(chosen, Own) else ACTIVATIONS.get(str(last_activation))
    limits = str(record.range or "") if record else ""
    if limits not in ("", "(-∞, ∞)"):
        return (
            f"the network ends with {last_activation}, so the scores for {chosen.name} stay in {limits}: "
            "leave the activation out, unless this is meant"
        )
    return None
