"""Experiments on activations and data: the lectures' numbers, and criteria that can fail."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import lab, nn
from pellucid.lab.curves import continuity, derivative, difference
from pellucid.lab.experiments.dying_units import pushed
from pellucid.lab.experiments.elu_mean import normal_mean
from pellucid.lab.experiments.preprocessing import landscapes
from pellucid.lab.experiments.relu_speed import crossing
from pellucid.lab.experiments.smooth_activations import check_identities, least


def test_derivatives_of_any_order():
    x = np.linspace(-2, 2, 9)
    assert_allclose(derivative(np.sin, x, 3), -np.cos(x), atol=1e-12)
    assert_allclose(difference(np.sin, x), np.cos(x), atol=1e-8)


@pytest.mark.parametrize(("name", "order"), [("step", -1), ("relu", 0), ("elu", 1), ("squared_relu", 1), ("tanh", 3)])
def test_continuity(name, order):
    assert continuity(nn.activation(name)) == order


def test_gates():
    numbers = lab.run("gates").numbers
    assert_allclose(numbers["sigmoid"], [4.53958e-5, 0.25, 4.53958e-5], rtol=1e-5)
    assert numbers["relu"].tolist() == [0, 0, 1]
    assert numbers["largest"] == 0.25
    assert_allclose(numbers["beyond_5"], 0.0066481, atol=5e-8)


def test_gallery_and_its_slip():
    numbers = lab.run("activation-gallery").numbers
    assert len(numbers["values"]) == 12
    assert_allclose(numbers["elu"], [-0.393469, -0.632121, -0.864665], atol=5e-7)
    assert_allclose(np.abs(numbers["elu_as_printed"][1:]), [0.632, 1.729], atol=5e-4)


def test_slopes_at_zero_where_ours_differ():
    zero = lab.run("activation-table").numbers["slope_at_zero"]
    assert zero["prelu"] == 0.25
    assert_allclose(zero["selu"], 1.0507 * 1.67326, rtol=1e-5)


def test_means_on_normal_inputs():
    assert_allclose(normal_mean(nn.activation("relu")), 1 / np.sqrt(2 * np.pi), rtol=1e-10)
    assert_allclose(normal_mean(nn.activation("elu")), 0.1605, atol=5e-5)
    assert abs(normal_mean(nn.activation("selu"))) < 1e-6


def test_dips_and_identities():
    assert_allclose(least(nn.activation("gelu")), (-0.751792, -0.169971), atol=1e-6)
    assert_allclose(least(nn.activation("silu")), (-1.278465, -0.278465), atol=1e-6)
    assert_allclose(least(nn.activation("mish")), (-1.192431, -0.308843), atol=1e-6)
    assert max(check_identities().values()) < 1e-12


def test_a_dead_unit_does_not_move():
    assert np.ptp(pushed("relu", -2.0, 50)) == 0
    assert pushed("leaky_relu", -1.5, 300)[-1] > 0


def test_crossing():
    assert crossing(np.array([0.5, 0.3, 0.1]), 0.2) == 2.5
    assert crossing(np.array([0.5, 0.4]), 0.2) == 2


def test_landscapes_are_pictures():
    images = landscapes(5)
    assert images.shape == (5, 32, 32, 3)
    assert 0 <= images.min() < images.max() <= 1


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("dying-units", {"push": 0.5, "steps": 10, "starts": 1, "epochs": 1}),
        ("elu-mean", {"alpha": 0.0}),
        ("preprocessing", {"spread": 1.0, "offset": 0.0, "epochs": 1}),
        ("smooth-activations", {"width": 4, "layers": 30}),
        ("zig-zag", {"steps": 2}),
        ("relu-speed", {"epochs": 1, "starts": 1, "rows": 100}),
    ],
)
def test_criteria_can_be_missed(name, settings):
    result = lab.run(name, **settings)
    assert not result.passed
    assert "not shown" in str(result)
