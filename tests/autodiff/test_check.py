"""check_grads and numerical_grad: the checkers are checked too."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid.errors import DifferentiationError, GradientCheckError


def wrong(by, **where):
    """sin with a rule that is wrong by a factor in the named places."""
    rules = {mode: [lambda d, y, x: d * np.cos(x)] for mode in ("jvp", "vjp")}
    rules |= {mode: [lambda d, y, x: d * np.cos(x) * by] for mode in where}
    return pel.custom_rule(np.sin, **rules)


def test_right_rules_pass():
    pel.check_grads(wrong(1.0), (np.array([0.3, 2.0]),), order=4)


@pytest.mark.parametrize("mode", ["jvp", "vjp"])
def test_a_rule_that_is_wrong_by_a_thousandth_is_caught(mode):
    with pytest.raises(GradientCheckError, match=f"{'forward' if mode == 'jvp' else 'reverse'} mode"):
        pel.check_grads(wrong(1.001, **{mode: True}), (np.array([0.3, 2.0]),), order=1)


def test_an_error_in_the_second_derivative_is_caught():
    @pel.custom_rule(slope=lambda d, y, x: d * (1.001 * np.cos(x) - pel.stop_gradient(0.001 * np.cos(x))))
    def f(x):
        return np.sin(x)

    x = (np.array([0.3, 2.0]),)
    pel.check_grads(f, x, order=1)
    with pytest.raises(GradientCheckError, match="derivative of the jvp"):
        pel.check_grads(f, x, order=2)


def test_the_report_names_the_argument():
    @pel.custom_rule(slope=(lambda d, y, a, b: d * b, lambda d, y, a, b: d * a * 1.5))
    def product(a, b):
        return a * b

    with pytest.raises(GradientCheckError, match=r"\[0\]\['b'\] +3 +2"):
        pel.check_grads(lambda p: product(p["a"], p["b"]), ({"a": 2.0, "b": 5.0},))


def test_nan_is_not_right():
    with np.errstate(invalid="ignore"), pytest.raises(GradientCheckError):
        pel.check_grads(lambda x: np.sqrt(x - 2), (1.0,))


def test_integer_arguments_are_left_alone_and_something_must_vary():
    pel.check_grads(lambda x, i: x[i], (np.ones(3), np.array([0, 0, 2])))
    with pytest.raises(DifferentiationError, match="no floating-point argument"):
        pel.check_grads(lambda i: i, (1,))


@pytest.mark.parametrize(("scheme", "accuracy"), [("forward", 1e-7), ("central", 1e-9)])
def test_numerical_grad(scheme, accuracy):
    params: dict[str, Any] = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "s": 0.5}
    f = lambda p: np.sum(np.sin(p["w"]) * p["s"])
    before = params["w"].copy()
    found = pel.numerical_grad(f, params, scheme=scheme)
    exact = pel.grad(f)(params)
    assert_allclose(found["w"], exact["w"], atol=accuracy)
    assert_allclose(found["s"], exact["s"], atol=accuracy)
    assert (params["w"] == before).all()


def test_numerical_grad_refuses():
    with pytest.raises(ValueError, match="'forward' or 'central', got 'complex'"):
        pel.numerical_grad(np.sin, 1.0, scheme="complex")
    with pytest.raises(DifferentiationError, match=r"scalar output, got shape \(2,\)"):
        pel.numerical_grad(np.sin, np.ones(2))
    with pytest.raises(ValueError, match="h=1e-17 is lost in rounding beside x=1"):
        pel.numerical_grad(np.sin, 1.0, h=1e-17)


def test_numerical_grad_of_python_numbers_is_float64_and_of_integers_too():
    assert_allclose(pel.numerical_grad(lambda x: x**3, 2.0), 12.0, rtol=1e-9)
    assert_allclose(pel.numerical_grad(lambda x: x**3, 2), 12.0, rtol=1e-9)
    assert pel.numerical_grad(lambda x: x**3, np.float32(2)).dtype == np.float32
