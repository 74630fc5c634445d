"""Experiments on preprocessing."""

import numpy as np
import pytest

from pellucid.lab import preprocessing as lab
from pellucid.lab.normalization import rings


def test_positive_inputs_give_gradients_of_one_sign():
    for seed in range(3):
        raw, centred = lab.gradient_signs(seed=seed), lab.gradient_signs(centred=True, seed=seed)
        assert raw.one_sign == 1.0
        assert raw.orthants == 2  # all up or all down
        assert centred.one_sign < 0.3  # by chance 2 of 16
        assert centred.orthants == 16


def test_the_mean_over_a_batch_may_have_both_signs():  # the lecture's claim is about one sample
    found = {lab.gradient_signs(seed=seed).batch_one_sign for seed in range(6)}
    assert found == {True, False}


def test_units_do_not_matter_after_scaling():
    scaled, raw = lab.change_of_units(scaled=True), lab.change_of_units(scaled=False)
    assert scaled.difference < 1e-9
    assert raw.difference > 1.0
    assert raw.loss_other > 10 * raw.loss


def test_whitening():
    found = lab.decorrelation()
    np.testing.assert_allclose(found.covariance("whiten"), np.eye(2), atol=1e-10)
    for step in ("centre", "standard", "pca", "whiten"):
        np.testing.assert_allclose(found.points[step].mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(found.covariance("centre"), found.covariance("raw"))
    assert abs(found.covariance("standard")[0, 1]) > 0.5
    turned = found.covariance("pca")
    assert abs(turned[0, 1]) < 1e-10
    assert turned[0, 0] > 5 * turned[1, 1]
    size = np.linalg.norm(found.points["standard"], axis=1)  # a rotation keeps lengths
    np.testing.assert_allclose(np.linalg.norm(found.points["pca"], axis=1), size)
    assert str(found).splitlines()[-1].split() == ["whiten", "0", "1.00", "1.00", "0.00"]


def test_means_of_images():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (40, 32, 32, 3)).astype(np.uint8)
    images[:, 0, 0, 0] = 255  # a bright corner
    for mode, shape, axes in (("pixel", (32, 32, 3), 0), ("channel", (3,), (0, 1, 2)), ("all", (), None)):
        mean = lab.image_mean(images, mode)
        assert mean.shape == shape
        centred = images - mean
        np.testing.assert_allclose(centred.mean(axis=axes), 0, atol=1e-9)
        if mode != "pixel":  # only centred: the contrasts inside an image stay
            np.testing.assert_allclose(centred.std(), images.std(), rtol=1e-3)
    assert np.all((images - lab.image_mean(images, "pixel"))[:, 0, 0, 0] == 0)
    assert np.all((images - lab.image_mean(images, "channel"))[:, 0, 0, 0] > 100)


def test_what_is_no_image():
    with pytest.raises(ValueError, match="mode is one of 'pixel', 'channel', 'all', got 'row'"):
        lab.image_mean(np.zeros((2, 3, 3, 1)), "row")
    with pytest.raises(ValueError, match=r"\(n, height, width, channels\), got \(5, 64\)"):
        lab.image_mean(np.zeros((5, 64)))


def test_polar_features():
    X, _ = rings(50)
    r, theta = lab.polar(X).T
    np.testing.assert_allclose(np.column_stack([r * np.cos(theta), r * np.sin(theta)]), X)
    for seed in range(3):
        found = lab.polar_rings(seed=seed)
        assert found.accuracy < 0.65
        assert found.polar_accuracy > 0.97
        assert 1.3 < found.radius < 1.9  # between the rings, at 1 and 2.2


def test_standardised_pixels_learn_faster():
    found = lab.standardising(epochs=6)
    assert np.all(np.array(found.standardised[1:]) < found.raw[1:])
    assert found.standardised_accuracy > found.raw_accuracy


def test_pictures():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    from pellucid.lab import generalization_plots as plots

    axes = plt.subplots(2, 4)[1]
    found = lab.decorrelation(20)
    plots.plot_decorrelation(found, axes[0])
    np.testing.assert_array_equal(axes[0, 3].lines[0].get_xdata(), found.points["whiten"][:, 0])
    signs = lab.gradient_signs(2, 10)
    plots.plot_signs(signs, signs, axes[1, :2])
    rings_found = lab.polar_rings(40)
    plots.plot_polar(rings_found, axes[1, 2:])
    assert rings_found.radius == axes[1, 3].lines[-1].get_xdata()[0]
    plt.close("all")
