"""Clipping, decay, averages, constraints."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import nn, optim
from pellucid.optim import EMA, SGD, SWA, Accumulate, Adam, AdamW, ClipNorm, ClipValue, Constraint, WeightDecay, chain
from tests.optim.descent import descent

rng = np.random.default_rng(0)
PARAMS = {"a.weight": rng.normal(size=(3, 2)), "a.bias": rng.normal(size=2), "b.weight": rng.normal(size=(2, 1))}
GRADS = {name: rng.normal(size=w.shape) for name, w in PARAMS.items()}


def gradient(p):
    return {name: 2.0 * (w - 1.0) for name, w in p.items()}


def path(opt, steps, params=PARAMS, gradient=gradient):
    return list(descent(opt, params, gradient, steps))


def norm(grads):
    return np.sqrt(sum(np.sum(g.astype(float) ** 2) for g in grads.values()))


def test_clip_norm():
    whole = norm(GRADS)
    clipped, _ = ClipNorm(0.5).before(GRADS, PARAMS, {}, 1)
    assert norm(clipped) == pytest.approx(0.5, rel=1e-14)
    for name, g in GRADS.items():
        assert_allclose(clipped[name], g * 0.5 / whole, rtol=1e-14)
    kept, _ = ClipNorm(2 * whole).before(GRADS, PARAMS, {}, 1)
    for name, g in GRADS.items():
        assert_array_equal(kept[name], g)
    zero, _ = ClipNorm(1.0).before({"w": np.zeros(3)}, {}, {}, 1)
    assert_array_equal(zero["w"], 0.0)
    # an explosion is what it is for: the square of 1e30 is not a float32
    huge, _ = ClipNorm(1.0).before({"w": np.full(4, 1e30, np.float32)}, {}, {}, 1)
    assert huge["w"].dtype == np.float32
    assert_allclose(huge["w"], 0.5, rtol=1e-6)
    broken, _ = ClipNorm(1.0).before({"w": np.array([1.0, np.nan])}, {}, {}, 1)
    assert np.all(np.isnan(broken["w"]))  # to be seen, not to be hidden


def test_clip_value():
    clipped, _ = ClipValue(0.3).before(GRADS, PARAMS, {}, 1)
    for name, g in GRADS.items():
        assert_array_equal(clipped[name], np.clip(g, -0.3, 0.3))
    for kind in (ClipNorm, ClipValue):
        for value in (0.0, -1.0, np.nan):
            with pytest.raises(ValueError, match=f"{kind.__name__}: limit is a number above 0"):
                kind(value)


def test_decay_is_l2_for_sgd_and_not_for_adam():
    """½ λ ‖w‖², whose gradient is λ w, is the penalty that belongs to (1 - lr λ) w."""
    lam = 0.3
    rate = optim.Cosine(0.1, steps=30)
    penalised = lambda p: {name: g + lam * p[name] for name, g in gradient(p).items()}
    for make, equal in ((SGD, True), (Adam, False), (lambda lr: optim.Momentum(lr, 0.9), False)):
        decayed = path(chain(make(rate), WeightDecay(lam, on="*")), 30)[-1][0]
        added = path(chain(make(rate)), 30, gradient=penalised)[-1][0]
        gap = max(np.max(np.abs(decayed[name] - added[name])) for name in PARAMS)
        assert gap < 1e-13 if equal else gap > 1e-2
    one = path(chain(SGD(0.1), WeightDecay(lam)), 1)[0][0]
    for name, w in PARAMS.items():
        shrink = 1 - 0.1 * lam if name.endswith("weight") else 1.0
        assert_allclose(one[name], shrink * w - 0.1 * gradient(PARAMS)[name], rtol=1e-14)


def test_adam_and_decay_are_adamw():
    rate = optim.Cosine(0.1, steps=20)
    one, other = path(chain(Adam(rate), WeightDecay(0.2, on="*")), 20), path(chain(AdamW(rate, decay=0.2)), 20)
    for name in PARAMS:
        assert_allclose(one[-1][0][name], other[-1][0][name], rtol=1e-13)


def test_decay_patterns():
    with pytest.raises(ValueError, match=r"WeightDecay: on='c.*' matches none of the parameters: a.weight"):
        chain(SGD(), WeightDecay(0.1, on="c.*")).init(PARAMS)
    with pytest.raises(ValueError, match="rate is a number from 0"):
        WeightDecay(-0.1)
    two = chain(SGD(1.0), WeightDecay(0.1, on="a.*"), WeightDecay(0.2, on="b.*"))
    still = {name: np.zeros_like(w) for name, w in PARAMS.items()}
    new, _ = two.update(PARAMS, still, {}, 1, two.numbers(0))
    assert_allclose(new["a.bias"], 0.9 * PARAMS["a.bias"])
    assert_allclose(new["b.weight"], 0.8 * PARAMS["b.weight"])


def test_ema():
    decay = 0.8
    found = path(chain(SGD(0.1), EMA(decay, debias=False)), 12)
    expected = dict(PARAMS)
    opt = chain(SGD(0.1), EMA(decay, debias=False))
    for params, state in found:
        expected = {name: decay * a + (1 - decay) * params[name] for name, a in expected.items()}
        for name, a in opt.for_prediction(params, state).items():
            assert_allclose(a, expected[name], rtol=1e-13)


@pytest.mark.parametrize("decay", [0.0, 0.9, 0.999, optim.InverseSqrt(0.99, c=0.5)])
def test_ema_without_the_beginning(decay):
    """The weighted mean of the parameters seen, with weights that sum to 1; also for a scheduled decay."""
    opt = chain(SGD(0.1), EMA(decay))
    assert all(np.array_equal(a, PARAMS[k]) for k, a in opt.for_prediction(PARAMS, opt.init(PARAMS)).items())
    found = path(opt, 15)
    betas = [decay(t) if callable(decay) else decay for t in range(15)]
    for n in (1, 2, 15):
        weights = np.array([(1 - betas[k]) * np.prod(betas[k + 1 : n]) for k in range(n)])
        weights /= weights.sum()
        for name in PARAMS:
            mean = sum(weight * params[name] for weight, (params, _) in zip(weights, found[:n], strict=True))
            assert_allclose(opt.for_prediction(*found[n - 1])[name], mean, rtol=1e-12)
    assert set(opt.for_prediction(*found[-1])) == set(PARAMS)


def test_averages_leave_training_alone():
    plain, averaged = path(chain(Adam(0.1)), 8), path(chain(Adam(0.1), EMA(0.9), SWA(3)), 8)
    for name in PARAMS:
        assert_array_equal(plain[-1][0][name], averaged[-1][0][name])


def test_swa():
    opt = chain(SGD(0.1), SWA(4))
    found = path(opt, 12)
    for n, (params, state) in enumerate(found, start=1):
        for name, a in opt.for_prediction(params, state).items():
            if n <= 5:
                assert_array_equal(a, params[name])
            else:
                assert_allclose(a, np.mean([p[name] for p, _ in found[4:n]], axis=0), rtol=1e-13)
    with pytest.raises(ValueError, match="SWA: start is a number of steps from 0"):
        SWA(-1)


def test_constraint():
    found = path(chain(SGD(0.5), Constraint(nn.MaxNorm(0.5))), 5)
    for params, _ in found:
        assert np.max(np.linalg.norm(params["a.weight"], axis=0)) <= 0.5 + 1e-15
        assert np.linalg.norm(params["b.weight"]) <= 0.5 + 1e-15
    assert_allclose(found[-1][0]["a.bias"], 1.0)
    with pytest.raises(TypeError, match=r"expects an object with project\(params\), got 3"):
        Constraint(3)


def test_settings_are_checked():
    for k in (0, -1, 1.5):
        with pytest.raises(ValueError, match="k is a number of batches from 1"):
            Accumulate(k)
    for decay in (1.0, -0.1):
        with pytest.raises(ValueError, match=r"EMA: decay is a number in \[0, 1\)"):
            EMA(decay)


def test_inputs_stay_as_they_are():
    opt = chain(Accumulate(2), ClipNorm(0.1), Adam(), WeightDecay(0.1), Constraint(nn.MaxNorm(0.5)), EMA(), SWA(0))
    state = opt.init(PARAMS)
    kept = [{k: np.array(v) for k, v in one.items()} for one in (PARAMS, GRADS, state)]
    for t in (1, 2):
        _, new = opt.update(PARAMS, GRADS, state, t, opt.numbers(t - 1))
    for before, now in zip(kept, (PARAMS, GRADS, state), strict=True):
        for k, v in before.items():
            assert_array_equal(v, now[k])
    assert not np.shares_memory(new["ema.a.weight"], PARAMS["a.weight"])
    assert not any(np.shares_memory(v, PARAMS[k[4:]]) for k, v in state.items() if k.startswith("swa.a"))
