"""The reference executor and compile."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid.errors import ShapeError


def test_each_node_is_evaluated_once_in_order():
    graph = pel.record(lambda x: np.sin(x) * np.cos(x), pel.Spec(("n",)))
    seen = []
    pel.run(graph, np.ones(2), watch=lambda i, node, value: seen.append((i, value.shape)))
    assert seen == [(i, (2,)) for i in range(len(graph))]


def test_arguments_that_do_not_fit():
    graph = pel.record(lambda p, X: X @ p["W"], {"W": pel.Spec((3, 2))}, pel.Spec(("n", 3)))
    with pytest.raises(ShapeError, match=r"argument X has shape \(5, 4\), the graph was recorded for \(n, 3\)"):
        pel.run(graph, {"W": np.ones((3, 2))}, np.ones((5, 4)))
    with pytest.raises(ShapeError, match=r"expected a dict with \['W'\]"):
        pel.run(graph, np.ones((3, 2)), np.ones((5, 3)))
    square = pel.record(lambda a, b: a + b, pel.Spec(("n",)), pel.Spec(("n",)))
    with pytest.raises(ShapeError, match=r"argument b has shape \(3,\).*for \(n,\) with {'n': 2}"):
        pel.run(square, np.ones(2), np.ones(3))


def test_a_graph_can_be_differentiated_again():
    graph = pel.record(lambda x: np.sum(np.sin(x)), pel.Spec(("n",)))
    x = np.array([0.1, 0.2])
    assert_allclose(pel.grad(lambda x: pel.run(graph, x))(x), np.cos(x))


def test_compile_records_once_for_each_signature():
    calls = []

    def f(x):
        calls.append(1)
        return np.tanh(x) ** 2

    compiled: Any = pel.compile(f)
    for x in (np.ones(3), np.zeros(3), np.ones(4), np.ones(3, np.float32), np.ones(3)):
        out = compiled(x)
        assert out.dtype == x.dtype
        assert_allclose(out, np.tanh(x) ** 2)
    assert len(calls) == 3
    assert compiled.graph(np.ones(3)).count() == {"tanh": 1, "square": 1}
    with pytest.raises(ValueError, match="engine is one of 'numpy', 'native', 'auto', 'jax', got 'steam'"):
        pel.compile(f, engine="steam")


def test_compiled_functions_take_numbers_and_trees():
    compiled = pel.compile(pel.grad(lambda p: p["a"] ** 2 * p["b"]))
    assert compiled({"a": 3.0, "b": 2.0}) == {"a": 12.0, "b": 9.0}
