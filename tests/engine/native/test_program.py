"""What the passes make: fused loops, few barriers, memory used again; and how it is shown."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import pellucid as pel
from pellucid import Model, nn, optim
from pellucid.engine.native.passes.instructions import Call, Loop, base
from pellucid.engine.native.passes.memory import ALIGN, _lifetimes
from pellucid.engine.native.passes.schedule import Barrier, extent
from pellucid.engine.native.passes.values import size_of
from pellucid.engine.native.runtime.memory import GAP, Memory
from pellucid.engine.native.runtime.program import build

rng = np.random.default_rng(0)


def step(threads=1, hidden=(16, 12), rows=40, **network):
    X = rng.normal(size=(rows, 8)).astype(np.float32)
    y = rng.integers(0, 3, rows)
    model = Model(nn.mlp(hidden, 3, **network), "cross_entropy", optim.Adam(), threads=threads, engine="native")
    return model.program(X, y, batch_size=rows)


def loops(program):
    return [s for s in program.steps if isinstance(s, Loop)]


def products(program):
    return [s for s in program.steps if isinstance(s, Call) and s.value.op == "matmul"]


def test_elementwise_chains_reductions_and_broadcasts_become_one_loop():
    def f(x, b):
        z = np.exp(x + b)
        return z / np.sum(z, axis=1, keepdims=True), np.sum(z)

    program = build(pel.record(f, pel.Spec(("n", 4)), pel.Spec((4,))), {"n": 5})
    assert len(loops(program)) == len(program.steps) == 1


def test_a_step_has_one_loop_behind_each_product_and_one_for_each_parameter():
    program = step()
    assert len(products(program)) == 3 + 2 + 3  # forward, to the layer below, for the weights
    behind = [s for s in loops(program) if "n" in map(str, s.space)]
    assert len(behind) == 3 + 2  # bias and activation; loss and its gradient; the two hidden layers backward
    assert len([s for s in loops(program) if len(s.roots) > 5]) == 6  # Adam: value, moments, corrections, norms


def test_transposes_are_arguments_of_the_product():
    assert not [s for s in step().steps if isinstance(s, Call) and s.value.op == "transpose"]


def test_two_barriers_whatever_the_depth(split):
    for hidden in ((8,), (8,) * 6):
        program = step(threads=2, hidden=hidden)
        assert program.threads == 2
        positions = [i for i, s in enumerate(program.steps) if isinstance(s, Barrier)]
        inside = [i for i in positions if i < len(program.steps) - 1]
        assert len(inside) <= 2  # before the weights' gradients; before the norms are added up


def test_state_is_overwritten_in_place():
    program = step()
    state = [x for x in program.lowered.inputs if "now[" in x.name]
    assert all(x in program.overwrites.values() for x in state)
    assert not [s for s in program.steps if isinstance(s, Call) and s.value.op == "spread"]


def test_a_loop_writes_over_the_product_behind_which_it_stands():
    program = step()
    written_over = [o for o in program.overwrites.values() if o.op == "matmul"]
    assert len(written_over) >= 4


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_arrays_that_live_at_the_same_time_lie_apart(split, threads):
    program = step(threads=threads, norm="batch", dropout=0.2, activation="gelu")
    memory = Memory(program, {"n": 40}, {x.number: 0 for x in program.lowered.inputs})
    values = {x.number: x for x in program.lowered.values}
    for numbers, waits in ((memory.places, threads), (memory.in_zone, 1)):
        life = _lifetimes(program.steps, program.overwrites, dict.fromkeys(numbers, 0), waits)
        spans = spans_of(memory, numbers, values)
        for a, b in itertools.combinations(numbers, 2):
            if life[a][0] <= life[b][1] and life[b][0] <= life[a][1]:
                assert lie_apart(spans[a], spans[b]), (values[a], values[b])


def spans_of(memory, numbers, values):
    """Where the arrays of a place or of a zone begin and end, all rows of them in a zone, too, but for its last."""
    places = {**memory.places, **memory.in_zone}
    assert all(places[n] % 64 == 0 for n in numbers)
    threads = memory.program.threads
    sizes = {n: size_of(values[n].shape, {"n": 40}) * values[n].dtype.itemsize for n in numbers}
    return {n: (places[n], places[n] + sizes[n] // (threads if n in memory.by_rows else 1)) for n in numbers}


def lie_apart(a, b):
    return a[1] <= b[0] or b[1] <= a[0]


def test_results_lie_apart_from_all_else(split):
    """They are collected after the last barrier, when another thread may be in the next step already."""
    program = step(threads=2, norm="batch", dropout=0.2, activation="gelu")
    memory = Memory(program, {"n": 40}, {x.number: 0 for x in program.lowered.inputs})
    values = {x.number: x for x in program.lowered.values}
    found = 0
    for numbers in (memory.places, memory.in_zone):
        spans = spans_of(memory, numbers, values)
        results = {base(x).number for x in program.lowered.outputs} & set(numbers)
        found += len(results)
        for number, other in itertools.product(results, numbers):
            assert number == other or lie_apart(spans[number], spans[other]), (values[number], values[other])
    assert found


def test_threads_share_no_lines_but_those_that_they_tell_each_other(split):
    """A processor fetches ahead what lies behind a thread's rows, so they end far from where another thread works."""
    program = step(threads=2, hidden=(64,))
    memory = Memory(program, {"n": 40}, {x.number: 0 for x in program.lowered.inputs})
    values = {x.number: x for x in program.lowered.values}
    activations = [x for x in values.values() if x.number in memory.in_zone and str(extent(x)) == "n"]
    assert activations
    for x in activations:
        first, second = (memory.address(x, thread, {"n": 40}) for thread in (0, 1))
        half = size_of(x.shape, {"n": 40}) * x.dtype.itemsize // 2
        assert (second + half) - (first + half) >= GAP
    others = {x.number for s in program.steps for x in s.writes} - set(memory.in_zone) - set(program.overwrites)
    assert all(values[number].settings.get("shift") is not None for number in others)


def test_memory_is_used_again():
    def f(x):
        for _ in range(6):
            x = np.tanh(x @ x)
        return x

    program = build(pel.record(f, pel.Spec((64, 64))), {})
    outside = {x.number: 0 for x in [*program.lowered.inputs, *map(base, program.lowered.outputs)]}
    assert Memory(program, {}, outside).size <= 2 * 64 * 64 * 8 + ALIGN  # two arrays, and the counter of barriers


def test_print_shows_a_program_that_a_student_can_read():
    text = str(step())
    assert text.startswith("program step: ")
    assert "a2 = batch[0] @ hidden1.weight   -> float32[n, 16]" in text or " = batch[0] @ hidden1.weight" in text
    assert "maximum(" in text
    assert "# hidden1" in text
    assert re.search(r"hidden1\.weight - v\d+   -> float32\[8, 16\], over hidden1\.weight", text)
    assert "stop unless" in text


def test_threads_are_shown(split):
    text = str(step(threads=2))
    assert "2 threads" in text
    assert "barrier: every thread waits for the others" in text
    assert "combine the threads' parts" in text


def test_explain_counts_the_work():
    cost = step(hidden=(16,)).explain(n=40)
    flops = {row.what.split("   ")[0]: row.flops for row in cost.rows if row.kernel == "product"}
    assert sorted(flops.values()) == sorted([2 * 40 * 8 * 16] * 2 + [2 * 40 * 16 * 3] * 3)
    assert cost.arena > 0
    assert cost.bytes > 4 * (8 * 16 * 3)
    text = str(cost)
    assert "flops" in text
    assert "step at n = 40" in text
    assert all(len(row.kernel) for row in cost.rows)


def test_explain_asks_for_the_open_sizes():
    with pytest.raises(TypeError, match=r"explain needs the open sizes: explain\(n=\.\.\.\)"):
        step().explain()


def test_a_compiled_function_shows_its_program():
    f: Any = pel.compile(lambda x: np.tanh(x) @ x.T, engine="native")
    assert "tanh(x)" in str(f.program(np.ones((3, 4))))


def test_made_up_names_give_way_to_those_of_the_inputs():
    table = np.arange(6.0).reshape(3, 2)

    def f(a1, v1, c1):
        return np.tanh(a1 @ table) * v1 + np.sum(np.exp(v1) * 2.0 + c1)

    compiled: Any = pel.compile(f, engine="native")
    shown = str(compiled.program(np.ones((4, 3)), np.ones((4, 2)), 1.0))
    made = [line.split("=")[0].strip().split()[-1] for line in shown.splitlines() if " = " in line]
    assert len(made) == len(set(made))
    assert not {"a1", "v1", "c1"} & set(made)
