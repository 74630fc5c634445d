"""Products of numbers rounded to bfloat16, against NumPy: sizes, layouts, edges, processors, training."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pellucid as pel
from pellucid import nn, optim
from pellucid.engine.native.code.llvm import processor as processors
from pellucid.engine.native.code.llvm.module import assembly, machine_code
from pellucid.engine.native.code.llvm.processor import AARCH64, SETTINGS, executable, host
from pellucid.engine.native.code.products import product_plan, short_product
from pellucid.engine.native.code.products.product_plan import Room, room_for, way_of
from pellucid.engine.native.passes.instructions import Loop
from pellucid.engine.native.runtime.call import Function
from pellucid.engine.native.runtime.program import build
from pellucid.graph.passes import short_products
from pellucid.graph.primitives.products import as_bfloat16
from tests.engine.native.called_products import LAYOUTS, OTHERS, described, multiplied, sides

PAIRS = replace(SETTINGS["avx512"], features="+avx512bf16", bfloat16=True)
"""A processor that multiplies pairs."""

HALF = 2.0**-8
"""The relative error of a number rounded to bfloat16, at most."""

EPS = 2.0**-23


def check(A: Any, B: Any, turned: tuple[bool, bool], setting: str, spare: int = 0) -> None:
    """Within what the sums may make of numbers that are rounded, and within what rounding may make of the result."""
    made = multiplied(A, B, turned, setting, spare, short=True)
    sizes = abs(A).astype(np.float64) @ abs(B)
    rounded = as_bfloat16(A).astype(np.float64) @ as_bfloat16(B)
    assert (abs(made - rounded) <= (A.shape[1] + 2) * 2 * EPS * sizes).all()
    assert (abs(made - A.astype(np.float64) @ B) <= (2.01 * HALF + A.shape[1] * 2 * EPS) * sizes).all()


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
    @example(m=64, n=10, k=33, turned=(True, True), spare=3, seed=0)
    @example(m=49, n=65, k=31, turned=(True, False), spare=1, seed=0)
    def test_any_size_and_layout(self, setting, m, n, k, turned, spare, seed):
        check(*sides(m, n, k, "float32", seed), turned, setting, spare)

    def test_every_width_of_a_panel_and_every_depth_and_number_of_rows(self, setting):
        A, B = sides(61, 140, 70, "float32")
        for i in range(1, 141):
            turned = LAYOUTS[i % 4]
            check(A[: i % 60 + 1, : i % 69 + 1], B[: i % 69 + 1, :i], turned, setting)

    def test_a_depth_in_several_blocks(self, setting, monkeypatch):
        whole = {turned: multiplied(*sides(21, 90, 203, "float32"), turned, setting, short=True) for turned in LAYOUTS}
        monkeypatch.setattr(product_plan, "DEPTH", 64)
        for turned in LAYOUTS:
            parts = multiplied(*sides(21, 90, 203, "float32"), turned, setting, short=True)
            np.testing.assert_array_equal(parts, whole[turned])

    def test_nan_and_infinity_pass_as_they_should(self, setting):
        for n in (1, 7, 70):
            for turned in LAYOUTS:
                A, B = sides(20, n, 41, "float32")
                A[3, 5], A[7, 1], B[9, 0], A[4, 40] = np.nan, np.inf, -np.inf, 3.4e38  # the last becomes infinity
                A[6, 2] = np.uint32(0x7F800001).view(np.float32)  # a NaN whose bits would round to infinity's
                with np.errstate(invalid="ignore"):
                    expected = as_bfloat16(A) @ as_bfloat16(B)
                made = multiplied(A, B, turned, setting, short=True)
                np.testing.assert_array_equal(np.isnan(made), np.isnan(expected))
                np.testing.assert_array_equal(np.isinf(made), np.isinf(expected))
                np.testing.assert_array_equal(np.sign(made[np.isinf(made)]), np.sign(expected[np.isinf(expected)]))

    def test_ties_are_rounded_to_even(self, setting):
        """Times 1: numbers halfway between two of bfloat16, and just beside."""
        bits = np.arange(0x3F800000, 0x3F880000, 0x2000).astype(np.uint32)
        A = (bits[:, None] + np.array([0, 1, 0x7FFF, 0x8000, 0x8001], np.uint32)).view(np.float32)
        for turned in LAYOUTS:
            made = multiplied(A, np.eye(5, dtype=np.float32), turned, setting, short=True)
            np.testing.assert_array_equal(made, as_bfloat16(A))

    def test_a_row_does_not_depend_on_the_rows_beside_it(self, setting):
        for turned in LAYOUTS:
            A, B = sides(57, 37, 71, "float32")
            whole = multiplied(A, B, turned, setting, short=True)
            for first, last in ((0, 1), (0, 28), (28, 57), (13, 40), (50, 57)):
                part = multiplied(A[first:last], B, turned, setting, short=True)
                np.testing.assert_array_equal(part, whole[first:last])


def test_smaller_sizes_need_no_more_room_than_there_is():
    """Memory is planned for the largest batch, whose rows are the depth of gradients."""
    for target in (host(), PAIRS, *(SETTINGS[name] for name in executable())):
        for size, columns in itertools.product((200, 2100, 5000), (10, 70)):
            room = room_for(described(size, columns, size, (True, False), 4, short=True), target)
            for other in range(1, size, 37):
                smaller = described(other, columns, other, (True, False), 4, short=True)
                needs = product_plan._needs(smaller, way_of(smaller, target, room), target)
                assert all(need <= there for need, there in zip(needs, room, strict=True))


@pytest.mark.parametrize("setting", ["host", *executable()])
def test_sides_that_change_places_give_the_same_bits(setting):
    target = SETTINGS.get(setting) or host()
    size = described(250, 3, 100, (True, False), 4, short=True)
    assert way_of(size, target, None).swapped
    assert not way_of(size, target, Room(1 << 30, 0)).swapped
    A, B = sides(250, 3, 100, "float32")
    swapped = multiplied(A, B, (True, False), setting, short=True)
    np.testing.assert_array_equal(swapped, multiplied(A, B, (False, False), setting, short=True))


# compiled code


@pytest.mark.parametrize("target", [*SETTINGS.values(), PAIRS, AARCH64], ids=[*SETTINGS, "pairs", "aarch64"])
def test_llvm_finds_no_fault(target):
    if target is not AARCH64 and not processors.IS_X86:
        pytest.skip("settings of another family of processors")
    text = short_product.write("product", target)
    assert not {"nnan", "ninf", "fast", "reassoc"} & set(text.split())
    code = machine_code(text, target, settled=True)
    assert len(code.binary) > 1000
    assert set(code.needs) <= {"memcpy", "memset"}


def test_pairs_are_multiplied_in_one_step_in_registers():
    if not processors.IS_X86:
        pytest.skip("settings of another family of processors")
    lines = assembly(short_product.write("product", PAIRS), PAIRS, settled=True).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(("product.panel.0:", '"product.panel.0":')))
    end = next(i for i in range(start, len(lines)) if "func_end" in lines[i])
    inner = max("\n".join(lines[start:end]).split("\n.LBB"), key=lambda block: block.count("vdpbf16ps"))
    assert inner.count("vdpbf16ps") == 24
    loop = inner[: inner.rindex("vdpbf16ps")]
    assert not [line for line in loop.splitlines() if "mm" in line and "sp)" in line]


# in graphs and programs


def layers(x: Any, w: Any, v: Any) -> Any:
    return np.tanh(x @ w) @ v


def short_layers(*sizes: int) -> tuple[Any, list[Any]]:
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(size).astype(np.float32) * 0.1 for size in itertools.pairwise(sizes)]
    return short_products(pel.record(layers, *given), [0]), given


def test_a_graph_says_that_numbers_are_rounded_and_so_does_a_program():
    graph, given = short_layers(40, 130, 150, 3)
    assert "matmul(x, w, precision=bfloat16)" in str(graph)
    x, w, v = map(as_bfloat16, given)
    expected = as_bfloat16(np.tanh(x @ w)) @ v
    np.testing.assert_array_equal(pel.engine.engine_named("numpy")(graph, *given), expected)
    assert "a1 = x @ w, bfloat16" in str(build(graph, {}))


@pytest.mark.parametrize("name", ["", *executable()])
def test_a_program_gives_the_same_bits_on_any_number_of_threads(name, monkeypatch):
    monkeypatch.setenv("PELLUCID_PROCESSOR", name)
    graph, given = short_layers(301, 151, 200, 3)
    assert any(isinstance(step, Loop) and step.product is not None for step in build(graph, {}, 2).steps)  # with tiles
    one, *others = (Function(graph, threads)(*given) for threads in (1, 2, 3))
    np.testing.assert_allclose(one, pel.engine.engine_named("numpy")(graph, *given), rtol=2e-3, atol=2e-3)
    for other in others:
        np.testing.assert_array_equal(one, other)


def test_products_of_depth_1_and_of_other_dtypes_stay_as_they_are():
    column, row, wide = np.ones((5, 1), np.float32), np.ones((1, 4), np.float32), np.ones((4, 3))
    graph = short_products(pel.record(lambda c, r, x: (c @ r) @ x, column, row, wide), [0])
    assert "precision" not in str(graph)


def test_only_what_the_outputs_need_is_rounded():
    x = np.ones((3, 3), np.float32)
    graph = short_products(pel.record(lambda x: (x @ x, x.T @ x), x), [1])
    assert str(graph).count("bfloat16") == 1
    assert "x @ x" in str(graph)


def test_derivatives_are_products_of_rounded_numbers_too():
    graph, (x, w, v) = short_layers(6, 5, 4, 3)
    run = pel.engine.engine_named("numpy")
    slope = pel.grad(lambda w: np.sum(run(graph, x, w, v)))(w)
    hidden = np.tanh(as_bfloat16(x) @ as_bfloat16(w))
    back = as_bfloat16(np.ones((6, 3), np.float32)) @ as_bfloat16(v).T * (1 - hidden**2)
    np.testing.assert_allclose(slope, as_bfloat16(x).T @ as_bfloat16(back), rtol=1e-5, atol=1e-6)


# training

rng = np.random.default_rng(0)
X = rng.standard_normal((210, 40)).astype(np.float32)
Y = rng.integers(0, 4, 210)


def trained(engine: str, threads: int = 1, precision: str = "bfloat16", rule: Any = None, **fit: Any) -> Any:
    net = nn.mlp((130, 50), 4)
    rule = rule or optim.SGD(0.1)
    model = pel.Model(net, "cross_entropy", rule, engine=engine, threads=threads, precision=precision)
    model.fit(X, Y, **{"epochs": 2, "batch_size": 64, "verbose": False, **fit})
    return model


def furthest(a: Any, b: Any) -> float:
    return max(float(abs(a.params[name] - b.params[name]).max()) for name in a.params)


@pytest.mark.parametrize("name", ["", *executable()])
@pytest.mark.parametrize("threads", [1, 2])
def test_training_is_that_of_numpy(name, threads, monkeypatch):
    monkeypatch.setenv("PELLUCID_PROCESSOR", name)
    reference = trained("numpy")
    assert (
        furthest(trained("native", threads), reference) < 1e-5 < furthest(trained("numpy", precision="full"), reference)
    )


def test_the_same_call_gives_the_same_bits():
    assert furthest(trained("native", 2), trained("native", 2)) == 0


def test_callbacks_that_ask_for_gradients_get_those_of_rounded_numbers():
    class Halved(pel.train.Callback):
        def on_gradients(self, run: Any, gradients: Any) -> Any:
            return gradients

    for engine in ("numpy", "native"):
        assert furthest(trained(engine, callbacks=[Halved()]), trained("numpy")) < 1e-5


def test_the_rule_computes_in_full():
    """Muon has products of its own."""
    model = trained("native", rule=optim.Muon(0.02))
    program = str(model.program(X, Y, batch_size=64))
    listed = [line for line in program.splitlines() if " @ " in line]
    assert sum("bfloat16" in line for line in listed) == 3 + 2 + 3  # forward, to the layer below, for the weights
    assert len(listed) > 8


def test_a_file_keeps_it_and_predictions_are_of_full_precision(tmp_path):
    model = trained("native")
    model.save(tmp_path / "model.pel")
    loaded = pel.load(tmp_path / "model.pel")
    assert loaded.precision == "bfloat16"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_allclose(model.scores(X), model.net.predict(model.params, X, model.state), rtol=1e-4, atol=1e-5)


def test_the_key_of_older_files_is_understood(tmp_path):
    from pellucid.train.files import models

    arrays, data = models.described(trained("numpy"))
    data["products"] = data.pop("precision")
    assert models.rebuilt(arrays, data, None, "old.pel").precision == "bfloat16"
    del data["products"]
    assert models.rebuilt(arrays, data, None, "old.pel").precision == "full"


def test_what_is_refused():
    net = nn.mlp((4,), 1)
    with pytest.raises(ValueError, match="rounds float32 numbers, got dtype='float64': set dtype='float32'"):
        pel.Model(net, dtype="float64", precision="bfloat16")
    with pytest.raises(ValueError, match="precision is 'full' or 'bfloat16', got 'half'"):
        pel.Model(net, precision="half")


LIBRARY = """
import numpy as np
from tests.engine.native.test_short_products import Function, short_layers, pel
graph, given = short_layers(30, 20, 40, 3)
np.testing.assert_allclose(Function(graph, 2)(*given), pel.engine.engine_named("numpy")(graph, *given), atol=2e-3)
"""


def test_beside_a_library_they_are_our_own():
    done = subprocess.run(
        [sys.executable, "-c", LIBRARY], env={**os.environ, "PELLUCID_BLAS": "scipy"}, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
