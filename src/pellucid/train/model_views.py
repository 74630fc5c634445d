"""How a model shows itself: in a line, and as a small table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.markup import plural, short, table
from pellucid.nn.dimensions import outline
from pellucid.optim import Optimizer, Schedule
from pellucid.train.history import last_of

if TYPE_CHECKING:
    from pellucid.train.model import Model


def line(model: Model) -> str:
    """Network, loss, rule, number of parameters, and how far training has come."""
    parts = [outline(model.net, model.features), model.loss.name, rule(model.optimizer)]
    if model.params:
        parts.append(_size(model))
    return f"Model({', '.join(parts)}, {progress(model)})"


def html(model: Model) -> str:
    """One row for each part."""
    rows = {
        "network": outline(model.net, model.features),
        "parameters": f"{_size(model)}, {model.dtype}" if model.params else f"none yet, {model.dtype}",
        "loss": model.loss.name,
        "penalty": "" if model.penalty is None else str(model.penalty),
        "optimizer": rule(model.optimizer),
        "settings": ", ".join(f"{name}: {schedule}" for name, schedule in model.settings.items()),
        "metrics": ", ".join(metric.name for metric in model.metrics),
        "engine": model.engine,
        "training": progress(model),
    }
    if len(model.history) and model.history.stopped:
        rows["training"] += f" ({model.history.stopped})"
    return table(([name, text] for name, text in rows.items() if text), caption="Model")


def rule(optimizer: Optimizer) -> str:
    """The rule and its rate, with the links around it.

    >>> from pellucid import optim
    >>> rule(optim.chain(optim.ClipNorm(1.0), optim.Adam(0.01)))
    'ClipNorm + Adam 0.01'
    """
    lr = optimizer.rule.lr
    rate = type(lr).__name__ if isinstance(lr, Schedule) else short(lr)
    return " + ".join([*(type(link).__name__ for link in optimizer.links), f"{type(optimizer.rule).__name__} {rate}"])


def progress(model: Model) -> str:
    if len(model.history):
        return f"trained {plural(model.history.epochs[-1]['epoch'], 'epoch')}: {last_of(model.history.epochs)}"
    return "not trained" if model.params else "not initialised"


def _size(model: Model) -> str:
    return plural(sum(int(np.size(array)) for array in model.params.values()), "parameter")
