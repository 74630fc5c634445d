"""The blocks of a network: a layer with weights, and what follows it until the next one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.autodiff import jvp
from pellucid.nn.activations.layers import Activate, Mixed
from pellucid.nn.dimensions import innermost
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.layer import Features, Layer, within
from pellucid.nn.layers.normalization import BatchNorm


@dataclass(frozen=True)
class Block:
    """A layer with weights under its name, its activation and its batch normalisation, where there are such."""

    name: str
    layer: Layer
    units: int
    bias: bool
    activation: tuple[str, Layer] | None = None
    norm: str | None = None

    @property
    def z(self) -> str:
        """Under which name the pre-activation flows by: what goes into the activation, or out of the layer."""
        return self.name if self.activation is None else f"{self.activation[0]}.input"

    @property
    def a(self) -> str:
        """Under which name the activation flows by."""
        return self.name if self.activation is None else self.activation[0]

    @property
    def label(self) -> str | None:
        """The name of the activation."""
        if self.activation is None:
            return None
        layer = self.activation[1]
        if isinstance(layer, Activate):
            return layer.activation.label
        return "mixed" if isinstance(layer, Mixed) else type(layer).__name__

    def slope(self, params: Any, z: Any) -> Any:
        """The derivative of the activation, element by element.   (n, units) -> (n, units)"""
        assert self.activation is not None
        name, layer = self.activation
        inner = within(params, name)
        return jvp(lambda x: layer(inner, x, Context()), (z,), (np.ones_like(z),))[1]

    def steepness(self, params: Any, z: Any) -> Any:
        """The size of the slope of every unit on every row.   (..., units) -> (rows, units)"""
        return np.abs(np.reshape(self.slope(params, z), (-1, z.shape[-1])))

    @property
    def elementwise(self) -> bool:
        """Has its activation a slope for every element? (Softmax has not: each output depends on all inputs.)"""
        if self.activation is None or not isinstance(self.activation[1], Activate):
            return self.activation is not None
        x = np.random.default_rng(0).normal(size=(5, 4))
        function = self.activation[1].activation
        try:
            return bool(np.allclose(function(x)[:, :2], function(x[:, :2]), rtol=1e-6, equal_nan=True))
        except Exception:  # a user's function may want a certain width
            return False


def blocks(net: Layer, features: Features) -> tuple[Block, ...]:
    """The blocks of a network, in the order of its layers."""
    in_order: list[Block] = []
    for name, layer, inside in innermost(net, features):
        shapes = {key: parameter.shape for key, parameter in layer.parameters(inside).items()}
        if "weight" in shapes:
            in_order.append(Block(name, layer, layer.output(inside)[-1], "bias" in shapes))
        elif in_order and isinstance(layer, Activate | Mixed) and in_order[-1].activation is None:
            in_order[-1] = replace(in_order[-1], activation=(name, layer))
        elif in_order and isinstance(layer, BatchNorm) and in_order[-1].norm is None:
            in_order[-1] = replace(in_order[-1], norm=name)
    return tuple(in_order)
