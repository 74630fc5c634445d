"""Experiments on what networks can represent: the lecture's numbers, and criteria that can fail."""

from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import lab, nn
from pellucid.lab.experiments.kolmogorov import riemann
from pellucid.lab.experiments.polynomial_activations import rank
from pellucid.lab.experiments.thinned_unit import thinning
from pellucid.lab.experiments.universal_approximation import ACTIVATIONS, fit
from pellucid.lab.multiplication import multiplication_gate, product


@pytest.mark.parametrize(
    ("activation", "shift", "lam", "output"),
    [
        ("softplus", 0.0, 1.0, 3.3869),
        ("softplus", 0.0, 0.1, 5.93606),
        ("softplus", 0.0, 0.01, 5.99935),
        ("tanh", 0.6585, 0.1, 5.4988),
        ("tanh", 0.6585, 0.01, 5.9948),
    ],
)
def test_multiplication_gate(activation, shift, lam, output):
    assert_allclose(multiplication_gate(activation, lam, shift)(2.0, 3.0), output, rtol=1e-5)


def test_a_gate_is_a_network_with_four_hidden_units():
    gate = multiplication_gate("softplus", 0.01)
    assert nn.count_parameters(gate.net, 2) == 2 * 4 + 4 + 4 + 1
    assert gate(np.zeros((2, 3)), 1.0).shape == (2, 3)
    assert_allclose(multiplication_gate("gelu").curvature, 0.79788, atol=5e-6)
    assert_allclose(multiplication_gate("silu").curvature, 0.5)


def test_gates_that_need_a_shift():
    for name in ("tanh", "sigmoid"):
        with pytest.raises(ValueError, match=r"f''\(0\) = 0, and the gate divides by it: shift it"):
            multiplication_gate(name)
    with pytest.raises(ValueError, match="kink at 0"):
        multiplication_gate("relu")


def test_deeper_products():
    gate = multiplication_gate("softplus", 1e-3)
    assert_allclose(product(gate, [2.0, 3.0, 0.5]), 3.0, rtol=1e-4)
    assert_allclose(product(gate, np.full(8, 1.5)), 1.5**8, rtol=1e-3)


def test_counts():
    numbers = lab.run("parameter-counts").numbers
    assert (numbers["few"], numbers["all"], numbers["products"]) == (40_040, 2_002_000_000, 500_500)
    assert_allclose((numbers["log10_printed"], numbers["log10_monomials"]), (432.4, 600.3), atol=0.05)
    assert lab.run("parameter-counts", inputs=40, products=3).passed


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_rank_of_polynomial_units(d, k):
    assert rank(lambda z: z**k, d, 60, 0) == comb(d + k, k)


def test_largest_error_falls_with_width():
    for psi in ACTIVATIONS.values():
        assert fit(psi, 64, 8.0, 1)[1] < 0.03 < fit(psi, 2, 8.0, 1)[1]


def test_riemann_sums_of_the_indicator():
    assert [float(s) for s in riemann(7)] == [1, 0]


@pytest.mark.parametrize("unit", [0, 7])
def test_a_dropped_unit_is_a_deleted_row_and_column(unit):
    assert thinning(unit, seed=3) < 1e-12


def test_four_fits_are_recorded():
    rmse = lab.run("four-fits").numbers["rmse"]
    assert rmse["x²"] < 0.005
    assert rmse["sin x"] < 0.005
    assert rmse["1{x > 0}"] < 0.01
    assert 0.005 < rmse["|x|"] < 0.04  # three smooth units do not make a corner


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("universal-approximation", {"epsilon": 1e-6}),
        ("four-fits", {"units": 1, "starts": 1, "iterations": 30}),
        ("thinned-unit", {"scale": 0.1}),
        ("polynomial-activations", {"degrees": (3,), "width": 3}),
    ],
)
def test_criteria_can_be_missed(name, settings):
    assert not lab.run(name, **settings).passed
