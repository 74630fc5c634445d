"""Models with one thing changed: what trials try, and what `repair` returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from pellucid import nn, optim
from pellucid.nn.activations.layers import as_layer
from pellucid.nn.losses.link import Link
from pellucid.nn.losses.loss import Loss
from pellucid.nn.losses.numbers import Gaussian
from pellucid.nn.losses.sums import Around
from pellucid.optim import Optimizer, Schedule
from pellucid.train import Model

Parts = list[tuple[str, nn.Layer]]
Change = Callable[[str, nn.Layer], nn.Layer | Parts]
"""What becomes of an innermost layer: another, several, or none."""


def rebuilt(net: nn.Layer, change: Change) -> nn.Layer:
    """The network with every innermost layer changed; names stay."""
    parts = _rebuilt("", net, change)
    return parts[0][1] if len(parts) == 1 else nn.Sequential(*parts)


def _rebuilt(name: str, layer: nn.Layer, change: Change) -> Parts:
    if not layer.children:
        result = change(name, layer)
        return result if isinstance(result, list) else [(name, result)]
    inner = [part for child, inside in layer.children for part in _rebuilt(child, inside, change)]
    if isinstance(layer, nn.Sequential | nn.Concat):
        return [(name, type(layer)(*inner))] if inner else []
    if not inner:
        return []
    single = inner[0][1] if len(inner) == 1 else nn.Sequential(*inner)
    return [(name, replace(layer, layer=single))] if isinstance(layer, nn.Residual | nn.Compute) else [(name, layer)]


# networks


def without_noise(net: nn.Layer) -> nn.Layer:
    """Without dropout of any kind."""
    return rebuilt(net, lambda name, layer: [] if isinstance(layer, nn.Dropout | nn.AlphaDropout) else layer)


def with_dropout(net: nn.Layer, rate: float) -> nn.Layer:
    """No rate of dropout above this one."""
    kinds = nn.Dropout | nn.AlphaDropout
    return rebuilt(net, lambda _, layer: layer.with_(rate=min(layer.rate, rate)) if isinstance(layer, kinds) else layer)


def with_usual_start(net: nn.Layer) -> nn.Layer:
    """Weights that keep the size of signals, biases 0."""

    def change(name: str, layer: nn.Layer) -> nn.Layer:
        if not isinstance(layer, nn.Dense | nn.Maxout | nn.GLU):
            return layer
        return layer.with_(init="auto", bias=None if layer.bias is None else 0.0)  # type: ignore[no-any-return]

    return rebuilt(net, change)


def with_activation(net: nn.Layer, which: str, only: Callable[[nn.Activate], bool] = lambda layer: True) -> nn.Layer:
    """Another activation in the place of those that `only` says; weights start as usual for it."""

    def change(name: str, layer: nn.Layer) -> nn.Layer:
        return as_layer(which) if isinstance(layer, nn.Activate) and only(layer) else layer

    return with_usual_start(rebuilt(net, change))


def with_batch_norm(net: nn.Layer) -> nn.Layer:
    """Batch normalisation ahead of every activation that has none."""
    last: list[nn.Layer] = []

    def change(name: str, layer: nn.Layer) -> nn.Layer | Parts:
        bare = isinstance(layer, nn.Activate) and bool(last) and isinstance(last[-1], nn.Dense)
        last.append(layer)
        return [(f"{name.removesuffix('.activation')}.norm", nn.BatchNorm()), (name, layer)] if bare else layer

    return rebuilt(net, change)


def with_activations_between(net: nn.Layer, which: str = "relu") -> nn.Layer:
    """An activation between layers with weights that follow each other without one."""
    flat = innermost(net)
    weighted = [i for i, (_, layer) in enumerate(flat) if is_weighted(layer)]
    bare = [flat[a][0] for a, b in pairwise(weighted) if not any(is_nonlinear(layer) for _, layer in flat[a:b])]

    def change(name: str, layer: nn.Layer) -> nn.Layer | Parts:
        if isinstance(layer, nn.Activate) and layer.activation.name == "identity":
            return []
        known = name in {path.rsplit(".", 1)[-1] if "." in path and path not in names else path for path in bare}
        return [(name, layer), (f"{name}.activation", as_layer(which))] if is_weighted(layer) and known else layer

    names = [name for name, _ in net.children]
    return rebuilt(net, change)


def without_last_activation(net: nn.Layer) -> nn.Layer:
    """The network up to its last layer with weights."""
    flat = innermost(net)
    last = max((i for i, (_, layer) in enumerate(flat) if is_weighted(layer)), default=-1)
    tail = [layer for _, layer in flat[last + 1 :]]
    return rebuilt(net, lambda name, layer: [] if any(layer is one for one in tail) else layer)


def wider(net: nn.Layer, outputs: int, factor: int = 4, least: int = 32) -> nn.Layer:
    """Hidden layers that many times as wide; one hidden layer where there is none."""
    flat = innermost(net)
    last = max((i for i, (_, layer) in enumerate(flat) if is_weighted(layer)), default=-1)
    hidden = [layer for _, layer in flat[:last] if is_weighted(layer)]
    if not hidden:
        return nn.mlp((least,), outputs)
    keep = flat[last][1]

    def change(name: str, layer: nn.Layer) -> nn.Layer:
        if layer is keep or not isinstance(layer, nn.Dense | nn.Maxout | nn.GLU):
            return layer
        return layer.with_(units=max(factor * layer.units, least))  # type: ignore[no-any-return]

    return rebuilt(net, change)


def standardising(net: nn.Layer) -> nn.Layer:
    """The network behind a normalisation of its inputs that learns nothing but their means and deviations."""
    front = ("input.norm", nn.BatchNorm(average="cumulative", affine=False))
    parts = net.children if isinstance(net, nn.Sequential) else (("net", net),)
    return nn.Sequential(front, *parts)


def innermost(net: nn.Layer, path: str = "") -> Parts:
    """All layers that are made of no others, in order, under their full names."""
    if not net.children:
        return [(path, net)]
    return [part for name, layer in net.children for part in innermost(layer, f"{path}.{name}" if path else name)]


def is_weighted(layer: nn.Layer) -> bool:
    return isinstance(layer, nn.Dense | nn.Maxout | nn.GLU)


LINEAR = (nn.Dense, nn.BatchNorm, nn.Dropout, nn.AlphaDropout, nn.GaussianNoise, nn.Scale, nn.Flatten)
"""Layers that are affine maps of a row when the network predicts."""


def is_nonlinear(layer: nn.Layer) -> bool:
    """Does it bend? Of a layer of the user's own we suppose so."""
    if isinstance(layer, nn.Activate):
        return not _straight(layer)
    return not isinstance(layer, LINEAR)


def _straight(layer: nn.Activate) -> bool:
    """Is the activation an affine function? It is asked, so that functions of one's own and slopes of 1 count."""
    x = np.linspace(-30.0, 30.0, 61)
    try:
        y = np.asarray(layer.activation(x[:, None]))[:, 0]
    except Exception:  # a user's function may want a certain width
        return False
    return bool(np.allclose(np.diff(y, 2), 0.0, atol=1e-9 * max(float(np.max(np.abs(y))), 1e-30)))


# targets


@dataclass(frozen=True)
class Standardised(Around):
    """Another loss of numbers on a standardised target; the link gives predictions in the units of the target.

    >>> loss = Standardised(nn.loss("squared_error"), mean=100.0, deviation=10.0)
    >>> float(loss(np.zeros((1, 1)), loss.prepare([110.0]))), loss.link(np.ones((1, 1)))
    (1.0, array([[110.]]))
    """

    mean: float = 0.0
    deviation: float = 1.0

    @property
    def link(self) -> Link:  # type: ignore[override]
        return Link("in the units of the target", self._back, self.of.link.kind)

    def _back(self, scores: Any) -> Any:
        numbers = self.of.link(scores) * self.deviation
        if isinstance(self.of, Gaussian):  # a deviation has no place, only a size
            return numbers + np.tile(np.array([self.mean, 0.0], numbers.dtype), numbers.shape[1] // 2)
        return numbers + self.mean

    def each(self, s: Any, y: Any) -> Any:
        return self.of.each(s, (y - self.mean) / self.deviation)


# optimizers


def scaled_rate(optimizer: Optimizer, factor: float, rate: float) -> Optimizer:
    """The same with a rate `factor` times `rate` (a schedule is replaced by its number)."""
    return replace(optimizer, rule=replace(optimizer.rule, lr=float(f"{rate * factor:.3g}")))


def without_decay(optimizer: Optimizer) -> Optimizer:
    """The same without weight decay."""
    links = tuple(link for link in optimizer.links if not isinstance(link, optim.WeightDecay))
    rule = optimizer.rule
    if getattr(rule, "decay", 0.0):
        rule = replace(rule, decay=0.0)  # type: ignore[call-arg]
    return replace(optimizer, rule=rule, links=links)


def decays(optimizer: Optimizer) -> bool:
    return without_decay(optimizer) != optimizer


def nominal_rate(optimizer: Optimizer, seen: list[float]) -> float:
    """The rate of a run: that of the rule, or the largest of its schedule."""
    lr = optimizer.rule.lr
    if not isinstance(lr, Schedule):
        return float(lr)
    return max(seen) if seen else float(lr.fit(100, 10)(0)) or 1e-3


# models


UNCHANGED: Any = object()


def variant(
    model: Model,
    *,
    net: nn.Layer | None = None,
    loss: Loss | None = None,
    optimizer: Optimizer | None = None,
    penalty: Any = UNCHANGED,
    engine: str | None = None,
) -> Model:
    """A model like this one with some parts changed; parameters are kept where they still fit, none where not."""
    network = model.net if net is None else net
    new = Model(
        network,
        model.loss if loss is None else loss,
        model.optimizer if optimizer is None else optimizer,
        model.metrics if loss is None else (),
        penalty=model.penalty if penalty is UNCHANGED else penalty,
        dtype=model.dtype,
        engine=model.engine if engine is None else engine,
        threads=model.threads,
    )
    names = {name for name, _ in innermost(network)}
    new.settings = {key: s for key, s in model.settings.items() if key.rpartition(".")[0] in names | {"loss"}}
    new.pays, new.tells = model.pays, False
    if model.params:
        shapes = [{key: np.shape(value) for key, value in tree.items()} for tree in (model.params, model.state)]
        fresh = network.parameters(model.features), network.state(model.features)
        wanted = [
            {key: value.shape for key, value in fresh[0].items()},
            {key: np.shape(value) for key, value in fresh[1].items()},
        ]
        if shapes == wanted:
            new.params, new.state, new.features = dict(model.params), dict(model.state), model.features
    return new


def afresh(model: Model, features: Any, seed: int = 0) -> Model:
    """The same with new parameters."""
    return model.initialize(features, seed=seed)
