"""Checks of a start: do signals keep their size on the way through a new network, and gradients on the way back?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.evidence import Evidence
from pellucid.inspect.diagnosis.finding import Finding
from pellucid.inspect.diagnosis.remedies import afresh, variant, with_activation, with_batch_norm, with_usual_start
from pellucid.inspect.diagnosis.trials import Gain, gain
from pellucid.inspect.diagnosis.units import bounded, hidden
from pellucid.inspect.look import Look
from pellucid.nn import Activate, Layer
from pellucid.train import Model

LOST = 1e-2
"""A gradient (or what rows differ by) that has become this share of what it was, from one end to the other."""

GROWN = 30.0
"""A signal or gradient that has become this many times as large."""


def flow(look: Look) -> dict[str, float]:
    """From end to end: how much gradients shrink or grow on the way back, and signals on the way forward."""
    layers = look.layers
    first, last = layers[0], layers[-1]
    back = 1.0
    if first.dz is not None and last.dz is not None and len(layers) > 1:
        back = first.dz.rms / max(last.dz.rms, 1e-300)
    differences = [float(np.sqrt(np.mean(np.square(layer.unit_std)))) for layer in layers]
    return {
        "gradient, first over last": back,
        "rows differ by, last hidden": differences[-2] if len(layers) > 1 else differences[-1],
        "rows differ by, output": differences[-1],
        "largest signal": max(layer.a.rms for layer in layers),
    }


def starts_silent(look: Look) -> bool:
    """Do the weights of the output start at 0? Then the first step goes to them alone, which is meant so."""
    return look.layers[-1].weight.rms < 1e-12 and look.layers[-2].weight.rms > 1e-12


def start(e: Evidence) -> list[Finding]:
    """A new network of this kind: what shrinks, what grows; does another start learn where this one fails?"""
    own_start = with_usual_start(e.model.net) != e.model.net
    if (e.well and not own_start) or e.start is None or len(e.start.layers) < 2 or starts_silent(e.start):
        return []
    numbers = flow(e.start)
    back, differ = numbers["gradient, first over last"], numbers["rows differ by, last hidden"]
    loss = e.start.loss if e.start.loss is not None else np.nan
    chance = float(np.mean(e.chance))
    excess = (loss - chance) / e.unit if np.isfinite(loss) else np.inf
    normal_inputs = e.seen is None or 0.05 < float(np.sqrt(np.mean(np.square(e.seen)))) < 6.0
    shrinks = (back < LOST or differ < LOST) and normal_inputs
    grows = (back > GROWN or numbers["largest signal"] > GROWN or (excess > 10.0 and own_start)) and normal_inputs
    if not shrinks and not grows and not own_start:
        return []
    saturates = any((layer.saturated or 0.0) > 0.3 for layer in hidden(e.start) if bounded(e, layer.name))
    closed = any(len(layer.dead) > 0.5 * layer.units for layer in hidden(e.start) if not bounded(e, layer.name))
    if (saturates and grows) or closed:
        return []  # told by the units
    if grows and not shrinks:
        code = "exploding-gradient"
    elif shrinks:
        code = "vanishing-gradient"
    else:
        return []
    measured: dict[str, float | int | str] = {name: float(value) for name, value in numbers.items()}
    measured["first loss over chance"] = float(min(loss / chance if chance else np.inf, 1e30))
    extreme = back < 1e-3 or differ < 1e-4 or back > 1e3 or excess > 100
    change, severity, weight = _verdict(e, _candidates(e, own_start), measured, extreme=extreme)
    if not severity:
        return []
    return [
        Finding(
            code,
            severity,
            measured,
            remedy=change.remedy,
            layer=e.start.layers[0].name,
            repair=lambda: afresh(change.applied(e.model), e.it.X),
            figure=_figure(e.start),
            weight=weight,
        )
    ]


@dataclass(frozen=True)
class Change:
    """Another network of the same layers, and how it is written."""

    net: Callable[[Layer], Layer]
    remedy: str

    def applied(self, model: Model) -> Model:
        return variant(model, net=self.net(model.net))


USUAL = Change(with_usual_start, 'nn.mlp(hidden, outputs, init="auto")   # variance gain² / fan-in')
RELU = Change(lambda net: with_activation(net, "relu", _flat_ended), 'nn.mlp(hidden, outputs, activation="relu")')
NORM = Change(lambda net: with_batch_norm(with_usual_start(net)), 'nn.mlp(hidden, outputs, norm="batch", init="auto")')


def _candidates(e: Evidence, own_start: bool) -> list[Change]:
    """Changes that could help; trials choose among them."""
    assert e.start is not None
    flat = any(bounded(e, layer.name) for layer in hidden(e.start))
    return [*([USUAL] if own_start else []), *([RELU] if flat else []), NORM]


def _flat_ended(layer: Activate) -> bool:
    reach = layer.activation.range
    return reach is not None and bool(np.isfinite([reach.low, reach.high]).all())


def _verdict(
    e: Evidence, candidates: list[Change], measured: dict[str, float | int | str], *, extreme: bool
) -> tuple[Change, str, float]:
    """The change that helps most, how bad it is to do without, and what it is worth."""
    if not len(e.curve.loss) and not e.curve.diverged:
        return (candidates[0], "warning", 0.5) if extreme else (candidates[0], "", 0.0)
    laboratory = e.laboratory
    as_is = laboratory.begin("as it is")
    best, change, mended = Gain(-np.inf, -np.inf), candidates[0], as_is
    for candidate in candidates:
        trial = laboratory.begin(candidate.remedy, candidate.applied)
        better = gain(as_is.losses.inside, trial.losses.inside, e.unit)
        if better.size > best.size + 0.02:
            best, change, mended = better, candidate, trial
        if best.beyond(0.3):
            break
    better_end = gain(laboratory.now.inside, mended.losses.inside, e.unit)
    measured["gain of another start"] = float(np.clip(best.size, -9.0, 9.0))
    failed = e.curve.diverged or not e.finite
    if best.beyond(0.05) and (failed or better_end.beyond(0.02, 2.0)):
        return change, "warning", 1.0 if failed else better_end.size
    if extreme and (failed or e.behind.beyond(0.1) or not e.learned.beyond(0.1)):
        return change, "warning", max(e.behind.size, 0.1)
    return change, "note" if extreme else "", 0.0


def _figure(look: Look) -> Any:
    sizes = {layer.name: layer.dz.rms for layer in look.layers if layer.dz is not None and layer.dz.rms > 0}
    return views.bars(sizes, "Adjoints of the pre-activations at the start", "root mean square", log=True)
