"""What is known of a model without its arrays: what it is, what it was trained on, for how long, and how well."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from pellucid.amounts import Condition
from pellucid.train.files.container import CELL, COUNT, MAPPING, MAPPINGS, NUMBER, TEXT, entry, maybe
from pellucid.train.history import History
from pellucid.train.model import Model

CELLS = Condition(lambda value: type(value) is list and all(map(CELL.holds, value)), "a list of numbers and texts")


@dataclass(frozen=True)
class Summary:
    """The summary of a training, as a model's file has it.

    Parameters
    ----------
    made_by : str
        the class: "Model", "MLPClassifier", ...
    layers : str
        the network, or the first of several, in a line
    networks : int | None
        how many there are
    parameters : int | None
        numbers that were learned, in all networks
    columns : list[dict[str, Any]]
        `name` and `kind` of each column of X; `categories`, how many, where it has such
    classes : list[Any]
        what is told apart; empty for numbers
    rows : int | None
        trained on
    epochs : int | None
        of the training; of several networks that of the first with the most layers, here and below
    best_epoch : int | None
        whose parameters were kept
    seconds : float | None
        of training; of several networks together
    ending : str
        why it ended
    scores : dict[str, float]
        what was measured, by name
    """

    made_by: str
    layers: str = ""
    networks: int | None = None
    parameters: int | None = None
    columns: list[dict[str, Any]] = field(default_factory=list)
    classes: list[Any] = field(default_factory=list)
    rows: int | None = None
    epochs: int | None = None
    best_epoch: int | None = None
    seconds: float | None = None
    ending: str = ""
    scores: dict[str, float] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As plain data, for a file."""
        return asdict(self)


KINDS = {
    "made_by": TEXT,
    "layers": TEXT,
    "networks": maybe(COUNT),
    "parameters": maybe(COUNT),
    "columns": MAPPINGS,
    "classes": CELLS,
    "rows": maybe(COUNT),
    "epochs": maybe(COUNT),
    "best_epoch": maybe(COUNT),
    "seconds": maybe(NUMBER),
    "ending": TEXT,
    "scores": MAPPING,
}
"""What a file may have for each part."""


def restored(data: dict[str, Any], path: Any) -> Summary:
    """The summary in a file; parts that this version does not know are passed over.

    >>> restored({"made_by": "Model", "rows": 60}, "model.pel").rows
    60
    """
    present = {one.name: entry(data, one.name, KINDS[one.name], path) for one in fields(Summary) if one.name in data}
    for name in present.get("scores", {}):
        entry(present["scores"], name, NUMBER, f"{path}: scores")
    return Summary(**{"made_by": "", **present})


def summary_of(model: Model) -> Summary:
    """The summary of a model."""
    history = model.history
    best = _best(history)
    return Summary(
        made_by=type(model).__name__,
        layers=layers_of(model),
        networks=1,
        parameters=parameters_of(model),
        columns=plain_columns({f"x{place}": "numeric" for place in range(math.prod(model.features))}),
        rows=history.rows,
        epochs=len(history),
        best_epoch=None if best is None else best["epoch"],
        seconds=history.seconds,
        ending=history.stopped,
        scores=finite(best or (history.epochs[-1] if len(history) else {})),
    )


def plain_columns(kinds: Mapping[str, str], categories: Mapping[str, int] | None = None) -> list[dict[str, Any]]:
    """Columns as plain data; `categories`: how many some of them have."""
    counts = categories or {}
    return [
        {"name": name, "kind": kind} | ({"categories": counts[name]} if name in counts else {})
        for name, kind in kinds.items()
    ]


def layers_of(model: Model) -> str:
    """Inputs, units and outputs of a network in a line.

    >>> from pellucid import nn
    >>> layers_of(Model(nn.mlp((8, 4), 1)).initialize(3))
    '3-8-4-1'
    """
    weights = [name for name in model.params if name.endswith(".weight") and name.startswith(("hidden", "output."))]
    units = [int(model.params[name].shape[-1]) for name in weights]
    return "-".join(map(str, [*model.features, *units])) if units else ""


def parameters_of(model: Model) -> int:
    """How many numbers it has learned."""
    return sum(int(array.size) for array in model.params.values())


def finite(row: Mapping[str, Any]) -> dict[str, float]:
    """What was measured, and is a number."""
    numbers = {name: value for name, value in row.items() if name not in ("epoch", "step", "lr")}
    return {name: float(v) for name, v in numbers.items() if isinstance(v, int | float) and math.isfinite(v)}


def _best(history: History) -> dict[str, Any] | None:
    """The epoch of the lowest validation loss, if there is such a loss."""
    if not any(isinstance(row.get("val_loss"), float) and math.isfinite(row["val_loss"]) for row in history):
        return None
    return history.best("val_loss")
