"""Signals through the 10 x 500 network of the lectures, against their printout and theory."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import Model, nn
from pellucid.errors import ShapeError

X = np.random.default_rng(1).normal(size=(1000, 500))


@functools.cache
def flow(activation, init):
    init = nn.normal(init) if isinstance(init, float) else init
    layers = [((f"layer{i}", nn.Dense(500, init=init)), (f"layer{i}.activation", activation)) for i in range(1, 11)]
    net = nn.Sequential(*[part for pair in layers for part in pair])
    return nn.signals(net, net.initialize(500), X)


def stds(signals):
    return [s.std for s in signals.activations]


def test_small_start_dies_out():
    s = flow("tanh", 0.01)
    lecture = [0.213081, 0.047551, 0.010630, 0.002378, 0.000532, 0.000119, 0.000026, 0.000006, 0.000001]
    theory = [0.213546, 0.047642, 0.010652, 0.002382, 0.000533, 0.000119, 2.7e-5, 6e-6, 1e-6]
    assert_allclose(stds(s)[:6], lecture[:6], rtol=0.02)
    assert_allclose(stds(s)[:6], theory[:6], rtol=0.02)
    assert_allclose(stds(s)[6:9], lecture[6:], atol=1e-6)
    assert abs(s.input.mean) < 0.005
    assert abs(s.input.std - 1) < 0.005
    adjoints = [a.rms for a in s.adjoints]
    assert_allclose(adjoints[-1], 2.0e-3, rtol=0.02)
    assert_allclose(adjoints[0], 2.7e-9, rtol=0.05)
    assert_allclose([g.rms for g in s.weight_gradients], 8.4e-11, rtol=0.03)  # both factors cancel


def test_large_start_saturates_and_its_gradient_explodes():
    s = flow("tanh", 1.0)
    assert_allclose(stds(s), 0.9817, atol=0.001)
    assert all(a.large > 0.8 for a in s.activations)
    ratios = [a.rms / b.rms for a, b in zip(s.adjoints, s.adjoints[1:], strict=False)]
    assert_allclose(np.exp(np.mean(np.log(ratios))), 3.48, rtol=0.03)
    assert_allclose(s.adjoints[-1].rms, 3.1e-4, rtol=0.05)
    assert_allclose(s.adjoints[0].rms, 2.3e1, rtol=0.1)


def test_xavier_with_tanh_decays_slowly():
    s = flow("tanh", "xavier")
    lecture = [0.627953, 0.486051, 0.407723, 0.357108, 0.320917, 0.292116, 0.273387, 0.254935, 0.239266, 0.228008]
    theory = [0.627929, 0.486262, 0.408236, 0.357638, 0.321622, 0.294390, 0.272911, 0.255430, 0.240856, 0.228473]
    assert_allclose(stds(s), lecture, rtol=0.02)
    assert_allclose(stds(s), theory, rtol=0.02)
    assert_allclose(s.weight_gradients[0].rms, 1.69e-5, rtol=0.03)  # larger at layer 1: its input has deviation 1
    assert_allclose(s.weight_gradients[-1].rms, 1.44e-5, rtol=0.03)


def test_gain_five_thirds_settles():
    deep = flow("tanh", "auto")
    assert_allclose(stds(deep)[:3], [0.759, 0.693, 0.669], rtol=0.02)
    assert_allclose(stds(deep)[-1], 0.651, rtol=0.02)


def test_xavier_with_relu_halves_the_variance():
    s = flow("relu", "xavier")
    assert_allclose((s.activations[0].mean, s.activations[0].std), (0.398942, 0.583819), rtol=0.01)
    lecture = [0.582273, 0.403795, 0.276912, 0.198685, 0.140299, 0.103280, 0.072748, 0.051572, 0.038583, 0.026076]
    assert_allclose(stds(s), lecture, rtol=0.12)  # of one draw of 500 units
    ratio = (stds(s)[-1] / stds(s)[0]) ** (1 / 9)
    assert_allclose(ratio, 1 / np.sqrt(2), rtol=0.03)


def test_he_with_relu_keeps_the_signal():
    s = flow("relu", "he")
    assert_allclose(stds(s), 0.825645, rtol=0.1)
    assert_allclose([a.mean for a in s.activations], 0.564190, rtol=0.12)
    adjoints = [a.rms for a in s.adjoints]
    assert max(adjoints) / min(adjoints) < 1.2


@pytest.mark.parametrize(("sigma", "gradient", "last"), [(0.01, 2.5e-12, 9e-9), (1.0, 2.5e6, 9e11)])
def test_relu_with_other_starts(sigma, gradient, last):
    s = flow("relu", sigma)
    assert_allclose([g.rms for g in s.weight_gradients], gradient, rtol=0.12)
    assert_allclose(s.activations[-1].rms, last, rtol=0.15)
    assert all(0.45 < a.zeros < 0.55 for a in s.activations)


@pytest.mark.parametrize("sigma", [0.01, 1.0])
def test_zeros_among_gradients_of_relu_networks(sigma):
    """An entry is 0 if its input or its adjoint is: about 3/4 for one sample, 1/2 in layer 1; few over many rows."""
    net = nn.mlp((500,) * 9, 500, init=nn.normal(sigma), output_init=nn.normal(sigma))
    params = net.initialize(500).params
    adjoint = np.random.default_rng(3).normal(size=(1000, 500))

    def zeros(rows):
        gradient = pel.grad(lambda p: np.sum(net.predict(p, X[:rows]) * adjoint[:rows]))(params)
        return [float(np.mean(gradient[f"hidden{i}.weight"] == 0.0)) for i in range(1, 10)]

    one, many = zeros(1), zeros(1000)
    assert_allclose(one[0], 0.5, atol=0.03)
    assert_allclose(one[1:], 0.74, atol=0.04)  # 72 to 77 %: 1 - ½ ½, and the halves differ from layer to layer
    assert 0.1 < max(many) < 0.18
    activations = nn.signals(net, params, X).activations[:9]
    assert all(0.45 < a.zeros < 0.55 for a in activations)


def test_positive_biases_leave_fewer_zeros():
    def zeros(bias):
        net = nn.mlp((500,) * 3, 1, bias=bias)
        return np.mean([a.zeros for a in nn.signals(net, net.initialize(500), X).activations[:3]])

    share = {bias: zeros(bias) for bias in (0.0, 0.1, 0.5)}
    assert_allclose(list(share.values()), [0.487, 0.460, 0.375], atol=0.015)


def test_histograms_and_the_printed_table():
    s = flow("tanh", "xavier")
    counts, edges = s.activations[0].histogram
    assert len(counts) == 30
    assert sum(counts) == X.shape[0] * 500
    assert len(edges) == 31
    net = nn.mlp((20, 20), 3, activation="tanh")
    edges = nn.signals(net, net.initialize(500), X, bounds=(-1, 1)).activations[0].histogram[1]
    assert (edges[0], edges[-1]) == (-1.0, 1.0)
    pytest.importorskip("matplotlib").use("Agg")
    _, right = nn.plot_layer_stats(s)
    assert right.get_yscale() == "log"
    assert len(nn.plot_layer_histograms(s)) == 10
    assert len(nn.plot_layer_histograms(s, "weight_gradients")) == 10
    lines = str(s).splitlines()
    assert lines[2].split()[0] == "input"
    assert len(lines) == 13


def ten_layers(norm):
    parts: list[tuple[str, nn.Layer | str]] = []
    for i in range(1, 11):
        parts += [(f"layer{i}", nn.Dense(100, init=nn.normal(0.01)))]
        parts += [(f"layer{i}.norm", nn.BatchNorm())] if norm else []
        parts += [(f"layer{i}.activation", "tanh")]
    return nn.Sequential(*parts)


def test_batch_norm_keeps_the_signal_that_a_small_start_loses():
    plain, normed = ten_layers(norm=False), ten_layers(norm=True)
    x = X[:, :100]
    lost, kept = (nn.signals(net, net.initialize(100), x) for net in (plain, normed))
    assert stds(lost)[-1] < 1e-8
    assert_allclose(stds(kept), 0.628, rtol=0.05)  # of tanh of a standard normal number
    assert max(a.rms for a in kept.adjoints[:-1]) < 10 * min(a.rms for a in kept.adjoints[:-1])
    stored = nn.signals(normed, normed.initialize(100), x, training=False)  # mean 0, variance 1: no data seen yet
    assert_allclose(stds(stored), stds(lost), rtol=1e-3)


def test_gradients_go_through_the_statistics_of_the_batch():
    net = nn.Sequential(("hidden", nn.Dense(4)), ("norm", nn.BatchNorm()), ("tanh", "tanh"), ("output", nn.Dense(2)))
    variables, x = net.initialize(500), X[:40]
    s = nn.signals(net, variables, x, adjoint=np.ones((40, 2)))
    assert s.adjoints[0].rms > 1e-3
    assert abs(s.adjoints[0].mean) < 1e-12  # a shift of all rows is taken away again


def test_dropout_is_at_work_and_drawn_by_the_seed():
    net = nn.mlp((200,), 1, dropout=0.5, activation="tanh")
    variables = net.initialize(500)
    zeros = [nn.signals(net, variables, X, seed=seed).activations[0].zeros for seed in (1, 1, 2)]
    assert zeros[0] == zeros[1] != zeros[2]
    assert_allclose(zeros, 0.5, atol=0.02)
    assert nn.signals(net, variables, X, training=False).activations[0].zeros == 0.0


def test_a_model_and_a_pair_are_accepted():
    model = Model(nn.mlp((20,), 3, norm="batch", dropout=0.3), "cross_entropy").initialize(500)
    expected = nn.signals(model.net, nn.Variables(model.params, model.state), X.astype(np.float32))
    for same in (
        nn.signals(model, X),
        nn.signals(model, None, X),
        nn.signals(model, X=X),
        nn.signals(model, (model.params, model.state), X),
        nn.signals(model.net, (model.params, model.state), X.astype(np.float32)),
    ):
        assert same == expected
    plain = nn.mlp((5,), 1)
    params, _ = plain.initialize(500)
    assert nn.signals(plain, params, X) == nn.signals(plain, (params, {}), X)


def test_what_signals_cannot_use_is_named():
    net = nn.mlp((5,), 1)
    with pytest.raises(ShapeError, match="no parameters yet"):
        nn.signals(Model(net), X)
    with pytest.raises(TypeError, match=r"pair \(params, state\), got NoneType"):
        nn.signals(net, None, X)
    with pytest.raises(TypeError, match="needs data"):
        nn.signals(net, net.initialize(500))
    with pytest.raises(TypeError, match="a network or a Model first, got str"):
        nn.signals("relu", net.initialize(500), X)


def test_what_overflowed_does_not_stop_the_look():
    net = nn.mlp((50,) * 12, 1, init=nn.normal(1000.0), output_init=nn.normal(1000.0))
    with np.errstate(all="ignore"):
        s = nn.signals(net, net.initialize(500, dtype=np.float32), X.astype(np.float32))
    assert not np.isfinite(s.activations[-1].rms)
