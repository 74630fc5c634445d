"""One training step, made by the engine with taps and probes: every array of it.

The forward and the backward pass are those of `Trainer.cost`, the update is `Trainer.update`: what training runs.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.autodiff import grad, value_and_grad
from pellucid.data.rows import Rows
from pellucid.errors import ShapeError
from pellucid.inspect.derivation.parts import Part, parts_of
from pellucid.named_arrays import Arrays
from pellucid.nn.layers.context import Context
from pellucid.nn.penalties import Penalty, PerRow
from pellucid.train import Model
from pellucid.train.loop.run import Plan
from pellucid.train.loop.step import Snapshot, Trainer, float64s


@dataclass(frozen=True, eq=False)
class Trace:
    """A training step: what was there before, all that flowed forward and back, and what is there after.

    `values` are by the names of the parts of the network, `adjoints` as well: derivatives of the sum of the losses of
    the batch.
    """

    trainer: Trainer
    parts: tuple[Part, ...]
    batch: Rows
    step: int
    numbers: dict[str, float]
    settings: dict[str, Any]
    before: Snapshot
    after: Snapshot
    values: Arrays
    adjoints: Arrays
    gradients: Arrays
    penalty_gradients: Arrays
    losses: Any  # of every row
    loss: float
    penalty: float | None
    objective: float
    next_objective: float  # of the same rows, after the step

    @property
    def rows(self) -> int:
        return len(self.batch)

    def context(self, name: str) -> Context:
        """What a part knew during the step: the same statistics, the same random numbers."""
        return Context(True, True, self.before.state, self.trainer.key, self.step, self.settings, path=name)


def traced(model: Model, X: Any, y: Any, sample_weight: Any, seed: int) -> Trace:
    """The next training step of a model on these rows. The model is left as it is."""
    trial = copy.copy(model)
    data, _ = trial.prepare(X, y, sample_weight=sample_weight, seed=seed)
    if not isinstance(data, Rows):
        raise TypeError("inspect.step takes the rows of one step, X (n, features) and y: got batches from outside")
    run = trial.new_run(Plan(data, epochs=1, batch_size=len(data), seed=seed, shuffle=False), (), trial.progress)
    trainer, before, t = run.trainer, run.now, run.step
    numbers, settings = run.rule_numbers(t), run.settings(t)
    batch = Rows(data.X, data.y, data.weights)
    parts = parts_of(trainer.net)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # numbers that broke are shown as they are
        return _made(trainer, parts, batch, t, numbers, settings, before)


def _made(
    trainer: Trainer,
    parts: tuple[Part, ...],
    batch: Rows,
    t: int,
    numbers: dict[str, float],
    settings: dict[str, Any],
    before: Snapshot,
) -> Trace:
    arrays = (batch.X, batch.y) if batch.weights is None else (batch.X, batch.y, batch.weights)
    shapes: Arrays = {}
    trainer.cost((before.params, before.state), arrays, t, settings, shapes)
    places = [name for part in parts for name in (part.name, f"{part.name}.affine") if name in shapes]
    probes = {name: np.zeros_like(shapes[name]) for name in places}

    def cost(params: Arrays, probes: Arrays) -> Any:
        taps: Arrays = {}
        objective, (state, terms) = trainer.cost((params, before.state), arrays, t, settings, taps, probes)
        return objective, (state, terms, taps)

    both = value_and_grad(cost, (0, 1), has_aux=True, warn=False)
    (objective, (state, terms, values)), (gradients, adjoints) = both(before.params, probes)
    (params, rule), *_ = trainer.update(before, gradients, t, float64s(numbers))
    after = Snapshot(params, state, rule)
    next_objective = trainer.cost((params, before.state), arrays, t, settings)[0]
    scores = values[parts[-1].name]
    loss = trainer.loss.with_(**{key[5:]: value for key, value in settings.items() if key.startswith("loss.")})
    return Trace(
        trainer,
        parts,
        batch,
        t,
        numbers,
        settings,
        before,
        after,
        values,
        {name: adjoint * len(batch) for name, adjoint in adjoints.items()},
        gradients,
        _penalty_gradients(trainer.penalty, before.params, batch),
        loss.per_sample(scores, batch.y),
        float(terms.get("loss", objective)),
        float(terms["penalty"]) if terms else None,
        float(objective),
        float(next_objective),
    )


def _penalty_gradients(penalty: Penalty | None, params: Arrays, batch: Rows) -> Arrays:
    """The penalty's share of the gradients; none where it is 0 everywhere."""
    if penalty is None:
        return {}
    if isinstance(penalty, PerRow):
        penalty = penalty.for_rows(np.sum(batch.weights) if batch.weights is not None else len(batch))
    shares: Arrays = grad(lambda p: penalty(p) + 0.0, warn=False)(params)
    return {name: share for name, share in shares.items() if np.any(share)}


def one_batch(x: Any, y: Any) -> tuple[Any, Any]:
    """A single sample (features,) as a batch of one; anything else as it is."""
    if y is None:
        raise TypeError("inspect.step(model, x, y) writes out a training step: it needs the targets y, too")
    if isinstance(x, np.ndarray | list | tuple) and np.ndim(x) == 1:
        if np.size(y) != 1 and np.ndim(y) != 1:
            raise ShapeError(f"x of shape {np.shape(x)} is one sample, but y has shape {np.shape(y)}")
        return np.reshape(x, (1, -1)), np.reshape(y, (1,) if np.size(y) == 1 else (1, -1))
    return x, y
