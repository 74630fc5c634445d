"""Numbers and identities behind the experiments on optimisation, generalisation and ensembles."""

import importlib

import numpy as np
from numpy.testing import assert_allclose

from pellucid import lab, nn, optim
from pellucid.lab.regions import fit_plane, moons
from pellucid.lab.valley import descend, height


def module(name: str):
    return importlib.import_module(f"pellucid.lab.experiments.{name}")


def test_one_step_of_each_kind_by_hand():
    """Rows (1,0)->1, (0,1)->2, (1,1)->0, (2,1)->1 from w = (1, -1): residuals 0, -3, 0, 0."""
    steps = lab.run("descent", draws=50).numbers["steps"]
    assert_allclose(steps["full batch"], [1.0, -1.0 + 0.1 * 2 * 3 / 4])
    assert_allclose(steps["single sample"], [1.0, -1.0])
    assert_allclose(steps["mini-batch of 2"], [1.0, -1.0 + 0.1 * 2 * 3 / 2])


def test_momentum_forms_with_constant_numbers_are_pytorchs():
    result = lab.run("momentum-forms", changing=False)
    assert result.passed
    assert result.numbers["pytorch"] < 1e-12
    assert_allclose(result.numbers["alphas"][-1], 0.08 / (1 - 0.8), rtol=0.02)  # α goes to η / (1 - β)


def test_a_valley():
    path = descend(optim.SGD(0.5), 3, (4.0, 1.0), (1.0, 2.0))
    assert_allclose(path, [[4, 1], [2, 0], [1, 0], [0.5, 0]])
    assert_allclose(height(path, (1.0, 2.0)), [9, 2, 0.5, 0.125])


def test_tabulated_schedules():
    values = lab.run("schedules", start=0.1, c=0.2, k=10).numbers["values"]
    assert_allclose(values["η₀ exp(-c⌈t/k⌉)"][[0, 1, 10, 11]], [0.1, 0.0818731, 0.0818731, 0.0670320], rtol=1e-5)
    assert_allclose(values["η₀ exp(-c⌊t/k⌋)"][[0, 1, 10, 11]], [0.1, 0.1, 0.0818731, 0.0818731], rtol=1e-5)
    assert_allclose(values["η₀/(1 + ct)"][[0, 5, 10]], [0.1, 0.05, 0.1 / 3])
    assert_allclose(values["η₀/√(1 + ct)"][[0, 15]], [0.1, 0.05])


def test_bias_correction_in_numbers():
    numbers = lab.run("bias-correction", share=0.1, steps=20).numbers
    assert_allclose(numbers["averages"][:3, 0], [0.3, 0.57, 0.813])
    assert_allclose(numbers["corrections"][:3], [0.1, 0.19, 0.271])


def test_the_factor_of_weight_decay():
    factors = lab.run("weight-decay", strength=0.05, rate=0.05, epochs=2).numbers["factors"]
    assert_allclose([factors[True], factors[False]], [0.9975, 0.995], rtol=1e-12)


def test_half_moons_overlap_and_repeat():
    X, y = moons(100, seed=3)
    assert_allclose(X, moons(100, seed=3)[0])
    assert y.sum() == 50
    large = fit_plane(40, X, y, moons(500, seed=4), epochs=200)
    small = fit_plane(40, X, y, moons(500, seed=4), epochs=200, strength=0.1)
    assert small.norm < large.norm
    assert small.gap < large.gap


def test_the_shortest_solution():
    shortest = module("double_descent").shortest
    rng = np.random.default_rng(0)
    for width in (5, 10, 15, 30, 80):
        H, y = rng.normal(size=(10, width)), rng.normal(size=10)
        assert_allclose(shortest(H, y), np.linalg.pinv(H) @ y, rtol=1e-8, atol=1e-10)


def test_shares_of_bootstrap_samples():
    shares = lab.run("bagging", epochs=5).numbers["shares"]
    assert abs(shares[10000] - 0.632) < 0.002


def test_variance_of_an_average():
    experiment = module("variance_of_averages")
    variances = lab.run("variance-of-averages", draws=5000, repetitions=5).numbers["variances"]
    for rho, members in ((0.0, 10), (0.5, 10), (0.9, 2)):
        place = (experiment.CORRELATIONS.index(rho), experiment.MEMBERS.index(members))
        assert_allclose(variances[place], 4 * ((1 - rho) / members + rho), rtol=0.1)


def test_dropout_for_other_probabilities():
    for keep in (0.2, 0.8):
        assert lab.run("dropout", keep=keep, draws=500).passed


def test_thinned_networks_of_other_sizes():
    for units in (3, 7):
        assert lab.run("dropout-ensemble", units=units, epochs=5).numbers["exact"] < 1e-12


def test_the_loop_by_hand_has_batches_of_any_size():
    for size in (7, 240):
        assert lab.run("training-loop", epochs=2, batch_size=size).passed


def test_penalties_of_layers_are_apart():
    params = {"hidden1.weight": np.array([[2.0]]), "output.weight": np.array([[3.0]])}
    both = nn.L1(0.5, on="hidden1.weight") + nn.L2(2.0, on="output.weight")
    assert float(both(params)) == 1.0 + 9.0
