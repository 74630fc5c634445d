"""Every primitive against NumPy and SciPy: value, dtype, shape rule, both derivatives, second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special as sp

import pellucid as pel
import pellucid.graph.primitives.special
from pellucid.errors import DifferentiationError, GradientCheckError
from pellucid.graph.core.primitive import REGISTRY, Primitive, make
from tests.graph.primitive_cases import (
    CASES,
    ROWS,
    Case,
    differentiable,
    floats,
    of_floats,
    open_specs,
    real,
)

NOT_A_DERIVATIVE = {"stop_gradient", "random_uniform", "random_normal", "random_bernoulli"}
"""Their derivative is zero by decree, not by mathematics: differences cannot check them."""


def every(keep: Callable[[str, Case], bool] = lambda name, case: True) -> Any:
    return pytest.mark.parametrize(
        ("name", "case"),
        [
            pytest.param(name, case, id=f"{name}-{i}")
            for name, cases in CASES.items()
            for i, case in enumerate(cases)
            if keep(name, case)
        ],
    )


def check_same(got: Any, expected: Any, dtype: Any = np.float64) -> None:
    assert np.shape(got) == np.shape(expected)
    assert np.asarray(got).dtype == np.asarray(expected).dtype
    assert_allclose(got, expected, rtol=2e-6 if dtype == np.float32 else 1e-12, atol=1e-6 if dtype == np.float32 else 0)


def check_rules(op: Primitive, case: Case) -> None:
    """<u, Jv> = <J'u, v>, both against differences, and the same for the derivatives of the derivatives."""
    f, xs = of_floats(case.call(op, case.at(ROWS)), case, case.arrays())
    pel.check_grads(f, xs, order=2)


precisions = pytest.mark.parametrize("dtype", [pytest.param(np.float64, id="64"), pytest.param(np.float32, id="32")])


def test_every_primitive_has_a_case():
    assert {name for name in REGISTRY if not name.endswith("_example")} == set(CASES)


@precisions
@every()
def test_value_is_numpys(name, case, dtype):
    op, arrays = REGISTRY[name], case.arrays(dtype)
    expected = case.direct(arrays)
    f = case.call(op, case.at(ROWS))
    check_same(f(*arrays), expected, dtype)
    check_same(pel.run(pel.record(f, *arrays), *arrays), expected, dtype)


@precisions
@every()
def test_shape_rule_agrees_with_the_value(name, case, dtype):
    arrays = case.arrays(dtype)
    expected = np.asarray(case.direct(arrays))
    graph = pel.record(case.call(REGISTRY[name], case.at(ROWS)), *(pel.Spec(a.shape, a.dtype) for a in arrays))
    (out,) = graph.outputs
    assert isinstance(out, int)
    assert graph.nodes[out].spec == pel.Spec(expected.shape, expected.dtype)
    check_same(pel.run(graph, *arrays), expected, dtype)


@every(lambda name, case: bool(case.open))
def test_open_leading_size(name, case):
    graph = pel.record(case.call(REGISTRY[name], case.settings), *open_specs(case))
    for n in (ROWS, 5):
        arrays = case.resized(n)
        check_same(pel.run(graph, *arrays), case.direct(arrays, n))


@every(lambda name, case: bool(case.open) and case.open_vjp and differentiable(name, case))
def test_open_leading_size_in_both_derivatives(name, case):
    def derivatives(settings: dict[str, Any]) -> Callable[..., Any]:
        def both(*arrays: Any) -> Any:
            f, xs = of_floats(case.call(REGISTRY[name], settings), case, list(arrays))
            y, pullback = pel.vjp(f, *xs)
            return pullback(np.sin(y) + 1), pel.jvp(f, xs, [np.cos(x) for x in xs])[1]

        return both

    graph = pel.record(derivatives(case.settings), *open_specs(case))
    for n in (ROWS, 5):
        arrays = case.resized(n)
        pulled, pushed = pel.run(graph, *arrays)
        expected_pulled, expected_pushed = derivatives(case.at(n))(*arrays)
        for got, expected in zip((*pulled, pushed), (*expected_pulled, expected_pushed), strict=True):
            check_same(got, expected)


@every(lambda name, case: name not in NOT_A_DERIVATIVE and differentiable(name, case))
def test_derivatives(name, case):
    check_rules(REGISTRY[name], case)


@precisions
@every(differentiable)
def test_derivatives_keep_shape_and_dtype(name, case, dtype):
    arrays = case.arrays(dtype)
    f, xs = of_floats(case.call(REGISTRY[name], case.at(ROWS)), case, arrays)
    y, pullback = pel.vjp(f, *xs)
    for x, g in zip(xs, pullback(np.ones_like(y)), strict=True):
        assert (np.shape(g), g.dtype) == (x.shape, x.dtype)
    dy = pel.jvp(f, xs, [np.ones_like(x) for x in xs])[1]
    assert np.shape(dy) == np.shape(y)
    assert dy.dtype == y.dtype or y.dtype != dtype  # SciPy widens some float32 that meet a Python number


@every(lambda name, case: len(floats(case)) > 1 and differentiable(name, case))
def test_adjoints_of_mixed_precision_keep_the_dtype_of_their_argument(name, case):
    arrays = case.arrays()
    for first, other in [(np.float32, np.float64), (np.float64, np.float32)]:
        f, xs = of_floats(case.call(REGISTRY[name], case.at(ROWS)), case, arrays)
        xs = [x.astype(other if k else first) for k, x in enumerate(xs)]
        y, pullback = pel.vjp(f, *xs)
        assert y.dtype == np.asarray(case.direct(of_mixed(case, arrays, xs))).dtype
        for x, g in zip(xs, pullback(np.ones_like(y)), strict=True):
            assert (np.shape(g), g.dtype) == (x.shape, x.dtype)


def of_mixed(case: Case, arrays: list[Any], xs: list[Any]) -> list[Any]:
    given = dict(zip(floats(case), xs, strict=True))
    return [given.get(k, a) for k, a in enumerate(arrays)]


def without_rules(name: str) -> bool:
    op = REGISTRY[name]
    return isinstance(op.jvp, tuple) and len(op.jvp) > 0 and not op.linear and not any(op.jvp) and not any(op.vjp)


@every(lambda name, case: without_rules(name))
def test_without_a_rule_both_derivatives_are_zero(name, case):
    arrays = case.arrays()
    f = case.call(REGISTRY[name], case.at(ROWS))

    def of_reals(*xs: Any) -> Any:
        return f(*(x.astype(a.dtype) for x, a in zip(xs, arrays, strict=True)))

    xs = [a.astype(np.float64) for a in arrays]
    y, pullback = pel.vjp(of_reals, *xs)
    for x, g in zip(xs, pullback(np.ones_like(y)), strict=True):
        assert_array_equal(g, np.zeros_like(x))
    assert_array_equal(pel.jvp(of_reals, xs, [np.ones_like(x) for x in xs])[1], np.zeros_like(y))


def test_primitives_without_rules_are_those_one_expects():
    assert {name for name in CASES if without_rules(name)} >= {"floor", "sign", "greater", "argmax", "one_hot", "any"}


def test_zeta_has_no_derivative_by_its_order():
    with pytest.raises(DifferentiationError, match="zeta"):
        pel.grad(lambda s: sp.zeta(s, 1.5))(2.5)
    with pytest.raises(DifferentiationError, match="zeta"):
        pel.jvp(lambda s: sp.zeta(s, 1.5), (2.5,), (1.0,))


# the checker is tested too: a rule that is wrong by 0.1 % fails

WRONG = 1.001


def sine(jvp: Callable[..., Any], vjp: Callable[..., Any]) -> Primitive:
    return make("sine_example", np.sin, shape=lambda x: x, jvp=(jvp,), vjp=(vjp,))


def right(d: Any, y: Any, x: Any) -> Any:
    return d * np.cos(x)


SINE = Case(np.sin, (real(3),))


def test_checker_accepts_the_right_rule():
    check_rules(sine(right, right), SINE)


def test_checker_catches_a_wrong_jvp():
    with pytest.raises(GradientCheckError, match="forward mode"):
        check_rules(sine(lambda d, y, x: WRONG * right(d, y, x), right), SINE)


def test_checker_catches_a_wrong_vjp():
    with pytest.raises(GradientCheckError, match="reverse mode"):
        check_rules(sine(right, lambda d, y, x: WRONG * right(d, y, x)), SINE)


def test_checker_catches_a_wrong_second_derivative():
    slope = -WRONG
    cosine = make(
        "cosine_example",
        np.cos,
        shape=lambda x: x,
        jvp=(lambda d, y, x: slope * d * np.sin(x),),
        vjp=(lambda d, y, x: slope * d * np.sin(x),),
    )

    def through(d: Any, y: Any, x: Any) -> Any:
        return d * cosine(x)

    with pytest.raises(GradientCheckError, match="derivative of the"):
        check_rules(sine(through, through), SINE)


# kinks and other points of decision


def gradient(f: Callable[..., Any], *xs: Any) -> Any:
    """The adjoints of sum(f), after a look whether forward mode agrees."""
    xs = tuple(np.asarray(x, float) for x in xs)
    grads = pel.grad(lambda *zs: np.sum(f(*zs)), argnums=tuple(range(len(xs))))(*xs)
    for i, x in enumerate(xs):
        for place in np.ndindex(x.shape):
            direction = [np.zeros_like(z) for z in xs]
            direction[i][place] = 1
            assert_allclose(np.sum(pel.jvp(f, xs, direction)[1]), grads[i][place], rtol=1e-12, atol=1e-300)
    return grads if len(grads) > 1 else grads[0]


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        pytest.param(lambda x: np.maximum(x, 0), [-1.0, 0.0, 2.0], [0, 0, 1], id="relu"),
        pytest.param(lambda x: np.maximum(0, x), [-1.0, 0.0, 2.0], [0, 0, 1], id="relu-zero-first"),
        pytest.param(lambda x: np.maximum(x, 0.0), [0.0], [0], id="relu-float"),
        pytest.param(lambda x: np.minimum(x, 0), [-1.0, 0.0, 2.0], [1, 0, 0], id="minimum-with-a-number"),
        pytest.param(np.abs, [-1.0, 0.0, 2.0], [-1, 0, 1], id="abs"),
        pytest.param(np.fabs, [0.0], [0], id="fabs"),
        pytest.param(lambda x: np.clip(x, -1, 1), [-2.0, -1.0, 0.0, 1.0, 2.0], [0, 0, 1, 0, 0], id="clip"),
        pytest.param(np.max, [1.0, 3.0, 3.0, 3.0], [0, 1 / 3, 1 / 3, 1 / 3], id="max-ties"),
        pytest.param(np.min, [1.0, 3.0, 1.0], [0.5, 0, 0.5], id="min-ties"),
        pytest.param(
            lambda x: np.max(x, axis=1), [[1.0, 1.0], [0.0, 2.0]], [[0.5, 0.5], [0, 1]], id="max-ties-along-an-axis"
        ),
        pytest.param(
            lambda x: np.min(x, axis=0, keepdims=True),
            [[1.0, 1.0], [1.0, 2.0]],
            [[0.5, 1], [0.5, 0]],
            id="min-ties-along-an-axis",
        ),
        pytest.param(np.prod, [2.0, 0.0, 5.0], [0, 10, 0], id="prod-one-zero"),
        pytest.param(np.prod, [2.0, 0.0, 0.0], [0, 0, 0], id="prod-two-zeros"),
        pytest.param(
            lambda x: np.prod(x, axis=0), [[0.0, 2.0], [3.0, 4.0]], [[3, 4], [0, 2]], id="prod-zero-along-an-axis"
        ),
        *(
            pytest.param(lambda x, p=p: x**p, [0.0, 2.0], [slope, p * 2.0 ** (p - 1)], id=f"power-{p}")
            for p, slope in [(0, 0), (1, 1), (2, 0), (3, 0), (1.5, 0)]
        ),
        pytest.param(lambda x: x ** np.array([0, 1, 2, 3]), [0.0] * 4, [0, 1, 0, 0], id="power-integers"),
        pytest.param(lambda x: np.power(x, np.array([0.0, 1.0, 2.0, 3.0])), [0.0] * 4, [0, 1, 0, 0], id="power-floats"),
        pytest.param(
            lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), 0),
            [-1.0, 0.0, 2.0],
            [0, 0, 0.5],
            id="safe-where-by-hand",
        ),
        pytest.param(lambda x: pel.safe_where(x > 0, np.log, x), [-1.0, 0.0, 2.0], [0, 0, 0.5], id="safe_where"),
        pytest.param(
            lambda x: pel.safe_where(x > 0, np.sqrt, x, otherwise=-1.0), [-1.0, 0.0, 4.0], [0, 0, 0.25], id="safe-sqrt"
        ),
    ],
)
def test_kinks(f, x, expected):
    assert_allclose(gradient(f, x), expected, rtol=1e-12)


@pytest.mark.parametrize("f", [pytest.param(np.maximum, id="maximum"), pytest.param(np.minimum, id="minimum")])
def test_two_arrays_share_a_tie_equally(f):
    left, right = gradient(f, [1.0, 2.0], [1.0, 2.0])
    assert_array_equal(left, [0.5, 0.5])
    assert_array_equal(right, [0.5, 0.5])


def test_power_with_an_array_exponent_at_zero():
    by_base, by_exponent = gradient(np.power, [0.0, 0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 2.0, 3.0, 3.0])
    assert_array_equal(by_base, [0, 1, 0, 0, 12])
    assert_allclose(by_exponent, [0, 0, 0, 0, 8 * np.log(2)])


@pytest.mark.parametrize("p", [0, 1, 2, 3])
def test_second_derivative_of_a_power_at_zero(p):
    expected = {2: 2.0}.get(p, 0.0)
    assert pel.hessian(lambda x: x**p)(0.0) == expected
    assert pel.hessian(lambda x: np.power(x, np.float64(p)))(0.0) == expected


def test_unsafe_where_is_what_safe_where_is_for():
    with np.errstate(divide="ignore", invalid="ignore"):
        unsafe = pel.grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0)))(np.array([0.0, 2.0]))
    assert np.isnan(unsafe[0])
    assert unsafe[1] == 0.5


def test_logsumexp_of_a_row_of_minus_infinity():
    x = np.array([[-np.inf, -np.inf], [0.0, -np.inf]])
    assert_array_equal(pel.logsumexp(x, axis=1), [-np.inf, 0.0])
    assert_array_equal(gradient(lambda x: pel.logsumexp(x, axis=1), x), [[0, 0], [1, 0]])
