"""Graph: well-formedness, passes, the program text."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid.errors import GraphError
from pellucid.graph.core.tree import LEAF, Tree
from pellucid.graph.graph import Graph
from pellucid.graph.node import Node
from tests.lectures import traced_example


def test_topological_order_parents_and_children():
    graph = pel.record(traced_example, 2.0, 5.0)
    for i, node in enumerate(graph.nodes):
        assert all(parent < i for parent in node.parents)
        assert all(i in graph.nodes[child].parents for child in graph.children(i))
    assert graph.children(0) == (2, 3)
    assert graph.count() == {"log": 1, "multiply": 1, "add": 1, "sin": 1, "subtract": 1}


def test_a_cycle_is_rejected():
    good = pel.record(np.sin, 1.0)
    x, y = good.nodes
    with pytest.raises(GraphError, match="no cycles"):
        Graph("f", (x, Node(y.op, (1,), {}, y.spec)), 1, (1,), Tree(tuple, (0,), (LEAF,)), LEAF)
    with pytest.raises(GraphError, match="inputs stand before"):
        Graph("f", (y, x), 1, (1,), LEAF, LEAF)
    with pytest.raises(GraphError, match="output 7"):
        Graph("f", (x,), 1, (7,), LEAF, LEAF)


def test_a_graph_cannot_be_changed():
    graph: Any = pel.record(np.sin, 1.0)
    with pytest.raises(AttributeError):
        graph.nodes = ()
    with pytest.raises(AttributeError):
        graph.nodes[0].name = "other"


def test_what_is_not_needed_is_not_kept():
    def f(x):
        np.exp(x)
        return np.sin(x)

    assert pel.record(f, 1.0).count() == {"sin": 1}


def test_equal_expressions_are_computed_once():
    def f(x, y):
        return (x + y) * np.sin(x + y) + x[1:].sum() + x[1:].sum() + 1 * x.sum() + 1.0 * x.sum()

    graph = pel.record(f, np.ones(3), np.ones(3))
    small = graph.simplify()
    assert small.count()["add"] == graph.count()["add"] - 1
    assert small.count()["getitem"] == 1
    assert small.count()["sum"] == 2
    assert small.count()["multiply"] == 3  # 1 * x and 1.0 * x differ for integers, so both stay
    a, b = np.arange(3.0), np.array([1.0, -2.0, 0.5])
    assert_allclose(pel.run(small, a, b), f(a, b), rtol=1e-15)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=25), st.floats(-2, 2))
def test_simplifying_never_changes_results(choices, x):
    def f(x):
        values = [x, x + 1]
        for c in choices:
            a, b = values[-1 - c % len(values)], values[c % len(values)]
            values.append([np.add, np.multiply, np.subtract, np.maximum, lambda a, b: np.sin(a), np.minimum][c](a, b))
        return values[-1], values[len(values) // 2]

    graph = pel.record(f, pel.Spec(()))
    small = graph.simplify()
    assert len(small) <= len(graph)
    assert small.simplify().count() == small.count()
    with np.errstate(all="ignore"):
        assert pel.run(small, x) == pel.run(graph, x)


def test_random_nodes_of_the_same_key_and_counter_are_one():
    f = lambda c: pel.random.normal(0, c, (3,)) + pel.random.normal(0, c, (3,)) + pel.random.normal(0, c + 1, (3,))
    assert pel.record(f, 4).simplify().count()["random_normal"] == 2


def test_graphs_can_be_pickled():
    graph = pel.record(lambda x: np.tanh(x[::2]) * np.arange(2), np.ones(3))
    again = pickle.loads(pickle.dumps(graph))
    assert str(again) == str(graph)
    assert_allclose(pel.run(again, np.ones(3)), pel.run(graph, np.ones(3)))


def test_the_program_reads_well():
    def f(x, W, i):
        z = pel.named(x[..., None] @ W[0:1], "z")
        return np.sum(np.where(z >= 0, z, -z) ** 3, axis=(0, 1)) / 2 + W[i, 0], x.mean()

    assert str(pel.record(f, pel.Spec(("n",), np.float32), pel.Spec((4, 2), np.float32), pel.Spec((2,), int))) == (
        """\
def f(x: float32[n], W: float32[4, 2], i: int64[2]):
    v1 = x[..., None]       # [n, 1]
    v2 = W[0:1]             # [1, 2]
    z = v1 @ v2             # [n, 2]
    v4 = z >= 0             # [n, 2]
    v5 = -z                 # [n, 2]
    v6 = where(v4, z, v5)   # [n, 2]
    v7 = v6 ** 3            # [n, 2]
    v8 = sum(v7)
    v9 = v8 / 2
    v10 = W[i, 0]           # [2]
    v11 = v9 + v10          # [2]
    v12 = mean(x)
    return v11, v12"""
    )
