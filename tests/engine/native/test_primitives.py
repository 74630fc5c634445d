"""Every primitive by compiled code equals NumPy's executor: values, derivatives, all sizes, threads, NaN and infinity.

The cases are those of tests/graph/primitive_cases.py. Many of them go into one graph, each in both precisions and with
its derivative: loops that read the same array become one kernel, so that few kernels have to be compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid.engine import numpy as reference
from pellucid.engine.native.code.expressions import ELEMENTWISE
from pellucid.engine.native.passes.lower import CannotCompile
from pellucid.engine.native.runtime.call import Function
from pellucid.engine.native.runtime.fallback import run_or_fall_back
from pellucid.errors import ShapeError
from pellucid.graph.core.primitive import REGISTRY
from pellucid.graph.core.tree import flatten
from tests.graph.primitive_cases import CASES, ROWS, differentiable, is_float, of_floats, open_specs

pytestmark = [pytest.mark.usefixtures("split"), pytest.mark.filterwarnings("ignore::RuntimeWarning")]


TOLERANCE = {np.dtype(np.float64): (1e-12, 1e-13), np.dtype(np.float32): (1e-5, 2e-6)}
DTYPES = (np.float64, np.float32)


def close(got, expected, what=""):
    """Same dtype, same shape, close."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype), what
    rtol, atol = TOLERANCE.get(expected.dtype, (0, 0))
    scale = np.max(np.abs(expected), initial=1, where=np.isfinite(expected)) if expected.dtype.kind == "f" else 1
    assert_allclose(got, expected, rtol=rtol, atol=atol * scale, err_msg=what)


def results(name, case, arrays, settings, dtypes=DTYPES, derivatives=DTYPES):
    """Values and adjoints of a case in these precisions."""
    out = []
    for dtype in dtypes:
        cast = [x.astype(dtype) if x.dtype.kind == "f" else x for x in arrays]
        call = case.call(REGISTRY[name], settings)
        out.append(call(*cast))
        if dtype in derivatives and differentiable(name, case):
            f, active = of_floats(call, case, cast)
            y, pullback = pel.vjp(f, *active)
            out.append(pullback(np.sin(y) + 1))
    return out


def agree(graph, labels, *all_args, threads=(1, 2, 3)):
    """Native against NumPy for each set of arguments: same bits at a second call, nothing changed."""
    for args in all_args:
        try:
            expected = reference.run(graph, *args)
        except ValueError:
            assert any(0 in np.shape(a) for a in flatten(args)[0])  # NumPy has no maximum of nothing
            continue
        before = [np.array(a) for a in flatten(args)[0]]
        for number in threads:
            function = Function(graph, number)
            first, again = function(*args), function(*args)
            if len(labels) == 1:
                first, again, found = [first], [again], [expected]
            else:
                found = expected
            for label, one, two, e in zip(labels, first, again, found, strict=True):
                for a, b, c in zip(flatten(one)[0], flatten(two)[0], flatten(e)[0], strict=True):
                    close(a, c, f"{label}, {number} threads, arguments {[np.shape(x) for x in flatten(args)[0]][:3]}")
                    assert_array_equal(a, b, err_msg=label)
        for a, old in zip(flatten(args)[0], before, strict=True):
            assert_array_equal(a, old)


def joined(chosen, resize, dtypes=DTYPES, derivatives=DTYPES):
    """One graph of many cases: (graph, labels, arguments for n rows).

    A common array of zeros is added to the first argument of each: so the loops of all cases share an array.
    """
    shapes = [[a.shape for a in case.arrays()] for _, _, case in chosen]
    shared = chosen[0][2].arrays()[0].dtype.kind == "f"

    def f(zeros, every):
        out = []
        for (name, _, case), arrays in zip(chosen, every, strict=True):
            given = [arrays[0] + zeros, *arrays[1:]] if shared else arrays
            out.append(results(name, case, given, case.settings, dtypes, derivatives))
        return out

    def arguments(n):
        every = [case.resized(n) if resize else case.arrays() for _, _, case in chosen]
        return np.zeros(every[0][0].shape if shared else ()), every

    specs = [open_specs(case) if resize else case.arrays() for _, _, case in chosen]
    zeros = specs[0][0] if shared else np.zeros(())
    labels = [f"{name}-{i}" for name, i, _ in chosen]
    assert len({str(s) for s in shapes}) == 1 or not shared
    return pel.record(f, zeros, specs).simplify(), labels, arguments


EVERY = [(name, i, case) for name, listed in CASES.items() for i, case in enumerate(listed)]


def groups(keep, size):
    """Cases whose arguments have the same shapes and dtypes, in groups."""
    found: dict[Any, list[Any]] = {}
    for entry in EVERY:
        name, _, case = entry
        if keep(name, case):
            found.setdefault((case.open, *((a.shape, a.dtype.kind) for a in case.arrays())), []).append(entry)
    parts = [listed[i : i + size] for listed in found.values() for i in range(0, len(listed), size)]
    return [pytest.param(part, id=f"{part[0][0]}-{part[0][1]} to {part[-1][0]}-{part[-1][1]}") for part in parts]


def is_elementwise(name):
    return name in ELEMENTWISE and name not in ("astype", "broadcast_to")


OPEN = groups(lambda name, case: is_elementwise(name) and case.open, 12)
CLOSED = groups(lambda name, case: is_elementwise(name) and not case.open and case.arrays()[0].size, 24)
FALLS_BACK = {
    *("solve", "det", "cofactors", "log_abs_det", "sign_of_det", "cholesky", "eigh", "pinv"),
    *("argsort", "reorder", "searchsorted", "cumprod", "recurrence", "sparse_matmul"),
}
"""What only the NumPy executor computes."""

OTHERS = [name for name in CASES if not is_elementwise(name) and name not in FALLS_BACK]


def test_every_primitive_is_tried():
    tried = {entry[0] for group in OPEN for entry in group.values[0]} | set(OTHERS) | FALLS_BACK
    assert tried == {name for name in REGISTRY if not name.endswith("_example")}


@pytest.mark.parametrize("chosen", OPEN)
def test_elementwise(chosen):
    graph, labels, arguments = joined(chosen, resize=True)
    agree(graph, labels, *(arguments(n) for n in (ROWS, 1, 0)))
    agree(graph, labels, arguments(41), threads=(3,))


@pytest.mark.parametrize("chosen", CLOSED)
def test_elementwise_of_numbers_and_other_shapes(chosen):
    graph, labels, arguments = joined(chosen, resize=False, dtypes=(np.float64,), derivatives=())
    agree(graph, labels, arguments(0))


def listed(name, chosen, specs, settings):
    def f(*every):
        return [
            results(name, case, arrays, settings(case), derivatives=(np.float64,) if case.open_vjp else ())
            for case, arrays in zip(chosen, every, strict=True)
        ]

    return pel.record(f, *specs).simplify(), [f"{name} {case.settings}" for case in chosen]


@pytest.mark.parametrize("name", OTHERS)
def test_moves_products_and_reductions(name):
    some = [case for case in CASES[name] if case.open]
    rest = [case for case in CASES[name] if not case.open]
    if some:
        graph, labels = listed(name, some, map(open_specs, some), lambda case: case.settings)
        agree(graph, labels, *([case.resized(n) for case in some] for n in (ROWS, 1)))
    if rest:
        specs = [case.arrays() for case in rest]
        agree(*listed(name, rest, specs, lambda case: case.at(ROWS)), specs)


@pytest.mark.parametrize("name", OTHERS)
def test_no_rows(name):
    for case in CASES[name]:
        if case.open and slice(1, None) not in case.settings.get("spec", ()):  # its shape would be (n - 1, ...)
            f = case.call(REGISTRY[name], case.settings)
            agree(pel.record(f, *open_specs(case)), [name], case.resized(0), threads=(2,))


# NaN, infinities and the like

VALUES = np.array(
    [
        *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 7.0, -7.0, 0.9999),
        *(1e-300, -1e-300, 1e300, -1e300, 1e-30, 1e30, -1e30, 1e-8, 1e6, 20.0, -20.0, 100.0, -100.0, 710.0, -746.0),
    ]
)
PAIRS = [a.ravel() for a in np.meshgrid(VALUES, VALUES)]
TRIGONOMETRIC = ("sin", "cos", "tan")  # beyond 2**30 they give NaN: see vectormath


def of_reals(count):
    """Elementwise primitives of so many floats."""
    names = [
        name
        for name, listed in CASES.items()
        if is_elementwise(name) and len(listed[0].args) == count and is_float(listed[0].args[0])
    ]
    parts = [names[i : i + 16] for i in range(0, len(names), 16)]
    return [pytest.param(part, id=f"{part[0]} to {part[-1]}") for part in parts]


def check_values(names, args):
    def f(*xs):
        return [REGISTRY[name](*(x.astype(dtype) for x in xs)) for dtype in DTYPES for name in names]

    graph = pel.record(f, *args).simplify()
    for name, got, expected in zip(names * 2, Function(graph, 2)(*args), reference.run(graph, *args), strict=True):
        keep = np.ones(len(got), bool)
        if name in TRIGONOMETRIC:
            keep = ~(np.abs(args[0]) > 2.0**30) | np.isinf(args[0])
        elif name == "zeta":  # SciPy's order of questions there is its own
            keep = ~np.isnan(args[0]) & ~np.isnan(args[1])
        rtol, smallest = (1e-12, 1e-300) if expected.dtype == np.float64 else (1e-5, 1e-37)
        assert got.dtype == expected.dtype
        assert_allclose(got[keep], expected[keep], rtol=rtol, atol=smallest, err_msg=f"{name} {expected.dtype}")


@pytest.mark.parametrize("names", of_reals(1))
def test_special_values_of_functions_of_one_number(names):
    check_values(names, [VALUES])


@pytest.mark.parametrize("names", of_reals(2))
def test_special_values_of_functions_of_two_numbers(names):
    check_values(names, PAIRS)


def test_special_values_in_reductions_and_choices():
    rows = np.array([[1.0, np.nan, 2.0], [np.inf, 1.0, -np.inf], [np.inf, 0.0, np.inf], [3.0, 1.0, 2.0]])

    def f(x):
        found = [op(x, axis=axis) for op in (np.sum, np.mean, np.max, np.min, np.prod) for axis in (None, 0, 1)]
        return [*found, np.argmax(x, axis=1), np.argmin(x, axis=0), np.clip(x, 0, 1.5), np.where(x > 1, x, 0)]

    graph = pel.record(f, pel.Spec(("n", 3))).simplify()
    for threads in (1, 2, 3):
        for got, expected in zip(Function(graph, threads)(rows), reference.run(graph, rows), strict=True):
            assert_allclose(got, expected, rtol=1e-12)


def test_whole_numbers():
    a, b = np.arange(-6, 6).reshape(3, 4), np.array([[3], [-2], [5]])

    def f(x, y):
        out = [x + y, x - y, x * y, x // y, x % y, np.fmod(x, y), np.maximum(x, y), -x, abs(x), x**2, x / y, x @ x.T]
        out += [np.sum(x, axis=0), np.max(x), np.prod(x, axis=1), np.mean(x), np.sign(x), np.cumsum(x, axis=0)]
        out += [np.where(x > y, x, y), x.astype(np.int32) * 2, (x > 0) & (y > 0), np.sum(x > 0), np.any(x > y, axis=1)]
        return [*out, x.astype(np.int8) + np.int8(120), np.sum(x.astype(np.int32)), x * 0.5, np.exp(x)]

    graph = pel.record(f, a, b).simplify()
    for threads in (1, 2):
        for got, expected in zip(Function(graph, threads)(a, b), reference.run(graph, a, b), strict=True):
            close(got, expected)


# what is wrong is said, what cannot be compiled falls back


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_bad_indexes_and_labels_are_errors_on_every_number_of_threads(threads):
    x = np.arange(12.0).reshape(3, 4)
    graph = pel.record(lambda x, i: np.tanh(x[i]) * 2, x, pel.Spec(("n",), np.int64))
    taken = Function(graph, threads)
    close(taken(x, np.array([2, -3, 0])), np.tanh(x[[2, -3, 0]]) * 2)
    for bad in ([0, 3], [-4, 0]):
        with pytest.raises(ShapeError):
            reference.run(graph, x, np.array(bad))
        with pytest.raises(ShapeError, match="out of range"):
            taken(x, np.array(bad))
    close(taken(x, np.array([1, 1])), np.tanh(x[[1, 1]]) * 2)  # it works again
    graph = pel.record(lambda y: pel.one_hot(y, 3) * 2, pel.Spec(("n",), np.int64))
    hot = Function(graph, threads)
    for bad in ([0, 3], [-1, 0]):
        with pytest.raises(ShapeError, match="labels must lie in 0"):
            reference.run(graph, np.array(bad))
        with pytest.raises(ShapeError, match="labels must lie in 0"):
            hot(np.array(bad))
    assert_array_equal(hot(np.array([2])), [[0, 0, 2.0]])


@pytest.mark.parametrize("name", sorted(FALLS_BACK))
def test_what_the_engine_does_not_have_falls_back_with_a_warning(name):
    from pellucid.engine.native.runtime import fallback

    fallback._told.clear()
    case = CASES[name][0]
    args = case.arrays()
    specs = [pel.Spec(a.shape, a.dtype) for a in args]
    graph = pel.record(lambda *xs: results(name, case, xs, case.at(ROWS)), *specs).simplify()
    with pytest.warns(fallback.FallbackWarning, match="runs on the NumPy executor"):
        computed = run_or_fall_back(graph, *args)
    for a, b in zip(flatten(computed)[0], flatten(reference.run(graph, *args))[0], strict=True):
        assert_array_equal(a, b)


def test_float16_falls_back_with_one_warning():
    from pellucid.engine.native.runtime import fallback

    fallback._told.clear()
    x = np.ones(3, np.float16)
    graph = pel.record(lambda x: x + x, x)
    with pytest.raises(CannotCompile, match="float16"):
        Function(graph, 1)(x)
    with pytest.warns(fallback.FallbackWarning, match="float16"):
        assert_array_equal(run_or_fall_back(graph, x), x + x)
    assert_array_equal(run_or_fall_back(graph, x), x + x)  # and no second one


def test_the_engine_has_no_name_twice():
    """Operations that the engine makes itself are told apart by their names from those of the graph."""
    ours = {"input", "constant", "number", "size", "view", "reduce", "spread", "in_range", "iota", "uniform"}
    assert not ours & set(REGISTRY)
