"""grad, value_and_grad, jvp, vjp: values, trees, higher orders, memory, errors."""

import gc
import tracemalloc
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid.errors import DifferentiationError, IndependentOutputWarning, ShapeError
from tests.lectures import traced_example


def test_lecture_example_in_both_modes():
    assert_allclose(pel.grad(traced_example, (0, 1))(2.0, 5.0), (5.5, 1.716337815), rtol=1e-9)
    y, dy = pel.jvp(traced_example, (2.0, 5.0), (1.0, 0.0))
    assert_allclose((y, dy), (11.652071455, 5.5), rtol=1e-9)
    y, pull = pel.vjp(traced_example, 2.0, 5.0)
    assert_allclose(pull(1.0), (5.5, 1.716337815), rtol=1e-9)
    assert_allclose(pull(2.0), (11.0, 3.43267563), rtol=1e-9)  # a pullback can be used again


def test_exercise_of_the_lecture():
    def y(x0, x1):
        return (1 + np.exp(x0 * x1 + np.sin(x0))) ** -1

    expected = (-0.1323122296, -0.0520852299)
    assert_allclose(y(1.0, 2.0), 0.0551238710, atol=1e-10)
    assert_allclose(pel.grad(y, (0, 1))(1.0, 2.0), expected, atol=1e-10)
    assert_allclose([pel.jvp(y, (1.0, 2.0), v)[1] for v in ((1.0, 0.0), (0.0, 1.0))], expected, atol=1e-10)


class Layer(NamedTuple):
    W: Any
    b: Any


def test_gradients_have_the_structure_of_the_arguments():
    params = {"layers": [Layer(np.ones((2, 3)), np.zeros(3))], "scale": 2.0, "pair": (np.ones(3), [np.ones(())])}

    def loss(p, x):
        layer = p["layers"][0]
        return np.sum(p["scale"] * (x @ layer.W + layer.b) * p["pair"][0]) * p["pair"][1][0]

    gradient = pel.grad(loss)(params, np.array([1.0, 2.0]))
    assert isinstance(gradient["layers"][0], Layer)
    assert_allclose(gradient["layers"][0].W, [[2, 2, 2], [4, 4, 4]])
    assert_allclose(gradient["layers"][0].b, [2, 2, 2])
    assert_allclose(gradient["scale"], 9)
    assert_allclose(gradient["pair"][0], [6, 6, 6])
    assert_allclose(gradient["pair"][1][0], 18)
    pel.check_grads(loss, (params, np.array([1.0, 2.0])))


def test_outputs_may_be_nested_too():
    def f(x):
        return {"square": x * x, "list": [np.sin(x), 3.0]}

    y, dy = pel.jvp(f, (2.0,), (1.0,))
    assert y["list"][1] == 3.0
    assert_allclose((dy["square"], dy["list"][0], dy["list"][1]), (4.0, np.cos(2.0), 0.0))
    _, pull = pel.vjp(f, 2.0)
    assert_allclose(pull({"list": [1.0, 1.0], "square": 10.0}), [40 + np.cos(2.0)])


def test_several_argnums_keywords_and_extras():
    def f(a, b, *, power=1):
        return np.sum(a * b**power), {"a": a, "note": "kept"}

    (value, extras), (gb, ga) = pel.value_and_grad(f, argnums=(1, -2), has_aux=True)(
        np.ones(2), np.full(2, 3.0), power=2
    )
    assert value == 18
    assert extras["note"] == "kept"
    assert_allclose(extras["a"], [1, 1])
    assert_allclose(ga, [9, 9])
    assert_allclose(gb, [6, 6])
    _, extras = pel.grad(f, has_aux=True)(np.ones(2), np.ones(2))
    assert extras["note"] == "kept"


def test_python_control_flow_on_values():
    def newton_sqrt(a):
        x = a
        while abs(x * x - a) > 1e-14:
            x = x - (x * x - a) / (2 * x) if x > 0 else -x
        return x

    assert_allclose(pel.grad(newton_sqrt)(2.0), 0.5 / np.sqrt(2), rtol=1e-12)


@pytest.mark.parametrize("order", range(1, 7))
def test_derivatives_of_any_order_and_any_mix_of_modes(order):
    def forward(f):
        return lambda x: pel.jvp(f, (x,), (1.0,))[1]

    for bits in range(2**order):
        f: Any = np.exp
        for k in range(order):
            f = pel.grad(f) if bits >> k & 1 else forward(f)
        g = (lambda inner: lambda x: inner(2 * x))(f)  # the derivative is an ordinary function
        assert_allclose(g(0.3), np.exp(0.6), rtol=1e-12)


def test_a_variable_of_the_outer_derivative_is_a_constant_of_the_inner():
    # the classical test against confusing perturbations (Siskind and Pearlmutter, 2005)
    inner = lambda x: x * pel.grad(lambda y: x + y)(2.0)
    assert pel.grad(inner)(5.0) == 1.0
    assert pel.grad(lambda x: pel.grad(lambda y: x * y)(1.0) * x)(3.0) == 6.0
    assert pel.jvp(lambda x: x * pel.jvp(lambda y: x + y, (2.0,), (1.0,))[1], (5.0,), (1.0,))[1] == 1.0


def test_float32_stays_float32():
    x = np.ones(3, np.float32)
    value, gradient = pel.value_and_grad(lambda x: np.sum(np.tanh(x) * 2 + 1.5))(x)
    assert value.dtype == gradient.dtype == np.float32
    assert pel.jvp(lambda x: np.exp(x) / 3, (x,), (np.ones(3),))[1].dtype == np.float32
    assert pel.hessian(lambda x: np.sum(x**3))(x).dtype == np.float32


def test_the_reverse_pass_frees_what_it_no_longer_needs():
    n = 200_000

    def deep(x):
        for _ in range(50):
            x = np.sin(x)
        return x

    seen = []

    @pel.custom_rule(vjp=[lambda d, y, x: seen.append(tracemalloc.get_traced_memory()[0]) or d])
    def probe(x):
        return x * 1.0

    x = np.ones(n)
    tracemalloc.start()
    pel.grad(lambda x: np.sum(deep(probe(deep(x)))))(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    half = 50 * x.nbytes
    assert peak > 2 * half * 0.9
    assert seen[0] < peak - half * 0.8  # at the middle of the way back, the second half is gone


def test_nothing_is_left_behind_for_the_collector():
    arrays = []

    def f(x):
        y = np.exp(x)
        value = y.value
        while not isinstance(value, np.ndarray):
            value = value.value
        arrays.append(weakref.ref(value))
        return np.sum(y)

    gc.collect()
    gc.disable()
    try:
        x = np.ones(4)
        pel.grad(f)(x)
        pel.jvp(f, (x,), (x,))
        pel.jacobian(f)(x)
        pel.hvp(f, x, x)
        pel.vjp(f, x)[1](1.0)
        pel.record(f, x).simplify()
        assert len(arrays) == 6
        assert all(ref() is None for ref in arrays)
    finally:
        gc.enable()


def test_long_chains_do_not_recurse():
    def chain(x):
        for _ in range(100_000):
            x = x * 1.00001
        return x

    slope = 1.00001**100_000
    assert_allclose(pel.grad(chain)(1.0), slope, rtol=1e-9)
    assert_allclose(pel.jvp(chain, (1.0,), (1.0,))[1], slope, rtol=1e-9)
    graph = pel.record(chain, 1.0)
    assert len(graph) == 100_001
    assert_allclose(pel.run(graph.simplify(), 2.0), 2 * slope, rtol=1e-9)
    assert str(graph).count("\n") == 100_001


# errors that help


def test_non_scalar_output():
    with pytest.raises(DifferentiationError, match=r"one scalar output.*got shape \(3,\).*jacobian"):
        pel.grad(lambda x: x * 2)(np.ones(3))
    with pytest.raises(DifferentiationError, match=r"got a tuple of 2.*has_aux"):
        pel.grad(lambda x: (x, x))(1.0)


def test_integer_input():
    with pytest.raises(DifferentiationError, match=r"argument 0 has dtype int64.*2\.0 instead of 2"):
        pel.grad(lambda x: x * x)(2)
    with pytest.raises(DifferentiationError, match=r"argument 0\['n'\] has dtype int64.*astype"):
        pel.grad(lambda p: np.sum(p["w"]))({"w": np.ones(2), "n": np.arange(2)})
    with pytest.raises(DifferentiationError, match="dtype bool"):
        pel.jvp(lambda x: x, (True,), (1.0,))


def test_a_function_that_ignores_its_input():
    with pytest.warns(IndependentOutputWarning, match="constant does not depend on argument 0: its gradient is zero"):
        assert pel.grad(constant)(np.ones(2)).tolist() == [0, 0]


def constant(x):
    return np.float64(3.0)


def test_part_of_an_argument_may_be_unused():
    gradient = pel.grad(lambda p: np.sum(p["used"] ** 2))({"used": np.ones(2), "unused": np.ones(3)})
    assert gradient["unused"].tolist() == [0, 0, 0]


def test_wrong_argnums_tangents_and_adjoints():
    with pytest.raises(DifferentiationError, match="argnums=2 but the function was called with 1 arguments"):
        pel.grad(lambda x: x, argnums=2)(1.0)
    with pytest.raises(ShapeError, match="1 primals but 2 tangents"):
        pel.jvp(lambda x: x, (1.0,), (1.0, 2.0))
    with pytest.raises(ShapeError, match=r"tangent of argument 0 has shape \(2,\), expected \(3,\)"):
        pel.jvp(np.sin, (np.ones(3),), (np.ones(2),))
    with pytest.raises(ShapeError, match=r"adjoint has shape \(2,\), expected \(3,\)"):
        pel.vjp(np.sin, np.ones(3))[1](np.ones(2))
    with pytest.raises(ShapeError, match=r"expected a dict with \['a'\], got float"):
        pel.jvp(lambda p: p["a"], ({"a": 1.0},), (1.0,))


def test_a_missing_rule_names_the_operation_and_the_mode():
    @pel.custom_rule(vjp=[lambda d, y, x: 3 * d])
    def triple(x):
        return 3 * x

    assert pel.grad(triple)(1.0) == 3
    with pytest.raises(DifferentiationError, match=r"'triple' has no jvp rule.*forward mode.*use the other mode"):
        pel.jvp(triple, (1.0,), (1.0,))


# steering derivatives


def test_custom_rules():
    @pel.custom_rule(jvp=[lambda d, y, a, b: 10 * d, None], vjp=[lambda d, y, a, b: 10 * d, None])
    def f(a, b, *, scale=1.0):
        return scale * a + b

    with pytest.raises(TypeError, match="scale"):  # rules receive the settings too
        pel.grad(f)(1.0, 2.0, scale=2.0)

    @pel.custom_rule(slope=(lambda d, y, a, b: d * 2, lambda d, y, a, b: d * 3))
    def g(a, b):
        return a + b

    ga, gb = pel.grad(lambda a, b: np.sum(g(a, b)), (0, 1))(np.ones((2, 1)), np.ones(3))
    assert ga.tolist() == [[6], [6]]
    assert gb.tolist() == [6, 6, 6]
    assert pel.record(g, pel.Spec(("n", 1)), pel.Spec((3,))).nodes[-1].spec == pel.Spec(("n", 3))
    with pytest.raises(TypeError, match="needs slope=, jvp= or vjp="):
        pel.custom_rule(np.sin)
    with pytest.raises(TypeError, match="not both"):
        pel.custom_rule(np.sin, slope=lambda d, y, x: d, jvp=[None])


def test_stop_gradient_in_both_modes():
    f = lambda x: pel.stop_gradient(x) * x
    assert pel.grad(f)(3.0) == 3
    assert pel.jvp(f, (3.0,), (1.0,))[1] == 3
    assert pel.hessian(f)(3.0) == 0
