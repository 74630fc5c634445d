"""The lectures' forms of momentum and of bias correction, with coefficients that change at every step."""

import math
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.optim import SGD, Adam, AdamW, AMSGrad, Momentum, Nesterov, Schedule, SklearnAdam, chain
from pellucid.optim.rules.rule import correction, mix
from tests.optim.descent import descent

STEPS = 30
H = np.array([[3.0, 1.0], [1.0, 0.5]])
START = np.array([2.0, -1.5])


def slope(w):
    return H @ w - 1.0


class Wavy(Schedule):
    """Numbers that jump about, always the same."""

    values: ClassVar[list[float]]

    def __init__(self, low, high, seed):
        values = np.random.default_rng(seed).uniform(low, high, STEPS + 1)
        object.__setattr__(self, "values", values.tolist())

    def __call__(self, t):
        return self.values[t]


RATE, BETA = Wavy(0.01, 0.2, 1), Wavy(0.1, 0.95, 2)


def run(rule, steps=STEPS, gradient=slope, start=START):
    path = descent(chain(rule), {"w": start}, lambda p: {"w": gradient(p["w"])}, steps)
    return np.array([start, *(params["w"] for params, _ in path)])


def heavy_ball():
    """w' = w - η g(w) + β (w - w_before)"""
    ws = [START, START]
    for t in range(STEPS):
        ws.append(ws[-1] - RATE(t) * slope(ws[-1]) + BETA(t) * (ws[-1] - ws[-2]))
    return np.array(ws[1:])


def test_three_forms_of_the_heavy_ball():
    expected = heavy_ball()
    assert_allclose(run(Momentum(RATE, BETA, form="velocity")), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(run(Momentum(RATE, BETA, form="average")), expected, rtol=1e-12, atol=1e-12)
    # PyTorch's form is another method as soon as the rate changes, and the same while it does not
    assert np.max(np.abs(run(Momentum(RATE, BETA)) - expected)) > 1e-3
    fixed = [run(Momentum(0.05, BETA, form=form)) for form in ("gradient", "velocity", "average")]
    assert_allclose(fixed[0], fixed[1], rtol=1e-12, atol=1e-12)
    assert_allclose(fixed[0], fixed[2], rtol=1e-12, atol=1e-12)


def test_momentum_is_an_average_of_gradients():
    """γ lies in [0, 1]; a constant gradient is its own average."""
    alpha, total = 0.0, np.zeros(2)
    for t in range(STEPS):
        alpha = alpha * BETA(t) + RATE(t)
        gamma = RATE(t) / alpha
        assert 0 <= gamma <= 1
        total = (1 - gamma) * total + gamma * 7.0
        assert_allclose(total, 7.0, rtol=1e-13)


def test_a_warm_up_from_zero():
    class Rising(Schedule):
        def __call__(self, t):
            return 0.01 * t

    forms = [run(Momentum(Rising(), 0.9, form=form)) for form in ("velocity", "average")]
    assert np.all(np.isfinite(forms[1]))
    assert_allclose(forms[0], forms[1], rtol=1e-12, atol=1e-12)


def lookahead():
    """w' = z - η g(z), z' = w' + β (w' - w); and the same as an average of gradients looked ahead."""
    w, z, v, alpha = START, START, np.zeros(2), 0.0
    zs, averaged = [z], []
    before = 0.0
    for t in range(STEPS):
        g = slope(z)
        alpha_new = alpha * before + RATE(t)
        gamma = RATE(t) / alpha_new
        averaged.append(w - alpha_new * (1 - gamma) * v)
        v = (1 - gamma) * v + gamma * g
        alpha, before = alpha_new, BETA(t)
        w_new = z - RATE(t) * g
        z = w_new + BETA(t) * (w_new - w)
        w = w_new
        zs.append(z)
    return np.array(zs), np.array(averaged)


def test_nesterov():
    zs, averaged = lookahead()
    assert_allclose(averaged, zs[:-1], rtol=1e-12, atol=1e-12)  # z_t = w_t - α_t (1 - γ_t) v_t
    path = run(Nesterov(RATE, BETA, form="velocity"))
    assert_allclose(path, zs, rtol=1e-12, atol=1e-12)
    # while both are constant PyTorch's form is the same
    assert_allclose(run(Nesterov(0.05, 0.8)), run(Nesterov(0.05, 0.8, form="velocity")), rtol=1e-12, atol=1e-12)
    assert np.max(np.abs(run(Nesterov(RATE, BETA)) - zs)) > 1e-3
    # and with β = 0 all is descent
    assert_allclose(run(Nesterov(RATE, 0.0)), run(Momentum(RATE, 0.0, form="average")), rtol=1e-12)


def test_nesterov_is_faster_on_an_ill_conditioned_valley():
    """½ (x² + 1000 y²), the rate 1/L, and the beta that suits it: Nesterov damps the steep direction."""
    curvature, beta = np.array([1.0, 1000.0]), (np.sqrt(1000) - 1) / (np.sqrt(1000) + 1)

    def left(rule, steps):
        return 0.5 * np.sum(curvature * run(rule, steps, lambda w: curvature * w, np.ones(2))[-1] ** 2)

    for steps in (50, 100, 200, 300):
        assert left(Nesterov(1e-3, beta), steps) < 0.1 * left(Momentum(1e-3, beta), steps)
    assert left(Momentum(1e-3, beta), 300) < 0.1 * left(SGD(1e-3), 300)


def test_where_eps_goes():
    """√(s + ε) in the lectures, √ŝ + ε in Kingma and Ba's algorithm, √s + ε (epsilon hat) in Keras and scikit-learn."""
    g = np.array([1.0, 1e-6])  # ε first matters where gradients are small
    one = lambda kind=Adam, **settings: chain(kind(1.0, eps=1e-8, **settings))
    step = lambda opt: -opt.update({"w": np.zeros(2)}, {"w": g}, opt.init({"w": g}), 1, opt.numbers(0))[0]["w"]
    assert_allclose(step(one()), g / (g + 1e-8), rtol=1e-12)
    assert_allclose(step(one(eps_inside=True)), g / np.sqrt(g**2 + 1e-8), rtol=1e-12)
    assert step(one())[1] > 0.98
    assert step(one(eps_inside=True))[1] < 0.011
    # the first step of epsilon hat: s = (1 - beta2) g², whose root is 32 times smaller than that of ŝ
    assert_allclose(step(one(SklearnAdam)), g / (g + 1e-8 / np.sqrt(1 - 0.999)), rtol=1e-12)


def test_the_adam_of_keras():
    """By its definition: alpha = lr √(1 - beta2ᵗ) / (1 - beta1ᵗ);  w ← w - alpha m / (√s + 1e-7)"""
    gradient = lambda w: np.array([1.0, 1e-5]) * w
    w = np.array([1.0, 0.5])
    path, m, s = [w], np.zeros(2), np.zeros(2)
    for t in range(1, STEPS + 1):
        g = gradient(w)
        m, s = m + (g - m) * (1 - 0.9), s + (g * g - s) * (1 - 0.999)
        w = w - 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(s) + 1e-7)
        path.append(w)
    assert_allclose(run(SklearnAdam(0.1, eps=1e-7), STEPS, gradient, path[0]), path, rtol=1e-12)
    assert np.max(np.abs(run(Adam(0.1, eps=1e-7), STEPS, gradient, path[0]) - path)) > 1e-3


@pytest.mark.parametrize("beta", [0.0, 0.9, 0.999, BETA])
def test_a_constant_gradient_is_retained(beta):
    """Divided by its correction the average of a constant is that constant, at every step, whatever beta does."""
    g, average, c, total = np.array([3.0, -0.25]), np.zeros(2), 0.0, 0.0
    for t in range(STEPS):
        now = beta(t) if isinstance(beta, Schedule) else beta
        average, c = mix(now, average, g), correction(now, c)
        assert_allclose(average / c, g, rtol=1e-13)
        if not isinstance(beta, Schedule):
            assert_allclose(c, 1 - now ** (t + 1), rtol=1e-13)
    if isinstance(beta, Schedule):  # the lectures' sum: Σ_k λ_k Π_{l>k} (1 - λ_l)
        for k in range(STEPS):
            total += (1 - beta(k)) * math.prod([beta(i) for i in range(k + 1, STEPS)])
        assert_allclose(c, total, rtol=1e-13)


@pytest.mark.parametrize("kind", [Adam, AdamW, AMSGrad, SklearnAdam])
def test_a_constant_gradient_is_retained_by_the_rules(kind):
    """So with a constant gradient Adam's steps are the rate times its sign, from the first on."""
    settings = {"decay": 0.0} if kind is AdamW else {}
    rule = kind(0.1, beta1=BETA, beta2=Wavy(0.9, 0.999, 3), eps=0.0, **settings)
    path = run(rule, gradient=lambda w: np.array([5.0, -1e-3]))
    if kind is not AMSGrad:  # which corrects the largest s, not each
        assert_allclose(np.diff(path, axis=0), np.tile([-0.1, 0.1], (STEPS, 1)), rtol=1e-12)
    fixed = run(kind(0.1, eps=0.0, **settings), gradient=lambda w: np.array([5.0, -1e-3]))
    assert_allclose(np.diff(fixed, axis=0), np.tile([-0.1, 0.1], (STEPS, 1)), rtol=1e-12)
