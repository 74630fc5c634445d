"""Checks of layers and units: what is missing between layers, and units that are copies, dead, saturated or useless."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.inspect.blocks import blocks
from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.evidence import FEW, Evidence
from pellucid.inspect.diagnosis.finding import Finding
from pellucid.inspect.diagnosis.remedies import (
    Parts,
    afresh,
    is_nonlinear,
    is_weighted,
    scaled_rate,
    variant,
    with_activation,
    with_activations_between,
    with_usual_start,
)
from pellucid.inspect.diagnosis.trials import gain
from pellucid.inspect.look import LayerLook, Look
from pellucid.train import Model

MANY = 0.5
"""The share of the units of a layer that makes it more than good to know."""

NEARLY_ALL = 0.9
"""The share of dead units from which on what is left is not the network that was meant, however well it does."""

STRAIGHT = 0.01
"""What straight lines in the place of an activation may cost, in units of what can be learned, if it is hardly used."""

SOME = 0.1
"""And the share from which on it is good to know."""


def missing_activation(e: Evidence) -> list[Finding]:
    """Layers with weights that follow each other with nothing but linear maps between them."""
    parts = _in_a_row(e.model.net)
    bare: list[tuple[str, str]] = []
    last: str | None = None
    for name, layer in parts:
        if is_weighted(layer):
            if last is not None:
                bare.append((last, name))
            last = name if isinstance(layer, nn.Dense) else None
        elif is_nonlinear(layer):
            last = None
    if not bare:
        return []
    hidden = sum(is_weighted(layer) for _, layer in parts) - 1
    return [
        Finding(
            "missing-activation",
            "warning",
            {"pairs": len(bare), "of": hidden, "behind": ", ".join(first for first, _ in bare[:4])},
            remedy='nn.mlp(hidden, outputs, activation="relu")   # nn.Sequential(nn.Dense(...), "relu", nn.Dense(...))',
            layer=bare[0][0],
            repair=lambda: afresh(variant(e.model, net=with_activations_between(e.model.net)), e.it.X),
            weight=max(e.behind.size, 0.05) if e.trained and not e.misfit and e.finite else 0.05,
        )
    ]


def _in_a_row(net: nn.Layer, path: str = "") -> Parts:
    """The layers one after the other; what is beside each other (Residual, Concat) stays one layer."""
    if not isinstance(net, nn.Sequential):
        return [(path, net)]
    return [part for name, layer in net.parts for part in _in_a_row(layer, f"{path}.{name}" if path else name)]


def symmetric(e: Evidence) -> list[Finding]:
    """Hidden units with the same weights into them that will stay the same: those out of them are the same, too, or
    no gradient has told them apart since a start that was the same for all."""
    weights = {key.removesuffix(".weight"): value for key, value in e.model.params.items() if key.endswith(".weight")}
    names = [name for name, layer in e.layers if is_weighted(layer) and name in weights]
    worst: tuple[float, str, int, int] = (0.0, "", 0, 0)
    for name, following in pairwise(names):
        into, out = _into(e.model, name), np.asarray(weights[following], np.float64).T
        units = into.shape[1]
        if units < 2 or out.shape[1] != units or not np.isfinite(into).all():
            continue
        began_alike = _copies(_into(e.fresh, name)[:-1]) == units  # biases may move: what the next layer weighs them by
        stuck = _copies(into[:-1]) if began_alike and _still(e, into[:-1]) else 0
        copies = max(_copies(np.concatenate([into, out], axis=0)), stuck)
        if copies / units > worst[0]:
            worst = (copies / units, name, copies, units)
    share, name, copies, units = worst
    if share < MANY:
        return []
    return [
        Finding(
            "symmetric-units",
            "error",
            {"copies": copies, "of": units},
            remedy='nn.Dense(units, init="auto")   # random weights, such as "he" or "glorot"',
            layer=name,
            repair=lambda: afresh(variant(e.model, net=with_usual_start(e.model.net)), e.it.X),
            weight=1.0,
        )
    ]


def _into(model: Model, name: str) -> Any:
    """Weights and bias of every unit.   (n_in + 1, units)"""
    W = np.asarray(model.params[f"{name}.weight"], np.float64)
    b = np.asarray(model.params.get(f"{name}.bias", np.zeros(W.shape[1])), np.float64)
    return np.concatenate([W, b[None, :]], axis=0)


def _copies(ways: Any) -> int:
    """Columns that are there more than once: compared row by row in the usual size of that row, for a few units that
    have exploded would make all others look alike."""
    size = np.median(np.abs(ways), axis=1, keepdims=True)
    size = np.where(size > 0, size, np.maximum(np.abs(ways).max(axis=1, keepdims=True), 1e-30))
    rounded = np.round(np.clip(ways / (1e-5 * size), -1e15, 1e15)).astype(np.int64)
    _, counts = np.unique(rounded, axis=1, return_counts=True)
    return int(np.sum(counts[counts > 1]))


def _still(e: Evidence, into: Any) -> bool:
    """Have steps been made since, or can none be (all weights are 0, where a rectifier has no slope)?"""
    return len(e.curve.loss) > 0 or not np.any(into)


# units that do not answer


def dead(e: Evidence) -> list[Finding]:
    """Units of ReLU and its kin that are closed for every row, with the reason: bias, inputs or steps."""
    if e.look is None:
        return []
    layers = [layer for layer in hidden(e.look) if not bounded(e, layer.name) and layer.unit_slope is not None]
    layers = [layer for layer in layers if len(layer.dead) >= 2 or len(layer.dead) == layer.units]
    if not layers:
        return []
    worst = max(layers, key=lambda layer: len(layer.dead) / layer.units)
    share = len(worst.dead) / worst.units
    if share < SOME:
        return []
    at_start = _dead_at_start(e, worst.name)
    cause = _cause_of_death(e, worst, at_start)
    poor = e.behind.beyond(0.05, 2.0) or not e.learned.beyond(0.3)
    serious = (share >= 0.8 * MANY and (poor or at_start >= MANY)) or share >= NEARLY_ALL
    severity = "error" if share == 1.0 else "warning" if serious else "note"
    return [
        Finding(
            "dead-units",
            severity,
            {"dead": len(worst.dead), "of": worst.units, "at the start": at_start, "cause": cause},
            remedy=f'nn.mlp(hidden, outputs, activation="leaky_relu", bias=0.01)\n{_remedy(cause, e)}',
            layer=worst.name,
            repair=lambda: afresh(variant(e.model, net=with_activation(e.model.net, "leaky_relu", _rectifies)), e.it.X),
            figure=views.histogram(worst.z.counts, worst.z.edges, f"Pre-activations of {worst.name}", "z"),
            weight=max(e.behind.size, 0.0) if severity != "note" else 0.0,
        )
    ]


def _rectifies(layer: nn.Activate) -> bool:
    return layer.activation.range is not None and layer.activation.range.low == 0


def _dead_at_start(e: Evidence, name: str) -> float:
    if e.start is None:
        return 0.0
    layer = e.start[name]
    return len(layer.dead) / layer.units


def _cause_of_death(e: Evidence, layer: LayerLook, at_start: float) -> str:
    """Would the units open without their biases? Were they closed from the beginning?"""
    bias = e.model.params.get(f"{layer.name}.bias")
    if bias is not None and _opens_without_bias(e, layer):
        return (
            "a large negative bias"
            if at_start >= SOME
            else "steps that were too large (they left a large negative bias)"
        )
    return "inputs or first weights" if at_start >= SOME else "steps that were too large"


def _opens_without_bias(e: Evidence, layer: LayerLook) -> bool:
    taps: dict[str, Any] = {}
    with np.errstate(all="ignore"):
        e.model.net.apply(e.model.params, e.sample.X, e.model.state, taps=taps)
    z = taps.get(f"{layer.name}.affine")
    if z is None or z.ndim != 2 or z.shape[1] != layer.units:
        return False
    units = list(layer.dead)
    free = np.asarray(z)[:, units] - np.asarray(e.model.params[f"{layer.name}.bias"])[units]
    return bool(np.mean(free.max(axis=0) > 0) > 0.5)


def _remedy(cause: str, e: Evidence) -> str:
    if cause.startswith("a large"):
        return "nn.Dense(units, bias=0.0)   # or slightly positive: bias=0.01 (the lectures' advice)"
    return (
        f"{type(e.model.optimizer.rule).__name__}({e.rate / 10:.3g})   # a tenth of the rate"
        if cause.startswith("steps")
        else ("StandardScaler().fit_transform(X)")
    )


def saturated(e: Evidence) -> list[Finding]:
    """Units of sigmoid, tanh and their kin that sit on the flat ends."""
    if e.look is None:
        return []
    layers = [layer for layer in hidden(e.look) if bounded(e, layer.name) and layer.saturated is not None]
    if not layers:
        return []
    worst = max(layers, key=lambda layer: layer.saturated or 0.0)
    share = worst.saturated or 0.0
    if share < 0.3 and (e.well or e.start is None):
        return []
    at_start = 0.0 if e.start is None else (e.start[worst.name].saturated or 0.0)
    if max(share, at_start) < 0.3:
        return []
    poor = e.behind.beyond(0.05, 2.0) or not e.learned.beyond(0.3)
    serious = (share >= MANY and poor) or at_start >= MANY
    factor = _calmer_rate(e) if serious and at_start < 0.3 else 1.0
    cause = (
        "first weights or inputs"
        if at_start >= 0.3
        else "steps that were too large"
        if factor < 1.0
        else "training: weights grew, by steps that were too large or for long"
    )
    slower = "" if factor == 1.0 else f"\noptim.{type(e.model.optimizer.rule).__name__}({e.rate * factor:.3g})"
    return [
        Finding(
            "saturated-units",
            "warning" if serious else "note",
            {"saturated": share, "at the start": at_start, "cause": cause},
            remedy='nn.mlp(hidden, outputs, activation="relu", init="auto")   # or norm="batch"' + slower,
            layer=worst.name,
            repair=lambda: afresh(
                variant(
                    e.model,
                    net=with_usual_start(e.model.net),
                    optimizer=None if factor == 1.0 else scaled_rate(e.model.optimizer, factor, e.rate),
                ),
                e.it.X,
            ),
            figure=views.histogram(worst.z.counts, worst.z.edges, f"Pre-activations of {worst.name}", "z"),
            weight=max(e.behind.size, 0.0) if serious else 0.0,
        )
    ]


def _calmer_rate(e: Evidence) -> float:
    """The share of the rate at which a new network learns more than this one has; 1 where none does."""
    if not e.trained or e.misfit or not e.finite or e.curve.whole_batches:
        return 1.0
    laboratory = e.laboratory
    as_it_is = laboratory.begin("as it is").losses.inside
    best, chosen = 0.05, 1.0
    for factor in (0.1, 0.01, 0.001):
        slower = laboratory.begin("as it is", rate=factor).losses.inside
        better = gain(laboratory.now.inside, slower, e.unit)
        if better.beyond(best) and gain(as_it_is, slower, e.unit).beyond(0.05):
            best, chosen = better.size, factor
    return chosen


def advice(e: Evidence) -> list[Finding]:
    """The lectures' advice, a note under the code of what it prevents."""
    if e.look is None:
        return []
    layers = [layer for layer in hidden(e.look) if layer.activation in ("sigmoid", "hard_sigmoid")]
    if not layers:
        return []
    first = layers[0]
    offset = abs(first.a.mean) / max(first.a.std, 1e-12)
    return [
        Finding(
            "not-zero-centred",
            "note",
            {
                "activation": str(first.activation),
                "mean": first.a.mean,
                "deviation": first.a.std,
                "means over deviations": offset,
            },
            means="Sigmoids give positive numbers only, so the gradients of all weights of a unit in the next layer "
            "have the same sign and descent zig-zags. The lectures: never in hidden layers; tanh is zero-centred, ReLU "
            "does not saturate.",
            remedy='nn.mlp(hidden, outputs, activation="tanh")   # or "relu"',
            layer=first.name,
        )
    ]


def useless(e: Evidence) -> list[Finding]:
    """Hidden layers that act as a linear map on these rows, and branches that add nothing."""
    if not e.finite or e.look is None or len(e.sample) < 8:
        return []
    taps: dict[str, Any] = {}
    with np.errstate(all="ignore"):
        e.model.net.apply(e.model.params, e.sample.X, e.model.state, taps=taps)
    for name, _ in _residuals(e.model.net):
        branch, whole = taps.get(f"{name}.layer"), taps.get(name)
        if branch is not None and whole is not None:
            share = float(np.sqrt(np.mean(np.square(branch))) / max(float(np.sqrt(np.mean(np.square(whole)))), 1e-30))
            if share < 1e-3:
                return [_useless(name, "warning", {"branch over sum": share})]
    return _idle_layers(e, taps) or _straight_layers(e)


def _idle_layers(e: Evidence, taps: dict[str, Any]) -> list[Finding]:
    """What gives back what it is given, on every row: an activation behind its like, a normalisation behind another."""
    parts = [part for part in _in_a_row(e.model.net) if not isinstance(part[1], nn.Dropout | nn.AlphaDropout)]
    for (before, first), (name, layer) in pairwise(parts):
        if isinstance(layer, NORMS) and isinstance(first, NORMS):
            return [_useless(name, "note", {"behind": before})]
        if isinstance(layer, nn.Activate) and before in taps and name in taps:
            z, a = taps[before], taps[name]
            if z.shape == a.shape and np.array_equal(z, a) and is_nonlinear(layer):
                return [_useless(name, "note", {"rows that it changes": 0, "behind": before})]
    return []


NORMS = (nn.BatchNorm, nn.LayerNorm)


def _residuals(net: nn.Layer, path: str = "") -> Parts:
    inner = [(f"{path}.{name}" if path else name, layer) for name, layer in net.children]
    own: Parts = [(path, net)] if isinstance(net, nn.Residual) else []
    return own + [part for name, layer in inner for part in _residuals(layer, name)]


def _straight_layers(e: Evidence) -> list[Finding]:
    """Layers whose activations could be straight lines: put such lines in their places, and ask for the loss."""
    inner = [block for block in blocks(e.model.net, e.model.features)[:-1] if block.activation is not None]
    if len(e.sample) < FEW or not e.learned.beyond(0.2):
        return []
    for block in inner:
        taps: dict[str, Any] = {}
        e.model.net.apply(e.model.params, e.sample.X, e.model.state, taps=taps)
        z, a = (np.asarray(taps[name], np.float64) for name in (block.z, block.a))
        if z.shape != a.shape or z.ndim != 2:
            continue
        centred = z - z.mean(axis=0)
        slope = np.sum(centred * a, axis=0) / np.maximum(np.sum(np.square(centred), axis=0), 1e-30)
        line = a.mean(axis=0) + slope * centred
        moved = {block.a: (line - a).astype(e.model.dtype)}
        scores, _ = e.model.net.apply(e.model.params, e.sample.X, e.model.state, probes=moved)
        losses = np.asarray(e.model.loss.per_sample(scores, e.sample.y), np.float64)
        lost = gain(losses, e.losses, e.unit).size
        if lost < STRAIGHT and (len(inner) > 1 or abs(lost) < 1e-6):
            return [_useless(block.name, "note", {"lost by straight lines": lost, "units": block.units})]
    return []


def _useless(name: str, severity: str, measured: dict[str, float | int | str]) -> Finding:
    return Finding(
        "useless-layer", severity, measured, remedy=f"# leave {name} out: nn.mlp with one hidden layer less", layer=name
    )


# what layers are


def hidden(look: Look) -> tuple[LayerLook, ...]:
    """All layers but the last with weights."""
    return look.layers[:-1]


def bounded(e: Evidence, name: str) -> bool:
    """Has the activation behind this layer two flat ends?"""
    layer = activation_behind(e, name)
    if layer is None or layer.activation.range is None:
        return False
    return bool(np.isfinite([layer.activation.range.low, layer.activation.range.high]).all())


def activation_behind(e: Evidence, name: str) -> nn.Activate | None:
    """The activation of a layer with weights."""
    names = [path for path, _ in e.layers]
    if name not in names:
        return None
    for _, layer in e.layers[names.index(name) + 1 :]:
        if is_weighted(layer):
            return None
        if isinstance(layer, nn.Activate):
            return layer
    return None
