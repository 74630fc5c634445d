"""What experiments on models and derivatives stand on: letters, perceptrons, Madaline, and the lectures' numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import lab, nn
from pellucid.lab.experiments.perceptron_rules import answers, on_mistake
from pellucid.lab.experiments.speelpenning import forward, reverse
from pellucid.lab.experiments.traces import exercise, traced
from pellucid.lab.letters import ALPHABET, letter_photographs, letters
from pellucid.lab.madaline import sign, teach
from pellucid.lab.perceptrons import novikoff, one_against_rest

RNG = np.random.default_rng(0)


# perceptrons and Madaline


def test_letters_are_twenty_by_twenty_and_all_different():
    fields = letters()
    assert fields.shape == (26, 20, 20)
    assert len({field.tobytes() for field in fields}) == len(ALPHABET)
    pixels, numbers = letter_photographs(copies=2, flipped=0.0)
    assert_array_equal(pixels[::2].reshape(26, 20, 20), fields)
    assert_array_equal(pixels.sum(axis=1), fields.sum(axis=(1, 2))[numbers])  # shifted, never cut off


def test_a_row_of_perceptrons_is_each_of_them_alone():
    X, classes = RNG.normal(size=(30, 8)), RNG.integers(0, 3, 30)
    row = one_against_rest(X, classes, epochs=10)
    for k in range(3):
        alone = nn.Perceptron().fit(X, np.where(classes == k, 1, -1), epochs=len(row.mistakes))
        assert_array_equal(alone.weight, row.weights[k])
        assert alone.bias == row.biases[k]


def test_the_margin_is_the_widest():
    """Against the support vectors that scikit-learn finds, the bias being one more input of 1."""
    from sklearn.svm import SVC

    X = np.vstack([RNG.normal(-2, 0.7, (20, 2)), RNG.normal(2, 0.7, (20, 2))])
    y = np.repeat([-1, 1], 20)
    A = np.column_stack([X, np.ones(40)])
    both = np.vstack([A, -A])  # a point and its mirror image: the plane goes through 0
    machine = SVC(kernel="linear", C=1e6, tol=1e-8).fit(both, np.append(y, -y))
    assert novikoff(X, y).margin == pytest.approx(1 / np.linalg.norm(machine.coef_), rel=1e-3)
    with pytest.raises(ValueError, match="no hyperplane separates"):
        novikoff([[0.0], [1.0], [2.0]], [1, -1, 1])


def test_one_update_by_hand():
    x = np.array([1.0, 2.0, 1.0])
    w = np.array([1.0, -1.0, 0.5])  # score -0.5
    assert_array_equal(answers(w, x, 1.0), [2.0, 1.0, 1.5])
    assert_array_equal(on_mistake(w, x, 1.0), [2.0, 1.0, 1.5])
    assert_array_equal(answers(w, x, -1.0), w)
    assert_array_equal(on_mistake(w, x, -1.0), w)
    assert_array_equal(answers(np.zeros(3), x, -1.0), np.zeros(3))  # a score of 0: here the two differ
    assert_array_equal(on_mistake(np.zeros(3), x, -1.0), -x)


@pytest.mark.parametrize("hidden", [(4, 3), (3, 2)])
def test_a_madaline_learns_xor_without_gradients(hidden):
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    taught = teach(X, [-1, 1, 1, -1], hidden)
    assert_array_equal(taught.predict(X), [-1, 1, 1, -1])
    assert taught.errors[-1] == 0
    assert sign(0.0) == 1.0


# derivatives


def test_speelpenning_by_hand_is_the_slides():
    w = np.array([2.0, 3.0, 0.0, 5.0])
    assert_array_equal(forward(w), [0.0, 0.0, 30.0, 0.0])
    assert_array_equal(reverse(w), [0.0, 0.0, 30.0, 0.0])


def test_traces_have_the_recomputed_numbers():
    numbers = lab.run("traces").numbers
    assert_allclose(numbers["value"], 11.652071455, atol=5e-10)
    assert_allclose(numbers["gradient"], (5.5, 1.716337815), atol=5e-10)
    assert_allclose(numbers["exercise"], (0.0551238710, -0.1323122296, -0.0520852299), atol=5e-11)
    assert_allclose(pel.grad(traced, (0, 1))(2.0, 5.0), (5.5, 1.716337815), atol=5e-10)
    assert_allclose(exercise(1.0, 2.0), 0.0551238710, atol=5e-11)


def test_an_experiment_says_when_its_claim_does_not_hold():
    assert not lab.run("madaline", first=1, second=1, epochs=2).passed
    assert not lab.run("adaline", epochs=1).passed  # one epoch is too short a way
    assert not lab.run("gradient-checking", wrong=0.0).passed  # nothing to catch


def test_the_graph_is_drawn_with_its_numbers():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from pellucid.lab.graph_figure import graph_figure

    figure = graph_figure(pel.record(traced, 2.0, 5.0), "reverse", title="f")
    words = [text.get_text() for text in figure.axes[0].texts]
    assert "11.652" in words
    assert any("1.716" in word for word in words)
    plt.close(figure)
