"""Schedules in the place of numbers: do those numbers exist, and how long is the run that they are for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pellucid.nn import Layer, Loss
from pellucid.optim import Constant, Schedule


def checked_settings(settings: Mapping[str, Any], net: Layer, loss: Loss) -> dict[str, Schedule]:
    """Schedules by the names of the numbers of layers or loss; an error where there is no such number."""
    names: set[str] = {f"loss.{f.name}" for f in fields(loss)} if is_dataclass(loss) else set()
    layers: list[tuple[str, Layer]] = [("", net)]
    while layers:
        path, layer = layers.pop()
        if is_dataclass(layer):
            names |= {f"{path}.{f.name}" for f in fields(layer) if f.name in ("rate", "sigma")}
        layers += [(f"{path}.{name}" if path else name, child) for name, child in layer.children]
    for name in settings:
        if name not in names:
            raise ValueError(
                f"settings: there is no number called {name!r}: there are {', '.join(sorted(names)) or 'none'}"
            )
    return {name: value if isinstance(value, Schedule) else Constant(value) for name, value in settings.items()}


def resolved(what: str, scheduled: Any, total: int | None, per_epoch: int | None) -> Any:
    """Schedules over the whole run, fitted to its length; an error where they need a length that nobody knows."""
    fitted = scheduled.fit(total or 1, per_epoch or 1)
    if total is None and fitted != scheduled.fit(2, per_epoch or 1):
        raise ValueError(
            f"{what} has a schedule over the whole run, but the run has no known length: give epochs or steps"
        )
    if per_epoch is None and fitted != scheduled.fit(total or 1, 2):
        raise ValueError(
            f"{what} has a schedule in epochs, but the number of batches of an epoch is not known: use steps"
        )
    return fitted
