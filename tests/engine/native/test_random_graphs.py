"""Random graphs by compiled code equal NumPy's executor: shapes of rank 0 to 3, broadcasting, everything mixed.

A graph is drawn as a plan: a list of (operation, numbers), the numbers choosing operands, axes and variants. The same
plan is recorded as it is, and with its gradient.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid.engine import numpy as reference
from pellucid.engine.native.runtime.call import Function
from pellucid.graph.core.tree import flatten

SMOOTH = [
    np.tanh,
    np.sin,
    np.negative,
    np.square,
    lambda x: np.exp(-x * x),
    lambda x: np.log1p(x * x),
    lambda x: np.sqrt(x * x + 0.1),
    lambda x: 0.3 * x + 1,
    lambda x: 1 / (1 + x * x),
]
KINKED = [np.abs, lambda x: np.maximum(x, 0), lambda x: np.clip(x, -0.5, 0.7), lambda x: np.where(x > 0, x, 0.1 * x)]
PAIRS = [np.add, np.subtract, np.multiply, lambda a, b: a / (1 + b * b), lambda a, b: np.where(a * 0 == 0, a, b)]
KINKED_PAIRS = [np.maximum, np.minimum, np.hypot, lambda a, b: np.where(b > 0, a, 2.0)]
LARGEST = 3000


def fits(*shapes):
    """May these be broadcast, to something small?"""
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return len(shape) <= 3 and math.prod(shape) <= LARGEST


def unary(x, pool, i, j, smooth):
    table = SMOOTH if smooth else SMOOTH + KINKED
    return table[i % len(table)](x)


def binary(x, pool, i, j, smooth):
    others = [y for y in pool if fits(x.shape, y.shape)]
    table = PAIRS if smooth else PAIRS + KINKED_PAIRS
    return table[i % len(table)](x, others[j % len(others)])


def reduce(x, pool, i, j, smooth):
    axes = tuple(a for a in range(x.ndim) if i >> a & 1)
    table = (np.sum, np.mean) if smooth else (np.sum, np.mean, np.max, np.min)
    return table[j % len(table)](x, axis=axes, keepdims=bool(i & 8))


def normalize(x, pool, i, j, smooth):
    """What goes along an axis and back: standardised, or a softmax."""
    if not x.ndim:
        return x
    axis = i % x.ndim
    c = x - np.mean(x, axis=axis, keepdims=True)
    if j % 2:
        return c / np.sqrt(np.mean(c * c, axis=axis, keepdims=True) + 0.1)
    top = np.exp(np.tanh(c))
    return top / np.sum(top, axis=axis, keepdims=True)


def product(x, pool, i, j, smooth):
    others = [y for y in pool if y.ndim and x.ndim and y.shape[-1] == x.shape[-1]]
    if not others:
        return x
    y = others[i % len(others)]
    y = np.swapaxes(y, -1, -2) if y.ndim > 1 else y
    if not fits(x.shape[:-2], y.shape[:-2]) or math.prod(x.shape) * (y.shape[-1] if y.ndim > 1 else 1) > LARGEST:
        return x
    return np.tanh(0.5 * (x @ y))


def reshape(x, pool, i, j, smooth):
    n = math.prod(x.shape)
    shapes = [(n,), (1, n), (n, 1), x.shape[::-1], (*x.shape, 1), (1, *x.shape)]
    if x.ndim > 1:
        shapes.append((x.shape[0] * x.shape[1], *x.shape[2:]))
    return np.reshape(x, shapes[i % len(shapes)])


def transpose(x, pool, i, j, smooth):
    return np.transpose(x, np.random.default_rng(i).permutation(x.ndim).tolist())


def take(x, pool, i, j, smooth):
    """Slices, numbers, new axes, index arrays."""
    if not x.size or not x.ndim:
        return x[None]
    parts = [slice(None), slice(1, None), slice(None, None, -1), slice(None, None, 2), 0, -1, np.array([0, -1, 0])]
    chosen = np.random.default_rng(i).integers(len(parts) - (j % 3 > 0), size=x.ndim).tolist()
    return x[tuple(parts[k] for k in chosen)]


def join(x, pool, i, j, smooth):
    if not x.ndim:
        return x
    axis = i % x.ndim
    return [
        lambda: np.concatenate([x, 2 * x], axis=axis),
        lambda: np.pad(x, [(1, 0)] * x.ndim),
        lambda: np.flip(x, axis),
        lambda: np.tanh(np.cumsum(x, axis=axis)),
        lambda: np.stack([x, -x], axis=axis),
    ][j % 5]()


OPERATIONS = [unary, unary, binary, binary, binary, reduce, normalize, product, reshape, transpose, take, join]


@st.composite
def plans(draw):
    full = draw(st.lists(st.sampled_from([1, 2, 3, 5, 37]), max_size=3))
    shapes = []
    for _ in range(draw(st.integers(1, 3))):
        lead = draw(st.integers(0, len(full)))
        shapes.append(tuple(1 if draw(st.booleans()) and draw(st.booleans()) else s for s in full[lead:]))
    number = st.integers(0, 1000)
    step = st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 3), number, number)
    return shapes, draw(st.lists(step, min_size=10, max_size=16))


def follow(plan, smooth):
    """The plan as a function; its last values are the results."""

    def f(*xs):
        pool = list(xs)
        for operation, back, i, j in plan:
            y = operation(pool[-1 - back % len(pool)], pool, i, j, smooth)
            if y.ndim <= 3 and 0 < math.prod(y.shape) <= LARGEST:
                pool.append(y)
        return pool[-5:]

    return f


def compare(graph, args, rtol):
    expected = flatten(reference.run(graph, *args))[0]
    before = [a.copy() for a in args]
    for threads in (1, 2, 3):
        function = Function(graph, threads)
        first, again = (flatten(function(*args))[0] for _ in range(2))
        for a, b, e in zip(first, again, expected, strict=True):
            a, e = np.asarray(a), np.asarray(e)
            assert (a.shape, a.dtype) == (e.shape, e.dtype)
            assert_allclose(a, e, rtol=rtol, atol=rtol * np.max(np.abs(e), initial=1), err_msg=f"{threads} threads")
            assert_array_equal(a, b)
    for a, old in zip(args, before, strict=True):
        assert_array_equal(a, old)


def some(examples):
    quick = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return settings(max_examples=examples, derandomize=True, deadline=None, suppress_health_check=quick)


@pytest.mark.usefixtures("split")
@some(30)
@given(plans())
def test_values(drawn):
    shapes, plan = drawn
    rng = np.random.default_rng(len(plan))
    args = [rng.normal(size=shape) for shape in shapes]
    compare(pel.record(follow(plan, smooth=False), *args).simplify(), args, 1e-10)


@pytest.mark.usefixtures("split")
@pytest.mark.filterwarnings("ignore::pellucid.errors.IndependentOutputWarning")
@some(15)
@given(plans())
def test_gradients(drawn):
    shapes, plan = drawn
    rng = np.random.default_rng(len(plan))
    args = [rng.normal(size=shape) for shape in shapes]
    f = follow(plan, smooth=True)
    gradient = pel.grad(lambda *xs: sum(np.sum(np.sin(y)) for y in f(*xs)), argnums=tuple(range(len(args))))
    compare(pel.record(gradient, *args).simplify(), args, 1e-9)


@pytest.mark.usefixtures("split")
@some(8)
@given(plans())
def test_float32(drawn):
    shapes, plan = drawn
    rng = np.random.default_rng(len(plan))
    args = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    compare(pel.record(follow(plan, smooth=True), *args).simplify(), args, 1e-4)


# blocks and rows: loops over few columns are written in another way than those over many


def along_rows_and_columns(x, w):
    z = x * w
    p = np.exp(z - np.max(z, axis=1, keepdims=True))
    p = p / np.sum(p, axis=1, keepdims=True)
    c = x - np.mean(x, axis=1, keepdims=True)
    u = c / np.sqrt(np.mean(c * c, axis=1, keepdims=True) + 1e-3)
    b = x - np.mean(x, axis=0)
    v = b / np.sqrt(np.mean(b * b, axis=0) + 1e-3)
    return np.sum(np.tanh(u) * p) + np.sum(v * v * w) + np.mean(np.log(p + 1e-3) * u)


@pytest.mark.usefixtures("split")
@pytest.mark.parametrize("columns", [1, 2, 31, 32, 33, 70])
def test_every_width_and_number_of_rows(columns):
    rng = np.random.default_rng(columns)
    w = rng.normal(size=columns)

    def f(x, w):
        value, gradient = pel.value_and_grad(along_rows_and_columns, argnums=(0, 1))(x, w)
        return value, *gradient, np.sum(x, axis=1), np.max(x, axis=0), np.argmax(x, axis=1), np.cumsum(x, axis=0)

    graph = pel.record(f, pel.Spec(("n", columns)), w).simplify()
    for rows in (1, 2, 63, 64, 65, 130):
        compare(graph, [rng.normal(size=(rows, columns)), w], 1e-11)
