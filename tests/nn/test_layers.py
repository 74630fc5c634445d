"""Layers and networks made of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

import pellucid as pel
from pellucid import nn
from pellucid.errors import ShapeError

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 3))


def test_the_hand_made_xor_network():
    net = nn.mlp((2,), 1)
    p = {
        "hidden1.weight": np.array([[1.0, 1.0], [1.0, 1.0]]),
        "hidden1.bias": np.array([0.0, -1.0]),
        "output.weight": np.array([[2.0], [-4.0]]),
        "output.bias": np.array([-1.0]),
    }
    x = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    taps: dict[str, Any] = {}
    y, _ = net.apply(p, x, taps=taps)
    assert taps["hidden1"].tolist() == [[0, -1], [1, 0], [1, 0], [2, 1]]
    assert taps["hidden1.activation"].tolist() == [[0, 0], [1, 0], [1, 0], [2, 1]]
    assert y[:, 0].tolist() == [-1, 1, 1, -1]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_k_layers_are_the_lectures_formulas(k):
    sizes = [5, 4, 2][-k:]
    net = nn.mlp(sizes[:-1], sizes[-1])
    p = net.initialize(3).params
    names = [f"hidden{i}" for i in range(1, k)] + ["output"]
    h = X
    for name in names[:-1]:
        h = np.maximum(0, h @ p[f"{name}.weight"] + p[f"{name}.bias"])
    scores = h @ p["output.weight"] + p["output.bias"]
    assert_allclose(net.predict(p, X), scores)
    probability = np.exp(pel.log_softmax(scores))
    assert_allclose(probability.sum(1), 1)
    assert nn.summary(net, 3).layers == k  # the input does not count


def test_unit_by_unit_equals_matrices():  # 3 inputs, 4 sigmoid units, 1 sigmoid output
    net = nn.Sequential(("l1", nn.Dense(4)), "sigmoid", ("l2", nn.Dense(1)), "sigmoid")
    p = net.initialize(3).params
    W1, b1, W2, b2 = (p[k] for k in ("l1.weight", "l1.bias", "l2.weight", "l2.bias"))
    for i, x in enumerate(X):
        hidden = [expit(sum(W1[k, j] * x[k] for k in range(3)) + b1[j]) for j in range(4)]
        out = expit(sum(W2[j, 0] * hidden[j] for j in range(4)) + b2[0])
        assert_allclose(net.predict(p, X)[i, 0], out)


def test_activations_may_differ_per_layer():
    net = nn.mlp((4, 5, 3), 2, activation=["relu", "tanh", np.sin])
    p = net.initialize(3).params
    pel.check_grads(lambda p: np.sum(net.predict(p, X) ** 2), (p,))
    with pytest.raises(ValueError, match="activation has 2 entries for 3 hidden layers"):
        nn.mlp((4, 5, 3), 2, activation=["relu", "tanh"])


def test_summary_is_the_dimension_table():
    found = nn.summary(nn.mlp((5, 4), 2), 3)
    shapes = [row.shapes for row in found.rows if row.shapes]
    assert shapes == [
        {"weight": (3, 5), "bias": (5,)},
        {"weight": (5, 4), "bias": (4,)},
        {"weight": (4, 2), "bias": (2,)},
    ]
    assert [row.output for row in found.rows] == [(5,), (5,), (4,), (4,), (2,)]
    assert found.count == 3 * 5 + 5 + 5 * 4 + 4 + 4 * 2 + 2 == nn.count_parameters(nn.mlp((5, 4), 2), X)


def test_the_ten_layers_of_the_lecture():
    """500 nodes in each layer, tanh, Xavier: the input does not count, the output does."""
    net = nn.mlp((500,) * 9, 500, activation="tanh", init="xavier", output_init="xavier")
    shown = nn.summary(net, 500)
    assert (shown.layers, shown.count) == (10, 10 * (500 * 500 + 500))
    params = net.initialize(500).params
    assert [p.shape for name, p in params.items() if name.endswith("weight")] == [(500, 500)] * 10
    assert [p.shape for name, p in params.items() if name.endswith("bias")] == [(500,)] * 10
    assert [name for name, part in net.children if isinstance(part, nn.Activate)] == [
        f"hidden{i}.activation" for i in range(1, 10)
    ]
    assert_allclose([p.std() for p in params.values() if p.ndim == 2], 500**-0.5, rtol=0.01)
    X = np.random.default_rng(0).normal(size=(20, 500))
    assert net.predict(params, X).shape == (20, 500)


def test_a_batch_is_its_rows_one_by_one():
    """The bias is broadcast: as if it stood in every row. So its gradient is a sum over rows."""
    net = nn.mlp((4, 3), 2, activation="tanh", bias=nn.normal(1.0))
    p, X = net.initialize(5).params, np.random.default_rng(0).normal(size=(7, 5))
    together = net.predict(p, X)
    assert_allclose(together, np.concatenate([net.predict(p, x[None]) for x in X]), rtol=1e-14)
    h = np.tanh(np.tanh(X @ p["hidden1.weight"] + np.tile(p["hidden1.bias"], (7, 1))) @ p["hidden2.weight"]
                + np.tile(p["hidden2.bias"], (7, 1)))  # fmt: skip
    assert_allclose(together, h @ p["output.weight"] + np.tile(p["output.bias"], (7, 1)), rtol=1e-14)
    columns = p["output.weight"].T @ h.T + np.tile(p["output.bias"][:, None], 7)  # the lectures' samples as columns
    assert_allclose(together, columns.T, rtol=1e-14)
    gradient = pel.grad(lambda p: np.sum(net.predict(p, X)))(p)
    assert_allclose(gradient["output.bias"], [7, 7])


def test_collapse_of_linear_parts():
    net = nn.Sequential(
        nn.Dense(7), "identity", nn.Dense(5), nn.Dense(4), "tanh", nn.Dense(3, scaling="ntk"), nn.Dense(2, bias=None)
    )
    p, s = net.initialize(3, seed=1)
    p = {k: v + 0.1 for k, v in p.items()}
    small, q, t = nn.collapse(net, p, s)
    assert [type(layer).__name__ for _, layer in small.children] == ["Dense", "Activate", "Dense"]
    assert q["dense1.weight"].shape == (3, 4)
    assert_allclose(small.predict(q, X, t), net.predict(p, X, s), atol=1e-12)


def test_maxout_contains_relu():
    net = nn.Maxout(4, pieces=2)
    W, b = rng.normal(size=(3, 4)), rng.normal(size=4)
    p = {"weight": np.hstack([np.zeros((3, 4)), W]), "bias": np.append(np.zeros(4), b)}  # the first piece is zero
    assert_allclose(net.predict(p, X), np.maximum(0, X @ W + b))
    for k in (2, 3):
        assert nn.count_parameters(nn.Maxout(4, pieces=k), 3) == k * nn.count_parameters(nn.Dense(4), 3)


@pytest.mark.parametrize(
    ("gate", "name"), [("sigmoid", "glu"), ("relu", "reglu"), ("gelu", "geglu"), ("silu", "swiglu")]
)
def test_gated_units(gate, name):
    net = nn.GLU(4, gate)
    p = net.initialize(3).params
    p = {k: v + 0.1 * rng.normal(size=v.shape) for k, v in p.items()}
    W, V, b, c = p["weight"][:, :4], p["weight"][:, 4:], p["bias"][:4], p["bias"][4:]
    assert_allclose(net.predict(p, X), nn.activation(gate)(X @ W + b) * (X @ V + c))
    assert net.predict(p, X).shape[1] == p["weight"].shape[1] // 2
    pel.check_grads(lambda p, x: net.predict(p, x), (p, X))
    assert isinstance(nn.mlp((4,), 1, activation=name).children[0][1], nn.GLU)


def test_a_gate_may_learn():  # SwiGLU with its own beta for each unit
    net = nn.GLU(4, "swish")
    p = net.initialize(3).params
    assert p["gate.beta"].tolist() == [1, 1, 1, 1]
    assert_allclose(net.predict(p, X), nn.GLU(4, "silu").predict(p, X))
    pel.check_grads(lambda p: net.predict(p, X), (p,))


def test_mixed_activations_in_one_layer():
    net = nn.Sequential(("mix", nn.Mixed("relu", "tanh", "prelu")))
    p = net.initialize(7).params
    z = rng.normal(size=(5, 7))
    y = net.predict(p, z)
    assert_allclose(y[:, :2], np.maximum(z[:, :2], 0))
    assert_allclose(y[:, 2:4], np.tanh(z[:, 2:4]))
    assert_allclose(y[:, 4:], np.where(z[:, 4:] < 0, 0.25 * z[:, 4:], z[:, 4:]))
    assert p["mix.2.alpha"].shape == (3,)
    pel.check_grads(lambda p: np.sum(net.predict(p, z)), (p,), order=1)
    with pytest.raises(ShapeError, match="3 activations for 2 features"):
        net.initialize(2)


def test_a_learned_activation_of_ones_own():
    bent = nn.Activation(
        "bent", lambda x, slope, shift: np.maximum(x - shift, 0) * slope, learned={"slope": 1.0, "shift": 0.0}
    )
    net = nn.Sequential(nn.Dense(4), bent, nn.Dense(1))
    p = net.initialize(3).params
    assert p["bent1.slope"].tolist() == [1, 1, 1, 1]
    pel.check_grads(lambda p: np.sum(net.predict(p, X)), (p,), order=1)


@dataclass(frozen=True)
class Square(nn.Layer):
    power: float = 2.0

    def parameters(self, features, activation=None):
        return {"scale": nn.Parameter(features, nn.constant(2.0))}

    def __call__(self, p, x, ctx):
        return p["scale"] * x**self.power


def test_a_layer_of_ones_own_is_a_small_class():
    net = nn.Sequential(nn.Dense(2), Square(), nn.Dense(1))
    p = net.initialize(3).params
    assert "square1.scale" in p
    pel.check_grads(lambda p: net.predict(p, X), (p,))


def test_residual_concat_flatten_scale():
    net = nn.Sequential(
        nn.Flatten(),
        nn.Scale(),
        nn.Residual(nn.Sequential(nn.Dense(5), "tanh", nn.Dense(6))),
        nn.Concat(nn.Dense(2), nn.Sequential(nn.Dense(3), "relu")),
    )
    images = rng.normal(size=(4, 2, 3))
    p, s = net.initialize(images)
    assert net.output((2, 3)) == (5,)
    assert net.predict(p, images).shape == (4, 5)
    plain = net.children[2][1]
    inside = {k.removeprefix("residual1."): v for k, v in p.items() if k.startswith("residual1.")}
    x = images.reshape(4, 6)
    assert isinstance(plain, nn.Residual)
    assert_allclose(plain.predict(inside, x) - x, plain.layer.predict({k[6:]: v for k, v in inside.items()}, x))
    pel.check_grads(lambda p: net.predict(p, images, s), (p,))
    with pytest.raises(ShapeError, match=r"turns \(3,\) into \(4,\)"):
        nn.Residual(nn.Dense(4)).initialize(3)


def test_mixed_precision():
    net = nn.Sequential(("net", nn.Compute(nn.mlp((8,), 1), "float32")))
    p, s = net.initialize(3)
    taps: dict[str, Any] = {}
    y, _ = net.apply(p, X, s, taps=taps)
    assert y.dtype == np.float64
    assert taps["net.layer.hidden1"].dtype == np.float32
    gradient = pel.grad(lambda p: np.sum(net.predict(p, X)))(p)
    assert {g.dtype for g in gradient.values()} == {np.dtype(np.float64)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_precision_throughout(dtype):
    net = nn.mlp((8, 8), 2, norm="batch", dropout=0.3, activation=["gelu", "selu"], input_dropout=0.1)
    p, s = net.initialize(3, dtype=dtype)
    taps: dict[str, Any] = {}
    y, after = net.apply(p, X.astype(dtype), s, training=True, taps=taps)
    assert {v.dtype for v in [y, *after.values(), *taps.values()]} == {np.dtype(dtype)}


def test_parameters_as_one_vector_and_back():
    p = nn.mlp((4,), 2).initialize(3, dtype=np.float32).params
    vector, back = nn.flatten_parameters(p)
    assert vector.shape == (sum(v.size for v in p.values()),)
    again = back(vector)
    assert list(again) == list(p)
    assert all(np.array_equal(again[k], p[k]) and again[k].dtype == p[k].dtype for k in p)
    with pytest.raises(ShapeError, match="26 numbers, got 25"):
        back(vector[:-1])


def test_names():
    net = nn.Sequential(nn.Dense(2), "relu", nn.Dense(2), nn.ReLU(), nn.BatchNorm(), ("last", nn.Dense(1)))
    assert [name for name, _ in net.children] == ["dense1", "relu1", "dense2", "relu2", "batch_norm1", "last"]
    with pytest.raises(ValueError, match="two layers are called 'a'"):
        nn.Sequential(("a", nn.Dense(1)), ("a", nn.Dense(1)))


def test_an_open_batch_serves_every_size_with_every_kind_of_layer():
    net = nn.Sequential(
        nn.Dropout(0.2),
        nn.Dense(6),
        nn.BatchNorm(),
        "gelu",
        nn.GLU(5),
        nn.LayerNorm(),
        nn.Maxout(4),
        nn.RMSNorm(),
        nn.Mixed("relu", "swish"),
        nn.GaussianNoise(0.1),
        nn.Residual(nn.Dense(4)),
        nn.AlphaDropout(0.1),
        nn.Concat(nn.Dense(2), nn.Scale()),
    )
    p, s = net.initialize(3)
    specs = [{k: pel.Spec(v.shape) for k, v in tree.items()} for tree in (p, s)]
    call = lambda p, s, x, c: net.apply(p, x, s, training=True, key=5, counter=c)
    graph = pel.record(call, *specs, pel.Spec(("n", 3)), pel.Spec((), np.int64)).simplify()
    for n in (2, 6):
        y, after = pel.run(graph, p, s, X[:n], 9)
        expected, expected_after = call(p, s, X[:n], 9)
        assert_allclose(y, expected, rtol=1e-12, atol=1e-13)
        for key in s:
            assert_allclose(after[key], expected_after[key], rtol=1e-12)


# errors


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda: nn.Dense(0), r"Dense: units is a whole number from 1, got 0", id="empty layer"),
        pytest.param(lambda: nn.Dense(2.5), r"Dense: units is a whole number from 1, got 2\.5", id="half a unit"),
        pytest.param(lambda: nn.Maxout(3, pieces=0), r"Maxout: pieces is a whole number from 1", id="no pieces"),
        pytest.param(lambda: nn.Sequential(), "needs at least one layer", id="empty network"),
        pytest.param(lambda: nn.Concat(), "needs at least one layer", id="empty concat"),
        pytest.param(
            lambda: nn.mlp((4,), 1, activation="rellu"),
            "no activation called 'rellu': did you mean 'relu'",
            id="activation",
        ),
        pytest.param(
            lambda: nn.mlp((4,), 1, norm="bath"), "no normalisation called 'bath': did you mean 'batch'", id="norm"
        ),
        pytest.param(lambda: nn.mlp((4,), 1, norm="batch", norm_place="inside"), "'before' or 'after'", id="place"),
        pytest.param(lambda: nn.mlp((4,), 1, dropout=1.5), "rate is the probability of dropping", id="rate"),
        pytest.param(lambda: nn.Dense(3, scaling="mup"), "scaling is 'standard' or 'ntk', got 'mup'", id="scaling"),
        pytest.param(lambda: nn.GLU(3, "sigmoit"), "no activation called 'sigmoit'", id="gate"),
    ],
)
def test_wrong_settings(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_wrong_shapes_name_the_layer():
    net = nn.mlp((8,), 1)
    p = net.initialize(5).params
    with pytest.raises(
        ShapeError, match=r"hidden1: Dense\(units=8.*\) expects 5 features, got an array of shape \(6, 3\)"
    ):
        net.predict(p, X)
    with pytest.raises(
        ShapeError, match=r"expects rows of features, got samples of shape \(28, 28\): put nn.Flatten\(\) in front"
    ):
        net.initialize((28, 28))
    with pytest.raises(ShapeError, match=r"needs the number of features"):
        net.initialize(np.ones(3))
    with pytest.raises(TypeError, match="a part of a network is a layer"):
        nn.Sequential(3)
