"""Every primitive by XLA equals NumPy's executor: values, derivatives, dtypes, errors.

The cases are those of tests/graph/primitive_cases.py. Many of them go into one graph, with their derivatives: XLA
takes most of its time for each compilation.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pellucid as pel
from pellucid.engine import numpy as reference
from pellucid.engine.native.runtime.fallback import FallbackWarning
from pellucid.errors import ShapeError
from pellucid.graph.core.primitive import REGISTRY
from pellucid.graph.core.tree import flatten
from tests.engine.jax.agreement import close
from tests.graph.primitive_cases import CASES, differentiable, of_floats

pytest.importorskip("jax")
from pellucid.engine.jax.call import Function, run_or_fall_back
from pellucid.engine.jax.lowerings import LOWERINGS

pytestmark = [pytest.mark.usefixtures("quick_xla"), pytest.mark.filterwarnings("ignore::RuntimeWarning")]

EVERY = [(name, i, case) for name, listed in CASES.items() for i, case in enumerate(listed)]
GROUP = 60


def agree(graph, args, labels):
    expected, (got, sound) = reference.run(graph, *args), Function(graph).checked(*args)
    assert sound
    for label, one, other in zip(labels, got, expected, strict=True):
        for a, b in zip(flatten(one)[0], flatten(other)[0], strict=True):
            close(a, b, label)


def values(name, case, arrays):
    """The value of a case, and its adjoints where there are any."""
    call = case.call(REGISTRY[name], case.at(3))
    out = [call(*arrays)]
    if differentiable(name, case):
        f, active = of_floats(call, case, arrays)
        y, pullback = pel.vjp(f, *active)
        out.append(pullback(np.sin(y) + 1))
    return out


def test_every_primitive_has_a_lowering():
    assert set(REGISTRY) >= set(LOWERINGS)
    assert {name for name in CASES if name not in LOWERINGS} == set()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("first", range(0, len(EVERY), GROUP))
def test_values_and_adjoints(first, dtype):
    chosen = EVERY[first : first + GROUP]
    if dtype is np.float32:  # one case of each: what differs is how the result is rounded
        chosen = [entry for entry in chosen if entry[1] == 1]
    args = [case.arrays(dtype) for _, _, case in chosen]
    graph = pel.record(
        lambda every: [values(name, case, given) for (name, _, case), given in zip(chosen, every, strict=True)], args
    )
    agree(graph.simplify(), (args,), [f"{name}-{i}" for name, i, _ in chosen])


def test_promotion_is_numpys():
    def f(i, x, b):
        return i + x, i * 2.5, b + 1, np.where(b, i, x), np.sum(i), np.mean(i), i / 2, x**2, np.concatenate([i, x])

    args = np.arange(3, dtype=np.int32), np.ones(3, np.float32) / 3, np.array([True, False, True])
    expected, got = f(*args), pel.compile(f, engine="jax")(*args)
    for a, b in zip(got, expected, strict=True):
        close(a, b)


def test_what_is_not_finite():
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308])

    def f(x):
        return np.exp(x), np.maximum(x, 0.0), np.logaddexp(x, 1.0), np.sign(x), np.isnan(x), np.sort(x)

    for a, b in zip(pel.compile(f, engine="jax")(x), f(x), strict=True):
        assert_array_equal(a, b)


def test_what_numpy_refuses_is_refused():
    with pytest.raises(ValueError, match=r"labels must lie in 0 \.\.\. 2, got 0 \.\.\. 5"):
        pel.compile(lambda y: pel.one_hot(y, 3), engine="jax")(np.array([0, 5]))
    with pytest.raises(ShapeError, match="index 7 is out of bounds"):
        pel.compile(lambda x, i: x[i], engine="jax")(np.ones(3), np.array([7]))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        pel.compile(lambda a: np.linalg.inv(a), engine="jax")(np.zeros((2, 2)))


def test_the_users_functions():
    @pel.custom_rule(slope=lambda d, y, x: d)
    def tanh(x):  # of the name of a primitive
        return np.round(x) + 0.0

    x = np.array([0.4, 1.6])
    assert_array_equal(pel.compile(pel.grad(lambda x: np.sum(tanh(x) ** 2)), engine="jax")(x), 2 * np.round(x))


def test_what_cannot_be_lowered_runs_on_numpy():
    @pel.custom_rule(slope=lambda d, y, x: d, shape=lambda x: x)
    def sorted_by_python(x):
        return np.array(sorted(x.tolist()))

    graph = pel.record(sorted_by_python, pel.Spec((3,)))
    x = np.array([3.0, 1.0, 2.0])
    with pytest.warns(FallbackWarning, match="sorted_by_python"):
        assert_array_equal(run_or_fall_back(graph, x), [1, 2, 3])
    assert_array_equal(run_or_fall_back(graph, x), [1, 2, 3])  # told once


def test_the_users_jax_is_left_alone():
    import jax.numpy as jnp

    pel.compile(np.tanh, engine="jax")(np.ones(2))
    assert jnp.ones(1).dtype == np.float32


def test_without_jax(monkeypatch):
    monkeypatch.setattr("pellucid.engine.jax.library.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'pellucid\[jax\]'"):
        pel.compile(np.tanh, engine="jax")
