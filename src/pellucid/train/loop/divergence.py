"""When numbers are no longer numbers: where it began, what usually helps, and which parameters still predict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.data.rows import Rows
from pellucid.errors import PellucidError
from pellucid.train.loop.step import Mark

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

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
    """Training met a loss or gradient, or a validation loss, that is not finite.

    Parameters
    ----------
    trouble : Trouble | ValidationTrouble
        where, and what was not finite
    """

    def __init__(self, trouble: Trouble | ValidationTrouble) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


def locate(trainer: Any, now: Any, batch: Any, t: int, settings: Any, loss: float) -> Trouble:
    """Run the gradient once more, watching for the first value that is not finite."""
    origin: dict[str, Any] = {}
    finite: dict[int, tuple[str, float]] = {}  # the name and the largest absolute value of each

    def watch(number: int, node: Any, value: Any) -> None:
        value = np.asarray(value)
        if value.dtype.kind != "f":
            return
        if np.all(np.isfinite(value)):
            what = node.op.name if node.op else "?"
            finite[number] = (node.name or (f"{what} in {node.scope}" if node.scope else what), _size(value))
        elif node.op is not None and not origin and all(p in finite for p in node.parents):
            operands = tuple(finite[p] for p in dict.fromkeys(node.parents))
            origin.update(layer=node.scope, operation=node.op.name, sizes=operands)

    with np.errstate(all="ignore"):
        trainer.gradients(now, batch, t, settings, watch=watch)
    return Trouble(
        t,
        loss,
        origin.get("layer", ""),
        origin.get("operation", "the update"),
        origin.get("sizes", ()),
        tuple((name, _size(array)) for name, array in now.params.items() if not _size(array) < 1e3),
    )


def _size(array: Any) -> float:
    return float(np.max(np.abs(array), initial=0.0))


@dataclass(frozen=True, order=True)
class Soundness:
    """What parameters are good for, on some rows: the more of them are predicted, the better."""

    predicted: int  # rows with finite predictions
    learns: bool  # is the loss of all rows finite? (Not so where a target is out of reach.)
    rows: int

    @property
    def predicts(self) -> bool:
        """Are all predictions finite?"""
        return self.predicted == self.rows


def soundness(trainer: Any, params: Any, state: Any, batches: Iterable[Any]) -> Soundness:
    """What all these rows tell."""
    predicted, rows, learns = 0, 0, True
    for batch in batches:
        with np.errstate(all="ignore"):
            scores = trainer.net.predict(params, batch.X, state)
            predictions, loss = trainer.loss.link(scores), trainer.loss(scores, batch.y, batch.weights)
        n = len(scores)
        finite = (np.isfinite(each).reshape(n, -1).all(axis=1) for each in (scores, predictions))
        predicted, rows = predicted + int(np.sum(np.logical_and(*finite))), rows + n
        learns = learns and bool(np.isfinite(loss))
    return Soundness(predicted, learns, rows)


def go_back(run: Run, batch: Rows | None = None) -> str:
    """To the last parameters whose predictions are finite; says which those are. `batch` is the one that was next.

    Places are where it stands, where this epoch and the one before began, and where the run began (a step that breaks
    the parameters is seen one step later, which may be in the next epoch). Those with finite losses, too, go first.
    Where none predicts all rows (some row is out of reach), those that predict the most are taken.
    """
    here = Mark(run.epoch, run.step, run.batch, run.now)
    places: list[tuple[Soundness, Mark]] = []
    for mark in (here, *reversed(run.begins)):
        if mark is not here:
            run.return_to(mark)
        places.append((soundness_of(run, *run.prediction_view, batch), mark))
        if places[-1][0].predicts and places[-1][0].learns:
            break
    best, mark = max(places, key=lambda place: place[0])  # the latest among equals
    if mark is not places[-1][1]:
        run.return_to(mark)
    when = f"after epoch {mark.epoch}" if mark.epoch else "ahead of the first step"
    if not best.predicts:
        which = "the last ones" if mark is here else f"those {when}"
        return (
            f"No parameters of this run give finite predictions for all rows; kept are {which}, which do so for "
            f"{best.predicted} of {best.rows}."
        )
    if mark is here:
        return "The last good parameters are kept."
    return f"The last parameters give predictions or losses that are not finite: those {when} are kept."


def soundness_of(run: Run, params: Any, state: Any, batch: Rows | None = None) -> Soundness:
    """Of all rows to train on and to check; where batches come from outside, of the first and the next one."""
    parts = (batch, run.plan.data.example, run.plan.validation)
    batches = chain.from_iterable(rows.chunks() for rows in parts if rows is not None)
    return soundness(run.trainer, params, state, batches)
