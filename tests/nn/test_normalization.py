"""Batch, layer and RMS normalisation: the lectures' derivatives one by one, invariants, statistics, folding."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import nn

EPS = 1e-5
rng = np.random.default_rng(0)
Z = rng.normal(1.0, 2.0, (6, 3))
mu, var = Z.mean(0), Z.var(0)
root = np.sqrt(var + EPS)
U = (Z - mu) / root


def defined(z, axis=0, eps=EPS):
    """The definition, for derivatives by the graph."""
    centred = z - np.mean(z, axis=axis, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2, axis=axis, keepdims=True) + eps)


# the lectures' partial derivatives, each by itself


def test_partials_of_the_normalised_value():
    u = lambda z, m, v: (z - m) / np.sqrt(v + EPS)
    assert_allclose(pel.grad(lambda m: np.sum(u(Z, m, var)))(mu), -len(Z) / root)
    for i in range(len(Z)):
        d_mean = pel.jacobian(lambda m: u(Z[i], m, var))(mu)  # noqa: B023
        d_var = pel.jacobian(lambda v: u(Z[i], mu, v))(var)  # noqa: B023
        assert_allclose(d_mean, -np.diag(1 / root))
        assert_allclose(d_var, -0.5 * np.diag((Z[i] - mu) * (var + EPS) ** -1.5))  # −½ V^{−3/2} diag(s − μ)


def test_partials_of_mean_and_variance():
    d_mean = pel.jacobian(lambda z: np.mean(z, axis=0))(Z)
    d_var = pel.jacobian(lambda z: np.mean((z - mu) ** 2, axis=0))(Z)  # with the mean held fixed
    for i in range(len(Z)):
        assert_allclose(d_mean[:, i, :], np.eye(3) / len(Z))
        assert_allclose(d_var[:, i, :], 2 / len(Z) * np.diag(Z[i] - mu))
    through_mean = pel.grad(lambda m: np.sum(np.mean((Z - m) ** 2, axis=0)))(mu)
    assert_allclose(through_mean, np.zeros(3), atol=1e-14)  # −(2/B) Σ(z − μ) = 0


def test_chain_of_the_lecture_gives_the_gradient():
    du = rng.normal(size=Z.shape)
    d_var = -0.5 * (var + EPS) ** -1.5 * np.sum(du * (Z - mu), axis=0)
    d_mean = -np.sum(du, axis=0) / root
    by_parts = du / root + d_var * 2 * (Z - mu) / len(Z) + d_mean / len(Z)
    compact = (du - du.mean(0) - U * np.mean(du * U, axis=0)) / root
    by_rule = pel.grad(lambda z: np.sum(du * nn.standardize(z, axis=0, eps=EPS)))(Z)
    by_definition = pel.grad(lambda z: np.sum(du * defined(z)))(Z)
    assert_allclose(by_parts, by_definition, atol=1e-14)
    assert_allclose(compact, by_definition, atol=1e-14)
    assert_allclose(by_rule, by_definition, atol=1e-14)


@pytest.mark.parametrize("axis", [0, -1])
def test_hand_derived_rule_equals_the_derivative_of_the_definition_to_second_order(axis):
    rule = lambda z: nn.standardize(z, axis=axis, eps=EPS)
    assert_allclose(pel.jacobian(rule)(Z), pel.jacobian(lambda z: defined(z, axis))(Z), atol=1e-13)
    f = lambda g: lambda z: np.sum(np.sin(g(z)) * np.arange(18.0).reshape(6, 3))
    assert_allclose(pel.hessian(f(rule))(Z), pel.hessian(f(lambda z: defined(z, axis)))(Z), atol=1e-11)
    pel.check_grads(rule, (Z,), order=3)


def test_full_influence_matrix_of_a_batch():
    J = pel.jacobian(lambda z: nn.standardize(z, axis=0, eps=EPS))(Z)
    for unit in range(3):
        u = U[:, unit]
        B = len(u)
        expected = (np.eye(B) - np.ones((B, B)) / B - np.outer(u, u) / B) / root[unit]
        assert_allclose(J[:, unit, :, unit], expected, atol=1e-14)


def test_learned_parts_sum_over_the_batch():
    net = nn.BatchNorm()
    p, s = net.initialize(3)
    d = rng.normal(size=Z.shape)
    gradient = pel.grad(lambda p: np.sum(d * net.apply(p, Z, s, training=True)[0]))(p)
    assert_allclose(gradient["scale"], np.sum(d * U, axis=0))
    assert_allclose(gradient["shift"], np.sum(d, axis=0))


def test_invariants():
    d = rng.normal(size=Z.shape)
    dz = pel.grad(lambda z: np.sum(d * nn.standardize(z, axis=0, eps=EPS)))(Z)
    assert_allclose(dz.sum(0), 0, atol=1e-14)
    exact = pel.grad(lambda z: np.sum(d * nn.standardize(z, axis=0, eps=0.0)))(Z)
    assert_allclose(np.sum(exact * (Z - mu) / np.sqrt(var), axis=0), 0, atol=1e-14)
    assert_allclose(np.sum(dz * U, axis=0), 0, atol=1e-4)  # up to eps


# the layer


def test_batch_output_has_the_learned_mean_and_deviation():
    net = nn.BatchNorm(eps=0.0)
    p = {"scale": np.array([2.0, 3.0, 0.5]), "shift": np.array([1.0, -1.0, 0.0])}
    y, _ = net.apply(p, Z, net.initialize(3).state, training=True)
    assert_allclose(y.mean(0), p["shift"], atol=1e-14)
    assert_allclose(y.std(0), p["scale"])


def test_the_identity_can_be_recovered():  # exact with the eps inside the root
    net = nn.BatchNorm()
    y, _ = net.apply({"scale": root, "shift": mu}, Z, net.initialize(3).state, training=True)
    assert_allclose(y, Z, atol=1e-12)


def test_a_bias_before_batch_norm_learns_nothing():
    net = nn.Sequential(nn.Dense(4), nn.BatchNorm(), "tanh")
    p, s = net.initialize(3)
    gradient = pel.grad(lambda p: np.sum(net.apply(p, Z, s, training=True)[0] ** 2))(p)
    assert_allclose(gradient["dense1.bias"], 0, atol=1e-13)
    assert np.abs(gradient["dense1.weight"]).max() > 0.1


def test_scale_of_the_weights_does_not_matter():
    net = nn.Sequential(nn.Dense(4, bias=None), nn.BatchNorm(eps=0.0), "tanh")
    p, s = net.initialize(3)
    loss = lambda p: np.sum(net.apply(p, Z, s, training=True)[0] ** 3)
    a = 7.0
    larger = {**p, "dense1.weight": a * p["dense1.weight"]}
    assert_allclose(loss(larger), loss(p), rtol=1e-12)
    assert_allclose(
        pel.grad(loss)(larger)["dense1.weight"] * a, pel.grad(loss)(p)["dense1.weight"], rtol=1e-9, atol=1e-12
    )


def test_running_and_cumulative_averages():
    batches = rng.normal(3.0, 2.0, (5, 8, 2))
    running, cumulative = nn.BatchNorm(momentum=0.25), nn.BatchNorm(average="cumulative")
    (_, a), (p, b) = running.initialize(2), cumulative.initialize(2)
    mean, variance = np.zeros(2), np.ones(2)
    for batch in batches:
        _, a = running.apply(p, batch, a, training=True)
        _, b = cumulative.apply(p, batch, b, training=True)
        mean = 0.75 * mean + 0.25 * batch.mean(0)
        variance = 0.75 * variance + 0.25 * batch.var(0, ddof=1)
    assert_allclose(a["mean"], mean)
    assert_allclose(a["var"], variance)
    assert_allclose(b["mean"], batches.mean((0, 1)))
    assert_allclose(b["var"], batches.var(1, ddof=1).mean(0))
    assert a["batches"] == b["batches"] == 5


def test_prediction_uses_the_stored_statistics_and_leaves_them_alone():
    net = nn.BatchNorm()
    p, s = net.initialize(3)
    s = {**s, "mean": mu, "var": var}
    y, after = net.apply(p, Z[:2], s)
    assert_allclose(y, U[:2])
    assert after == s


@pytest.mark.parametrize("open_size", [False, True])
def test_a_batch_of_one_is_normalised_by_the_stored_statistics(open_size):
    net = nn.BatchNorm()
    p, s = net.initialize(3)
    s = {**s, "mean": mu, "var": var}
    call = lambda p, x, s: net.apply(p, x, s, training=True)
    if open_size:
        specs = [{k: pel.Spec(v.shape) for k, v in tree.items()} for tree in (p, s)]
        graph = pel.record(call, specs[0], pel.Spec(("n", 3)), specs[1])
        call = lambda p, x, s: pel.run(graph, p, x, s)
    y, after = call(p, Z[:1], s)
    assert_allclose(y, U[:1])
    assert all(np.array_equal(after[k], s[k]) for k in s)
    y, after = call(p, Z, s)
    assert_allclose(y, U, atol=1e-12)
    assert after["batches"] == 1


def test_population_statistics_are_exact():
    X = rng.normal(-1.0, 3.0, (48, 2))
    net = nn.Sequential(("norm", nn.BatchNorm()), ("dense", nn.Dense(3)), ("norm2", nn.BatchNorm()))
    variables = net.initialize(2)
    batches = np.split(X, 6)
    exact = nn.population_statistics(net, variables, batches)
    assert_allclose(exact.state["norm.mean"], X.mean(0))
    assert_allclose(exact.state["norm.var"], np.mean([b.var(0, ddof=1) for b in batches], axis=0))
    inner = [net.children[1][1].predict(nn_within(exact.params, "dense"), defined(b)) for b in batches]
    assert_allclose(exact.state["norm2.mean"], np.mean([z.mean(0) for z in inner], axis=0), atol=1e-12)
    assert_allclose(exact.state["norm2.var"], np.mean([z.var(0, ddof=1) for z in inner], axis=0), rtol=1e-9)
    with pytest.raises(ValueError, match="batches of at least two rows"):
        nn.population_statistics(net, variables, [X[:1]])
    plain = nn.Dense(1).initialize(2)
    assert nn.population_statistics(nn.Dense(1), plain, []) is plain


def nn_within(params, name):
    return {k[len(name) + 1 :]: v for k, v in params.items() if k.startswith(f"{name}.")}


def test_the_corrected_batch_variance_is_unbiased():  # by Monte Carlo
    population = np.random.default_rng(1).gamma(2.0, size=2000)
    draws = np.random.default_rng(2).choice(population, (40_000, 4))
    corrected = 4 / 3 * draws.var(axis=1)
    error = corrected.std() / np.sqrt(len(corrected))
    assert abs(corrected.mean() - population.var()) < 4 * error
    assert abs(draws.var(axis=1).mean() - population.var()) > 20 * error  # the biased one is not


def test_layer_norm_is_the_same_in_training_and_prediction():
    net = nn.LayerNorm()
    p, s = net.initialize(3)
    p = {"scale": np.array([1.0, 2.0, 3.0]), "shift": np.array([0.0, 1.0, -1.0])}
    assert_allclose(net.apply(p, Z, s, training=True)[0], net.predict(p, Z))
    assert_allclose(net.predict(p, Z), defined(Z, -1) * p["scale"] + p["shift"])
    pel.check_grads(lambda p, z: net.predict(p, z), (p, Z))


def test_rms_norm():
    net = nn.RMSNorm(eps=0.0)
    y = net.predict(net.initialize(3).params, Z)
    assert_allclose(np.mean(y**2, axis=1), 1)
    pel.check_grads(lambda z: net.predict(net.initialize(3).params, z), (Z,))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: nn.mlp((5, 4), 2, norm="batch", activation="tanh"), id="before the activation"),
        pytest.param(lambda: nn.mlp((5, 4), 2, norm="batch", norm_place="after", activation="relu"), id="after"),
        pytest.param(lambda: nn.mlp((5,), 2, norm="batch", scaling="ntk"), id="ntk"),
        pytest.param(
            lambda: nn.Sequential(nn.BatchNorm(), nn.Dense(3, bias=None), nn.BatchNorm(affine=False)), id="both sides"
        ),
        pytest.param(lambda: nn.Sequential("relu", nn.BatchNorm(), "tanh"), id="nothing to fold into"),
    ],
)
def test_folding_leaves_predictions_unchanged(make):
    net = make()
    p, s = net.initialize(3, seed=3)
    noisy = np.random.default_rng(4)
    p = {k: v + 0.1 * noisy.normal(size=v.shape) for k, v in p.items()}
    s = {k: v + np.abs(noisy.normal(size=v.shape)) for k, v in s.items()}
    small, q, t = nn.fold_batchnorm(net, p, s)
    assert_allclose(small.predict(q, Z, t), net.predict(p, Z, s), atol=1e-12)
    kept = [layer for _, layer in small.children if isinstance(layer, nn.BatchNorm)]
    assert len(kept) == (1 if not any(isinstance(layer, nn.Dense) for _, layer in net.children) else 0)


def test_wrong_settings():
    with pytest.raises(ValueError, match="average is 'running' or 'cumulative', got 'median'"):
        nn.BatchNorm(average="median")
    with pytest.raises(ValueError, match="momentum in 0"):
        nn.BatchNorm(momentum=2.0)
