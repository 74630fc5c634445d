"""What users do that nobody planned for: nothing is silently wrong, and errors say what to do."""

import copy
import math
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid.errors import (
    AbstractValueError,
    DifferentiationError,
    IndependentOutputWarning,
    ShapeError,
    StaleTracerError,
    UnsupportedError,
)
from pellucid.graph.core.primitive import FUNCTIONS

# results belong to the caller


def test_gradients_can_be_changed_and_share_nothing():
    p = {"w": np.ones(3), "b": np.zeros(3)}
    g = pel.grad(lambda p: np.sum((p["w"] + p["b"]) ** 2))(p)
    g["w"] += 0.1
    assert_allclose(g["b"], 2.0)
    g = pel.grad(np.sum)(np.ones(3))
    g *= 2
    u = np.ones(3)
    (d,) = pel.vjp(lambda x: x, np.zeros(3))[1](u)
    d += 1
    assert u.tolist() == [1, 1, 1]


def test_arrays_that_change_while_a_function_is_recorded():
    def f(x):
        buffer, total = np.zeros(3), 0.0
        for i in range(3):
            buffer[:] = i
            total = total + np.sum(x * buffer)
        return total

    def through_a_view(x):
        data = np.ones(3)
        view, base = data[:], data
        y = x * data
        view[:] = 0
        z = x * view[:2].sum() + x * base
        base[:] = 5
        return np.sum(y + z)

    assert_allclose(pel.grad(f)(np.ones(3)), 3)
    assert_allclose(pel.grad(through_a_view)(np.ones(3)), 1)


def test_read_only_arrays_stay_as_they_are():
    data = np.ones(4)
    view = data[:]
    data.flags.writeable = False
    assert_allclose(pel.grad(lambda x: np.sum(x * view) + np.sum(x * data))(np.ones(4)), 2)
    assert not data.flags.writeable
    assert view.flags.writeable


def test_later_changes_do_not_reach_back():
    w, c = np.ones(3), np.ones(3)
    _, pull = pel.vjp(lambda w: np.sum(w**2), w)
    w[:] = 0
    assert_allclose(pull(1.0)[0], 2)
    _, pull = pel.vjp(lambda w: np.sum(w * c), np.ones(3))
    c[:] = 9
    assert_allclose(pull(1.0)[0], 1)
    c[:] = 1
    graph = pel.record(lambda x: x * c, np.ones(3))
    c[:] = 7
    assert_allclose(pel.run(graph, np.ones(3)), 1)
    x = np.ones(2)
    traced = pel.record(np.sin, x)
    x[:] = 0
    assert_allclose(traced.nodes[0].value, 1)
    settings: Any = traced.nodes[1].settings
    with pytest.raises(TypeError):
        settings["axis"] = 1


def test_a_traced_array_that_outlives_its_recording_says_so():
    kept = []
    pel.grad(lambda x: kept.append(x) or np.sum(x))(np.ones(2))
    with pytest.raises(StaleTracerError, match=r"outlived the call.*has_aux=True"):
        kept[0] + 1

    def outer(x):
        inside = {}

        def inner(w):
            inside["h"] = np.tanh(w)
            return np.sum(inside["h"] ** 2)

        return np.sum(pel.grad(inner)(x) * inside["h"])

    with pytest.raises(StaleTracerError):
        pel.grad(outer)(np.ones(2))


def test_recording_again_after_an_error():
    with pytest.raises(ZeroDivisionError):
        pel.grad(lambda x: x / (1 // 0))(1.0)
    assert pel.grad(lambda x: x * x)(3.0) == 6


def test_threads_do_not_mix():
    results = {}
    X = np.ones((50, 3))

    def work(i):
        results[i] = [pel.grad(lambda w: np.sum(np.tanh(X @ w) * i))(np.full(3, 0.1)) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, found in results.items():
        assert_allclose(found, 50 * i * (1 - np.tanh(0.3) ** 2))
    assert X.flags.writeable


# arguments and results of the wrong kind


@dataclass
class Box:
    w: float


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: pel.grad(lambda x: None)(1.0), "returned None: is a return missing", id="no return"),
        pytest.param(lambda: pel.grad(lambda x: "loss")(1.0), "returned 'loss'", id="string"),
        pytest.param(lambda: pel.grad(lambda x: np.sum(x > 0))(np.ones(2)), "got dtype int64", id="integer result"),
        pytest.param(lambda: pel.grad(lambda x: [x])(1.0), "got a list of 1", id="list result"),
        pytest.param(lambda: pel.grad(lambda p: 1.0)({"a": None}), r"argument 0\['a'\] is None", id="None leaf"),
        pytest.param(lambda: pel.grad(lambda b: b.w)(Box(1.0)), r"argument 0 is Box\(w=1.0\)", id="dataclass"),
        pytest.param(lambda: pel.grad(lambda z: z)(1j), "dtype complex128.*real numbers", id="complex argument"),
        pytest.param(lambda: pel.grad(lambda x: x * x, (0, 0))(3.0), "names an argument twice", id="argnums twice"),
        pytest.param(
            lambda: pel.grad(lambda x: x * x, (0, -1))(3.0), "names an argument twice", id="argnums twice, too"
        ),
        pytest.param(
            lambda: pel.grad(lambda x: x, "x")(3.0), "argnums is the number of an argument", id="argnums by name"
        ),
        pytest.param(
            lambda: pel.grad(lambda x: x, has_aux=True)(3.0), r"must return a pair \(loss, extras\)", id="no aux"
        ),
        pytest.param(
            lambda: pel.check_grads(lambda x: 3.0, (1.0,)), "no floating-point array", id="check of a constant"
        ),
    ],
)
def test_derivatives_that_cannot_be(call, message):
    with pytest.raises(DifferentiationError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: pel.grad(3.0), r"takes a function, got 3\.0: write grad\(f\)\(x\)", id="grad of a number"),
        pytest.param(lambda: pel.jvp(np.sin, 2.0, 1.0), "primals as a tuple", id="jvp without tuples"),
        pytest.param(
            lambda: pel.check_grads(np.sin, np.ones(3)), r"as a tuple: write \(x,\)", id="check without tuple"
        ),
        pytest.param(lambda: pel.jacobian(np.sin, (0, 1)), "takes one argument number", id="jacobian by two"),
    ],
)
def test_calls_that_are_not_meant_so(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_what_is_accepted():
    assert pel.grad(lambda x, y: x * y, argnums=np.int64(1))(2.0, 3.0) == 2
    g = pel.grad(lambda p: p["a"] * p["b"])(OrderedDict(a=2.0, b=3.0))
    assert g == {"a": 3.0, "b": 2.0}
    assert pel.Spec(3).shape == (3,)
    assert pel.Spec("n") == pel.Spec(("n",))
    assert_allclose(pel.grad(lambda x: np.sum(copy.deepcopy(x) * copy.copy(x)))(np.ones(2)), 2)
    assert pel.grad(lambda x: float(f"{x:.3f}") * x)(2.0) == 2  # the value can be printed on the way
    assert pel.grad(lambda x: round(x) * x)(2.4) == 2
    assert not hasattr(pel.record, "nothing")


def test_unused_arguments_are_each_warned_of():
    with pytest.warns(IndependentOutputWarning, match="argument 1"):
        assert pel.grad(lambda a, b: a * a, (0, 1))(1.0, 2.0) == (2.0, 0.0)


def test_arrays_of_other_kinds():
    with pytest.raises(UnsupportedError, match="complex numbers"):
        pel.grad(lambda x: np.abs(1j * x + 2) ** 2)(1.3)
    with pytest.raises(UnsupportedError, match="complex numbers"):
        pel.grad(lambda x: np.sum(np.abs(np.array([1j]) * x)))(1.3)
    with pytest.raises(UnsupportedError, match="a traced array and None"):
        pel.grad(lambda x: x + None)(1.0)
    assert_allclose(pel.grad(lambda x: np.sum([1.0, 2.0] * x))(2.0), 3)
    assert pel.record(lambda x: x[[]], np.ones(3)).nodes[-1].shape == (0,)


def test_habits_of_assignment():
    def f(x):
        out = np.zeros(3)
        out[0] = x[0]
        return np.sum(out)

    with pytest.raises(ValueError, match="setting an array element") as caught:  # NumPy's words; ours are the cause
        pel.grad(f)(np.ones(3))
    assert "np.stack or np.concatenate instead of assignments" in str(caught.value.__cause__)
    with pytest.raises(UnsupportedError, match=r"not math\.sin"):
        pel.grad(math.sin)(1.0)
    assert not hasattr(pel.record(np.sin, 1.0), "foo")
    assert pel.grad(lambda x: x * getattr(x, "foo", 3.0))(1.0) == 3


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.cumsum(a, axis=3),
        lambda a: np.take(a, [0], axis=5),
        lambda a: np.diff(a, axis=3),
        lambda a: np.argmax(a, axis=3),
        lambda a: np.transpose(a, (0, 3)),
        lambda a: np.swapaxes(a, 0, 4),
        lambda a: np.split(a, 2, axis=2),
        lambda a: np.moveaxis(a, 0, 7),
        lambda a: np.sum(a, axis=2),
    ],
)
def test_axes_that_do_not_exist(f):
    with pytest.raises(ShapeError, match="does not exist in an array of 2 dimensions"):
        pel.record(f, np.ones((2, 2)))


# open sizes and recorded graphs


def test_open_sizes_cannot_decide():
    with pytest.raises(AbstractValueError, match="size n is open"):
        pel.record(lambda x: x if x.shape[0] else -x, pel.Spec(("n",)))
    with pytest.raises(AbstractValueError, match="size n is open"):
        pel.record(lambda x: x[: x.shape[0] % 2], pel.Spec(("n",)))
    with pytest.raises(AbstractValueError, match="size n is open"):
        pel.record(lambda x: np.zeros(x.shape[0]), pel.Spec(("n",)))


def test_graphs_do_not_cast_silently():
    with pytest.raises(ShapeError, match="argument i is float64, the graph was recorded for int64"):
        pel.run(pel.record(lambda i: i * 2, 3), 1.7)
    graph = pel.record(lambda x: x * 2, pel.Spec((), np.float32))
    assert pel.run(graph, 3).dtype == np.float32


def test_an_open_graph_inside_a_derivative():
    graph = pel.record(lambda x: np.sum(x**2) / x.shape[0], pel.Spec(("n",)))
    assert_allclose(pel.grad(lambda x: pel.run(graph, x))(np.ones(4)), 0.5)


# rules of the user's own


def test_relu_in_every_spelling_has_slope_zero_at_zero():
    x = np.array([-1.0, 0.0, 2.0])
    spellings = [
        lambda x: np.maximum(x, 0),
        lambda x: np.maximum(0.0, x),
        lambda x: np.maximum(x, np.zeros_like(x)),
        lambda x: np.maximum(x, np.float64(0)),
        lambda x: np.maximum(x, np.zeros(3)),
        lambda x: x * (x > 0),
        lambda x: np.where(x > 0, x, 0),
        lambda x: np.clip(x, 0, None),
    ]
    for relu in spellings:
        assert_array_equal(pel.grad(lambda x: np.sum(relu(x)))(x), [0, 0, 1])  # noqa: B023
        assert_array_equal(pel.jvp(relu, (x,), (np.ones(3),))[1], [0, 0, 1])


def test_rules_that_do_not_fit():
    wrong = pel.custom_rule(lambda x: x * 2, vjp=lambda d, y, x: np.sum(d), jvp=lambda d, y, x: 2 * d)
    with pytest.raises(DifferentiationError, match=r"argument 0 returned shape \(\), the argument has shape \(3,\)"):
        pel.grad(lambda x: np.sum(wrong(x)))(np.ones(3))
    short = pel.custom_rule(lambda a, b: a * b, vjp=[lambda d, y, a, b: d * b])
    with pytest.raises(DifferentiationError, match="no rule for argument 1: give one for each"):
        pel.grad(short, (0, 1))(1.0, 2.0)
    empty: list[float] = []
    broken = pel.custom_rule(lambda x: empty[1], vjp=lambda d, y, x: d)
    with pytest.raises(IndexError, match="list index"):  # the user's own error, as it is
        pel.grad(broken)(1.0)


def test_a_numpy_function_can_be_added():
    pel.elementwise("i0_example", np.i0, lambda d, y, x: d * np.sinh(x))  # not its slope: a stand-in
    try:
        assert_allclose(pel.grad(lambda x: np.i0(x))(0.5), np.sinh(0.5))
    finally:
        del FUNCTIONS[np.i0]
    with pytest.raises(ValueError, match="'add' exists already"):
        pel.elementwise("add", lambda a, b: a + b, None, None)


def test_a_graph_shows_itself():
    graph = pel.record(lambda x: np.sin(x) * x, 1.0, name="f")
    assert repr(graph) == "<Graph f: 1 inputs, 2 operations; print it for the program>"
    assert graph._repr_html_().startswith("<svg")
    long = pel.record(lambda x: sum([np.sin(x)] * 70), 1.0)
    assert long._repr_html_().startswith("<pre>")
