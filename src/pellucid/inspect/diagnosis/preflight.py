"""preflight: a look before training. Can this network, with this loss, on these rows, learn anything at all?"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.blas_threads import one_thread
from pellucid.data.rows import Rows
from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.causes import ordered
from pellucid.inspect.diagnosis.diagnose import DATA, findings_of, gathered
from pellucid.inspect.diagnosis.evidence import Evidence
from pellucid.inspect.diagnosis.finding import Diagnosis, Finding
from pellucid.inspect.diagnosis.gradients import flow, starts_silent
from pellucid.inspect.diagnosis.inputs import SIZE, scale
from pellucid.inspect.diagnosis.remedies import (
    afresh,
    scaled_rate,
    standardising,
    variant,
    with_usual_start,
    without_noise,
)
from pellucid.inspect.diagnosis.stepper import trained
from pellucid.inspect.diagnosis.targets import scale as target_scale
from pellucid.inspect.diagnosis.units import bounded, dead, hidden, saturated, symmetric
from pellucid.inspect.subject import Subject
from pellucid.markup import plural
from pellucid.train import History, Model

FACTORS = (0.1, 10.0, 0.01, 100.0, 1e-3, 1e3, 1e-4, 1e4, 1e5)
"""Of the rate, at which a few rows are tried if they are not learned at the rate itself; the nearest first."""

FEW_ROWS = 16
STEPS = 250
"""Steps in which 16 rows are to be learned by heart: TheDeepChecker gives 1000 to networks of any size."""


def preflight(model: Any, X: Any, y: Any) -> Diagnosis:
    """Look before training: what would keep this model from learning these rows?

    Compares the first loss with that of chance, trains a copy on 16 rows (can it learn them by heart?), looks whether
    the output depends on the input, every parameter gets a gradient, and the target fits the loss; and at the inputs.
    The model is left as it is; parameters that it has are taken for its first ones.

    Parameters
    ----------
    model : Model | estimator | pipeline
        not trained yet; parameters that it has are taken for its first ones
    X : array or data frame of shape (n, features)
        the rows to be trained on
    y : array of shape (n,) or (n, outputs)
        their target

    Returns
    -------
    Diagnosis
        a sequence of findings; print it

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Model, inspect, nn
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> inspect.preflight(Model(nn.mlp((16,), 1)), X, X[:, 0]).codes
    ()
    >>> inspect.preflight(Model(nn.mlp((16,), 1, init=0.0)), X, X[:, 0]).codes
    ('symmetric-units',)
    """
    it, _, found = gathered(model, X, y, None)
    return Diagnosis(found, f"Preflight of {type(model).__name__}") if it is None else looked_at(it, found)


def looked_at(it: Subject, found: list[Finding]) -> Diagnosis:
    """The same, of a subject; a copy of its model is given first parameters where it has none."""
    trial = copy.copy(it.model)
    trial.compiled = False
    if not trial.params:
        trial.initialize(it.X)
    evidence = Evidence(Subject(trial, it.X, it.y, it.columns, it.classes, it.whole), History())
    words = f"Preflight of {it.who} on {plural(len(it.X), 'row')}" + ("" if it.model.params else ", not trained yet")
    with one_thread(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [*found, *findings_of(evidence, DATA)]
        if not evidence.misfit:
            start = Start(evidence)
            found += findings_of(evidence, (symmetric, dead, saturated))
            found += signals(start) + by_heart(start) + _sizes(start)
    return Diagnosis(ordered(found), words)


@dataclass(frozen=True)
class Learned:
    """What came of learning a few rows by heart: the share of their loss that is left."""

    left: float
    diverged: bool


class Start:
    """A model ahead of its training, measured."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.few = _few(evidence)

    def learned(self, model: Model, rate: float = 1.0, X: Any = None) -> Learned:
        """Train a copy on 16 rows."""
        e, rows = self.evidence, self.few
        trial = variant(model, optimizer=scaled_rate(model.optimizer, 1.0, e.rate), engine="numpy", penalty=None)
        trial.params, trial.state, trial.features = dict(model.params), dict(model.state), model.features
        first = np.mean(e.chance)
        after = trained(trial, rows, steps=STEPS, batch=FEW_ROWS, rate=e.rate * rate)
        if after.diverged:
            return Learned(np.inf, True)
        trial.params, trial.state = after.params, after.state
        scores, _ = trial.net.apply(trial.params, rows.X, trial.state, training=True, noise=False)
        loss = float(np.mean(trial.loss.per_sample(scores, rows.y)))
        floor = float(first) - e.unit
        return Learned((loss - floor) / e.unit if np.isfinite(loss) else np.inf, not np.isfinite(loss))


def _few(e: Evidence) -> Rows:
    """A few rows, of all classes."""
    rows = e.sample
    order = np.random.default_rng(0).permutation(len(rows))
    if e.classifies and e.labels is not None:
        firsts = np.unique(e.labels[order], return_index=True)[1]
        order = np.concatenate([order[firsts], np.delete(order, firsts)])
    return rows.take(order[:FEW_ROWS])


def signals(start: Start) -> list[Finding]:
    """The first loss, and whether anything of the input arrives at the output, or of the gradient at the input."""
    e = start.evidence
    look = e.look
    if look is None or (len(look.layers) > 1 and starts_silent(look)):
        return []
    if any(
        len(one.dead) > 0.5 * one.units or (bounded(e, one.name) and (one.saturated or 0) > 0.5) for one in hidden(look)
    ):
        return []  # told by the units
    numbers = flow(look)
    chance = float(np.mean(e.chance))
    loss = float(look.loss) if look.loss is not None else np.nan
    measured: dict[str, float | int | str] = {"first loss": loss, "chance": chance, **numbers}
    silent = [layer.name for layer in look.layers if layer.dweight is not None and layer.dweight.rms == 0.0]
    usual = lambda: afresh(variant(e.model, net=with_usual_start(e.model.net)), e.it.X)
    back, output = numbers["gradient, first over last"], numbers["rows differ by, output"]
    if not np.isfinite(loss) or (loss - chance) / e.unit > 100.0 or back > 1e3:
        if _normal(e):
            return [
                Finding(
                    "exploding-gradient",
                    "warning",
                    measured,
                    remedy='nn.mlp(hidden, outputs, init="auto")',
                    repair=usual,
                    weight=0.5,
                )
            ]
    elif silent or back < 1e-3 or output < 1e-6:
        place = silent[0] if silent else look.layers[0].name
        return [
            Finding(
                "vanishing-gradient",
                "warning",
                {**measured, "layers without gradient": len(silent)},
                remedy='nn.mlp(hidden, outputs, activation="relu", init="auto")   # or norm="batch"',
                layer=place,
                repair=usual,
                figure=views.bars(
                    {one.name: one.dz.rms for one in look.layers if one.dz is not None}, "Adjoints", "rms", log=True
                ),
                weight=0.5,
            )
        ]
    return []


def _normal(e: Evidence) -> bool:
    """Are inputs and targets of the usual size?"""
    sizes = [] if e.seen is None else [float(np.sqrt(np.mean(np.square(e.seen))))]
    if not e.classifies:
        sizes.append(float(np.sqrt(np.mean(np.square(e.target)))))
    return all(SIZE[0] / 2 <= size <= 2 * SIZE[1] for size in sizes)


def _sizes(start: Start) -> list[Finding]:
    """Inputs and targets of an unusual size: told where they keep a few rows from being learned."""
    e = start.evidence
    untrained = Evidence(Subject(variant_without(e.model), e.it.X, e.it.y, e.columns), History())
    return scale(untrained) + target_scale(untrained)


def variant_without(model: Model) -> Model:
    """The same model, its parameters left out."""
    empty = copy.copy(model)
    empty.params = {}
    return empty


def by_heart(start: Start) -> list[Finding]:
    """16 rows, a few hundred steps: who cannot learn these by heart will learn nothing. What makes it possible?"""
    e = start.evidence
    labels = {tuple(np.ravel(row)) for row in np.asarray(start.few.X)}
    if len(labels) < len(start.few.X):  # the same row with two targets cannot be learned
        return []
    own = start.learned(e.model)
    if own.left < 0.5:
        return []
    measured: dict[str, float | int | str] = {
        "left of 16 rows' loss": float(min(own.left, 1e9)),
        "steps": STEPS,
        "rate": e.rate,
    }
    rates: dict[float, Learned] = {}
    for each in FACTORS:
        rates[each] = start.learned(e.model, each)
        if rates[each].left < 0.3:
            break
    factor = min(rates, key=lambda one: rates[one].left)
    if rates[factor].left < 0.5 * own.left and rates[factor].left < 0.7:
        code = "rate-too-high" if factor < 1 else "rate-too-low"
        measured[f"left at {factor:g} times the rate"] = rates[factor].left
        rule = type(e.model.optimizer.rule).__name__
        return [
            Finding(
                code,
                "warning",
                measured,
                remedy=f"optim.{rule}({e.rate * factor:.3g})   # instead of {e.rate:.3g}",
                repair=lambda: afresh(
                    variant(e.model, optimizer=scaled_rate(e.model.optimizer, factor, e.rate)), e.it.X
                ),
                weight=0.5,
            )
        ]
    quiet = without_noise(e.model.net)
    if quiet != e.model.net:
        calm = start.learned(variant(e.model, net=quiet).initialize(e.it.X))
        if calm.left < 0.5 * own.left:
            return [
                Finding(
                    "dropout-too-high",
                    "warning",
                    {**measured, "left without dropout": calm.left},
                    remedy="nn.mlp(hidden, outputs, dropout=0.2)",
                    repair=lambda: afresh(variant(e.model, net=quiet), e.it.X),
                    weight=0.5,
                )
            ]
    scaled = start.learned(variant(e.model, net=standardising(e.model.net)).initialize(e.it.X))
    if scaled.left < 0.5 * own.left:
        return []  # told by the sizes
    return [
        Finding(
            "capacity-too-small",
            "note",
            measured,
            means="The network does not learn even 16 rows by heart, at any rate that was tried. It may be too small, "
            "or they cannot be told apart.",
            remedy="nn.mlp((64,), outputs)",
        )
    ]
