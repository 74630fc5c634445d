"""Linear algebra: NumPy's values and dtypes, closed forms of derivatives, stacks, kinks, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid.errors import MatrixError, ShapeError, UnsupportedError

rng = np.random.default_rng(5)
A = rng.normal(size=(3, 3)) + 2 * np.eye(3)
S = A @ A.T


def turned(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def definite(m: Any) -> Any:
    """A positive definite matrix of any square one."""
    return m @ turned(m) + np.eye(m.shape[-1])


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "solve": lambda m: np.linalg.solve(definite(m), m),
    "inv": lambda m: np.linalg.inv(definite(m)),
    "det": np.linalg.det,
    "slogdet": lambda m: np.linalg.slogdet(definite(m)),
    "cholesky": lambda m: np.linalg.cholesky(definite(m)),
    "eigvalsh": lambda m: np.linalg.eigvalsh(definite(m)),
    "pinv": lambda m: np.linalg.pinv(definite(m)),
    "matrix_power": lambda m: np.linalg.matrix_power(m, 3),
    "norm": lambda m: np.linalg.norm(definite(m), axis=(-2, -1)),
    "nuclear": lambda m: np.linalg.norm(definite(m), "nuc", axis=(-2, -1)),
    "spectral": lambda m: np.linalg.norm(definite(m), 2, axis=(-2, -1)),
}
each_function = pytest.mark.parametrize("f", [pytest.param(f, id=name) for name, f in FUNCTIONS.items()])

shapes = st.tuples(st.lists(st.integers(1, 3), max_size=2), st.integers(1, 4)).map(lambda s: (*s[0], s[1], s[1]))


@each_function
@given(shape=shapes, seed=st.integers(0, 100))
@settings(deadline=None, max_examples=15)
def test_values_and_shapes_are_numpys(f: Callable[..., Any], shape: tuple[int, ...], seed: int) -> None:
    m = np.random.default_rng(seed).normal(size=shape)
    for dtype, rtol in ((np.float64, 1e-9), (np.float32, 1e-3)):
        x = m.astype(dtype)
        for args in (x, pel.Spec(shape, dtype)):
            got, expected = pel.run(pel.record(f, args), x), f(x)
            for one, other in zip(*(r if isinstance(r, tuple) else (r,) for r in (got, expected)), strict=True):
                assert (np.shape(one), one.dtype) == (np.shape(other), other.dtype)
                assert_allclose(one, other, rtol=rtol, atol=rtol)


@each_function
def test_both_modes_and_second_order_on_stacks(f: Callable[..., Any]) -> None:
    pel.check_grads(f, (np.random.default_rng(3).normal(size=(2, 3, 3)),))


@each_function
def test_the_size_of_the_stack_may_be_open(f: Callable[..., Any]) -> None:
    def slope(m: Any) -> Any:
        return pel.grad(lambda m: sum(np.sum(np.sin(y)) for y in (f(m) if isinstance(f(m), tuple) else (f(m),))))(m)

    graph = pel.record(slope, pel.Spec(("n", 3, 3)))
    for n in (1, 4):
        m = np.random.default_rng(n).normal(size=(n, 3, 3))
        assert_allclose(pel.run(graph, m), slope(m), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", [np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.eigvalsh, np.linalg.norm])
def test_whole_numbers_become_float64_and_float32_stays(f: Callable[..., Any]) -> None:
    for dtype, expected in ((np.int64, np.float64), (np.int32, np.float64), (np.float32, np.float32)):
        graph = pel.record(f, pel.Spec((2, 2), dtype))
        assert graph.nodes[-1].dtype == expected == f(np.eye(2, dtype=dtype)).dtype
    x = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
    assert pel.grad(lambda x: np.sum(f(x)))(x).dtype == np.float32


# closed forms


def test_log_determinant() -> None:
    assert_allclose(pel.grad(lambda a: np.linalg.slogdet(a)[1])(A), np.linalg.inv(A).T, rtol=1e-12)
    assert_allclose(pel.grad(lambda a: np.log(np.abs(np.linalg.det(a))))(A), np.linalg.inv(A).T, rtol=1e-12)
    hessian = pel.hessian(lambda a: np.linalg.slogdet(a).logabsdet)(A)
    assert_allclose(hessian, -np.einsum("li,jk->ijkl", np.linalg.inv(A), np.linalg.inv(A)), rtol=1e-11)


def test_the_sign_of_a_determinant_has_no_slope() -> None:
    assert_array_equal(pel.grad(lambda a: np.linalg.slogdet(a)[0] * np.sum(a))(-A), -np.ones((3, 3)))


def test_the_slope_of_a_determinant_are_the_cofactors_also_where_it_is_zero() -> None:
    assert_allclose(pel.grad(np.linalg.det)(A), np.linalg.det(A) * np.linalg.inv(A).T, rtol=1e-12)
    singular = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]])
    expected = np.array([[-2.0, -2.0, 2.0], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0]])
    assert_allclose(pel.grad(np.linalg.det)(singular), expected, atol=1e-14)
    assert_allclose(pel.jvp(np.linalg.det, (singular,), (A,))[1], np.sum(expected * A), atol=1e-13)
    assert_array_equal(pel.grad(np.linalg.det)(np.zeros((3, 3))), np.zeros((3, 3)))


def test_inverse_and_solve() -> None:
    g = np.linalg.inv(A)
    assert_allclose(pel.grad(lambda a: np.trace(np.linalg.inv(a)))(A), -(g @ g).T, rtol=1e-11)
    b, u = rng.normal(size=3), rng.normal(size=3)
    by_a, by_b = pel.grad(lambda a, b: u @ np.linalg.solve(a, b), argnums=(0, 1))(A, b)
    assert_allclose(by_b, g.T @ u, rtol=1e-12)
    assert_allclose(by_a, -np.outer(g.T @ u, g @ b), rtol=1e-11)


def test_cholesky_reads_the_lower_triangle() -> None:
    f = lambda a: 2 * np.sum(np.log(np.diagonal(np.linalg.cholesky(a))))
    lower = pel.grad(f)(S)
    assert_array_equal(np.triu(lower, 1), np.zeros((3, 3)))
    pel.check_grads(np.linalg.cholesky, (S,))
    assert_allclose(pel.grad(lambda a: f((a + a.T) / 2))(S), np.linalg.inv(S), rtol=1e-11)  # of a symmetric argument
    assert_allclose(pel.grad(f)(np.tril(S)), lower, rtol=1e-12)


def test_eigenvectors_up_to_their_sign() -> None:
    def pairs(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return w, v * np.sign(v[:1])

    for seed in range(4):
        pel.check_grads(pairs, (S,), seed=seed)
    assert_allclose(pel.grad(lambda a: np.linalg.eigvalsh(a)[-1])(np.diag([1.0, 5.0, 3.0])), np.diag([0.0, 1.0, 0.0]))


def test_eigenvalues_that_are_equal() -> None:
    assert_allclose(pel.grad(lambda a: np.sum(np.exp(np.linalg.eigvalsh(a))))(np.eye(3)), np.e * np.eye(3), rtol=1e-12)


# norms


@pytest.mark.parametrize("ord", [None, 2, 1, 3, 1.5, 0.5, np.inf, -np.inf, 0, -1])
def test_norms_of_vectors_have_no_slope_at_zero(ord: Any) -> None:
    f = lambda x: np.linalg.norm(x, ord)
    assert_array_equal(pel.grad(f)(np.zeros(3)), np.zeros(3))
    assert_array_equal(pel.jvp(f, (np.zeros(3),), (np.ones(3),))[1], 0.0)
    assert_array_equal(pel.hessian(f)(np.zeros(2)), np.zeros((2, 2)))


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 2, -2, 1, -1, np.inf, -np.inf])
def test_norms_of_matrices_have_no_slope_at_zero(ord: Any) -> None:
    f = lambda x: np.linalg.norm(x, ord)
    assert_array_equal(pel.grad(f)(np.zeros((2, 3))), np.zeros((2, 3)))


def test_one_row_of_zeros_among_others() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert_allclose(pel.grad(lambda x: np.sum(np.linalg.norm(x, axis=1)))(x), [[0.6, 0.8], [0, 0]])
    assert_allclose(pel.grad(lambda x: np.linalg.norm(x, 1.5))(np.array([0.0, -2.0])), [0, -1])
    assert np.isnan(pel.value_and_grad(np.linalg.norm)(np.array([np.nan, 1.0]))[0])


def test_the_nuclear_norm_of_a_matrix_of_lower_rank() -> None:
    u, v = np.array([0.6, 0.8, 0.0]), np.array([0.0, 1.0])
    assert_allclose(pel.grad(lambda x: np.linalg.norm(x, "nuc"))(3 * np.outer(u, v)), np.outer(u, v), atol=1e-12)
    assert_allclose(pel.grad(lambda x: np.linalg.norm(x, 2))(np.diag([5.0, 2.0])), np.diag([1.0, 0.0]), atol=1e-12)


# what is refused


@pytest.mark.parametrize(
    ("f", "x", "words"),
    [
        pytest.param(np.linalg.inv, np.ones((2, 2)), r"Singular.*identity", id="inv"),
        pytest.param(
            lambda a: np.linalg.solve(a, np.ones(2)), np.ones((3, 2, 2)), r"\(3, 2, 2\).*Singular", id="solve"
        ),
        pytest.param(np.linalg.cholesky, -np.eye(2), "cholesky.*positive definite.*identity", id="cholesky"),
    ],
)
def test_matrices_that_have_no_answer(f: Any, x: Any, words: str) -> None:
    with pytest.raises(MatrixError, match=words):
        pel.grad(lambda x: np.sum(f(x)))(x)
    with pytest.raises(np.linalg.LinAlgError):  # as NumPy's own, for those who catch that
        pel.run(pel.record(f, pel.Spec(x.shape)), x)


def test_the_slope_of_a_log_determinant_at_a_singular_matrix() -> None:
    with pytest.raises(MatrixError, match="Singular"):
        pel.grad(lambda a: np.linalg.slogdet(a)[1])(np.zeros((2, 2)))


def test_shapes_and_dtypes_that_do_not_fit() -> None:
    for record in (lambda f, *xs: pel.record(f, *xs), lambda f, *xs: pel.record(f, *(pel.Spec(x.shape) for x in xs))):
        with pytest.raises(ShapeError, match=r"det expects square matrices.*got shape \(2, 3\)"):
            record(np.linalg.det, np.ones((2, 3)))
        with pytest.raises(ShapeError, match=r"2 equations of shape \(2, 2\).*got \(3,\)"):
            record(np.linalg.solve, np.eye(2), np.ones(3))
        with pytest.raises(ShapeError, match=r"solve.*\(2,\) and \(3,\)|solve.*do not broadcast"):
            record(np.linalg.solve, np.ones((2, 4, 4)), np.ones((3, 4, 1)))
    with pytest.raises(UnsupportedError, match="float16"):
        pel.record(np.linalg.det, np.eye(2, dtype=np.float16))
