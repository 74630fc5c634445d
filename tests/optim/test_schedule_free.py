"""Schedule-free AdamW: what it averages, what predicts, and what happens to parameters that others move."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import nn, optim, train
from pellucid.optim import ScheduleFreeAdamW, chain, optimizer
from tests.optim.descent import SmallNetwork, descent

NETWORK = SmallNetwork(20)
gradient = pel.grad(NETWORK.loss)
rng = np.random.default_rng(4)
X = rng.normal(size=(60, 3))
Y = np.sin(X[:, :1]) + X[:, 1:2] * X[:, 2:]


def predicting(opt, params, gradient, steps):
    return [opt.for_prediction(*both) for both in descent(opt, params, gradient, steps)]


def test_without_interpolation_it_is_the_plain_average_of_adams_steps():
    opt = optimizer(ScheduleFreeAdamW(0.05, beta1=0.0))
    path = [params for params, _ in descent(opt, NETWORK.params, gradient, 30)]
    adam = [params for params, _ in descent(optimizer("adam", lr=0.05, beta1=0.0), NETWORK.params, gradient, 30)]
    averages = predicting(opt, NETWORK.params, gradient, 30)
    for name in NETWORK.params:
        for k in range(30):
            assert_allclose(path[k][name], adam[k][name], rtol=1e-12)
            assert_allclose(averages[k][name], np.mean([one[name] for one in path[: k + 1]], axis=0), rtol=1e-12)


def test_the_algorithm_of_the_paper_with_a_warm_up():
    """Line by line, with the rate of every step, and decay at y."""
    beta1, beta2, eps, decay = 0.8, 0.9, 1e-8, 0.1
    rate = optim.Warmup(6, optim.Step(0.1, every=10, factor=0.5))
    opt = optimizer(ScheduleFreeAdamW(rate, beta1, beta2, eps, decay))
    z = x = dict(NETWORK.params)
    v, squared_rates = dict.fromkeys(z, 0.0), 0.0
    for t, (params, state) in enumerate(descent(opt, NETWORK.params, gradient, 25)):
        y = {k: (1 - beta1) * z[k] + beta1 * x[k] for k in z}
        g, lr = gradient(y), rate(t)
        v = {k: beta2 * v[k] + (1 - beta2) * g[k] ** 2 for k in z}
        squared_rates += lr**2
        c = lr**2 / squared_rates
        root = {k: np.sqrt(v[k] / (1 - beta2 ** (t + 1))) + eps for k in z}
        z = {k: z[k] - lr * g[k] / root[k] - lr * decay * y[k] for k in z}
        x = {k: (1 - c) * x[k] + c * z[k] for k in z}
        for k in z:
            assert_allclose(params[k], (1 - beta1) * z[k] + beta1 * x[k], rtol=1e-11)
            assert_allclose(opt.for_prediction(params, state)[k], x[k], rtol=1e-11)


def test_steps_at_rate_0_have_no_weight():
    opt = optimizer(ScheduleFreeAdamW(optim.Piecewise((0.0, 0.1), at=(3,))))
    averages = predicting(opt, {"w": np.ones(2)}, lambda p: {"w": p["w"]}, 4)
    for average in averages[:3]:
        assert_array_equal(average["w"], 1.0)
    assert_allclose(averages[3]["w"], 0.9, rtol=1e-6)  # the first step that counts is all of the average


def test_the_average_is_nearer_to_the_minimum_than_steps_at_the_same_rate():
    """Noisy gradients of ½ ‖w‖²: a constant rate keeps Adam jumping about, the average settles."""

    def far(opt, seed):
        noise = np.random.default_rng(seed)
        jumping = lambda p: {"w": p["w"] + noise.normal(size=50)}
        return np.mean(np.square(predicting(opt, {"w": np.full(50, 2.0)}, jumping, 2000)[-1]["w"]))

    for seed in range(3):
        assert far(optimizer(ScheduleFreeAdamW(0.1)), seed) < 0.25 * far(optimizer("adam", lr=0.1), seed)


def model(engine="numpy", rate=0.02, **options):
    made = train.Model(nn.mlp((8,), 1, activation="tanh"), "squared_error", ScheduleFreeAdamW(rate), engine=engine)
    made.fit(X, Y, **{"epochs": 5, "batch_size": 16, "verbose": False, "seed": 1, **options})
    return made


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_the_average_predicts(engine):
    seen = {}

    def keep(run):
        seen["now"], seen["prediction"] = run.now, run.prediction[0]

    made = model(engine, callbacks=[keep])
    for name, w in made.params.items():
        assert_array_equal(w, seen["now"].rule[f"rule.{name}.x"])
        assert_array_equal(w, seen["prediction"][name])
        assert not np.array_equal(w, seen["now"].params[name])
    assert made.history["loss"][-1] < made.history["loss"][0]


def test_links_on_gradients_go_with_it():
    opt = chain(optim.Accumulate(2), optim.ClipNorm(1.0), ScheduleFreeAdamW(0.1))
    path = list(descent(opt, NETWORK.params, gradient, 40))
    assert NETWORK.loss(opt.for_prediction(*path[-1])) < 0.5 * NETWORK.loss(NETWORK.params)
    assert_array_equal(path[0][1]["rule.W.x"], NETWORK.params["W"])  # between updates nothing changes


@pytest.mark.parametrize(
    "link", [optim.EMA(0.9), optim.SWA(3), optim.WeightDecay(0.1), optim.Constraint(nn.MaxNorm(1.0))], ids=repr
)
def test_links_on_parameters_are_refused(link):
    with pytest.raises(ValueError, match=r"ScheduleFreeAdamW makes the parameters anew .*decay is a setting"):
        chain(ScheduleFreeAdamW(), link)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_continued_fit_is_one_fit(engine):
    whole = model(engine, epochs=6, continued=True)
    parts = model(engine, epochs=2, continued=True)
    parts.fit(X, Y, epochs=4, batch_size=16, verbose=False, seed=1, continued=True)
    for name, w in whole.params.items():
        assert_array_equal(parts.params[name], w)


def test_parameters_put_in_by_hand_are_where_training_goes_on():
    made = model(epochs=2, continued=True)
    made.params = {name: np.full_like(w, 0.25) for name, w in made.params.items()}
    made.optimizer = optimizer(ScheduleFreeAdamW(1e-6))
    made.fit(X, Y, epochs=1, batch_size=16, verbose=False, continued=True)
    for w in made.params.values():
        assert_allclose(w, 0.25, atol=1e-4)


def test_the_best_epoch_is_where_training_goes_on():
    worse = X[:20], Y[:20] + 100.0 * rng.normal(size=(20, 1))
    stopping = train.EarlyStopping(3)
    made = model(rate=0.3, epochs=12, validation=worse, callbacks=[stopping], continued=True)
    best = {name: w.copy() for name, w in made.params.items()}
    assert any(not np.array_equal(made.progress.rule[f"rule.{name}.s"], 0 * w) for name, w in best.items())
    made.optimizer = optimizer(ScheduleFreeAdamW(1e-6))
    made.fit(X, Y, epochs=1, batch_size=16, verbose=False, continued=True)
    for name, w in made.params.items():
        assert_allclose(w, best[name], atol=1e-4)
