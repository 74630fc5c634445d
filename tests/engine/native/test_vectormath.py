"""Every function of the tables against NumPy, SciPy and mpmath, over the whole range of its type."""

import importlib
import re
import subprocess
import sys
from collections.abc import Callable

import mpmath
import numba
import numpy as np
import pytest
import scipy.special as sp

from pellucid.engine.native.vectormath import FLOAT32, FLOAT64

NAMES = sorted(FLOAT32)
REFERENCE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    name: getattr(np, name, None) or getattr(sp, name) for name in NAMES
}
PERIODIC = {"sin", "cos", "tan"}
ANGLE_MAX = 2.0**30

ULPS32 = dict.fromkeys(["exp", "exp2", "log", "log2", "log1p", "tanh", "tan", "erfc", "ndtr", "cbrt"], 1)  # others: 2
ULPS64 = {"erfc": 5.0, "ndtr": 5.0, "tan": 4.0, **dict.fromkeys(["sin", "cos", "expit", "log_expit"], 2.5)}  # others: 2

EXACT: dict[str, Callable[[mpmath.mpf], mpmath.mpf]] = {
    **{name: getattr(mpmath, name) for name in NAMES if hasattr(mpmath, name)},
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "arctan": mpmath.atan,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "expit": lambda x: 1 / (1 + mpmath.exp(-x)),
    "log_expit": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "ndtr": lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
}


def vector_loop(entry: tuple[str, str]) -> numba.core.dispatcher.Dispatcher:
    """The loop a generated kernel would have, with a kernel's flags: they must not reach into the function."""
    function = getattr(importlib.import_module(entry[0]), entry[1])

    @numba.njit(error_model="numpy", fastmath={"nsz", "arcp", "contract", "afn", "reassoc"})
    def loop(x, out):
        for i in range(x.shape[0]):
            out[i] = function(x[i])

    return loop


LOOPS = {(name, bits): vector_loop(table[name]) for bits, table in ((32, FLOAT32), (64, FLOAT64)) for name in table}


def evaluate(name: str, x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    LOOPS[name, 8 * x.itemsize](x, out)
    return out


def float32_grid() -> np.ndarray:
    """Every 4096th float32, and more where the functions do something."""
    rng = np.random.default_rng(0)
    patterns = (np.arange(0, 2**32, 4096, dtype=np.uint64) + rng.integers(0, 4096, 2**20, dtype=np.uint64)).astype("u4")
    near: list[np.ndarray] = [rng.uniform(-s, s, 50_000) for s in (1e-3, 0.1, 1.0, 4.0, 15.0, 110.0, 1e4, 1e9)]
    near += [1.0 + rng.uniform(-0.5, 0.5, 50_000), np.arange(-2000, 2000) * (np.pi / 2)]
    return np.concatenate([patterns.view(np.float32), np.concatenate(near).astype(np.float32)])


GRID32 = float32_grid()


def float64_points(name: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    x = [rng.normal(size=60) * s for s in (1e-5, 0.1, 1.0, 5.0, 25.0, 300.0)]
    x += [
        1.0 + 0.1 * rng.normal(size=60),
        np.array([5e-324, 3e-310, 0.5, 1.0, 2.0, 5.0, 10.0, 26.5, 27.1, -37.6, 709.7]),
    ]
    if name in PERIODIC:
        x += [rng.uniform(-1e9, 1e9, 100), np.round(rng.uniform(0, 6e8, 100)) * (np.pi / 2)]
    elif name in {"log", "log2", "log10", "log1p", "cbrt", "arctan", "tanh"}:
        x += [np.exp(rng.uniform(-700, 700, 100))]
    points = np.concatenate(x)
    if name.startswith("log") and name != "log_expit":
        points = points[points > (-1.0 if name == "log1p" else 0.0)]
    return points


@pytest.mark.parametrize("name", NAMES)
def test_float32_is_right_to_the_stated_ulps(name: str) -> None:
    x = GRID32[np.abs(GRID32) <= ANGLE_MAX] if name in PERIODIC else GRID32
    with np.errstate(all="ignore"):
        expected = REFERENCE[name](x.astype(np.float64)).astype(np.float32)
        spacing = np.spacing(np.abs(expected)).astype(np.float64)
        ulps = np.abs(evaluate(name, x).astype(np.float64) - expected) / spacing
    finite = np.isfinite(expected)
    assert np.max(ulps[finite]) <= ULPS32.get(name, 2), x[finite][np.argmax(ulps[finite])]
    np.testing.assert_array_equal(evaluate(name, x)[~finite], expected[~finite])


@pytest.mark.parametrize("name", NAMES)
def test_float64_is_right_to_the_stated_ulps(name: str) -> None:
    x = float64_points(name)
    y = evaluate(name, x)
    with mpmath.workdps(40):
        for point, value in zip(x.tolist(), y.tolist(), strict=True):
            exact = EXACT[name](mpmath.mpf(point))
            if abs(exact) < sys.float_info.max:
                ulps = abs(value - exact) / np.spacing(abs(float(exact))).item()
                assert ulps <= ULPS64.get(name, 2.0), (point, value)
            else:
                assert value == np.copysign(np.inf, float(mpmath.sign(exact))), point


@pytest.mark.parametrize("name", NAMES)
def test_float64_agrees_with_numpy_and_scipy_on_many_numbers(name: str) -> None:
    rng = np.random.default_rng(2)
    patterns = rng.integers(0, 2**64, 50_000, dtype=np.uint64).view(np.float64)
    x = np.concatenate([patterns, *(rng.uniform(-s, s, 20_000) for s in (1e-3, 1.0, 10.0, 40.0, 800.0))])
    x = x[np.abs(x) <= ANGLE_MAX] if name in PERIODIC else x
    with np.errstate(all="ignore"):
        expected = REFERENCE[name](x)
    # SciPy's own erfc and ndtr are 0 for a subnormal result, and its ndtr is 2e-13 off in the tail
    rtol = 1e-12 if name == "ndtr" else 1e-13
    np.testing.assert_allclose(evaluate(name, x), expected, rtol=rtol, atol=np.finfo(float).tiny)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_special_values(name: str, dtype: type) -> None:
    largest, tiny, smallest = np.finfo(dtype).max, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal
    x: np.ndarray = np.array([np.nan, np.inf, 0.0, 1.0, 2.0, largest, tiny, smallest], dtype)
    x = np.concatenate([x, -x])
    if name in PERIODIC:
        x = x[~(np.abs(x) == largest)]
    with np.errstate(all="ignore"):
        expected: np.ndarray = REFERENCE[name](x.astype(np.float64)).astype(dtype)
    eps = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(evaluate(name, x), expected, rtol=eps, atol=float(smallest))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(PERIODIC))
def test_angles_have_a_stated_limit(name: str, dtype: type) -> None:
    x: np.ndarray = np.array([ANGLE_MAX, -ANGLE_MAX, 1.001 * ANGLE_MAX, -1e30], dtype)
    with np.errstate(all="ignore"):
        expected = REFERENCE[name](x.astype(np.float64))
    expected[2:] = np.nan
    np.testing.assert_allclose(evaluate(name, x), expected, rtol=4 * float(np.finfo(dtype).eps))


@pytest.mark.parametrize("name", ["tanh", "sinh", "sin", "tan", "arctan", "erf", "cbrt"])
def test_odd_functions_are_exactly_odd(name: str) -> None:
    x = np.random.default_rng(3).normal(size=1000) * 3
    for values in (x, x.astype(np.float32)):
        np.testing.assert_array_equal(evaluate(name, -values), -evaluate(name, values))


@pytest.mark.parametrize(("name", "bits"), sorted(LOOPS))
def test_loops_are_vectorised_and_call_nothing(name: str, bits: int) -> None:
    x = np.ones(1, f"f{bits // 8}")
    evaluate(name, x)
    (code,) = LOOPS[name, bits].inspect_llvm().values()
    assert re.search(r"store <\d+ x (float|double|i32|i64)>", code)
    assert not [line for line in code.splitlines() if " call " in line and "10vectormath" in line]


def test_both_tables_have_the_same_functions_and_name_real_ones() -> None:
    assert FLOAT32.keys() == FLOAT64.keys()
    for module, function in [*FLOAT32.values(), *FLOAT64.values()]:
        assert callable(getattr(importlib.import_module(module), function))
    listed = {*FLOAT32.values(), *FLOAT64.values()}
    for module in {module for module, _ in listed}:
        contents = vars(importlib.import_module(module)).items()
        own = {n for n, f in contents if hasattr(f, "py_func") and f.py_func.__module__ == module and n[0] != "_"}
        assert own == {function for m, function in listed if m == module}


def test_the_tables_do_not_import_numba() -> None:
    code = "import sys, pellucid.engine.native.vectormath; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
