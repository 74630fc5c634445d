"""Experiments on normalisation and hidden layers."""

import numpy as np
import pytest

from pellucid.lab import normalization as lab
from pellucid.lab import plot_boundary


def test_batch_sizes():
    found = lab.batch_size_sweep(sizes=(2, 32), steps=200)
    assert found.batch[0] > found.batch[1]  # two rows say little about a mean


def test_drift_and_smoothness():
    without, with_norm = lab.drift(None, steps=40, lr=0.5), lab.drift("batch", steps=40, lr=0.5)
    assert max(with_norm.shift) < 0.2 * max(
        without.shift
    )  # a normalised input stays where it is, but for scale and shift
    assert len(without.roughness) == 40
    assert np.all(np.isfinite(with_norm.roughness))


def test_conditioning():
    X = np.random.default_rng(0).normal([100, 0.1], [1, 5], (300, 2))
    raw, standardised = lab.conditioning(X)
    assert raw > 1e3 * standardised
    A = np.column_stack([X, np.ones(300)])
    assert raw == pytest.approx(np.linalg.cond(A.T @ A / 300), rel=1e-6)
    one, other = ((X - X.mean(0)) / X.std(0)).T
    r = abs(np.mean(one * other))  # standardised inputs have the Hessian [[1, r, 0], [r, 1, 0], [0, 0, 1]]
    assert standardised == pytest.approx((1 + r) / (1 - r), rel=1e-9)


def test_boundaries():
    straight, curved = lab.boundary(()), lab.boundary((16,))
    assert straight.accuracy < 0.7
    assert curved.accuracy > 0.95
    logit = np.log(straight.probability / (1 - straight.probability))
    assert np.abs(np.diff(logit, n=2, axis=0)).max() < 1e-3  # linear in x: the boundary is a line


def test_pictures():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    from pellucid.lab import normalization_plots as plots

    axes = plt.subplots(1, 4)[1]
    plots.plot_batch_sizes(lab.BatchSizes((2, 4), (0.5, 0.4), (0.3, 0.3)), axes[0])
    d = lab.drift(None, steps=3)
    plots.plot_drift(d, d, axes[1:3])
    learned = lab.boundary(())
    plot_boundary(learned.model, learned.X, learned.y, axes[3])
    assert axes[0].get_xlabel() == "batch size"
