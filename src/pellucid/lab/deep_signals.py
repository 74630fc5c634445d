"""The lectures' deep network (ten layers of 500 units) with random weights: what comes out of every layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.markup import Brief

SCALES: Mapping[str, str] = MappingProxyType(
    {"small": "σ = 0.01", "large": "σ = 1", "xavier": "σ = 1/√n", "he": "σ = √(2/n)"}
)
"""The four deviations of the weights that the lectures try, and how they write them."""

PRINTED: Mapping[tuple[str, str], tuple[tuple[float, ...], tuple[float, ...]]] = MappingProxyType(
    {
        ("tanh", "small"): (
            (-0.000117, -0.000001, -0.000002, 0.000001, 0.000002, 0.0, 0.0, 0.0, 0.0, 0.0),
            (0.213081, 0.047551, 0.010630, 0.002378, 0.000532, 0.000119, 0.000026, 0.000006, 0.000001, 0.000000),
        ),
        ("tanh", "large"): (
            (-0.00043, -0.000849, 0.000566, 0.000483, -0.000682, -0.000401, -0.000237, -0.000448, -0.000899, 0.000584),
            (0.981879, 0.981649, 0.981601, 0.981755, 0.981614, 0.981560, 0.981520, 0.981913, 0.981728, 0.981736),
        ),
        ("tanh", "xavier"): (
            (0.001198, -0.000175, 0.000055, -0.000306, 0.000142, -0.000389, -0.000228, -0.000291, 0.000361, 0.000139),
            (0.627953, 0.486051, 0.407723, 0.357108, 0.320917, 0.292116, 0.273387, 0.254935, 0.239266, 0.228008),
        ),
        ("relu", "xavier"): (
            (0.398623, 0.272352, 0.186076, 0.136442, 0.099568, 0.072234, 0.049775, 0.035138, 0.025404, 0.018408),
            (0.582273, 0.403795, 0.276912, 0.198685, 0.140299, 0.103280, 0.072748, 0.051572, 0.038583, 0.026076),
        ),
        ("relu", "he"): (
            (0.562488, 0.553614, 0.545867, 0.565396, 0.547678, 0.587103, 0.596867, 0.623214, 0.567498, 0.552531),
            (0.825232, 0.827835, 0.813855, 0.826902, 0.834092, 0.860035, 0.870610, 0.889348, 0.845357, 0.844523),
        ),
    }
)
"""Means and deviations layer by layer, as the cs231n lecture prints them, by activation and scale."""


def deviation(scale: str, width: int) -> float:
    """The deviation of the weights that a scale stands for.

    >>> deviation("small", 500), round(deviation("he", 500), 4)
    (0.01, 0.0632)
    """
    return {"small": 0.01, "large": 1.0, "xavier": float(width**-0.5), "he": float((2 / width) ** 0.5)}[scale]


def tower(activation: str, sigma: float, width: int = 500, depth: int = 10) -> nn.Sequential:
    """Layers of equal width, weights N(0, sigma²), no biases; an activation behind each of them, the last one too.

    >>> [name for name, _ in tower("tanh", 0.1, width=3, depth=2).children]
    ['layer1', 'layer1.activation', 'layer2', 'layer2.activation']
    """
    layers = [
        ((f"layer{i}", nn.Dense(width, init=nn.normal(sigma), bias=None)), (f"layer{i}.activation", activation))
        for i in range(1, depth + 1)
    ]
    return nn.Sequential(*[part for pair in layers for part in pair])


@dataclass(frozen=True, repr=False)
class Layers(Brief):
    """What comes out of each layer: mean, deviation, share of exact zeros, share beyond 0.99 in size, and histograms
    of 30 bins (counts and edges) of what is not 0."""

    means: tuple[float, ...]
    stds: tuple[float, ...]
    zeros: tuple[float, ...]
    large: tuple[float, ...]
    histograms: tuple[tuple[Any, Any], ...]

    @staticmethod
    def of(outputs: list[Any], bounds: tuple[float, float] | None = None) -> Layers:
        """The statistics of these arrays."""
        return Layers(
            tuple(float(np.mean(h)) for h in outputs),
            tuple(float(np.std(h)) for h in outputs),
            tuple(float(np.mean(h == 0)) for h in outputs),
            tuple(float(np.mean(np.abs(h) > 0.99)) for h in outputs),
            tuple(np.histogram(h[h != 0], 30, range=bounds) for h in outputs),
        )


def activations(activation: str, sigma: float, draws: list[Any], X: Any) -> Layers:
    """The lecture's own program: multiply by the next weights, apply the activation, look at what comes out.

    `draws` are standard normal matrices, one for each layer; the weights are sigma times them.

    >>> rng = np.random.default_rng(0)
    >>> draws, X = [rng.normal(size=(50, 50)) for _ in range(3)], rng.normal(size=(100, 50))
    >>> [round(std, 1) for std in activations("tanh", 0.1, draws, X).stds]
    [0.5, 0.3, 0.2]
    """
    f = nn.activation(activation)
    outputs, H = [], X
    for W in draws:
        H = f((sigma * H) @ W)
        outputs.append(H)
    return Layers.of(outputs, (-1.0, 1.0) if activation == "tanh" else None)


def infinite_width(activation: str, sigma: float, width: int, depth: int = 10) -> tuple[tuple[float, float], ...]:
    """Mean and deviation of every layer in the limit of many units: each sum is then a normal number.

    The variance of a layer's sums is width · sigma² · E[h²], h the layer below; E by quadrature.

    >>> [round(std, 4) for _, std in infinite_width("tanh", 500**-0.5, 500, 3)]
    [0.6279, 0.4863, 0.4082]
    """
    f = nn.activation(activation)
    at = np.linspace(-9, 9, 20_001)  # of a standard normal number; fine enough for tanh(22 z)
    weight = np.exp(-(at**2) / 2)
    weight /= weight.sum()
    second, layers = 1.0, []
    for _ in range(depth):
        h = f(np.sqrt(width * second) * sigma * at)
        mean, second = float(np.sum(weight * h)), float(np.sum(weight * h**2))
        layers.append((mean, float(np.sqrt(second - mean**2))))
    return tuple(layers)
