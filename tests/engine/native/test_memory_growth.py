"""What was compiled goes when nobody needs it any more."""

import gc
import weakref

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, optim
from pellucid.engine.native.runtime.program import Program
from pellucid.engine.native.runtime.stepper import Stepper
from pellucid.graph.graph import Graph

X = np.random.default_rng(0).normal(size=(64, 5)).astype(np.float32)


def alive(*kinds: type) -> int:
    gc.collect()
    return sum(type(thing) in kinds for thing in gc.get_objects())


def with_a_new_function(number: int) -> None:
    scale = 1.0 + 0.01 * number
    net = nn.mlp((4 + number % 7,), 1, activation=lambda z: np.tanh(scale * z))
    model = pel.Model(net, "squared_error", optim.Adam(1e-3), engine="native")
    model.fit(X, X[:, 0], epochs=1, batch_size=16 + number % 5, verbose=False)
    model.predict(X)


def with_new_settings_of_our_own(number: int) -> None:
    """Graphs of our own parts are shared between fits; so many are kept, and no more."""
    pel.Model(nn.mlp((2 + number,), 1), "squared_error", engine="native").fit(X, X[:, 0], epochs=1, verbose=False)


@pytest.mark.parametrize(
    ("fit", "first", "last"), [(with_a_new_function, 5, 15), (with_new_settings_of_our_own, 40, 60)]
)
def test_ever_new_fits_leave_nothing_behind(fit, first, last):
    for number in range(first):
        fit(number)
    before = alive(Graph, Program, Stepper)
    for number in range(first, last):
        fit(number)
    assert alive(Graph, Program, Stepper) <= before


def test_a_compiled_graph_goes_with_its_graph():
    graph = pel.record(lambda x: np.tanh(x), pel.Spec(("n",)))
    from pellucid.engine.native.runtime.fallback import run_or_fall_back

    run_or_fall_back(graph, np.ones(3))
    last = weakref.ref(graph)
    del graph
    gc.collect()
    assert last() is None


def test_a_compiled_function_keeps_some_graphs_only():
    double = pel.compile(lambda x: x * 2.0)
    for size in range(200):
        assert double(np.ones(size)).shape == (size,)
    before = alive(Graph)
    for size in range(200, 300):
        double(np.ones(size))
    assert alive(Graph) <= before


def test_the_next_run_takes_up_what_the_last_one_used():
    def fit() -> None:
        pel.Model(nn.mlp((33,), 1), "squared_error", engine="native").fit(X, X[:, 0], epochs=1, verbose=False)

    fit()
    before = alive(Stepper)
    fit()
    assert alive(Stepper) <= before


def test_copies_of_a_graph_begin_without_what_was_compiled():
    import copy
    import pickle

    graph = pel.record(lambda x: np.square(x), pel.Spec(("n",)))
    graph.kept["something"] = object()
    for other in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph)), graph.rename("g")):
        assert not other.kept
        assert pel.run(other, np.array([3.0])).tolist() == [9.0]
