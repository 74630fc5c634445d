"""The lectures' backward passes: they agree with the engine, and their Jacobians with numerical ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import nn
from pellucid.errors import ShapeError
from pellucid.inspect.derivation import step
from pellucid.lab import backward, jacobians
from pellucid.lab.backward import Layers
from pellucid.lab.backward_agreement import agreement, timed
from pellucid.lab.heavy_ball import heavy_ball
from pellucid.train import Model

RNG = np.random.default_rng(0)


def random_layers(*sizes):
    shapes = list(zip(sizes[1:], sizes, strict=False))
    return Layers(tuple(RNG.normal(size=s) for s in shapes), tuple(RNG.normal(size=m) for m, _ in shapes))


# whole passes


def test_all_algorithms_agree_with_the_engine_for_depths_2_to_10():
    table = agreement()
    assert table.depths == tuple(range(2, 11))
    assert len(table.differences) == 7
    assert table.largest < 1e-12
    assert "delta recursion" in str(table)


def test_the_loop_and_the_vectorised_form_are_timed():
    seconds = timed(rows=20)
    assert min(seconds.loop, seconds.vectorised, seconds.engine) > 0
    assert "rows=20" in repr(seconds)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("depth", [2, 5, 10])
def test_accumulated_and_vectorised_are_the_same(depth, activation):
    layers = random_layers(3, *[4] * (depth - 1), 3)
    X, Y = RNG.normal(size=(3, 6)), np.eye(3)[:, RNG.integers(0, 3, 6)]
    loop = backward.accumulated(layers, X, Y, 0.1, activation).gradients
    at_once = backward.vectorised(layers, X, Y, 0.1, activation).gradients
    for one, other in zip((*loop.W, *loop.b), (*at_once.W, *at_once.b), strict=True):
        assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_against_the_derivative_of_the_definition(activation):
    layers = random_layers(3, 4, 5, 2)
    x, y = RNG.normal(size=3), np.array([0.0, 1.0])

    def objective(W, b):
        scores, _ = backward.forward(Layers(tuple(W), tuple(b)), x, activation)
        return -np.sum(y * np.log(backward.softmax(scores[-1]))) + 0.3 * sum(np.sum(w**2) for w in W)

    dW, db = pel.numerical_grad(lambda p: objective(p[0], p[1]), (list(layers.W), list(layers.b)))
    found = backward.aggregated(layers, x, y, 0.3, activation).gradients
    for hand, difference in zip((*found.W, *found.b), (*dW, *db), strict=True):
        assert_allclose(hand, difference, atol=1e-7)


def test_the_printed_index_of_the_slope_does_not_fit():
    """Three slides take the slope of layer i behind g W_i: its size is that of another layer."""
    layers = random_layers(3, 4, 5, 2)
    scores, _ = backward.forward(layers, RNG.normal(size=3))
    g = RNG.normal(size=(1, 2)) @ layers.W[2]
    assert g.shape[1] == len(scores[1]) != len(scores[2])


def test_single_sample_tells_its_six_steps():
    layers = random_layers(3, 4, 2)
    result = backward.single_sample(layers, RNG.normal(size=3), np.array([1.0, 0.0]), 0.1)
    assert [text[:2] for text, _ in result.lines if text[0].isdigit()] == ["1.", "2.", "3.", "4.", "5.", "6."]
    assert result.gradients.b[0].shape == (4,)  # m numbers, not d
    assert "∂J/∂W2 = gᵀ hᵀ + 2λ W2" in str(result)
    with pytest.raises(ShapeError, match="2 layers, got 3"):
        backward.single_sample(random_layers(3, 4, 4, 2), np.ones(3), np.ones(2))


def test_the_four_steps_by_hand():
    """Three inputs, two ReLU units, one output; one unit is closed."""
    layers = Layers(
        (np.array([[1.0, 0.0, 2.0], [-1.0, 1.0, 0.0]]), np.array([[2.0, 3.0]])),
        (np.array([0.0, 0.5]), np.array([-1.0])),
    )
    result = backward.four_steps(layers, np.array([1.0, 0.0, 1.0]), 4.0)  # z1 = (3, -0.5), ŷ = 5, error 1
    lines = {text.strip(): value for text, value in result.lines}
    assert_allclose(lines["1. ∂J/∂W[2] = (ŷ - y) a[1]ᵀ"], [[3.0, 0.0]])
    assert_allclose(lines["∂J/∂b[2] = ŷ - y"], [1.0])
    assert_allclose(lines["4. ∂J/∂a[1] = (ŷ - y) W[2]ᵀ"], [2.0, 3.0])
    assert_allclose(lines["3. ∂J/∂z[1] = ∂J/∂a[1] ⊙ σ'(z[1])"], [2.0, 0.0])
    assert_allclose(lines["2. ∂J/∂W[1] = ∂J/∂z[1] xᵀ"], [[2.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    with pytest.raises(ShapeError, match="one output"):
        backward.four_steps(random_layers(3, 2, 2), np.ones(3), 1.0)


def test_deltas_are_those_of_inspect_step():
    model = Model(nn.mlp((4, 5), 1), "half_squared_error", dtype="float64").initialize(3)
    x = RNG.normal(size=3)
    d = step(model, x, 0.5)
    lines = dict(backward.delta_recursion(Layers.of(model.params), x, 0.5).lines)
    for k, name in enumerate(["hidden1", "hidden2", "output"], start=1):
        assert_allclose(lines[f"δ[{k}]"], d.delta[name][0], atol=1e-12)


def test_layers_are_checked_and_named():
    with pytest.raises(ShapeError, match="layer 1: W is m × d"):
        Layers((np.ones((2, 3)),), (np.ones(3),))
    layers = random_layers(2, 3)
    assert_allclose(layers.named(["out"])["out.weight"], layers.W[0].T)


# Jacobians and lines of the algorithm


def test_jacobians_of_an_affine_map_and_a_relu():
    W, b, x = RNG.normal(size=(3, 4)), RNG.normal(size=3), RNG.normal(size=4)
    s = lambda W, b, x: W @ x + b
    assert_allclose(pel.jacobian(lambda x: s(W, b, x))(x), jacobians.by_input(W), atol=1e-12)
    assert_allclose(pel.jacobian(lambda b: s(W, b, x))(b), jacobians.by_bias(W), atol=1e-12)
    whole = pel.jacobian(lambda W: s(W, b, x))(W)  # (m, m, d)
    assert_allclose(whole.reshape(3, 12), jacobians.by_weights(W, x), atol=1e-12)
    assert_allclose(whole.transpose(0, 2, 1).reshape(3, 12), jacobians.by_weights_columns(W, x), atol=1e-12)
    assert_allclose(np.moveaxis(jacobians.by_matrix(W, x), -1, 0), whole, atol=1e-12)
    assert_allclose(pel.jacobian(lambda s: np.maximum(s, 0))(b), jacobians.of_relu(b), atol=1e-12)
    p = backward.softmax(b)
    assert_allclose(pel.jacobian(lambda s: pel.softmax(s[None])[0])(b), jacobians.of_softmax(p), atol=1e-12)


def test_the_affine_map_by_kronecker_products():
    W, b, x, g = RNG.normal(size=(3, 4)), RNG.normal(size=3), RNG.normal(size=4), RNG.normal(size=(1, 3))
    assert_allclose(jacobians.by_weights(W, x) @ W.ravel() + b, W @ x + b, atol=1e-12)  # "+ b" is missing on a slide
    assert_allclose((g @ jacobians.by_weights(W, x)).reshape(3, 4), g.T @ x[None, :], atol=1e-12)
    assert_allclose(jacobians.by_matrix(W, x) @ g[0], np.outer(g, x), atol=1e-12)


def test_the_lines_of_the_backpropagation_algorithm():
    layers = random_layers(3, 4, 5, 2)
    result = jacobians.by_jacobians(layers, RNG.normal(size=3), np.array([0.0, 1.0]), 0.1)
    assert [text.split(".")[0] for text, _ in result.lines] == ["7", "8", "10", "11", "12", "10", "11", "12"]
    assert result.lines[0][1].shape == (2, 6)  # the bias is the last column


# biases as weights, momentum as extrapolation


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_a_constant_input_makes_biases_of_weights(depth):
    layers = random_layers(3, *[4] * (depth - 1), 2)
    x = RNG.normal(size=3)
    scores, _ = backward.forward(layers, x)
    assert_allclose(jacobians.absorbed_forward(jacobians.absorbed(layers), x), scores[-1], atol=1e-12)


def test_a_network_without_biases_on_a_constant_input_is_the_same_network():
    with_bias, without = nn.Sequential(nn.Dense(2)), nn.Sequential(nn.Dense(2, bias=None))
    W, b, X = RNG.normal(size=(3, 2)), RNG.normal(size=2), RNG.normal(size=(5, 3))
    one = with_bias.predict({"dense1.weight": W, "dense1.bias": b}, X)
    other = without.predict({"dense1.weight": np.vstack([W, b])}, np.hstack([X, np.ones((5, 1))]))
    assert_allclose(one, other, atol=1e-12)


def test_momentum_is_an_extrapolation_and_a_gradient_step():
    A = np.diag([1.0, 10.0])
    rates, betas = np.linspace(0.09, 0.01, 20), np.linspace(0.5, 0.95, 20)
    paths = heavy_ball(lambda w: A @ w, [1.0, -2.0], rates, betas)
    assert paths.difference < 1e-13
    assert paths.extrapolation.shape == (21, 2)
    assert np.linalg.norm(paths.rule[-1]) < np.linalg.norm(paths.rule[0])
