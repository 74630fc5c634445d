"""Chains: order, groups, scheduled numbers, accumulation, state by name; recorded and eager."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import nn, optim
from pellucid.errors import ShapeError
from pellucid.optim import (
    EMA,
    SGD,
    SWA,
    Accumulate,
    Adam,
    AdamW,
    ClipNorm,
    ClipValue,
    Constraint,
    Cosine,
    FlatCos,
    Group,
    Lion,
    Momentum,
    Optimizer,
    WeightDecay,
    chain,
    optimizer,
)
from tests.optim.descent import descent

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(24, 3)), rng.normal(size=(24, 2))
NET = {
    "hidden1.weight": rng.normal(size=(3, 4)),
    "hidden1.bias": rng.normal(size=4),
    "out.weight": rng.normal(size=(4, 2)),
}


def gradient(p, rows=slice(None)):
    def loss(p):
        return np.mean(
            np.square(np.tanh(X[rows] @ p["hidden1.weight"] + p["hidden1.bias"]) @ p["out.weight"] - Y[rows])
        )

    return pel.grad(loss)(p)


def run(opt, steps=10, params=NET, batches=None):
    """Parameters and state at the end."""
    rows = itertools.cycle(batches or [slice(None)])
    *_, end = descent(opt, params, lambda p: gradient(p, next(rows)), steps)
    return end


def same(one, other, rtol=0.0, atol=0.0):
    assert list(one) == list(other)
    for name, value in one.items():
        if rtol or atol:
            assert_allclose(value, other[name], rtol=rtol, atol=atol, err_msg=name)
        else:
            assert_array_equal(value, other[name], err_msg=name)


def test_ways_to_make_one():
    adam = optimizer("adam", lr=0.1)
    assert adam == optimizer(Adam(0.1)) == chain(Adam(0.1)) == Optimizer(Adam(0.1))
    assert optimizer(adam) == adam
    assert optimizer() == optimizer("Adam")
    assert optimizer([ClipNorm(1.0), "adam"]) == chain(ClipNorm(1.0), Adam()) == chain(ClipNorm(1.0), "adam")
    grouped = optimizer("sgd", lr=0.1, groups=[Group("*.bias", lr=0.5)])
    assert optimizer(grouped, groups=[Group("out.*")]).groups == (Group("*.bias", lr=0.5), Group("out.*"))
    assert hash(grouped) == hash(grouped)
    for which, settings, message in (
        (3, {}, "is a name, a Rule, links and a rule, or an Optimizer, got 3"),
        (Adam(), {"lr": 0.1}, "settings belong to a rule by name"),
        ([Adam(), 3], {}, "links and one rule, got 3"),
    ):
        with pytest.raises(TypeError, match=message):
            optimizer(which, **settings)
    with pytest.raises(ValueError, match="a chain has one rule"):
        chain(ClipNorm(1.0))
    with pytest.raises(ValueError, match="a chain has one rule"):
        chain(Adam(), SGD())
    with pytest.raises(ValueError, match=r"ClipNorm\(limit=1.0\) works on gradients: put it ahead of Adam"):
        chain(Adam(), ClipNorm(1.0))
    with pytest.raises(ValueError, match="works on parameters: put it behind Adam"):
        chain(EMA(), Adam())
    with pytest.raises(ValueError, match="one Accumulate"):
        chain(Accumulate(2), Accumulate(3), Adam())


def test_state_is_flat_and_named():
    opt = chain(Accumulate(2), Adam(), WeightDecay(0.1), EMA(0.9), EMA(0.99))
    _, state = run(opt, 3)
    assert list(state) == list(opt.init(NET))
    assert {"rule.hidden1.weight.m", "rule.out.weight.c2", "accumulate.hidden1.bias", "ema.out.weight"} < set(state)
    assert {"ema.(correction)", "ema2.(correction)", "ema2.hidden1.weight"} < set(state)
    assert not any(name.startswith("decay") for name in state)
    nested = {"a": np.ones(2), "a.m": np.ones(3)}  # names may be parts of others
    plain = chain(Adam(), EMA())
    after = plain.update(nested, nested, plain.init(nested), 1, plain.numbers(0))[1]
    assert after["rule.a.m"].shape == (2,)
    assert after["rule.a.m.m"].shape == (3,)


def test_numbers():
    rate, beta = Cosine(0.1, steps=10), optim.InverseSqrt(0.9, c=0.1)
    opt = chain(ClipNorm(Cosine(2.0, end=1.0, steps=4)), Adam(rate, beta1=beta), WeightDecay(FlatCos(0.02, steps=8)))
    expected = {"lr", "rule.beta1", "clip_norm.limit", "decay.rate"}
    for t in range(12):
        numbers = opt.numbers(t)
        assert set(numbers) == expected
        assert all(type(value) is float for value in numbers.values())
        assert numbers["lr"] == rate(t)
        assert numbers["rule.beta1"] == beta(t)
    assert chain(SGD(1)).numbers(5) == {"lr": 1.0}
    with pytest.raises(ValueError, match=r"lack rule.beta1: pass optimizer.numbers\(t\)"):
        opt.update(NET, NET, opt.init(NET), 1, {"lr": 0.1})
    # the loop may change numbers: here it stops
    same(opt.update(NET, NET, opt.init(NET), 1, opt.numbers(0) | {"lr": 0.0})[0], NET)


def test_fit_fills_in_the_run():
    opt = chain(SGD(Cosine(0.1)), WeightDecay(FlatCos(0.02)), SWA()).fit(total_steps=40, steps_per_epoch=10)
    assert opt.rule.lr == Cosine(0.1, steps=40)
    assert opt.links == (WeightDecay(FlatCos(0.02, steps=40)), SWA(30))
    assert opt.fit(80, 10) == opt  # what is known stays
    half = chain(Accumulate(4), SGD(optim.Step(0.1, every=optim.Epochs(2))), SWA(optim.Epochs(1))).fit(40, 10)
    assert half.rule == SGD(optim.Step(0.1, every=5))
    assert half.links[1] == SWA(2)
    with pytest.raises(ValueError, match=r"Cosine: steps=None depends on the run: .* \.fit\(total_steps"):
        chain(SGD(Cosine(0.1))).numbers(0)
    with pytest.raises(ValueError, match="SWA: start=None depends on the run"):
        run(chain(SGD(), SWA()), 1)


def test_groups_are_factors():
    groups = [Group("*.bias", lr=0.1), Group(["hidden1.*"], lr=2.0), Group("out.*", lr=0.0)]
    one, _ = run(chain(SGD(0.1), groups=groups), 1)
    g = gradient(NET)
    for name, factor in (("hidden1.weight", 2.0), ("hidden1.bias", 0.2), ("out.weight", 0.0)):
        assert_allclose(one[name], NET[name] - 0.1 * factor * g[name], rtol=1e-14)
    same(run(chain(Adam(0.1), groups=[Group("*")]))[0], run(chain(Adam(0.1)))[0])
    same(run(chain(Adam(0.01), groups=[Group("*", lr=10.0)]))[0], run(chain(Adam(0.1)))[0], rtol=1e-12)
    with pytest.raises(ValueError, match=r"Group: on='hiden.\*' matches none of the parameters: hidden1.weight"):
        chain(SGD(), groups=[Group("hiden.*")]).init(NET)
    for wrong in ({"lr": -1.0}, {"decay": np.nan}):
        with pytest.raises(ValueError, match=r"Group: .* is a number from 0"):
            Group("*", **wrong)


@pytest.mark.parametrize(
    "make",
    [
        lambda groups: chain(AdamW(0.1, decay=0.5), groups=groups),
        lambda groups: chain(Lion(0.1, decay=0.5), groups=groups),
        lambda groups: chain(SGD(0.1), WeightDecay(0.5, on="*"), groups=groups),
    ],
)
def test_groups_of_decay(make):
    opt = make([Group("*.bias", decay=0.0), Group("out.*", lr=0.5, decay=3.0)])
    still = {name: np.zeros_like(w) for name, w in NET.items()}
    new, _ = opt.update(NET, still, opt.init(NET), 1, opt.numbers(0))
    for name, factor in (("hidden1.weight", 1.0), ("hidden1.bias", 0.0), ("out.weight", 1.5)):
        assert_allclose(new[name], (1 - 0.05 * factor) * NET[name], rtol=1e-14)


BATCHES = [slice(6 * i, 6 * i + 6) for i in range(4)]


@pytest.mark.parametrize(
    "rule", [SGD(0.1), Momentum(Cosine(0.1, steps=9)), Adam(Cosine(0.1, steps=9), beta1=FlatCos(0.9, steps=9))]
)
def test_accumulation_is_the_big_batch(rule):
    """Clipping the mean, decay, averages, schedules: four calls are one step on four batches."""
    around = (ClipNorm(0.5), rule, WeightDecay(0.1), EMA(0.5), SWA(2))
    large, large_state = run(chain(*around), 6)
    small, small_state = run(chain(Accumulate(4), *around), 24, batches=BATCHES)
    same(small, large, rtol=1e-10, atol=1e-12)
    same({k: v for k, v in small_state.items() if k[:3] != "acc"}, large_state, rtol=1e-9, atol=1e-11)


def test_between_updates_nothing_moves():
    opt = chain(Accumulate(3), Adam(0.1), WeightDecay(0.1), EMA(0.9))
    params, state = NET, opt.init(NET)
    for t in range(1, 10):
        new, after = opt.update(params, gradient(params), state, t, opt.numbers(t - 1))
        if t % 3:
            same(new, params)
            same({k: v for k, v in after.items() if k[:3] != "acc"}, {k: v for k, v in state.items() if k[:3] != "acc"})
        else:
            assert all(np.any(new[name] != params[name]) for name in NET)
        params, state = new, after
    assert opt.numbers(0) == opt.numbers(2)


EVERY = {
    "plain": lambda: chain(SGD(0.1)),
    "all": lambda: chain(
        ClipValue(FlatCos(2.0, steps=20)),
        Accumulate(2),
        ClipNorm(1.0),
        AdamW(Cosine(0.1, steps=6), beta1=FlatCos(0.9, steps=6), decay=Cosine(0.1, steps=20)),
        WeightDecay(Cosine(0.1, steps=20)),
        Constraint(nn.MaxNorm(2.0)),
        EMA(FlatCos(0.9, steps=20)),
        SWA(2),
        groups=[Group("*.bias", lr=0.1, decay=0.0)],
    ),
    "averages": lambda: chain("momentum", EMA(0.9, debias=False), SWA(3)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", EVERY)
def test_recorded_is_eager_to_the_bit(case, dtype):
    opt = EVERY[case]()
    params = {name: w.astype(dtype) for name, w in NET.items()}
    state = opt.init(params)
    specs = lambda tree: {name: pel.Spec(np.shape(v), np.asarray(v).dtype) for name, v in tree.items()}
    args = specs(params), specs(params), specs(state), pel.Spec((), np.int64), specs(opt.numbers(0))
    graph = pel.record(opt.update, *args)
    assert str(pel.record(EVERY[case]().update, *args)) == str(graph)
    predict = pel.record(opt.for_prediction, specs(params), specs(state))
    traced, traced_state = params, state
    for t in range(9):
        g = {name: value.astype(dtype) for name, value in gradient(params).items()}
        traced, traced_state = pel.run(graph, traced, g, traced_state, np.int64(t + 1), opt.numbers(t))
        params, state = opt.update(params, g, state, t + 1, opt.numbers(t))
        same(params, traced)
        same(state, traced_state)
        same(opt.for_prediction(params, state), pel.run(predict, traced, traced_state))
        for name, value in state.items():
            assert value.dtype == traced_state[name].dtype == (np.float64 if value.ndim == 0 else dtype), name
    assert all(w.dtype == dtype for w in params.values())


def test_resuming_is_going_on():
    opt = EVERY["all"]()
    whole, whole_state = run(opt, 9)
    params, state = run(opt, 4)
    kept = {name: np.array(value) for name, value in state.items()}
    for t in range(4, 9):
        params, kept = opt.update(params, gradient(params), kept, t + 1, opt.numbers(t))
    same(params, whole)
    same(kept, whole_state)


def test_what_does_not_fit_is_said():
    opt = chain(Adam())
    with pytest.raises(ValueError, match=r"no gradient for 'out.weight'; there are hidden1.weight"):
        opt.update(NET, {k: NET[k] for k in list(NET)[:2]}, opt.init(NET), 1, opt.numbers(0))
    with pytest.raises(ShapeError, match=r"hidden1.bias has shape \(4,\), its gradient \(1,\)"):
        opt.update(NET, NET | {"hidden1.bias": np.ones(1)}, opt.init(NET), 1, opt.numbers(0))
    with pytest.raises(ValueError, match=r"another optimizer: this one does not know ema.hidden1.weight"):
        opt.update(NET, NET, chain(Adam(), EMA()).init(NET), 1, opt.numbers(0))
    with pytest.raises(
        ValueError, match=r"the state lacks 'm' for hidden1.weight: was it made by init of this optimizer"
    ):
        opt.update(NET, NET, chain(SGD()).init(NET), 1, opt.numbers(0))
    with pytest.raises(ValueError, match=r"the state is of other parameters: out.weight.m"):
        opt.update({k: NET[k] for k in list(NET)[:2]}, NET, opt.init(NET), 1, opt.numbers(0))


def test_it_trains_a_network_of_nn():
    net = nn.Sequential(nn.Dense(6), "tanh", nn.Dense(2))
    made = net.initialize(3)
    loss = lambda p: np.mean(np.square(net.predict(p, X) - Y))
    opt = chain(ClipNorm(1.0), Adam(optim.Warmup(5, Cosine(0.05))), WeightDecay(1e-3), EMA(0.9)).fit(120, 12)
    params, state = made.params, opt.init(made.params)
    step = pel.value_and_grad(loss)
    first = loss(params)
    for t in range(120):
        _, g = step(params)
        params, state = opt.update(params, g, state, t + 1, opt.numbers(t))
    assert loss(params) < 0.7 * first
    assert loss(opt.for_prediction(params, state)) == pytest.approx(loss(params), rel=0.01)
