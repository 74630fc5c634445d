"""When numbers are no longer numbers: where it began, and what usually helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.errors import PellucidError

HELP = (
    "What usually helps: a smaller learning rate (a tenth), gradient clipping (optim.ClipNorm(1.0)), standardised "
    "inputs and targets, batch normalisation."
)


@dataclass(frozen=True)
class Trouble:
    """The first value that was not finite: where, what it was made of, and how large that was."""

    step: int
    loss: float
    layer: str
    operation: str
    sizes: tuple[tuple[str, float], ...]  # the largest absolute values before
    weights: tuple[tuple[str, float], ...]  # parameters that were already large
    kept: str = "The last good parameters are kept."

    def __str__(self) -> str:
        if self.operation == "the update":
            return (
                f"training diverged at step {self.step}: loss and gradient are finite, but the update made parameters "
                "that are not (or a callback changed the gradient so). The learning rate is too large: take a tenth, "
                f"or clip the gradient (optim.ClipNorm(1.0)). {self.kept}"
            )
        where = f"in {self.layer}" if self.layer else "in the loss"
        before = ", ".join(f"{name} up to {size:.3g}" for name, size in self.sizes) or "nothing unusual before"
        text = (
            f"training diverged at step {self.step}: the loss is {self.loss}. The first value that is not finite is "
            f"the result of {self.operation} {where} (from: {before})."
        )
        if self.weights:
            text += " Large parameters: " + ", ".join(f"{name} up to {size:.3g}" for name, size in self.weights) + "."
        return f"{text} {HELP} {self.kept}"


@dataclass(frozen=True)
class ValidationTrouble:
    """A validation loss that is not finite, though every step was."""

    epoch: int
    loss: float
    kept: str = ""

    def __str__(self) -> str:
        return (
            f"training diverged in epoch {self.epoch}: val_loss is {self.loss}, though the loss of every batch was "
            "finite. The validation rows may lie far from those that are trained on: are they scaled alike? "
            f"{HELP} on_divergence='ignore' goes on. {self.kept}"
        )


class Diverged(PellucidError, ArithmeticError):
    """Training met a loss or gradient, or a validation loss, that is not finite."""

    def __init__(self, trouble: Trouble | ValidationTrouble) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


def locate(trainer: Any, now: Any, batch: Any, t: int, settings: Any, loss: float) -> Trouble:
    """Run the gradient once more, watching for the first value that is not finite."""
    origin: dict[str, Any] = {}
    sizes: dict[int, float] = {}
    names: dict[int, str] = {}

    def watch(number: int, node: Any, value: Any) -> None:
        value = np.asarray(value)
        if value.dtype.kind != "f":
            return
        finite = np.isfinite(value)
        if node.op is not None and not origin and not np.all(finite) and all(p in sizes for p in node.parents):
            operands = [(names[p], sizes[p]) for p in dict.fromkeys(node.parents)]
            origin.update(layer=node.scope, operation=node.op.name, sizes=tuple(operands))
        if np.all(finite):
            sizes[number] = float(np.max(np.abs(value), initial=0.0))
            names[number] = node.name or (
                f"{node.op.name} in {node.scope}" if node.scope else node.op.name if node.op else "?"
            )

    with np.errstate(all="ignore"):
        trainer.gradients(now, batch, t, settings, watch=watch)
    large = [(k, float(np.max(np.abs(v), initial=0.0))) for k, v in now.params.items()]
    return Trouble(
        t,
        loss,
        origin.get("layer", ""),
        origin.get("operation", "the update"),
        origin.get("sizes", ()),
        tuple((k, size) for k, size in large if not size < 1e3),
    )
