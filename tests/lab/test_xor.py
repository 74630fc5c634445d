"""XOR: impossible for a line, easy by hand, and learned by gradient descent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import lab
from pellucid.lab.xor import HAND_MADE, X, Y

PRODUCT = np.column_stack([X, X[:, 0] * X[:, 1]])
QUADRATIC = np.column_stack([X, X**2, X[:, 0] * X[:, 1]])


def test_no_line_separates_xor():
    answer = lab.separate()
    assert not answer.separable
    assert answer.w is None
    proof = answer.proof
    assert np.all(proof >= 0)
    assert_allclose(proof.sum(), 1)
    assert_allclose((proof * Y) @ np.column_stack([X, np.ones(4)]), 0, atol=1e-12)  # 0 > 0: a contradiction
    assert "not separable" in str(answer)


@pytest.mark.parametrize("features", [PRODUCT, QUADRATIC], ids=["x1 x2", "quadratic"])
def test_a_richer_input_map_separates_xor(features):
    answer = lab.separate(features)
    assert answer.separable
    assert np.all(Y * (features @ answer.w + answer.b) > 0)
    assert str(answer).startswith("separable")


def test_the_hidden_layer_is_such_a_map():
    hidden = lab.forward_pass(HAND_MADE).h
    assert lab.separate(hidden).separable


def test_the_perceptron_never_gets_xor_right():
    assert min(lab.perceptron_errors(epochs=300)) > 0
    assert lab.perceptron_errors(PRODUCT, epochs=300)[-1] == 0


def test_hand_made_network_exactly():
    values = lab.forward_pass(HAND_MADE)
    assert_array_equal(values.z, [(0, -1), (1, 0), (1, 0), (2, 1)])
    assert_array_equal(values.h, [(0, 0), (1, 0), (1, 0), (2, 1)])
    assert_array_equal(values.score, [-1, 1, 1, -1])
    assert_array_equal(values.score, Y)
    assert str(values) == values.table()


def test_default_training_solves_xor_and_tells_what_it_took():
    run = lab.train_xor()
    assert run.solved
    assert_array_equal(run.predictions, Y)
    assert run.losses.shape == (501,)
    assert run.losses[-1] < 0.05 < 0.3 < run.losses[0]
    assert run.chosen == len(run.starts) - 1
    assert all(start.errors > 0 for start in run.starts[:-1])
    assert str(run).count("stuck") == run.chosen
    assert_allclose(run.losses[-1], np.mean(np.log1p(np.exp(-Y * run.scores))), rtol=1e-12)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("seed", range(3))
def test_training_solves_xor_from_other_seeds(seed, activation):
    assert lab.train_xor(seed, activation=activation).solved


def test_same_seed_same_run():
    first, second = lab.train_xor(3, steps=50, starts=1), lab.train_xor(3, steps=50, starts=1)
    assert_array_equal(first.losses, second.losses)


def test_a_stuck_run_says_so():
    run = lab.train_xor(0, starts=1)
    assert not run.solved
    assert len(run.starts) == 1
    assert_allclose(run.losses[-1], np.log(2), atol=1e-3)  # every score is 0: it answers one half to everything


def test_training_follows_the_gradient():
    run = lab.train_xor(5, steps=1, lr=0.1, starts=1)
    rng = np.random.default_rng(5)
    p = {"U": rng.normal(size=(2, 2)), "c": rng.normal(size=2), "w": rng.normal(size=2), "b": rng.normal()}

    def loss(p):
        return np.mean(np.log(1 + np.exp(-Y * (np.maximum(X @ p["U"].T + p["c"], 0) @ p["w"] + p["b"]))))

    g = pel.numerical_grad(loss, {k: np.asarray(v) for k, v in p.items()})
    for name in p:
        assert_allclose(run.parameters[name], p[name] - 0.1 * g[name], atol=1e-8)


def test_wrong_settings_are_named():
    with pytest.raises(ValueError, match="'relu', 'tanh', got 'sine'"):
        lab.train_xor(activation="sine")
    with pytest.raises(ValueError, match="at least one start"):
        lab.train_xor(starts=0)
