"""The digits of the lectures' chapter on derivatives."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose
from scipy.special import expit

import pellucid as pel
from pellucid import lab
from pellucid.lab.derivatives import PRINTED, slope_by_hand
from tests.lectures import traced_example

EPS = np.finfo(float).eps


def exercise(x0, x1):
    return 1 / (1 + np.exp(x0 * x1 + np.sin(x0)))


def test_forward_trace_of_the_lecture():
    value, slope = pel.jvp(traced_example, (2.0, 5.0), (1.0, 0.0))
    assert_allclose(value, 11.652071455, atol=5e-10)
    assert_allclose(slope, 5.5, rtol=1e-15)


def test_reverse_trace_of_the_lecture():
    assert_allclose(pel.grad(traced_example, (0, 1))(2.0, 5.0), (5.5, 1.716337815), atol=5e-10)


def test_exercise_in_both_modes():
    y, pull = pel.vjp(exercise, 1.0, 2.0)
    assert_allclose(y, 0.0551238710, atol=5e-11)
    assert_allclose(pull(1.0), (-0.1323122296, -0.0520852299), atol=5e-11)
    pushed = [pel.jvp(exercise, (1.0, 2.0), seed)[1] for seed in ((1.0, 0.0), (0.0, 1.0))]
    assert_allclose(pushed, (-0.1323122296, -0.0520852299), atol=5e-11)
    assert_allclose(y, expit(-(1.0 * 2.0 + np.sin(1.0))), rtol=1e-15)  # the logistic function of -u


def test_logistic_map():
    assert lab.logistic_map(1)(0.3) == 0.3
    assert_allclose(lab.logistic_map(4)(0.1), 0.28901376, rtol=1e-14)
    with pytest.raises(ValueError, match="at least 1"):
        lab.logistic_map(0)


def test_four_ways_agree():
    ways = lab.four_ways()
    assert_allclose(ways.exact, -12.0881152, rtol=1e-14)
    assert [way.name.split(",")[0] for way in ways.ways] == [
        *("by hand", "symbolic"),
        *["numerical"] * 2,
        *["automatic"] * 2,
    ]
    for way in ways.ways:
        assert way.error < (1e-5 if "numerical" in way.name else 1e-13)
        assert_allclose(way.error, abs(way.value - ways.exact), atol=1e-14)
    assert ways["numerical, central"].error < ways["numerical, forward"].error
    assert ways["automatic, reverse"].operations < ways["by hand"].operations < ways["symbolic"].operations


@pytest.mark.parametrize(("n", "x"), [(1, 0.3), (2, 0.7), (3, 0.25), (6, 0.4)])
def test_four_ways_for_other_maps(n, x):
    ways = lab.four_ways(n, x)
    for way in ways.ways:
        assert_allclose(way.value, ways.exact, rtol=1e-5, atol=1e-5 if "numerical" in way.name else 1e-12)
    assert_allclose(slope_by_hand(n)(x), ways.exact, rtol=1e-12, atol=1e-14)


def test_printed_forms_of_the_lecture_are_right():
    assert all(form.agrees for form in lab.lecture_forms())
    x = sympy.Symbol("x")
    for function, derivative in PRINTED:
        assert sympy.expand(sympy.diff(sympy.sympify(function), x) - sympy.sympify(derivative)) == 0
    assert sympy.sympify(PRINTED[3][1]).subs(x, sympy.Rational(1, 10)) == sympy.Rational("-12.0881152")
    assert sympy.sympify(PRINTED[3][0]).subs(x, sympy.Rational(1, 10)) == sympy.Rational("0.28901376")


def test_formulas_swell_and_graphs_do_not():
    swell = lab.expression_swell(8)
    assert swell.n == tuple(range(1, 9))
    assert set(np.diff(swell.graph[1:])) == {8}  # linear in n
    assert all(after > 2 * before for before, after in zip(swell.derivative[2:], swell.derivative[3:], strict=False))
    assert all(after > 2 * before for before, after in zip(swell.expanded[2:], swell.expanded[3:], strict=False))
    x = sympy.Symbol("x")
    for n in (3, 4):
        slope = sympy.expand(sympy.diff(pel.record(lab.logistic_map(n), 0.1).sympy(x), x))
        assert swell.expanded[n - 1] == sympy.count_ops(slope)


@pytest.mark.parametrize(("f", "x"), [(np.sin, 1.0), (np.exp, 0.5), (lambda x: 1 / (1 + x * x), 0.7)])
def test_difference_errors(f, x):
    errors = lab.difference_errors(f, x)
    assert errors.forward_slope == pytest.approx(1, abs=0.05)
    assert errors.central_slope == pytest.approx(2, abs=0.05)
    assert EPS ** (1 / 2) / 10 < errors.forward_best < EPS ** (1 / 2) * 10
    assert EPS ** (1 / 3) / 10 < errors.central_best < EPS ** (1 / 3) * 10
    assert errors.central.min() < errors.forward.min()
    small = errors.h < 1e-12
    assert errors.forward[small].mean() > 1e-5  # smaller steps are worse again: the error is never eliminated


def test_central_differences_of_a_parabola_have_no_truncation_error():
    errors = lab.difference_errors(lab.logistic_map(2), 0.3)
    assert errors.forward_slope == pytest.approx(1, abs=0.05)
    assert np.isnan(errors.central_slope)


def test_difference_errors_against_a_given_derivative():
    errors = lab.difference_errors(lambda x: float(np.tanh(x)), 0.4, exact=1 - np.tanh(0.4) ** 2, hs=[1e-2, 1e-3, 1e-4])
    assert errors.h.tolist() == [1e-2, 1e-3, 1e-4]
    assert errors.central_slope == pytest.approx(2, abs=0.05)


def test_a_network_without_nonlinearity_collapses():
    rng = np.random.default_rng(0)
    W1, b1 = rng.normal(size=(6, 4)), rng.normal(size=6)
    W2, b2 = rng.normal(size=(3, 6)), rng.normal(size=3)

    def net(x):
        return W2 @ (W1 @ x + b1) + b2

    x = rng.normal(size=4)
    W3, b3 = W2 @ W1, W2 @ b1 + b2
    assert W3.shape == (3, 4)  # C × D
    assert_allclose(net(x), W3 @ x + b3, atol=1e-12)
    for mode in ("forward", "reverse"):
        assert_allclose(pel.jacobian(net, mode=mode)(x), W3, atol=1e-12)  # the map that differentiation finds


def test_a_batch_in_columns_equals_column_by_column():
    rng = np.random.default_rng(1)
    W, b, X = rng.normal(size=(5, 3)), rng.normal(size=(5, 1)), rng.normal(size=(3, 7))

    def layer(X):
        return np.tanh(W @ X + b)  # b is repeated in every column

    graph = pel.record(layer, X)
    columns = [pel.run(pel.record(layer, X[:, [i]]), X[:, [i]]) for i in range(7)]
    assert_allclose(pel.run(graph, X), np.hstack(columns), rtol=1e-14)
    together = pel.grad(lambda b: np.sum(np.tanh(W @ X + b)))(b)
    one_by_one = sum(pel.grad(lambda b, i=i: np.sum(np.tanh(W @ X[:, [i]] + b)))(b) for i in range(7))
    assert_allclose(together, one_by_one, rtol=1e-13)
