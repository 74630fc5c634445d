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
from pellucid.inspect.blocks import Block
from pellucid.inspect.statistics import measure
from pellucid.train.loop.step import Arrays, Trainer, squared_norm

SATURATED = 0.01
"""A unit is saturated where the slope of its activation is smaller than this."""

SAME = 1e-5
"""Two units are copies of each other where their correlation is that close to 1."""


def tapped(trainer: Trainer, watched: tuple[Block, ...]) -> Callable[..., Any]:
    """The function (now, batch, t, numbers, settings) -> statistics by name, of one training step."""

    def look(now: Any, batch: Any, t: Any, numbers: Arrays, settings: Arrays) -> Arrays:
        params, state, rule = now
        shapes: Arrays = {}
        trainer.cost((params, state), batch, t, settings, shapes)  # never computed: only its shapes are used
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
            results |= forward(block, params, state, taps)
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
    """Mean, deviation and ends of the columns of a batch, each a vector."""
    flat = np.reshape(X, (X.shape[0], math.prod(X.shape[1:]))).astype(np.float64)
    mean = np.mean(flat, axis=0)
    centred = flat - mean
    return {
        "column_mean": mean,
        "column_std": np.sqrt(np.mean(np.square(centred), axis=0)),
        "column_low": np.min(flat, axis=0),
        "column_high": np.max(flat, axis=0),
    }


def forward(block: Block, params: Arrays, state: Arrays, taps: Arrays) -> Arrays:
    """What a forward pass shows of a block."""
    z, a = taps[block.z], taps[block.a]
    units = np.reshape(a, (-1, a.shape[-1])).astype(np.float64)
    mean = np.mean(units, axis=0)
    centred = units - mean
    results: Arrays = {
        "z": measure(z),
        "a": measure(a),
        "weight": measure(params[f"{block.name}.weight"]),
        "unit_mean": mean,
        "unit_std": np.sqrt(np.mean(np.square(centred), axis=0)),
        **alike(np.reshape(a, (-1, a.shape[-1])) - mean.astype(a.dtype)),
    }
    if block.bias:
        results["bias"] = measure(params[f"{block.name}.bias"])
    if block.elementwise:
        slope = np.abs(np.reshape(block.slope(params, z), (-1, z.shape[-1])))
        results["unit_open"] = np.mean((slope >= SATURATED).astype(np.float64), axis=0)
        results["unit_slope"] = np.max(slope, axis=0)
    if block.norm is not None and f"{block.norm}.batch_mean" in taps:
        stored = {key: state[f"{block.norm}.{key}"].astype(np.float64) for key in ("mean", "var")}
        shift = np.square(taps[f"{block.norm}.batch_mean"] - stored["mean"]) / (stored["var"] + 1e-12)
        results["norm_shift"] = np.sqrt(np.mean(shift))
        ratio = np.mean(taps[f"{block.norm}.batch_var"]) / (np.mean(stored["var"]) + 1e-12)
        results["norm_ratio"] = np.sqrt(ratio)
    return {f"{block.name}/{key}": value for key, value in results.items()}


def alike(centred: Any) -> Arrays:
    """The effective rank of units from their covariances C, (tr C)² / |C|²; which are copies of an earlier one.

    centred: (n, units) -> a number; for each unit the first one that it is a copy of, or itself   (units,)
    """
    products = centred.T @ centred
    units = centred.shape[-1]
    numbers = np.arange(units)
    squares = np.diagonal(products).astype(np.float64)
    trace = np.sum(squares)
    rank = np.square(trace) / np.maximum(np.sum(np.square(products.astype(np.float64))), np.finfo(np.float64).tiny)
    sizes = np.sqrt(np.maximum(squares, 0.0))
    alive = sizes > 1e-6 * np.max(sizes)  # a unit that does not move is no copy of another
    same = products >= (1.0 - SAME) * sizes[:, None] * sizes[None, :]
    same = same & alive[:, None] & alive[None, :] & (numbers[:, None] < numbers[None, :])
    first = np.min(np.where(same, numbers[:, None], numbers[None, :]), axis=0)
    return {"rank": rank, "first": first}
