"""A training step with taps: the graph of the step, with statistics of every layer in the place of its arrays.

`tapped` is plain NumPy over `Trainer.cost`, so it is recorded, differentiated and compiled as the step itself is. What
it gives are summaries: nothing of the size of a batch leaves the engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.autodiff import value_and_grad
from pellucid.graph.primitives.statistics import column_moments, likeness
from pellucid.inspect.blocks import Block
from pellucid.inspect.statistics import measure
from pellucid.train.loop.step import Arrays, Trainer, squared_norm

SATURATED = 0.01
"""A unit is saturated where the slope of its activation is smaller than this."""

LIKENESS = "likeness"
"""What ranks and copies are called among the statistics of a layer."""

TINY = 1e-12
"""Keeps a variance away from 0."""


def tapped(trainer: Trainer, watched: tuple[Block, ...], *, ranks: bool = True) -> Callable[..., Any]:
    """The function (now, batch, t, numbers, settings) -> statistics by name, of one training step.

    `ranks` says whether products of units are among them: ranks and copies.
    """

    def look(now: Any, batch: Any, t: Any, numbers: Arrays, settings: Arrays) -> Arrays:
        params, state, rule = now
        shapes: Arrays = {}
        trainer.cost((params, state), batch, t, settings, shapes)  # for shapes alone: a recorded look leaves it out
        names = dict.fromkeys(name for block in watched for name in (block.z, block.a))
        probes = {name: np.zeros_like(shapes[name]) for name in names}

        def cost(p: Arrays, probes: Arrays) -> Any:
            taps: Arrays = {}
            objective, (after, parts) = trainer.cost((p, state), batch, t, settings, taps, probes)
            return objective, (after, parts, taps)

        differentiated = value_and_grad(cost, (0, 1), has_aux=True, warn=False)
        (objective, (_, parts, taps)), (gradients, adjoints) = differentiated(params, probes)
        new, _ = trainer.optimizer.update(params, gradients, rule, t + 1, numbers)
        rows = batch[0].shape[0]
        results: Arrays = {
            "loss": parts.get("loss", objective),
            "gradient": squared_norm(gradients),
            **columns_of(batch[0]),
        }
        for block in watched:
            results |= forward(block, params, state, taps, ranks=ranks)
            weight, bias = f"{block.name}.weight", f"{block.name}.bias"
            arrays = {
                "dz": adjoints[block.z] * rows,
                "da": adjoints[block.a] * rows,
                "dweight": gradients[weight],
                "update": new[weight] - params[weight],
            }
            if block.bias:
                arrays["dbias"] = gradients[bias]
            results |= {f"{block.name}/{key}": measure(array) for key, array in arrays.items()}
        return results

    return look


def looked(trainer: Trainer, watched: tuple[Block, ...]) -> Callable[..., Any]:
    """The same without targets: the function (params, state, X) -> statistics by name, as the network predicts."""

    def look(params: Arrays, state: Arrays, X: Any) -> Arrays:
        taps: Arrays = {}
        trainer.net.apply(params, X, state, key=trainer.key, taps=taps)
        results = columns_of(X)
        for block in watched:
            results |= forward(block, params, state, taps)
        return results

    return look


def columns_of(X: Any) -> Arrays:
    """Moments and ends of the columns of a batch.   (n, ...) -> (4, columns)"""
    return {"columns": column_moments(np.reshape(X, (X.shape[0], math.prod(X.shape[1:]))))}


def forward(block: Block, params: Arrays, state: Arrays, taps: Arrays, *, ranks: bool = True) -> Arrays:
    """What a forward pass shows of a block."""
    z, a = taps[block.z], taps[block.a]
    units = np.reshape(a, (-1, a.shape[-1]))
    results: Arrays = {
        "z": measure(z),
        "a": measure(a),
        "weight": measure(params[f"{block.name}.weight"]),
        "units": column_moments(units),
    }
    if ranks:
        centred = units - np.mean(units, axis=0)
        results[LIKENESS] = likeness(centred.T @ centred)
    if block.bias:
        results["bias"] = measure(params[f"{block.name}.bias"])
    if block.elementwise:
        slope = block.steepness(params, z)
        results["slopes"] = np.max(slope, axis=0)
        results["open"] = np.mean(slope >= SATURATED, axis=0)
    if block.norm is not None and f"{block.norm}.batch_mean" in taps:
        mean, var = (state[f"{block.norm}.{key}"] for key in ("mean", "var"))
        shift = (taps[f"{block.norm}.batch_mean"] - mean) / np.sqrt(var + TINY)
        results["norm_shift"] = np.sqrt(np.mean(np.square(shift)))
        results["norm_ratio"] = np.sqrt(np.mean(taps[f"{block.norm}.batch_var"]) / (np.mean(var) + TINY))
    return {f"{block.name}/{key}": value for key, value in results.items()}
