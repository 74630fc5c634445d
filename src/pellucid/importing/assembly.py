"""A model of layers that come with their arrays: checked, named, and with the loss that its last layer speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.data.types import Array
from pellucid.nn.activations.layers import Activate
from pellucid.nn.layers.layer import Features
from pellucid.nn.losses.link import LinkKind
from pellucid.nn.surgery import Part, joined
from pellucid.train import Model

ENDINGS = {
    "softmax": (LinkKind.PROBABILITIES, "cross_entropy"),
    "log_softmax": (LinkKind.PROBABILITIES, "cross_entropy"),
    "sigmoid": (LinkKind.PROBABILITY, "multilabel"),
}
"""Activations at the end of a network that losses of ours have as their link, and the loss that goes with each."""


def precision(arrays: Sequence[Array], asked: Any = None) -> np.dtype[np.floating]:
    """The precision that is asked for, else that of the arrays: float64 where one is, or float32."""
    usual = np.float64 if any(array.dtype == np.float64 for array in arrays) else np.float32
    dtype: np.dtype[np.floating] = np.dtype(usual if asked is None else asked)
    return dtype


def model_of(
    parts: Sequence[Part],
    features: Features,
    *,
    loss: Any,
    optimizer: Any,
    metrics: Sequence[Any],
    dtype: np.dtype[np.floating],
) -> Model:
    """The model of these layers. An activation at the end that is the link of the loss is left to the loss."""
    outputs = _outputs(parts, features)
    last = parts[-1].layer if parts else None
    kind, usual = ENDINGS.get(last.activation.name, (None, "")) if isinstance(last, Activate) else (None, "")
    if loss is None:
        loss = "squared_error" if kind is None else "bce" if usual == "multilabel" and outputs == 1 else usual
    record = nn.loss(loss)
    if kind is not None and record.link.kind.for_scores(outputs) is kind:
        parts = parts[:-1]
    if not parts:
        raise ValueError("the network has no layer with weights: there is nothing to import")
    network = joined(parts)
    model = Model(network.net, record, optimizer, metrics, dtype=dtype)
    _must_fit(network, features)
    model.features = features
    model.params = {name: np.array(value, dtype) for name, value in network.params.items()}
    model.state = {name: np.array(value, dtype) for name, value in network.state.items()}
    return model


def named(layers: Sequence[tuple[str, nn.Layer]]) -> list[str]:
    """A name for each layer: its own, where it has one that is no number; else after its class."""
    automatic = [name for name, _ in nn.Sequential(*(layer for _, layer in layers)).children]
    return [own if own and not own[0].isdigit() else other for (own, _), other in zip(layers, automatic, strict=True)]


def _outputs(parts: Sequence[Part], features: Features) -> int:
    for part in parts:
        features = part.layer.output(features)
    return features[-1]


def _must_fit(network: nn.Network, features: Features) -> None:
    """Raise for arrays of other shapes than the layers have."""
    wanted = {name: one.shape for name, one in network.net.parameters(features).items()}
    wanted |= {name: np.shape(one) for name, one in network.net.state(features).items()}
    shapes = {name: np.shape(array) for name, array in (network.params | network.state).items()}
    for name in (*wanted, *shapes):
        if wanted.get(name) != shapes.get(name):
            raise ValueError(
                f"{name} has the shape {wanted.get(name)} in the network, but the array that came for it "
                f"{shapes.get(name)}: are network and arrays of the same model?"
            )
