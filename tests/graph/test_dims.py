"""Open sizes compute as integers do, as far as they can without a value."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid as pel
from pellucid.errors import AbstractValueError
from pellucid.graph.core.dims import Dim, bind, is_open, product, resolve

n, m = Dim.symbol("n"), Dim.symbol("m")

sizes = st.fixed_dictionaries({"n": st.integers(0, 50), "m": st.integers(1, 50)})
leaves = st.sampled_from(["n", "m"]) | st.integers(-9, 9)
expressions = st.recursive(
    leaves, lambda parts: st.tuples(st.sampled_from([operator.add, operator.sub, operator.mul]), parts, parts)
)


def evaluate(expression, names):
    """A nest such as (add, "n", (mul, 2, "m")), with the names replaced."""
    if isinstance(expression, str):
        return names[expression]
    if isinstance(expression, int):
        return expression
    f, left, right = expression
    return f(evaluate(left, names), evaluate(right, names))


@settings(deadline=None, derandomize=True)
@given(expression=expressions, numbers=sizes)
def test_arithmetic_is_that_of_integers(expression, numbers):
    symbolic = evaluate(expression, {"n": n, "m": m})
    assert resolve(symbolic, numbers) == evaluate(expression, numbers)
    assert resolve(-symbolic, numbers) == -evaluate(expression, numbers)


@settings(deadline=None, derandomize=True)
@given(left=expressions, right=expressions, names=sizes)
def test_equal_polynomials_are_equal_and_hash_alike(left, right, names):
    symbols = {"n": n, "m": m}
    one, other = (operator.add, left, right), (operator.add, right, left)
    assert evaluate(one, symbols) == evaluate(other, symbols)
    assert hash(evaluate(one, symbols)) == hash(evaluate(other, symbols))
    assert evaluate((operator.sub, left, left), symbols) == 0


@settings(deadline=None, derandomize=True)
@given(expression=expressions, factor=st.sampled_from([1, 2, -3, 7, "n", "m", "n*m", "2*n"]), numbers=sizes)
def test_division_undoes_multiplication(expression, factor, numbers):
    divisor = {"n": n, "m": m, "n*m": n * m, "2*n": 2 * n}.get(factor, factor)
    value = evaluate(expression, {"n": n, "m": m})
    assert (value * divisor) // divisor == value


@pytest.mark.parametrize(
    ("made", "text"),
    [
        pytest.param(n, "n", id="symbol"),
        pytest.param(n * 28 // 4, "7*n", id="multiple"),
        pytest.param(n + 1, "n + 1", id="sum"),
        pytest.param(1 - n, "-n + 1", id="negative"),
        pytest.param(2 * n * m - 3, "2*m*n - 3", id="product"),
        pytest.param((n * n + n) // n, "n + 1", id="divided by a name"),
    ],
)
def test_shown(made, text):
    assert set(repr(made).replace("- ", "+ -").split(" + ")) == set(text.replace("- ", "+ -").split(" + "))


@pytest.mark.parametrize(
    "cancelled", [pytest.param(n - n, id="n-n"), pytest.param(n // n - 1, id="n/n"), pytest.param(n * 0, id="n*0")]
)
def test_what_has_no_name_left_is_a_number(cancelled):
    assert type(cancelled) is int
    assert cancelled == 0


def test_numbers_and_other_names_differ():
    assert n != 5
    assert n != m
    assert n != n + 1
    assert n != "n"


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(lambda: n // 2, id="remainder"),
        pytest.param(lambda: (2 * n + 1) // 2, id="remainder of a sum"),
        pytest.param(lambda: n // m, id="other name"),
        pytest.param(lambda: n // (n + 1), id="sum as divisor"),
        pytest.param(lambda: n // 0, id="zero as divisor"),
        pytest.param(lambda: 6 // n, id="number by name"),
        pytest.param(lambda: n < 5, id="less"),
        pytest.param(lambda: n >= m, id="greater or equal"),
        pytest.param(lambda: range(n), id="range"),
        pytest.param(lambda: [0][n], id="index"),
    ],
)
def test_what_needs_the_number_is_refused(refused):
    with pytest.raises(AbstractValueError, match=r"open size|size n is open"):
        refused()


@pytest.mark.parametrize("made", [pytest.param(lambda: n + 1.5, id="+"), pytest.param(lambda: n * "a", id="*")])
def test_only_integers_take_part(made):
    with pytest.raises(AbstractValueError, match="size n is open"):  # outside a recording nobody can note it
        made()


@pytest.mark.parametrize("name", ["", "2n", "n+1", "a b"])
def test_names_are_identifiers(name):
    with pytest.raises(ValueError, match="needs a name"):
        Dim.symbol(name)


def test_product():
    assert product(()) == 1
    assert product((2, 3)) == 6
    assert product((n, 4, m)) == 4 * n * m


def test_resolve_and_is_open_look_into_settings():
    setting = (n, (2, m + 1), slice(None, n, 2), "axis")
    assert is_open(setting)
    assert resolve(setting, {"n": 3, "m": 4}) == (3, (2, 5), slice(None, 3, 2), "axis")
    assert not is_open(resolve(setting, {"n": 3, "m": 4}))


@pytest.mark.parametrize(
    ("declared", "actual", "found"),
    [
        pytest.param((n, 3), (7, 3), {"n": 7}, id="read"),
        pytest.param((n, m), (7, 3), {"n": 7, "m": 3}, id="two"),
        pytest.param((n, n), (7, 7), {"n": 7}, id="repeated"),
        pytest.param((n, 2 * n + 1), (3, 7), {"n": 3}, id="derived"),
        pytest.param((2 * n, n), (6, 3), {"n": 3}, id="derived before"),
        pytest.param((), (), {}, id="nothing"),
        pytest.param((n,), (0,), {"n": 0}, id="empty"),
    ],
)
def test_bind(declared, actual, found):
    names: dict[str, int] = {}
    assert bind(declared, actual, names)
    assert names == found


@pytest.mark.parametrize(
    ("declared", "actual"),
    [
        pytest.param((n, 3), (7, 4), id="other size"),
        pytest.param((n, n), (7, 6), id="unequal"),
        pytest.param((n, n + 1), (7, 7), id="derived"),
        pytest.param((n,), (7, 1), id="more axes"),
        pytest.param((n, 3), (7,), id="fewer axes"),
    ],
)
def test_bind_refuses(declared, actual):
    assert not bind(declared, actual, {})


def test_bind_keeps_to_what_is_known():
    assert bind((n,), (7,), {"n": 7})
    assert not bind((n,), (8,), {"n": 7})


def test_spec():
    spec = pel.Spec(("n", 3, n + 1), "float32")
    assert spec.size == 3 * n * n + 3 * n
    assert repr(spec) == f"Spec(({n}, 3, {n + 1}), float32)"
    assert spec.ndim == 3


@pytest.mark.parametrize("shape", [(-1,), (2.5,), (None,)])
def test_spec_refuses_what_is_no_size(shape):
    with pytest.raises(ValueError, match="size is a number"):
        pel.Spec(shape)
