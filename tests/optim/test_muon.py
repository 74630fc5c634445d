"""Muon: orthogonal steps, how long they are, which arrays make them, and everything else by AdamW."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import nn, optim, train
from pellucid.optim import Group, Muon, optimizer
from pellucid.optim.rules.muon import orthogonalized
from tests.optim.descent import descent

rng = np.random.default_rng(2)


def turned(shape, sigma):
    """A matrix with these singular values, and its U and V."""
    U, V = (np.linalg.qr(rng.normal(size=(n, len(sigma))))[0] for n in shape)
    return U * sigma @ V.T, U, V


@pytest.mark.parametrize("shape", [(6, 6), (4, 9), (9, 4), (30, 5), (1, 7), (7, 1), (1, 1)])
def test_singular_values_near_1(shape):
    sigma = np.geomspace(1.0, 0.02, min(shape)) if min(shape) > 1 else np.ones(1)
    matrix, U, V = turned(shape, sigma)
    result = orthogonalized(matrix)
    inside = U.T @ result @ V
    assert_allclose(result, U @ inside @ V.T, atol=1e-12)  # the same directions
    assert_allclose(inside, np.diag(np.diag(inside)), atol=1e-12)
    assert np.all((np.diag(inside) > 0.65) & (np.diag(inside) < 1.25))


def test_the_size_of_a_gradient_does_not_matter():
    matrix = rng.normal(size=(5, 3))
    assert_allclose(orthogonalized(1e6 * matrix), orthogonalized(matrix), rtol=1e-5)
    assert_array_equal(orthogonalized(np.zeros((3, 2))), 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_stays_float32(dtype):
    assert orthogonalized(np.ones((2, 3), dtype)).dtype == dtype


@pytest.mark.parametrize(("shape", "factor"), [((4, 16), 2.0), ((16, 4), 1.0), ((5, 5), 1.0)])
def test_scales(shape, factor):
    """Weights are (n_in, n_out): "spectral" grows with the outputs, "rms" makes entries as large as Adam's steps."""
    w, g = np.zeros(shape), turned(shape, np.linspace(1.0, 0.5, min(shape)))[0]
    step = {kind: Muon(scale=kind).step(w, g, {"v": w}, 1.0, 1)[0] for kind in ("spectral", "rms")}
    assert_allclose(step["spectral"], -factor * orthogonalized(0.0975 * g), rtol=1e-5)
    assert 0.13 < np.sqrt(np.mean(np.square(step["rms"]))) < 0.25


def hidden(net, columns, rule=None):
    """Names of the arrays that have a velocity, as the model of this network has them."""
    model = train.Model(net, "squared_error", rule or Muon())
    model.initialize(columns, seed=0)
    state = model.optimizer.init(model.params)
    names = {name for name in model.params if f"rule.{name}.v" in state}
    assert {name for name in model.params if f"rule.{name}.m" in state} == set(model.params) - names
    return names


def test_hidden_matrices_by_themselves():
    assert hidden(nn.mlp((6, 5), 2, norm="batch"), 3) == {"hidden1.weight", "hidden2.weight"}
    assert hidden(nn.mlp((), 2), 3) == set()
    assert hidden(nn.Sequential(nn.Dense(5), nn.Tanh(), nn.Dense(4), nn.Tanh(), nn.Dense(2)), 3) == {
        "dense1.weight",
        "dense2.weight",
    }
    table = nn.Sequential(nn.Embed((7, 9), dims=4), nn.Periodic(2), nn.Scale(), nn.mlp((6, 6), 1))
    names = hidden(table, 5)
    assert len(names) == 2
    assert all("hidden" in name and name.endswith(".weight") for name in names)


def test_matrices_by_name():
    net = nn.mlp((6, 5), 2)
    assert hidden(net, 3, Muon(on="hidden2*")) == {"hidden2.weight"}  # its bias is no matrix
    assert hidden(net, 3, Muon(on=["hidden1.weight", "output.weight"])) == {"hidden1.weight", "output.weight"}
    with pytest.raises(ValueError, match=r"Muon: on='first\.\*' matches none of the parameters: hidden1\.weight"):
        hidden(net, 3, Muon(on="first.*"))


def test_everything_else_is_adamw_at_its_own_rate():
    w, g = rng.normal(size=7), rng.normal(size=7)
    adam = optim.AdamW(0.0, beta2=0.95, decay=0.1)
    for rule, factor in (
        (Muon(decay=0.1), 1.0),
        (Muon(decay=0.1, scale="spectral"), 0.015),
        (Muon(decay=0.1, adam_rate=0.3), 0.3),
    ):
        for got, expected in zip(
            rule.step(w, g, rule.init(w), 0.5, 1), adam.step(w, g, adam.init(w), 0.5 * factor, 1), strict=True
        ):
            assert str(got) == str(expected)


def test_settings():
    with pytest.raises(ValueError, match="scale is 'rms' or 'spectral', got 'big'"):
        Muon(scale="big")
    with pytest.raises(ValueError, match="rounds is a whole number from 1, got 0"):
        Muon(rounds=0)
    with pytest.raises(ValueError, match="adam_rate is a number from 0, got -1"):
        Muon(adam_rate=-1)


def test_directions_of_any_steepness_are_learned_alike():
    """A linear map of inputs whose variances span six orders of magnitude: descent has hardly begun with the last."""
    wanted = turned((8, 8), np.geomspace(1.0, 0.3, 8))[0]
    steep = np.geomspace(1.0, 1e-3, 8)
    gradient = lambda p: {"w": (steep**2)[:, None] * (p["w"] - wanted)}

    def far(opt):
        *_, (params, _) = descent(opt, {"w": np.zeros((8, 8))}, gradient, 300)
        return np.max(np.abs(params["w"] - wanted))

    rate = optim.Polynomial(0.05, steps=300)
    assert far(optimizer(Muon(rate, on="w", scale="spectral"))) < 0.2
    assert far(optimizer("momentum", lr=0.1)) > 0.3


@pytest.mark.parametrize("sizes", [(1,), (5, 4), (40, 33, 7)], ids=str)
@pytest.mark.parametrize("scale", ["rms", "spectral"])
def test_native_is_numpy(sizes, scale):
    """Products inside the update, on one thread and on several."""
    X, Y = rng.normal(size=(50, 6)), rng.normal(size=(50, 2))
    ends = []
    for engine, threads in (("numpy", 1), ("native", 1), ("native", 3)):
        rule = Muon(optim.Cosine(0.02), scale=scale, decay=0.1)
        model = train.Model(nn.mlp(sizes, 2), "squared_error", rule, dtype="float64", engine=engine, threads=threads)
        model.fit(X, Y, epochs=3, batch_size=16, verbose=False, seed=1)
        assert engine == "numpy" or model.program is not None
        ends.append(model.params)
    for name, w in ends[0].items():
        for native in ends[1:]:
            assert_allclose(native[name], w, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("rule", [optim.AdamW(decay=0.5), optim.Lion(decay=0.5), Muon(decay=0.5)], ids=repr)
def test_decay_keeps_off_biases_and_embeddings(rule):
    """By one group: patterns that meet nothing are no error beside one that does."""
    made = train.Model(nn.Sequential(nn.Embed((4,), dims=3), nn.mlp((5,), 1)), "squared_error", rule)
    made.initialize(3, seed=0)
    params = {name: w + 1.0 for name, w in made.params.items()}
    opt = optimizer(rule, groups=[Group(("*.bias", "*.table*", "*.scale"), decay=0.0)])
    still = {name: np.zeros_like(w) for name, w in params.items()}
    after, _ = opt.update(params, still, opt.init(params), 1, {"lr": 0.1})
    for name, w in params.items():
        factor = 1.0 if name.endswith("bias") or "table" in name else 0.95
        assert_allclose(after[name], factor * w, rtol=1e-6)
    assert {name.rsplit(".")[-1] for name in params} == {"weight", "bias", "table1"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_classifier():
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    X[np.arange(300), y] += 2.5
    clf = pel.MLPClassifier((20, 20), optimizer="muon", learning_rate_init=0.01, max_iter=40, tol=0, random_state=0)
    assert clf.fit(X, y).score(X, y) > 0.9
