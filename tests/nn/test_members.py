"""Many networks in one: layers, the loss of each, and the mean of what they predict, on both engines."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special

import pellucid as pel
from pellucid import nn, optim
from pellucid.engine.native.runtime.fallback import FallbackWarning
from pellucid.errors import ShapeError
from pellucid.nn.losses.link import Link
from pellucid.train import Model, load
from tests.both_engines import each_engine

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
LABELS = rng.integers(0, 3, 40)
K = 4

CASES = {
    "squared_error": (nn.loss("squared_error"), 2, rng.normal(size=(40, 2))),
    "quantile": (nn.loss("quantile", quantiles=(0.1, 0.5, 0.9)), 6, rng.normal(size=(40, 2))),
    "poisson": (nn.loss("poisson"), 1, rng.poisson(2.0, 40)),
    "cross_entropy": (nn.loss("cross_entropy", smoothing=0.1), 3, LABELS),
    "shares": (nn.loss("cross_entropy"), 3, rng.dirichlet([1.0, 1.0, 1.0], 40)),
    "bce": (nn.loss("bce"), 1, LABELS > 0),
    "multilabel": (nn.loss("multilabel"), 2, rng.integers(0, 2, (40, 2))),
    "focal, one score": (nn.loss("focal"), 1, (LABELS > 0).astype(int)),
    "focal": (nn.loss("focal"), 3, LABELS),
    "summed": (nn.Summed(nn.loss("squared_error")), 2, rng.normal(size=(40, 2))),
    "capped": (nn.Capped(nn.loss("cross_entropy")), 3, LABELS),
}
each_case = pytest.mark.parametrize("name", CASES)


def members_of(scores, outputs):
    return [scores[:, i * outputs : (i + 1) * outputs] for i in range(K)]


# the layers


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("scaling", ["standard", "ntk"])
def test_every_member_is_a_network_of_its_own(outputs, scaling):
    net = nn.mlp((8, 6), outputs, members=K, scaling=scaling, bias="standard_normal")
    params = net.initialize(3, seed=1).params
    assert params["input.members.scale"].shape == (K, 3)
    assert params["output.weight"].shape == (K, 6, outputs)
    assert params["output.bias"].shape == (K, outputs)
    assert net.output((3,)) == (K * outputs,)
    plain = nn.mlp((8, 6), outputs, scaling=scaling)
    shared = {name: array for name, array in params.items() if name.startswith("hidden")}
    for i, scores in enumerate(members_of(net.predict(params, X), outputs)):
        own = {"output.weight": params["output.weight"][i], "output.bias": params["output.bias"][i]}
        alone = plain.predict(shared | own, X * params["input.members.scale"][i])
        assert_allclose(scores, alone, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("outputs", [1, 2])
def test_one_member_with_factors_of_one_is_the_plain_network(outputs):
    plain = nn.mlp((8,), outputs)
    params = plain.initialize(3, seed=2).params
    one = nn.Sequential(
        ("input.members", nn.Members(1, init=1.0)), *plain.children[:-1], ("output", nn.Heads(outputs, 1))
    )
    lifted = params | {"output.weight": params["output.weight"][None], "output.bias": params["output.bias"][None]}
    lifted |= {"input.members.scale": np.ones((1, 3))}
    assert_allclose(one.predict(lifted, X), plain.predict(params, X), rtol=1e-14)
    assert nn.mlp((8,), outputs, members=1) == plain


def test_how_they_start():
    params = nn.mlp((50,), 2, members=K, scaling="ntk").initialize(400).params
    assert set(np.unique(params["input.members.scale"])) == {-1.0, 1.0}
    assert_allclose(params["output.weight"].std(), 1.0, rtol=0.1)
    assert_allclose(nn.Heads(30, K).initialize(400).params["weight"].std(), 1 / 20, rtol=0.05)
    assert not nn.mlp((50,), 2, members=K, output_init=0.0).initialize(4).params["output.weight"].any()
    hidden = nn.mlp((400,), 2, members=K, activation="relu").initialize(400).params["hidden1.weight"]
    assert_allclose(hidden.std(), np.sqrt(2 / 400), rtol=0.01)
    straight = nn.Sequential(nn.Members(2), ("layer", nn.Dense(400)), nn.Heads(1, 2), "relu")
    assert_allclose(straight.initialize(400).params["layer.weight"].std(), 1 / 20, rtol=0.01)  # the relu is not its own


@pytest.mark.parametrize("outputs", [1, 2])
@each_engine
def test_gradients_agree_with_differences(engine, outputs):
    net = nn.Sequential(nn.Members(K), nn.Dense(3), "tanh", nn.Heads(outputs, K, scaling="ntk"))
    loss = nn.EachMember(nn.loss("cross_entropy" if outputs > 1 else "bce"), K)
    y = loss.prepare(LABELS > 0, K * outputs)
    vector, back = nn.flatten_parameters(net.initialize(3, seed=1).params)
    f = lambda v: loss(net.predict(back(v), X), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        g = pel.compile(pel.grad(f), engine=engine)(vector)
    for i in range(len(vector)):
        e = np.zeros_like(vector)
        e[i] = 1e-6
        assert_allclose(g[i], (f(vector + e) - f(vector - e)) / 2e-6, rtol=1e-5, atol=1e-9)


@each_case
def test_both_engines_train_alike_and_files_keep_it(name, tmp_path):
    loss, outputs, y = CASES[name]
    net = nn.mlp((6,), outputs, members=K, norm="batch", dropout=0.1)
    models = [
        Model(net, nn.EachMember(loss, K), optim.SGD(0.1), dtype="float64", engine=engine)
        for engine in ("numpy", "native")
    ]
    for model in models:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FallbackWarning)
            model.fit(X, y, epochs=3, batch_size=16, verbose=False, sample_weight=np.arange(1.0, 41.0))
    for key, value in models[0].params.items():
        assert_allclose(models[1].params[key], value, rtol=1e-8, atol=1e-12)
    assert_allclose(models[1].predict(X), models[0].predict(X), rtol=1e-8)
    models[0].save(tmp_path / "m.pel")
    again = load(tmp_path / "m.pel")
    assert again.loss == models[0].loss
    assert_array_equal(again.predict(X), models[0].predict(X))


# the loss


@each_case
def test_the_loss_is_the_mean_of_the_members_losses(name):
    loss, outputs, y = CASES[name]
    each = nn.EachMember(loss, K)
    assert each.outputs(y) == K * loss.outputs(y)
    target, w = each.prepare(y, K * outputs), np.arange(1.0, 41.0)
    assert_array_equal(target, loss.prepare(y, outputs))
    scores = rng.normal(size=(40, K * outputs))
    alone = members_of(scores, outputs)
    assert_allclose(each.per_sample(scores, target), np.mean([loss.per_sample(s, target) for s in alone], axis=0))
    assert_allclose(each(scores, target, w), np.mean([loss(s, target, w) for s in alone]))


@each_case
def test_the_prediction_is_the_mean_of_the_members_predictions(name):
    loss, outputs, _ = CASES[name]
    each = nn.EachMember(loss, K)
    scores = 3 * rng.normal(size=(40, K * outputs))
    alone = members_of(scores, outputs)
    assert_allclose(each.link(scores), np.mean([loss.link(s) for s in alone], axis=0), rtol=1e-12)
    assert_allclose(each.single.link(each.joined(scores)), each.link(scores), rtol=1e-12)
    assert each.link.kind is loss.link.kind
    if loss.link.kind.gives_probabilities:
        likely = np.mean([loss.link.probabilities(s) for s in alone], axis=0)
        assert_allclose(each.link.probabilities(scores), likely, rtol=1e-12)
        assert_allclose(each.link.log_probabilities(scores), np.log(likely), rtol=1e-9, atol=1e-14)


def test_logarithms_of_tiny_probabilities():
    each = nn.EachMember(nn.loss("bce"), 2)
    assert_allclose(each.link.log_probabilities(np.array([[-1000.0, -1000.0]])), [[0.0, -1000.0]])
    assert_allclose(each.link.log_probabilities(np.array([[-1000.0, 0.0]])), [[np.log(0.75), np.log(0.25)]])
    many = nn.EachMember(nn.loss("cross_entropy"), 2).link.log_probabilities(np.array([[0.0, 2000.0, 0.0, 1000.0]]))
    assert_allclose(many, [[-1000.0 - np.log(2.0), 0.0]])


def test_margins_and_links_of_ones_own_pool_the_scores():
    scores = np.array([[3.0, -1.0], [-3.0, 1.0]])
    assert_array_equal(nn.EachMember(nn.loss("hinge"), 2).link(scores), [[1.0], [-1.0]])
    halves = nn.loss(lambda s, y: (s - y) ** 2, link=Link("halves", lambda s: special.expit(s / 2)))
    assert_allclose(nn.EachMember(halves, 2).link(scores), special.expit([[0.5], [-0.5]]))


def test_metrics_and_the_validation_loss_are_those_of_all_together():
    loss, outputs, y = CASES["cross_entropy"]
    model = Model(nn.mlp((6,), outputs, members=K), nn.EachMember(loss, K), metrics=["accuracy", "roc_auc"])
    model.fit(X, y, epochs=2, verbose=False)
    measured, likely = model.evaluate(X, y), model.predict(X)
    assert likely.shape == (40, 3)
    assert_array_equal(model.predict_classes(X), likely.argmax(axis=1))
    assert_allclose(measured["accuracy"], np.mean(likely.argmax(axis=1) == y))
    smoothed = 0.9 * np.eye(3)[y] + 0.1 / 3
    assert_allclose(measured["loss"], -np.mean(np.sum(smoothed * np.log(likely), axis=1)), rtol=1e-5)


def test_members_differ_after_training():
    model = Model(nn.mlp((16,), 1, members=K), nn.EachMember(nn.loss("squared_error"), K), optim.Adam(0.01))
    model.fit(X, X[:, 0] * X[:, 1], epochs=50, batch_size=8, verbose=False)
    assert model.scores(X).std(axis=1).min() > 1e-4


# what is refused


def test_what_does_not_fit_is_refused():
    with pytest.raises(ShapeError, match=r"rows for 3 members, got 40 rows: put nn.Members\(3\) ahead"):
        nn.Heads(1, 3).predict(nn.Heads(1, 3).initialize(3).params, X)
    with pytest.raises(ShapeError, match="expects 3 features, got an array of shape"):
        nn.Members(2).predict(nn.Members(2).initialize(3).params, X[:, :2])
    with pytest.raises(ValueError, match="Members: members is a whole number from 1, got 0"):
        nn.mlp((3,), 1, members=0)
    with pytest.raises(ValueError, match="scaling is 'standard' or 'ntk', got 'ntc'"):
        nn.Heads(1, 2, scaling="ntc")
    with pytest.raises(ValueError, match="the loss is that of one member, got one of 2"):
        nn.EachMember(nn.EachMember(nn.loss("bce"), 2), 2)
    each = nn.EachMember(nn.loss("squared_error"), 3)
    with pytest.raises(ShapeError, match="do not fit a target"):
        each(np.ones((4, 2)), each.prepare(np.ones(4)))
