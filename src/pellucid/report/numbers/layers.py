"""What every layer showed during training: a histogram for each look, and numbers over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.inspect import LayerLook, Look, Statistics
from pellucid.report.plain import plain

LOOKS = 60
"""Looks in a report: of more, so many evenly taken."""

BINS = 60

MAPPED = 2000
"""Units of a layer whose openness is mapped one by one."""

FORWARD = {"a": "activations", "z": "pre-activations", "weight": "weights"}
BACKWARD = {"dz": "gradients of pre-activations", "dweight": "gradients of weights", "update": "updates of weights"}
QUANTITIES = FORWARD | BACKWARD


@dataclass(frozen=True, eq=False)
class Frames:
    """Histograms of one quantity of one layer, one for each look, each on a scale of its own.

    `shares` (looks, BINS) are shares of all numbers in each bin between `low` and `high` (looks,), without those that
    are exactly 0: these are `zeros`. What is further out is in the last bin. `limits` show nearly all of all looks.
    """

    low: Any
    high: Any
    shares: Any
    zeros: Any
    mean: Any
    std: Any
    limits: tuple[float, float]

    def edges(self, look: int) -> Any:
        """The edges of the bins of one look.   (BINS + 1,)"""
        return np.linspace(self.low[look], self.high[look], self.shares.shape[1] + 1)

    def densities(self, look: int) -> Any:
        """The share in a bin over its width, so that looks can be compared.   (BINS,)"""
        return self.shares[look] / np.diff(self.edges(look))

    def for_page(self) -> dict[str, Any]:
        """In few bytes: shares as ten-thousandths."""
        described = {name: plain(getattr(self, name)) for name in ("low", "high", "mean", "std", "limits")}
        zeros = plain(np.round(self.zeros, 4))
        return {**described, "zeros": zeros, "shares": np.rint(self.shares * 1e4).astype(int).tolist()}


@dataclass(frozen=True, eq=False)
class LayerFrames:
    """One layer: its histograms by quantity, and its numbers over the looks, (looks,) each."""

    name: str
    activation: str | None
    units: int
    frames: dict[str, Frames]
    spread: Any  # deviation of the activations
    gradient: Any  # root mean square of the gradient at z
    update: Any  # size of the update over that of the weights
    dead: Any  # share of units
    saturated: Any  # share of rows and units
    rank: Any  # effective rank
    open: Any  # (looks, units): the share of rows for which a unit passes gradients on; None without activation

    @property
    def order(self) -> Any:
        """The units by how open they were in the last quarter of the looks, most open first."""
        late = self.open[-max(len(self.open) // 4, 1) :]
        return np.argsort(-late.mean(axis=0), kind="stable")

    def for_page(self) -> dict[str, Any]:
        """In few bytes: openness as digits, units in their order."""
        numbers = ("name", "activation", "units", "spread", "gradient", "update", "dead", "saturated", "rank")
        described = {name: plain(getattr(self, name)) for name in numbers}
        described["frames"] = {name: frames.for_page() for name, frames in self.frames.items()}
        if self.open is not None and self.units <= MAPPED and len(self.open) > 1:
            levels = np.ceil(np.clip(np.nan_to_num(self.open[:, self.order]), 0.0, 1.0) * 9).astype(int)
            described["open"] = ["".join(map(str, line)) for line in levels.tolist()]
        return described


@dataclass(frozen=True, eq=False)
class Inside:
    """All layers over all looks."""

    steps: Any
    epochs: Any
    rows: int
    loss: Any
    gradient_norm: Any
    layers: tuple[LayerFrames, ...]

    @property
    def moving(self) -> bool:
        """Is there more than one look?"""
        return len(self.steps) > 1

    @property
    def backward(self) -> bool:
        """Are there gradients?"""
        return any(name in BACKWARD for layer in self.layers for name in layer.frames)


def inside(looks: Sequence[Look]) -> Inside | None:
    """Looks at one network, in their order, as a report shows them."""
    if not looks:
        return None
    places = np.unique(np.linspace(0, len(looks) - 1, min(LOOKS, len(looks))).round().astype(int))
    chosen = [looks[int(place)] for place in places]
    return Inside(
        np.array([look.step for look in chosen]),
        np.array([look.epoch for look in chosen]),
        chosen[-1].rows,
        _numbers(look.loss for look in chosen),
        _numbers(look.gradient_norm for look in chosen),
        tuple(_layer([look.layers[i] for look in chosen]) for i in range(len(chosen[0].layers))),
    )


def _layer(looks: list[LayerLook]) -> LayerFrames:
    last = looks[-1]
    frames = {name: _frames([getattr(look, name) for look in looks]) for name in QUANTITIES}
    slopes = [look.unit_open for look in looks]
    acts = last.unit_slope is not None
    return LayerFrames(
        last.name,
        last.activation,
        last.units,
        {name: each for name, each in frames.items() if each is not None},
        _numbers(look.a.std for look in looks),
        _numbers(None if look.dz is None else look.dz.rms for look in looks),
        _numbers(look.update_ratio for look in looks),
        _numbers(len(look.dead) / look.units if acts else None for look in looks),
        _numbers(look.saturated for look in looks),
        _numbers(look.rank if look.units > 1 else None for look in looks),
        np.stack(slopes) if all(slope is not None for slope in slopes) else None,
    )


def _numbers(values: Any) -> Any:
    return np.array([np.nan if value is None else float(value) for value in values])


def _frames(statistics: list[Statistics | None]) -> Frames | None:
    present = [each for each in statistics if each is not None and each.finite]
    if not present:
        return None
    scales = [(0.0, 1.0) if each is None or not each.finite else _scale(each) for each in statistics]
    shares = [
        np.zeros(BINS) if each is None or not each.finite else _rebinned(each, np.linspace(*scale, BINS + 1))
        for each, scale in zip(statistics, scales, strict=True)
    ]
    fine = [_scale(each) for each in present]
    return Frames(
        np.array([low for low, _ in scales]),
        np.array([high for _, high in scales]),
        np.stack(shares),
        _numbers(None if each is None else each.zeros for each in statistics),
        _numbers(None if each is None else each.mean for each in statistics),
        _numbers(None if each is None else each.std for each in statistics),
        _limits(np.array(fine)),
    )


def _limits(scales: Any) -> tuple[float, float]:
    """Limits for all looks; one that is far wider than most is cut.   (looks, 2) -> low, high"""
    usual = float(np.median(np.abs(scales).max(axis=1)))
    low, high = max(float(scales[:, 0].min()), -2.5 * usual), min(float(scales[:, 1].max()), 2.5 * usual)
    return (low, high) if high > low else (float(scales[:, 0].min()), float(scales[:, 1].max()))


def _scale(each: Statistics) -> tuple[float, float]:
    """Limits that show nearly all numbers."""
    low, high = each.quantile(0.002), each.quantile(0.998)
    if not high > low:
        reach = max(abs(each.mean), 1.0)
        return each.mean - 0.5 * reach, each.mean + 0.5 * reach
    near = 0.1 * (high - low)  # ends that are not far are shown
    return (each.low if low - each.low < near else low), (each.high if each.high - high < near else high)


def _rebinned(each: Statistics, edges: Any) -> Any:
    """The shares of a histogram in other bins, without exact zeros; what is further out goes to the ends."""
    own = each.edges
    counts = np.array(each.counts, float) / max(each.count, 1)
    if own[0] <= 0.0 <= own[-1]:
        place = min(int((0.0 - own[0]) / (own[-1] - own[0]) * len(counts)), len(counts) - 1)
        for spot in (place, place - 1, place + 1):  # the bin of 0, to a rounding
            if 0 <= spot < len(counts) and counts[spot] >= each.zeros - 1e-9:
                counts[spot] = max(counts[spot] - each.zeros, 0.0)
                break
    below = np.interp(edges, own, np.concatenate([[0.0], np.cumsum(counts)]))
    below[0], below[-1] = 0.0, counts.sum()
    return np.diff(below)
