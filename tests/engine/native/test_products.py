"""Matrix products of our own against NumPy: sizes, layouts, edges, processors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pellucid as pel
from pellucid.engine.native.code.llvm import processor as processors
from pellucid.engine.native.code.llvm.module import machine_code, optimised
from pellucid.engine.native.code.llvm.processor import AARCH64, SETTINGS, executable, host
from pellucid.engine.native.code.products import narrow_product, product, product_plan
from pellucid.engine.native.code.products.product_plan import Room, room_for, way_of
from pellucid.engine.native.code.products.product_words import (
    COPY_LEFT,
    COPY_RIGHT,
    MOST_ASKED,
    NARROW,
    TURN_RESULT,
    TURN_RIGHT,
)
from pellucid.engine.native.runtime import blas
from tests.engine.native.called_products import LAYOUTS, OTHERS, described, multiplied, sides

EPS = {"float32": 2.0**-23, "float64": 2.0**-52}


def check(A: Any, B: Any, turned: tuple[bool, bool], setting: str, spare: int = 0) -> None:
    """Within what rounding of each term and sum may make."""
    made = multiplied(A, B, turned, setting, spare)
    wide = np.longdouble if A.dtype == np.float64 else np.float64
    exact = A.astype(wide) @ B.astype(wide)
    bound = (A.shape[1] + 2) * EPS[A.dtype.name] * (abs(A).astype(wide) @ abs(B).astype(wide))
    assert (abs(made - exact) <= bound).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("setting", ["host", *executable(), *OTHERS])
class TestEverySetting:
    @settings(max_examples=60, deadline=None)  # the first one compiles
    @given(
        m=st.integers(1, 70), n=st.integers(1, 140), k=st.integers(0, 70), turned=st.sampled_from(LAYOUTS),
        spare=st.sampled_from([0, 0, 1, 19]), seed=st.integers(0, 9),
    )  # fmt: skip
    @example(m=1, n=1, k=1, turned=(False, False), spare=0, seed=0)
    @example(m=5, n=3, k=0, turned=(False, False), spare=0, seed=0)
    @example(m=12, n=64, k=16, turned=(False, True), spare=0, seed=0)
    @example(m=64, n=10, k=33, turned=(True, False), spare=3, seed=0)
    @example(m=33, n=2, k=130, turned=(False, False), spare=0, seed=0)
    @example(m=33, n=6, k=130, turned=(False, True), spare=2, seed=0)
    def test_any_size_and_layout(self, dtype, setting, m, n, k, turned, spare, seed):
        check(*sides(m, n, k, dtype, seed), turned, setting, spare)

    def test_every_width_of_a_panel(self, dtype, setting):
        A, B = sides(13, 150, 9, dtype)
        for n in range(1, 151):
            check(A, B[:, :n], (False, False), setting)

    def test_every_number_of_rows(self, dtype, setting):
        A, B = sides(26, 80, 9, dtype)
        for m in range(1, 27):
            for n in (1, 8, 20, 40, 80):
                check(A[:m], B[:, :n], (m % 2 == 0, False), setting)

    def test_few_columns(self, dtype, setting):
        A, B = sides(37, 12, 150, dtype)
        for n in range(1, 13):
            for k in (1, 15, 16, 17, 31, 64, 150):
                for turned in LAYOUTS:
                    check(A[:, :k], B[:k, :n], turned, setting)

    def test_few_columns_of_a_deep_product_are_made_in_parts(self, dtype, setting):
        A, B = sides(5, 10, 2 * narrow_product.DEEP + 70, dtype)
        for n in (1, 3, 10):
            for k in (narrow_product.DEEP, narrow_product.DEEP + 1, A.shape[1]):
                for turned in LAYOUTS:
                    check(A[:, :k], B[:k, :n], turned, setting)

    def test_a_depth_in_several_blocks(self, dtype, setting, monkeypatch):
        whole = {turned: multiplied(*sides(21, 90, 200, dtype), turned, setting) for turned in LAYOUTS}
        monkeypatch.setattr(product_plan, "DEPTH", 64)
        for turned in LAYOUTS:
            check(*sides(21, 90, 200, dtype), turned, setting)
            # what is put aside between blocks is put aside as it is
            np.testing.assert_array_equal(multiplied(*sides(21, 90, 200, dtype), turned, setting), whole[turned])

    def test_nan_and_infinity_pass_as_they_should(self, dtype, setting):
        for n in (1, 2, 7, 70):
            for turned in LAYOUTS:
                A, B = sides(20, n, 40, dtype)
                A[3, 5], A[7, 1], B[9, 0] = np.nan, np.inf, -np.inf
                B[1, n - 1] = 0.0
                with np.errstate(invalid="ignore"):
                    expected = A @ B
                made = multiplied(A, B, turned, setting)
                np.testing.assert_array_equal(np.isnan(made), np.isnan(expected))
                np.testing.assert_array_equal(np.isinf(made), np.isinf(expected))
                np.testing.assert_array_equal(np.sign(made[np.isinf(made)]), np.sign(expected[np.isinf(expected)]))

    def test_what_lies_beside_a_matrix_is_not_looked_at(self, dtype, setting):
        """The memory between rows holds a number that would spoil every sum."""
        for turned in LAYOUTS:
            check(*sides(9, 21, 13, dtype), turned, setting, spare=5)

    def test_subnormal_numbers_are_numbers(self, dtype, setting):
        tiny = np.finfo(dtype).smallest_subnormal
        A, B = np.full((3, 4), tiny, dtype), np.ones((4, 20), dtype)
        np.testing.assert_array_equal(multiplied(A, B, (False, False), setting), np.full((3, 20), 4 * tiny, dtype))


# large ones, and ways of their own


LARGE = [
    ((150, 200, 600), (True, False), COPY_LEFT),
    ((60, 2100, 400), (False, False), COPY_RIGHT),
    ((150, 2100, 520), (True, False), COPY_LEFT | COPY_RIGHT),
    ((32, 300, 300), (False, True), TURN_RIGHT | TURN_RESULT),
    ((300, 3, 60), (True, False), TURN_RESULT),
    ((300, 1, 60), (True, False), 0),
    ((300, 2, 60), (False, False), NARROW | TURN_RIGHT),
    ((300, 3, 60), (False, True), NARROW),
    ((300, 1, 60), (False, False), NARROW),
    ((300, 10, 100), (False, False), NARROW | TURN_RIGHT),
    ((300, 10, 60), (False, False), 0),
    ((300, 11, 100), (False, False), 0),
    ((64, 64, 64), (False, True), TURN_RIGHT),
]


@pytest.mark.parametrize(("size", "turned", "ways"), LARGE)
def test_each_way_is_taken_where_it_should_and_is_right(size, turned, ways, monkeypatch):
    if host().vector != 64:
        pytest.skip("sizes are chosen for vectors of 64 bytes")
    monkeypatch.setattr(product_plan, "LARGE", 1 << 18)
    m, n, k = size
    assert way_of(described(m, n, k, turned, 4), host(), None).ways == ways
    check(*sides(m, n, k, "float32"), turned, "host")


@pytest.mark.parametrize("size", [(150, 200, 600), (150, 2100, 520), (32, 300, 300), (300, 3, 60)])
@pytest.mark.parametrize("turned", LAYOUTS)
def test_without_room_for_copies_the_bits_are_the_same(size, turned, monkeypatch):
    monkeypatch.setattr(product_plan, "LARGE", 1 << 18)
    m, n, k = size
    A, B = sides(m, n, k, "float32")
    best = room_for(described(m, n, k, turned, 4), host())
    small = Room(best.panel, 0)
    np.testing.assert_array_equal(
        multiplied(A, B, turned, "host"), multiplied(A, B, turned, "host", room=small), strict=True
    )


@pytest.mark.parametrize("turned", LAYOUTS)
@pytest.mark.parametrize("n", [1, 2, 5, 10, 33, 100])
def test_a_row_does_not_depend_on_the_rows_beside_it(turned, n):
    for dtype in ("float32", "float64"):
        A, B = sides(57, n, 1100 if n == 10 else 70, dtype)
        whole = multiplied(A, B, turned, "host")
        for first, last in ((0, 1), (0, 28), (28, 57), (13, 40), (50, 57)):
            np.testing.assert_array_equal(multiplied(A[first:last], B, turned, "host"), whole[first:last])


@pytest.mark.parametrize("setting", ["host", *executable()])
@pytest.mark.parametrize("turned", LAYOUTS)
def test_arrays_that_are_asked_for_may_lie_anywhere_and_change_nothing(turned, setting):
    """Their lines are fetched, not read; more of them than a tile asks for do no harm."""
    A, B = sides(77, 130, 200, "float32")
    nowhere = [0, 1 << 40, A.ctypes.data, B.ctypes.data + 4, (1 << 62) + 1, 8]
    expected = multiplied(A, B, turned, setting)
    for count in (1, 2, MOST_ASKED, len(nowhere)):
        np.testing.assert_array_equal(multiplied(A, B, turned, setting, asked=nowhere[:count]), expected)


def test_smaller_sizes_need_no_more_room_than_there_is():
    """Memory is planned for the largest batch; every smaller one must find a way in it."""
    for target in (host(), *(SETTINGS[name] for name in executable())):
        for turned in LAYOUTS:
            largest = described(256, 300, 200, turned, 4)
            room = room_for(largest, target)
            for rows in range(1, 257, 3):
                way = way_of(replace(largest, rows=rows), target, room)
                needs = product_plan._needs(replace(largest, rows=rows), way, target)
                assert all(need <= there for need, there in zip(needs, room, strict=True))
            for depth in range(1, 200, 3):
                way = way_of(replace(largest, depth=depth), target, room)
                needs = product_plan._needs(replace(largest, depth=depth), way, target)
                assert all(need <= there for need, there in zip(needs, room, strict=True))


# compiled code


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("target", [*SETTINGS.values(), AARCH64], ids=[*SETTINGS, "aarch64"])
def test_llvm_finds_no_fault(dtype, target):
    if target is not AARCH64 and not processors.IS_X86:
        pytest.skip("settings of another family of processors")
    text = product.write(dtype, "product", target)
    assert "define i32 @product(i64 %a0)" in text
    assert not {"nnan", "ninf", "fast", "reassoc"} & set(text.split())
    code = machine_code(text, target, settled=True)
    assert len(code.binary) > 1000
    assert set(code.needs) <= {"memcpy", "memset"}


def test_tiles_stay_in_registers():
    """The inner loop of the widest panel has no word of the stack in it."""
    from pellucid.engine.native.code.llvm.module import target_machine

    target = SETTINGS["avx512"] if processors.IS_X86 else AARCH64
    module = optimised(product.write("float32", "product", target), target, settled=True)
    lines = target_machine(target).emit_assembly(module).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(("product.panel.0:", '"product.panel.0":')))
    end = next(i for i in range(start, len(lines)) if "func_end" in lines[i])
    word = "vfmadd" if processors.IS_X86 else "fmla"
    blocks = "\n".join(lines[start:end]).split("\n.LBB")
    inner = max(blocks, key=lambda block: block.count(word))
    assert inner.count(word) == 24
    loop = inner[: inner.rindex(word)]
    assert not [line for line in loop.splitlines() if "mm" in line and "sp)" in line]


# in programs


def layers(x: Any, w: Any, v: Any) -> Any:
    return np.tanh(x @ w) @ v


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_program_gives_the_same_bits_on_any_number_of_threads(dtype):
    from pellucid.engine.native.runtime.call import Function

    rng = np.random.default_rng(0)
    x, w, v = (rng.standard_normal(s).astype(dtype) for s in ((301, 150), (150, 200), (200, 3)))
    graph = pel.record(layers, x, w, v)
    one, *others = (Function(graph, threads)(x, w, v) for threads in (1, 2, 3))
    np.testing.assert_allclose(one, layers(x, w, v), rtol=1e-3, atol=1e-3)
    for other in others:
        np.testing.assert_array_equal(one, other)


LIBRARY = """
import numpy as np, pellucid as pel
from pellucid.engine.native.runtime import blas
from tests.engine.native.called_products import LAYOUTS, OTHERS, described, multiplied, sides
x, w = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)
f = pel.compile(lambda a, b: (a @ b, a.T @ a, b.T @ b), engine="native")
for made, real in zip(f(x, w), (x @ w, x.T @ x, w.T @ w)):
    np.testing.assert_allclose(made, real)
print(blas.library() and blas.library().name)
"""


@pytest.mark.parametrize(("setting", "name"), [("", "None"), ("scipy", "BLAS of SciPy")])
def test_a_library_can_make_the_products(setting, name):
    import os
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", LIBRARY], env={**os.environ, "PELLUCID_BLAS": setting}, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (name == "None") == ("None" in done.stdout)


def test_an_unknown_library_is_refused(monkeypatch):
    monkeypatch.setenv("PELLUCID_BLAS", "abacus")
    blas.library.cache_clear()
    with pytest.raises(ValueError, match="abacus"):
        blas.library()
    monkeypatch.delenv("PELLUCID_BLAS")
    blas.library.cache_clear()


def test_a_strange_processor_takes_scipys_library(monkeypatch):
    monkeypatch.delenv("PELLUCID_BLAS", raising=False)
    monkeypatch.setattr(processors, "IS_KNOWN", False)
    blas.library.cache_clear()
    assert blas.library() == blas.of_scipy()
    monkeypatch.undo()
    blas.library.cache_clear()
