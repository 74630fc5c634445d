"""Networks under rough handling: nothing is silently wrong."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import nn
from pellucid.errors import ShapeError

X = np.random.default_rng(0).normal(size=(6, 4))


@pytest.mark.parametrize(
    "net",
    [
        pytest.param(nn.mlp((5, 4), 2, norm="batch"), id="two batch norms"),
        pytest.param(nn.mlp((5,), 2, norm="batch", dropout=0.3), id="batch norm, then dropout"),
        pytest.param(nn.mlp((5, 4), 2, norm="batch", norm_place="after", dropout=0.3), id="norm after, dropout"),
        pytest.param(
            nn.Sequential(nn.LayerNorm(), nn.BatchNorm(), nn.GaussianNoise(0.1), nn.Dense(2)), id="layer, batch"
        ),
        pytest.param(nn.Compute(nn.mlp((5, 4), 2, norm="batch")), id="mixed precision"),
    ],
)
def test_a_whole_training_step_with_an_open_batch(net):
    p, s = net.initialize(4)

    def cost(p, s, x, c):
        y, after = net.apply(p, x, s, training=True, key=3, counter=c)
        return np.mean(np.square(y)), after

    step = pel.value_and_grad(cost, has_aux=True)
    trees = [{k: pel.Spec(v.shape, v.dtype) for k, v in tree.items()} for tree in (p, s)]
    graph = pel.record(step, *trees, pel.Spec(("n", 4)), pel.Spec((), np.int64)).simplify()
    for n in (2, 6):
        (value, after), gradient = pel.run(graph, p, s, X[:n], 5)
        (expected, expected_after), expected_gradient = step(p, s, X[:n], 5)
        assert_allclose(value, expected, rtol=1e-6)
        for key in p:
            assert_allclose(gradient[key], expected_gradient[key], rtol=1e-5, atol=1e-9)
        for key in s:
            assert_allclose(after[key], expected_after[key], rtol=1e-6)


def test_mixed_precision_reaches_statistics_and_leaves_integers_alone():
    net = nn.Compute(nn.mlp((5,), 2, norm="batch"))
    p, s = net.initialize(4)
    taps: dict[str, Any] = {}
    _, after = net.apply(p, X, s, training=True, taps=taps)
    assert {v.dtype for k, v in taps.items() if k.startswith("layer.")} == {np.dtype(np.float32)}
    assert {v.dtype for v in after.values()} == {np.dtype(np.float64)}
    assert net.predict(p, np.arange(24).reshape(6, 4), s).dtype == np.float32
    with pytest.raises((ValueError, TypeError)):
        nn.Compute(nn.Dense(1), "float33")


def test_names_that_clash():
    net = nn.Sequential(("a", nn.Sequential(("b", nn.Dense(4)))), ("a.b", nn.Dense(4)))
    with pytest.raises(ValueError, match=r"two parts of the network own an array called 'a\.b\.weight'"):
        net.initialize(4)


@pytest.mark.parametrize("layer", [nn.BatchNorm(), nn.LayerNorm(), nn.RMSNorm(), nn.Scale()])
def test_other_widths_are_refused(layer):
    net = nn.Sequential(("part", layer))
    for made, given in ((3, 1), (1, 4), (3, 4)):
        p, s = net.initialize(made)
        with pytest.raises(ShapeError, match=r"part: .* made for samples of shape"):
            net.apply(p, X[:, :given], s, training=True)


@pytest.mark.parametrize("layer", [nn.Dense(2), nn.GLU(2), nn.Maxout(2)])
def test_rows_only(layer):
    p, _ = nn.Sequential(layer).initialize(4)
    with pytest.raises(ShapeError, match="expects 4 features, got an array of shape"):
        nn.Sequential(layer).predict(p, np.ones((2, 4, 4)))


def test_collapse_keeps_a_function_that_is_only_called_identity():
    def identity(x):
        return 2 * x

    net = nn.Sequential(nn.Dense(3), identity, nn.Dense(2))
    p, s = net.initialize(4)
    small = nn.collapse(net, p, s)
    assert_allclose(small.net.predict(small.params, X), net.predict(p, X))


def test_given_arrays_are_not_shared():
    net = nn.Dense(2, init=nn.given(np.ones((3, 2))))
    net.initialize(3).params["weight"][:] = 5
    assert (net.initialize(3).params["weight"] == 1).all()


def test_layers_by_themselves():
    p = nn.data_dependent(nn.Dense(3), nn.Dense(3).initialize(4), X).params
    assert_allclose((X @ p["weight"] + p["bias"]).std(0), 1)
    exact = nn.population_statistics(nn.BatchNorm(), nn.BatchNorm().initialize(4), [X])
    assert_allclose(exact.state["mean"], X.mean(0))
    with pytest.raises(ShapeError, match="takes batches"):
        nn.population_statistics(nn.BatchNorm(), nn.BatchNorm().initialize(4), X)
    with pytest.raises(ShapeError, match="wrap a single layer"):
        nn.signals(nn.Dense(3), nn.Dense(3).initialize(4), X)


def test_an_empty_batch_leaves_the_statistics_alone():
    net = nn.BatchNorm()
    p, s = net.initialize(4)
    y, after = net.apply(p, X[:0], s, training=True)
    assert y.shape == (0, 4)
    assert all(np.array_equal(after[k], s[k]) for k in s)


def test_perceptron_refuses_what_is_not_a_number():
    with pytest.raises(ValueError, match="finite numbers"):
        nn.Perceptron().fit(np.array([[np.nan], [1.0]]), [0, 1])
    with pytest.raises(ShapeError, match=r"got X \(2, 1\), y \(3,\)"):
        nn.Perceptron().fit(np.ones((2, 1)), [0, 1, 1])


def test_ntk_reaches_gated_units():
    for activation in ("swiglu", "maxout", "relu"):
        net = nn.mlp((300,), 1, activation=activation, scaling="ntk")
        assert_allclose(net.initialize(50).params["hidden1.weight"].std(), 1, rtol=0.05)
        first: Any = net.children[0][1]
        assert first.scaling == "ntk"


@pytest.mark.parametrize("layer", [nn.GLU(4, init="orthogonal"), nn.Maxout(4, 3, init="orthogonal")])
def test_each_piece_is_orthogonal(layer):
    W = layer.initialize(6).params["weight"]
    for piece in np.split(W, W.shape[1] // 4, axis=1):
        assert_allclose(piece.T @ piece, np.eye(4), atol=1e-12)


def test_lsuv_says_when_it_fails():
    net = nn.Dense(3, bias=np.array([-5.0, 0.0, 5.0]))
    with pytest.warns(UserWarning, match="has variance"):
        nn.lsuv(net, net.initialize(4), X)


def test_gain_of_a_nested_activation():
    net = nn.Sequential(("a", nn.Dense(300)), nn.Sequential("relu", nn.Dense(2)))
    assert_allclose(net.initialize(400).params["a.weight"].std(), np.sqrt(2) / 20, rtol=0.02)


def test_networks_compare_hash_and_pickle():
    make = lambda: nn.mlp(
        (3,), 1, init=nn.normal(0.1), output_init=nn.given(np.ones((3, 1))), norm="batch", dropout=0.1
    )
    assert make() == make()
    assert hash(make()) == hash(make())
    again = pickle.loads(pickle.dumps(make()))
    assert again == make()
    a, b = again.initialize(2, seed=4).params, make().initialize(2, seed=4).params
    assert all(np.array_equal(a[k], b[k]) for k in a)
    str(nn.summary(nn.Dense(2, init=np.ones((4, 2)), scaling="ntk"), 4))


def test_names_are_found_as_they_were_entered():
    nn.register_activation(nn.Activation("MyAct_example", np.sin), "My other-example")
    assert nn.activation("MyAct_example") is nn.activation("my_other_example")
    with pytest.raises(ValueError, match="'relu' exists already"):
        nn.register_activation(nn.Activation("fresh_example", np.sin), "relu")
    with pytest.raises(ValueError, match="no activation called 'fresh_example'"):
        nn.activation("fresh_example")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        pytest.param(lambda: nn.mlp(64, 3), ValueError, r"write \(64,\)", id="size instead of sizes"),
        pytest.param(lambda: nn.mlp((4,), 1, norm=["batch"]), ValueError, "norm is a name", id="list of norms"),
        pytest.param(lambda: nn.Sequential(nn.Dense), TypeError, r"Dense was not called", id="class"),
        pytest.param(lambda: nn.Sequential(nn.ReLU), TypeError, r"ReLU was not called", id="factory"),
        pytest.param(lambda: nn.Dense(2, init=None).initialize(3), TypeError, "an initialiser is a name", id="no init"),
        pytest.param(
            lambda: nn.Dense(2).initialize(3, dtype=int), ValueError, "dtype is float32 or float64", id="dtype"
        ),
        pytest.param(
            lambda: nn.Dense(2).initialize(3, seed=-1), ValueError, "seed is a whole number from 0", id="seed"
        ),
        pytest.param(
            lambda: nn.mlp((3,), 1, norm="batch").predict(nn.mlp((3,), 1, norm="batch").initialize(4).params, X),
            ShapeError,
            r"hidden1\.norm: the statistic 'hidden1\.norm\.mean' is not in the state",
            id="no state",
        ),
        pytest.param(
            lambda: nn.mlp((3,), 1).predict({}, X),
            ShapeError,
            "hidden1: the parameter 'weight' is missing",
            id="no params",
        ),
        pytest.param(
            lambda: nn.Dense(1).predict(nn.Dense(1).initialize(4), X), TypeError, "params, state = net", id="variables"
        ),
        pytest.param(lambda: nn.Dense(1).predict(X, X), TypeError, "params is a dict", id="array"),
    ],
)
def test_errors_say_what_to_do(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_lists_are_welcome_and_sums_of_penalties():
    net = nn.Dense(1)
    p, _ = net.initialize(2)
    assert_array_equal(net.predict(p, [[1.0, 2.0]]), net.predict(p, np.array([[1.0, 2.0]])))
    both: Any = sum([nn.L2(1.0), nn.L1(1.0)])
    assert_allclose(both(p), nn.L2(1.0)(p) + nn.L1(1.0)(p))
