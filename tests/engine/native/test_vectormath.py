"""Every function of the tables against NumPy, SciPy and mpmath, over the whole range of its type."""

import ctypes
import functools
import re
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special as sp

from pellucid.engine.native.code.llvm import loader, module
from pellucid.engine.native.code.llvm.code import INT64, Code, Lanes, Text
from pellucid.engine.native.code.llvm.processor import AARCH64, IS_X86, SETTINGS, Processor, executable
from pellucid.engine.native.code.vectormath import FUNCTIONS

NAMES = sorted(FUNCTIONS)
REFERENCE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    name: getattr(np, name, None) or getattr(sp, name) for name in NAMES
}
PERIODIC = {"sin", "cos", "tan"}
ANGLE_MAX = 2.0**30

ULPS32 = dict.fromkeys(["exp", "exp2", "log", "log2", "log1p", "tanh", "tan", "erfc", "cbrt"], 1)  # others: 2
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


WAYS = ["numpy", *executable()]
"""The formulas computed by NumPy, and as instructions of each processor that this machine can be."""


def written(name: str, bits: int, processor: Processor) -> str:
    """The IR of a loop as a kernel has it, with a kernel's flags: they must not reach into the function."""
    text = Text()
    code = Code(text, "loop", processor)
    table = code.array(code.arguments[0], INT64)
    source, target = (code.array(table.load(i), f"f{bits // 8}") for i in (1, 2))

    def body(index: Lanes, lanes: int, mask: Lanes | None) -> None:
        target.store(index, FUNCTIONS[name](source.load(index, lanes, mask)), mask)

    code.span(0, table.load(0), processor.lanes(bits // 8), body, processor.masked)
    code.finish(0)
    return str(text)


@functools.cache
def compiled(name: str, bits: int, way: str) -> Any:
    machine_code = module.machine_code(written(name, bits, SETTINGS[way]), SETTINGS[way])
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(loader.load("loop", machine_code))


def evaluate(name: str, x: np.ndarray, way: str = WAYS[-1]) -> np.ndarray:
    if way == "numpy":
        with np.errstate(all="ignore"):
            return np.asarray(FUNCTIONS[name](x))
    x = np.ascontiguousarray(x)
    out = np.empty_like(x)
    table = np.array([x.size, x.ctypes.data, out.ctypes.data], np.int64)
    compiled(name, 8 * x.itemsize, way)(table.ctypes.data)
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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_float32_is_right_to_the_stated_ulps(name: str, way: str) -> None:
    x = GRID32[np.abs(GRID32) <= ANGLE_MAX] if name in PERIODIC else GRID32
    with np.errstate(all="ignore"):
        expected = REFERENCE[name](x.astype(np.float64)).astype(np.float32)
        spacing = np.spacing(np.abs(expected)).astype(np.float64)
        y = evaluate(name, x, way)
        ulps = np.abs(y.astype(np.float64) - expected) / spacing
    finite = np.isfinite(expected)
    assert np.max(ulps[finite]) <= ULPS32.get(name, 2), x[finite][np.argmax(ulps[finite])]
    np.testing.assert_array_equal(y[~finite], expected[~finite])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_float64_is_right_to_the_stated_ulps(name: str, way: str) -> None:
    x = float64_points(name)
    y = evaluate(name, x, way)
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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_special_values(name: str, dtype: type, way: str) -> None:
    largest, tiny, smallest = np.finfo(dtype).max, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal
    x: np.ndarray = np.array([np.nan, np.inf, 0.0, 1.0, 2.0, largest, tiny, smallest], dtype)
    x = np.concatenate([x, -x])
    if name in PERIODIC:
        x = x[~(np.abs(x) == largest)]
    with np.errstate(all="ignore"):
        expected: np.ndarray = REFERENCE[name](x.astype(np.float64)).astype(dtype)
    eps = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(evaluate(name, x, way), expected, rtol=eps, atol=float(smallest))


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


@pytest.mark.parametrize("processor", [*SETTINGS.values(), AARCH64], ids=lambda p: p.name)
@pytest.mark.parametrize("bits", [32, 64])
def test_functions_are_whole_vectors_for_every_processor_and_call_nothing(bits: int, processor: Processor) -> None:
    """LLVM verifies the IR and makes machine code of it, also of processors that this machine is not."""
    for name in NAMES:
        text = written(name, bits, processor)
        code = module.machine_code(text, processor)
        assert re.search(r"store <\d+ x (float|double)>", text)
        assert not code.needs, name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_results_have_the_precision_of_the_argument(name: str, dtype: type) -> None:
    assert FUNCTIONS[name](np.array([0.5, 0.25], dtype)).dtype == dtype


@pytest.mark.skipif(not IS_X86, reason="counts instructions of x86")
def test_constants_are_read_where_they_are_used() -> None:
    """GELU has more of them than there are registers: kept there, they would be moved about in its loop."""
    target = SETTINGS["avx512"]
    loop = max(
        module.assembly(written("ndtr", 32, target), target).split("\n.LBB"), key=lambda part: part.count("vfmadd")
    )
    assert loop.count("vfmadd") >= 15
    assert loop.count("{1to16}") >= 15
    assert "movabs" not in loop
    assert loop.count("vmovaps") <= 4
