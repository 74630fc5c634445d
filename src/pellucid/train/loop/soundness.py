"""What parameters are good for, and where a run that diverged goes back to: the last whose predictions are finite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.data.rows import Batch
from pellucid.train.loop.steps import Mark

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run


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


def go_back(run: Run, batch: Batch | None = None) -> str:
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


def soundness_of(run: Run, params: Any, state: Any, batch: Batch | None = None) -> Soundness:
    """Of all rows to train on and to check; where batches come from outside, of the first and the next one."""
    data, held = run.plan.data, run.plan.validation
    parts: list[Iterable[Batch]] = [] if batch is None else [[batch]]
    parts.append(data.example.chunks())
    if held is not None:
        parts.append(held.chunks())
    return soundness(run.trainer, params, state, chain.from_iterable(parts))
