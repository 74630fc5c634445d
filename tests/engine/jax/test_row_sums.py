"""Sums over rows that are split over devices: NumPy's values, and one buffer for all that are ready at once."""

import subprocess
import sys

import numpy as np
import pytest

import pellucid as pel
from pellucid.graph import Spec
from pellucid.graph.core.dims import Dim
from tests.processes import ROOT, environment

pytest.importorskip("jax")
from pellucid.engine.jax.row_sums import summed_axes

N = Dim.symbol("n")


def sums(x, w, y):
    """What a step has of them: gradients of a layer, a loss, and a second stage that needs the first."""
    weight, bias, loss = x.T @ np.tanh(x @ w), np.sum(x * 2, axis=0), np.mean(np.square(y))
    total, kept = np.sum(y.astype(np.float64)), np.sum(x, axis=0, keepdims=True)
    centred = x - np.mean(x, axis=0)
    return weight, bias, loss, total, kept, np.sum(np.square(centred), axis=0), np.max(x, axis=0), np.sum(x, axis=1)


def test_which_operations_sum_over_rows():
    graph = pel.record(sums, Spec((N, 3), np.float32), Spec((3, 2), np.float32), Spec((N,), np.float32))
    axes = {(node.op.name, node.shape): summed_axes(node, graph) for node in graph.operations}
    assert axes["matmul", (3, 2)] == [1, 0]
    assert axes["matmul", (N, 2)] is None
    assert axes["sum", (3,)] == axes["sum", (1, 3)] == axes["mean", (3,)] == axes["mean", ()] == [0]
    assert axes["max", (3,)] is None
    assert axes["sum", (N,)] is None


PROGRAM = """
import re
import jax, numpy as np
import pellucid as pel
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from numpy.testing import assert_allclose
from pellucid.engine.jax.evaluate import evaluate
from pellucid.engine.jax.library import exact
from pellucid.engine.jax.row_sums import ROWS, RowSums
from pellucid.graph import Spec
from tests.engine.jax.test_row_sums import N, sums

graph = pel.record(sums, Spec((N, 3), np.float32), Spec((3, 2), np.float32), Spec((N,), np.float32))
mesh = Mesh(np.array(jax.devices()), (ROWS,))
rng = np.random.default_rng(0)
x, w, y = (rng.normal(size=shape).astype(np.float32) for shape in ((8, 3), (3, 2), (8,)))
place = lambda array, *axes: jax.device_put(array, NamedSharding(mesh, PartitionSpec(*axes)))
split = [place(x, ROWS), place(w), place(y, ROWS)]
with exact():
    program = jax.jit(lambda *given: evaluate(graph, given, {"n": 8}, sums=RowSums(mesh)))
    text = program.lower(*split).compile().as_text()
    values = program(*split)
for value, expected in zip(values, sums(x, w, y), strict=True):
    assert value.dtype == expected.dtype, (value.dtype, expected.dtype)
    assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
buffers = re.findall(r"= (\\w+\\[\\d*\\]).* all-reduce\\(", text)
assert sorted(buffers) == ["f32[16]", "f32[3]", "f32[3]", "f64[1]"], buffers  # stages one and two, the maximum, float64
print("as many")
"""


def test_what_is_ready_travels_at_once():
    env = environment(XLA_FLAGS="--xla_force_host_platform_device_count=2")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stdout == "as many\n", done.stderr
