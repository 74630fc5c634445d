"""jacobian, hessian, hvp."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid.errors import DifferentiationError

A = np.random.default_rng(0).normal(size=(4, 3))


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_jacobian_has_output_shape_then_input_shape(mode, shape):
    x = np.random.default_rng(1).normal(size=shape)
    f = lambda x: np.stack([np.sin(x), x * x, x + np.sum(x)])
    J = pel.jacobian(f, mode=mode)(x)
    assert J.shape == (3, *shape, *shape)
    n = x.size
    expected = [np.diag(np.cos(x).ravel()), np.diag(2 * x.ravel()), np.eye(n) + np.ones((n, n))]
    assert_allclose(J.reshape(3, n, n), expected, atol=1e-12)


def test_nested_jacobian():
    J = pel.jacobian(lambda p: {"y": A @ p["x"] * p["s"]})({"x": np.ones(3), "s": 2.0})
    assert_allclose(J["y"]["x"], 2 * A)
    assert_allclose(J["y"]["s"], A.sum(1))


def test_auto_takes_the_mode_with_fewer_passes():
    def count(mode, n, m):
        B = np.ones((m, n))
        return len(pel.record(pel.jacobian(lambda x: B @ np.sin(x), mode=mode), np.ones(n)))

    assert count("auto", 2, 9) == count("forward", 2, 9) < count("reverse", 2, 9)
    assert count("auto", 9, 2) == count("reverse", 9, 2) < count("forward", 9, 2)


def test_jacobian_of_softmax_is_diag_minus_outer():
    x = np.array([0.1, -2.0, 1000.0, 999.0])
    p = pel.softmax(x)
    assert_allclose(pel.jacobian(pel.softmax)(x), np.diag(p) - np.outer(p, p), atol=1e-15)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_hessian_against_scipys_formula():
    from scipy.optimize import rosen_der, rosen_hess

    x = np.array([1.3, 0.7, 0.8, 1.9])
    assert_allclose(pel.grad(rosenbrock)(x), rosen_der(x))
    H = pel.hessian(rosenbrock)(x)
    assert_allclose(H, rosen_hess(x))
    v = np.array([1.0, -2.0, 0.5, 3.0])
    assert_allclose(pel.hvp(rosenbrock, x, v), H @ v)
    reverse_over_forward = pel.grad(lambda x: pel.jvp(rosenbrock, (x,), (v,))[1])(x)
    reverse_over_reverse = pel.grad(lambda x: np.vdot(pel.grad(rosenbrock)(x), v))(x)
    assert_allclose(reverse_over_forward, H @ v)
    assert_allclose(reverse_over_reverse, H @ v)


def test_hessian_of_a_linear_function_is_zero_without_a_warning():
    assert_allclose(pel.hessian(lambda x: np.sum(x))(np.ones(2)), np.zeros((2, 2)))


def test_wrong_mode_and_open_sizes():
    with pytest.raises(ValueError, match="'auto', 'forward' or 'reverse', got 'sideways'"):
        pel.jacobian(np.sin, mode="sideways")
    with pytest.raises(DifferentiationError, match="needs known sizes"):
        pel.record(pel.jacobian(np.sin), pel.Spec(("n",)))
