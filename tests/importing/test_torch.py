"""from_torch: networks of PyTorch's, and arrays of a state_dict without it."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import nn
from pellucid.importing import from_torch
from pellucid.importing.torch_layers import LAYERS

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 5)) * 2


def arrays(*shapes):
    """A state_dict of Linear layers, as arrays: {"0.weight": (out, in), "0.bias": (out,), ...}"""
    made = {}
    for place, (n_in, n_out) in shapes:
        made[f"{place}.weight"], made[f"{place}.bias"] = rng.normal(size=(n_out, n_in)), rng.normal(size=n_out)
    return made


def test_arrays_beside_a_network_of_ours():
    given = arrays((0, (5, 4)), (3, (4, 3)))
    given |= {"4.weight": np.ones(3), "4.bias": np.zeros(3), "4.running_mean": np.ones(3), "4.running_var": np.ones(3)}
    net = nn.Sequential(nn.Dense(4), "tanh", nn.Dropout(0.5), nn.Sequential(nn.Dense(3), nn.BatchNorm(eps=0.0)))
    model = from_torch(net, given)
    hidden = np.tanh(X @ given["0.weight"].T + given["0.bias"])
    assert_allclose(model.predict(X), hidden @ given["3.weight"].T + given["3.bias"] - 1.0, rtol=1e-12)
    assert model.dtype == np.float64
    history = model.fit(X, np.zeros((len(X), 3)), epochs=2, verbose=False)
    assert history["loss"][-1] < history["loss"][0]


def test_an_end_that_is_the_link_of_a_loss_is_left_to_it(tmp_path):
    given = arrays((0, (5, 4)), (2, (4, 3)))
    softmax = from_torch(nn.Sequential(nn.Dense(4), "relu", nn.Dense(3), "softmax"), given)
    scores = from_torch(nn.Sequential(nn.Dense(4), "relu", nn.Dense(3)), given, loss="cross_entropy")
    assert softmax.loss == scores.loss
    assert_allclose(softmax.predict(X), scores.predict(X))
    assert_allclose(softmax.predict(X).sum(axis=1), 1.0)
    kept = from_torch(nn.Sequential(nn.Dense(4), "relu", nn.Dense(3), "sigmoid"), given, loss="squared_error")
    assert_allclose(kept.scores(X), 1 / (1 + np.exp(-scores.scores(X))))
    labels = from_torch(nn.Sequential(nn.Dense(4), "relu", nn.Dense(3), "sigmoid"), given)
    assert labels.loss == nn.loss("multilabel")
    one = from_torch(nn.Sequential(nn.Dense(1), "sigmoid"), arrays((0, (5, 1))))
    assert one.loss == nn.loss("bce")
    softmax.save(tmp_path / "net.pel")
    assert_allclose(pel.load(tmp_path / "net.pel").predict(X), softmax.predict(X), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("network", "given", "words"),
    [
        (nn.Sequential(nn.Dense(4)), None, r"from_torch\(network, state_dict\)"),
        (nn.Sequential(nn.Dense(4), nn.Dense(3)), arrays((0, (5, 4))), "none is left for dense2"),
        (nn.Sequential(nn.Dense(4)), arrays((0, (5, 4)), (1, (4, 3))), "none takes those of '1'"),
        (nn.Sequential(nn.Dense(6)), arrays((0, (5, 4))), r"dense1.weight has the shape \(5, 6\).*\(5, 4\)"),
        (nn.Sequential(nn.Dense(4, bias=None)), arrays((0, (5, 4))), "dense1.bias"),
        (nn.Sequential(nn.LayerNorm()), {"0.running_mean": np.ones(3), "0.weight": np.ones(3)}, "no array 'running"),
        (nn.Sequential(nn.Dense(4, scaling="ntk")), arrays((0, (5, 4))), "drop scaling"),
        (nn.Sequential("relu"), {}, "features="),
    ],
    ids=["no arrays", "too few", "too many", "shape", "bias", "foreign", "scaled", "no weights"],
)
def test_errors_of_arrays(network, given, words):
    with pytest.raises(ValueError, match=words):
        from_torch(network, given)


def test_what_is_no_network():
    with pytest.raises(TypeError, match=r"takes a torch\.nn\.Sequential.*got dict"):
        from_torch({"0.weight": np.ones((3, 2))})


# with PyTorch

SETTINGS: dict[str, list[dict]] = {
    "BatchNorm1d": [{}, {"momentum": None}, {"affine": False}],
    "LayerNorm": [{}, {"elementwise_affine": False}, {"bias": False}],
    "RMSNorm": [{}, {"eps": 0.01}],
    "LeakyReLU": [{"negative_slope": 0.3}],
    "PReLU": [{}, {"num_parameters": 6}],
    "ELU": [{"alpha": 0.5}],
    "CELU": [{"alpha": 2.0}],
    "GELU": [{}, {"approximate": "tanh"}],
    "Softmax": [{"dim": 1}],
    "LogSoftmax": [{"dim": -1}],
}
WIDE = {"BatchNorm1d": 6, "LayerNorm": 6, "RMSNorm": 6}


@pytest.mark.parametrize("kind", [kind for kind in LAYERS if kind != "Linear"])
def test_every_layer_predicts_the_same(kind):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    make = getattr(torch.nn, kind)
    for settings in SETTINGS.get(kind, [{}]):
        layer = make(*([WIDE[kind]] if kind in WIDE else []), **settings)
        net = torch.nn.Sequential(torch.nn.Linear(5, 6), layer, torch.nn.Linear(6, 2, bias=False)).double()
        rows = torch.tensor(X)
        for _ in range(3):
            net.train()(rows)
        want = net.eval()(rows).detach().numpy()
        assert_allclose(from_torch(net).predict(X), want, rtol=0, atol=1e-9)
        with_arrays = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
        assert_allclose(from_torch(net, with_arrays).predict(X), want, rtol=0, atol=1e-9)


def test_nested_named_and_half_precision():
    torch = pytest.importorskip("torch")
    block = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.ReLU())
    net = torch.nn.Sequential()
    net.add_module("body", block)
    net.add_module("head", torch.nn.Linear(4, 3))
    model = from_torch(net.to(torch.bfloat16), loss="cross_entropy")
    assert model.dtype == np.float32
    assert "head.weight" in model.params
    scores = net.float()(torch.tensor(X, dtype=torch.float32)).detach().numpy()
    assert_allclose(model.scores(X), scores, atol=1e-5)


def test_images_behind_flatten():
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(6, 2), torch.nn.LogSoftmax(1)).double()
    images = rng.normal(size=(7, 2, 3))
    want = np.exp(net(torch.tensor(images)).detach().numpy())
    assert_allclose(from_torch(net, features=(2, 3)).predict(images), want, atol=1e-12)


def test_errors_of_modules():
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):  # type: ignore[name-defined]
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(3, 2)

    with pytest.raises(TypeError, match=r"Net is a module of its own, whose forward\(\) cannot be read"):
        from_torch(Net())
    with pytest.raises(TypeError, match=r"layer 1 is a Conv1d, which is not supported: .* Linear, BatchNorm1d"):
        from_torch(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Conv1d(1, 1, 1)))
    with pytest.raises(ValueError, match=r"Softplus\(beta=2\.?0?\) has no counterpart"):
        from_torch(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softplus(beta=2)))
    with pytest.raises(ValueError, match="of which the network knows nothing"):
        from_torch(torch.nn.Sequential(torch.nn.Linear(3, 2)), arrays((0, (3, 2)), (9, (2, 2))))


def test_torch_is_not_imported():
    """Layers are known by the names of their classes."""
    from pellucid.importing import torch_layers, torch_networks

    assert not any("import torch" in inspect.getsource(module) for module in (torch_layers, torch_networks))
