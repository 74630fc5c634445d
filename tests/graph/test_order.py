"""Along an axis: sorted arrays, medians, quantiles, running products, differences, lines through points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid.errors import ShapeError

KNOTS = np.array([0.0, 1.0, 3.0])
HEIGHTS = np.array([1.0, 4.0, 0.0])

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sort": lambda x, axis: np.sort(x, axis=axis),
    "argsort": lambda x, axis: np.argsort(x, axis=axis, kind="stable"),
    "median": lambda x, axis: np.median(x, axis=axis),
    "median keepdims": lambda x, axis: np.median(x, axis=axis, keepdims=True),
    "quantile": lambda x, axis: np.quantile(x, 0.3, axis=axis),
    "quantiles": lambda x, axis: np.quantile(x, [0.0, 0.4, 1.0], axis=axis, keepdims=True),
    "percentile": lambda x, axis: np.percentile(x, 80, axis=axis),
    "cumprod": lambda x, axis: np.cumprod(x, axis=axis),
    "diff": lambda x, axis: np.diff(x, axis=axis if axis is not None else -1, prepend=0.5, append=1),
    "interp": lambda x, axis: np.interp(x, KNOTS, HEIGHTS),
    "ptp": lambda x, axis: np.ptp(x, axis=axis),
}
each_function = pytest.mark.parametrize("f", [pytest.param(f, id=name) for name, f in FUNCTIONS.items()])


@st.composite
def arrays_and_axes(draw: st.DrawFn) -> tuple[Any, Any]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5))
    axis = draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1)))
    return np.random.default_rng(draw(st.integers(0, 1000))).normal(size=shape), axis


@each_function
@given(drawn=arrays_and_axes())
@settings(deadline=None, max_examples=20)
def test_values_are_numpys(f: Callable[..., Any], drawn: tuple[Any, Any]) -> None:
    x, axis = drawn
    for cast in (x, x.astype(np.float32), np.rint(4 * x).astype(int)):
        expected = f(cast, axis)
        for recorded in (cast, pel.Spec(cast.shape, cast.dtype)):
            got = pel.run(pel.record(lambda x: f(x, axis), recorded), cast)
            assert (np.shape(got), np.asarray(got).dtype) == (np.shape(expected), np.asarray(expected).dtype)
            assert_allclose(got, expected, rtol=1e-12 if cast.dtype != np.float32 else 1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "argsort"])
def test_both_modes_and_second_order(name: str, axis: int | None) -> None:
    x = np.random.default_rng(1).permutation(20).reshape(4, 5) * 0.1 - 0.97
    pel.check_grads(lambda x: np.sin(FUNCTIONS[name](x, axis)), (x,))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "argsort"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_one_recording_serves_every_number_of_rows(name: str, axis: int | None) -> None:
    def slope(x: Any) -> Any:
        return pel.value_and_grad(lambda x: np.sum(np.sin(FUNCTIONS[name](x, axis))))(x)

    graph = pel.record(slope, pel.Spec(("n", 3)))
    for n in (1, 2, 5):
        x = np.random.default_rng(n).normal(size=(n, 3))
        for got, expected in zip(pel.run(graph, x), slope(x), strict=True):
            assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


def test_of_equal_elements_the_first_comes_first() -> None:
    x = np.array([2.0, 1.0, 2.0, 1.0])
    assert_array_equal(pel.jacobian(np.sort)(x), np.eye(4)[[1, 3, 0, 2]])
    assert_array_equal(pel.jacobian(np.sort, mode="forward")(x), np.eye(4)[[1, 3, 0, 2]])
    assert_array_equal(pel.grad(np.median)(x), [0.5, 0, 0, 0.5])
    assert_array_equal(pel.grad(np.median)(np.ones(3)), [0, 1, 0])


def test_medians_of_even_and_odd_counts() -> None:
    assert_array_equal(pel.grad(np.median)(np.array([5.0, 1.0, 3.0])), [0, 0, 1])
    assert_array_equal(pel.grad(np.median)(np.array([5.0, 1.0, 3.0, 4.0])), [0, 0, 0.5, 0.5])
    assert_allclose(pel.grad(lambda x: np.quantile(x, 0.3))(np.array([5.0, 1.0, 3.0])), [0, 0.4, 0.6])


def test_nan_is_not_lost() -> None:
    x = np.array([[np.nan, 1.0, 2.0], [3.0, 5.0, 4.0]])
    for f in (lambda x: np.median(x, axis=1), lambda x: np.quantile(x, 0.1, axis=1)):
        assert_array_equal(pel.run(pel.record(f, x), x), f(x))
        assert_array_equal(np.isnan(f(x)), [True, False])


@pytest.mark.parametrize("zeros", [(), (0,), (2,), (1, 2), (0, 3), (0, 1, 2, 3)])
def test_running_products_with_zeros(zeros: tuple[int, ...]) -> None:
    x = np.array([2.0, -3.0, 0.5, 4.0])
    x[list(zeros)] = 0
    expected = np.array([[np.prod(np.delete(x[: i + 1], j)) if j <= i else 0.0 for j in range(4)] for i in range(4)])
    for mode in ("forward", "reverse"):
        assert_allclose(pel.jacobian(np.cumprod, mode=mode)(x), expected, rtol=1e-15)
    pel.check_grads(np.cumprod, (x,))


def test_running_products_that_would_overflow_on_the_way() -> None:
    x = np.array([0.0, 1e200, 1e200])
    with np.errstate(over="ignore"):
        assert_array_equal(pel.grad(lambda x: np.cumprod(x)[1])(x), [1e200, 0, 0])


def test_a_line_through_points_by_all_its_arguments() -> None:
    x = np.array([-1.0, 0.25, 2.0, 9.0])
    by_x, by_heights = pel.grad(lambda x, y: np.sum(np.interp(x, KNOTS, y)), argnums=(0, 1))(x, HEIGHTS)
    assert_allclose(by_x, [0, 3, -2, 0])
    assert_allclose(by_heights, [1.75, 0.75, 1.5])
    assert_allclose(pel.grad(lambda x: np.sum(np.interp(x, KNOTS, HEIGHTS)))(KNOTS), [3, -2, -2])  # at the knots
    pel.check_grads(np.interp, (x, KNOTS, HEIGHTS))
    assert pel.record(lambda x: np.interp(x, KNOTS, HEIGHTS), pel.Spec((2,), np.float32)).nodes[-1].dtype == float


def test_sorting_in_training_keeps_float32() -> None:
    x = np.array([3.0, 1.0, 2.0], np.float32)
    for f in (np.sort, np.median, np.cumprod, np.diff, lambda x: np.quantile(x, 0.4)):
        assert pel.grad(lambda x, f=f: np.sum(f(x)))(x).dtype == np.float32
        assert pel.jvp(f, (x,), (x,))[1].dtype == np.float32


def test_what_does_not_fit() -> None:
    with pytest.raises(ShapeError, match=r"sort: axis 2"):
        pel.record(lambda x: np.sort(x, axis=2), pel.Spec((3, 2)))
    with pytest.raises(ShapeError, match=r"median: there is nothing"):
        pel.record(np.median, pel.Spec((0, 2)))
    with pytest.raises(ShapeError, match=r"interp.*\(3,\) and \(2,\)"):
        pel.record(lambda x: np.interp(x, KNOTS, [1.0, 2.0]), 1.0)
    with pytest.raises(ShapeError, match=r"0 \.\.\. 1"):
        pel.record(lambda x: np.quantile(x, 50), np.ones(3))
