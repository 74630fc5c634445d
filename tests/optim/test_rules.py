"""Every rule of the table: against its formula, on two valleys, in both precisions, recorded and eager."""

import inspect
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid as pel
from pellucid import optim
from pellucid.optim import RULES, Rule, chain, optimizer
from tests.optim.descent import SmallNetwork, descent

rng = np.random.default_rng(0)
H = np.array([[3.0, 1.0], [1.0, 2.0]])
NETWORK = SmallNetwork(12)
NET, loss = NETWORK.params, NETWORK.loss


PROBLEMS: dict[str, tuple[Any, Any]] = {
    "quadratic": ({"w": np.array([2.0, -1.5])}, lambda p: {"w": H @ p["w"] - 1.0}),
    "network": (NET, pel.grad(loss)),
}


def run(opt, params, gradient, steps):
    """The parameters at the start and after each step."""
    return [params, *(after for after, _ in descent(opt, params, gradient, steps))]


# References: from all parameters and gradients so far to the next parameters, one array at a time; written from the
# papers with sums and powers instead of recursions. They share nothing with the package.


def powers(beta, gs, f=lambda g: g):
    """Σ (1 - β) β^(t-k) f(g_k), not corrected."""
    return sum((1 - beta) * beta ** (len(gs) - 1 - k) * f(g) for k, g in enumerate(gs))


def square(g):
    return g * g


def hat(beta, gs, f=lambda g: g):
    return powers(beta, gs, f) / (1 - beta ** len(gs))


def sgd(w, gs, lr):
    return w[-1] - lr * gs[-1]


def momentum(w, gs, lr, beta, form="gradient"):
    return w[-1] - lr * gs[-1] + beta * (w[-1] - w[-2] if len(w) > 1 else 0)


def nesterov(w, gs, lr, beta, form="gradient"):
    v = sum(beta ** (len(gs) - 1 - k) * g for k, g in enumerate(gs))
    return w[-1] - lr * (gs[-1] + beta * v)


def adagrad(w, gs, lr, eps=1e-10, start=0.0, eps_inside=False):
    s = start + sum(square(g) for g in gs)
    return w[-1] - lr * gs[-1] / (np.sqrt(s + eps) if eps_inside else np.sqrt(s) + eps)


def rmsprop(w, gs, lr, beta, eps=1e-8, momentum=0.0, centered=False, eps_inside=False):
    def scaled(gs):
        s = powers(beta, gs, square) - centered * powers(beta, gs) ** 2
        return gs[-1] / (np.sqrt(s + eps) if eps_inside else np.sqrt(s) + eps)

    return w[-1] - lr * sum(momentum ** (len(gs) - 1 - k) * scaled(gs[: k + 1]) for k in range(len(gs)))


def adadelta(w, gs, lr, beta=0.9, eps=1e-6):
    ds: list[np.ndarray] = []
    for k in range(len(gs)):
        u = powers(beta, ds, square) if ds else 0.0
        ds.append(np.sqrt(u + eps) / np.sqrt(powers(beta, gs[: k + 1], square) + eps) * gs[k])
    return w[-1] - lr * ds[-1]


def adam(w, gs, lr, beta1=0.9, beta2=0.999, eps=1e-8, eps_inside=False, decay=0.0):
    s = hat(beta2, gs, square)
    size = np.sqrt(s + eps) if eps_inside else np.sqrt(s) + eps
    return w[-1] - lr * decay * w[-1] - lr * hat(beta1, gs) / size


def adamw(w, gs, lr, decay=0.01, **settings):
    return adam(w, gs, lr, decay=decay, **settings)


def amsgrad(w, gs, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    top = np.max([powers(beta2, gs[: k + 1], square) for k in range(len(gs))], axis=0)
    return w[-1] - lr * hat(beta1, gs) / (np.sqrt(top / (1 - beta2 ** len(gs))) + eps)


def nadam(w, gs, lr, beta1=0.9, beta2=0.999, eps=1e-8, warm=4e-3):
    t = len(gs)
    mu = [beta1 * (1 - 0.5 * 0.96 ** (k * warm)) for k in range(1, t + 2)]
    m = mu[t] * powers(beta1, gs) / (1 - np.prod(mu)) + (1 - mu[t - 1]) * gs[-1] / (1 - np.prod(mu[:-1]))
    return w[-1] - lr * m / (np.sqrt(hat(beta2, gs, square)) + eps)


def radam(w, gs, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    t, most = len(gs), 2 / (1 - beta2) - 1
    rho = most - 2 * t * beta2**t / (1 - beta2**t)
    if rho <= 5:
        return w[-1] - lr * hat(beta1, gs)
    r = np.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
    root = np.sqrt(powers(beta2, gs, square)) + eps
    return w[-1] - lr * hat(beta1, gs) * r * np.sqrt(1 - beta2**t) / root


def lion(w, gs, lr, beta1=0.9, beta2=0.99, decay=0.0):
    m = powers(beta2, gs[:-1]) if len(gs) > 1 else 0.0
    return w[-1] - lr * (np.sign(beta1 * m + (1 - beta1) * gs[-1]) + decay * w[-1])


def sklearn_sgd(w, gs, lr, beta=0.9, nesterov=True):
    v = -lr * sum(beta ** (len(gs) - 1 - k) * g for k, g in enumerate(gs))
    return w[-1] + (beta * v - lr * gs[-1] if nesterov else v)


def sklearn_adam(w, gs, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    rate = lr * np.sqrt(1 - beta2 ** len(gs)) / (1 - beta1 ** len(gs))
    return w[-1] - rate * powers(beta1, gs) / (np.sqrt(powers(beta2, gs, square)) + eps)


def schedule_free_adamw(w, gs, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.0):
    """With a constant rate all z weigh the same."""
    steps = [lr * (gs[k] / (np.sqrt(hat(beta2, gs[: k + 1], square)) + eps) + decay * w[k]) for k in range(len(gs))]
    z = [w[0] - sum(steps[: k + 1]) for k in range(len(gs))]
    return beta1 * np.mean(z, axis=0) + (1 - beta1) * z[-1]


def muon(
    w, gs, lr, beta=0.95, nesterov=True, rounds=5, scale="rms", decay=0.0, on="*", beta1=0.9, beta2=0.95, adam_rate=None
):
    """By the singular values themselves, which the polynomial meets one by one."""
    if w[-1].ndim != 2:
        factor = {"rms": 1.0, "spectral": 0.015}[scale] if adam_rate is None else adam_rate
        return adam(w, gs, lr * factor, beta1, beta2, decay=decay)
    v = powers(beta, gs)
    U, sigma, V = np.linalg.svd((1 - beta) * gs[-1] + beta * v if nesterov else v, full_matrices=False)
    sigma = sigma / (np.linalg.norm(sigma) + 1e-7)
    for _ in range(rounds):
        sigma = 3.4445 * sigma - 4.7750 * sigma**3 + 2.0315 * sigma**5
    n_in, n_out = w[-1].shape
    size = 0.2 * np.sqrt(max(n_in, n_out)) if scale == "rms" else np.sqrt(max(1, n_out / n_in))
    return w[-1] - lr * decay * w[-1] - lr * size * (U * sigma) @ V


CASES: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "sgd": (sgd, [{"lr": 0.1}]),
    "momentum": (momentum, [{"lr": 0.05, "beta": 0.8, "form": form} for form in ("gradient", "velocity", "average")]),
    "velocity_momentum": (momentum, [{"lr": 0.05, "beta": 0.8}]),
    "average_momentum": (momentum, [{"lr": 0.05, "beta": 0.8}]),
    "nesterov": (nesterov, [{"lr": 0.05, "beta": 0.8, "form": form} for form in ("gradient", "velocity")]),
    "velocity_nesterov": (nesterov, [{"lr": 0.05, "beta": 0.8}]),
    "adagrad": (adagrad, [{"lr": 0.3}, {"lr": 0.3, "start": 0.1, "eps": 0.01, "eps_inside": True}]),
    "rmsprop": (
        rmsprop,
        [
            {"lr": 0.05, "beta": 0.9},
            {"lr": 0.02, "beta": 0.9, "momentum": 0.7, "centered": True, "eps": 0.1},
            {"lr": 0.05, "beta": 0.9, "eps": 0.01, "eps_inside": True},
        ],
    ),
    "adadelta": (adadelta, [{"lr": 1.0}, {"lr": 2.0, "beta": 0.8, "eps": 1e-3}]),
    "lion": (lion, [{"lr": 0.02}, {"lr": 0.02, "beta1": 0.8, "decay": 0.1}]),
    "adam": (adam, [{"lr": 0.1}, {"lr": 0.1, "beta1": 0.5, "beta2": 0.9, "eps": 0.01, "eps_inside": True}]),
    "adamw": (adamw, [{"lr": 0.1}, {"lr": 0.1, "beta2": 0.9, "decay": 0.3, "eps": 0.01, "eps_inside": True}]),
    "amsgrad": (amsgrad, [{"lr": 0.1}, {"lr": 0.1, "beta2": 0.5}]),
    "nadam": (nadam, [{"lr": 0.1}, {"lr": 0.1, "beta1": 0.8, "warm": 0.1}]),
    "radam": (radam, [{"lr": 0.1}, {"lr": 0.1, "beta2": 0.9}, {"lr": 0.1, "beta2": 0.6}]),
    "schedule_free_adamw": (
        schedule_free_adamw,
        [{"lr": 0.05}, {"lr": 0.1, "beta1": 0.6, "beta2": 0.9, "eps": 0.01, "decay": 0.2}, {"lr": 0.05, "beta1": 0.0}],
    ),
    "muon": (
        muon,
        [
            {"lr": 0.1, "on": "*"},
            {"lr": 0.05, "on": "*", "scale": "spectral", "decay": 0.3},
            {"lr": 0.1, "on": "*", "beta": 0.5, "nesterov": False, "rounds": 3, "beta2": 0.9, "adam_rate": 0.5},
        ],
    ),
    "sklearn_sgd": (sklearn_sgd, [{"lr": 0.05}, {"lr": 0.05, "beta": 0.7, "nesterov": False}]),
    "sklearn_adam": (sklearn_adam, [{"lr": 0.1}, {"lr": 0.1, "eps": 0.1}]),
}
EACH = [(name, settings) for name, (_, many) in CASES.items() for settings in many]
FORMS = [pytest.param(name, settings, id=f"{name}-{i}") for i, (name, settings) in enumerate(EACH)]


def test_every_rule_has_a_case():
    assert {RULES[name] for name in CASES} == set(RULES.values())
    assert set(CASES) == set(SOLVED)
    assert {RULES[name].__name__ for name in CASES} == {
        name
        for name, kind in vars(optim).items()
        if inspect.isclass(kind) and issubclass(kind, Rule) and not inspect.isabstract(kind)
    }


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("name", "settings"), FORMS)
def test_the_formula(name, settings, problem):
    params, gradient = PROBLEMS[problem]
    path = run(optimizer(name, **settings), params, gradient, 25)
    reference, ws, gs = CASES[name][0], [params], []
    for _ in range(25):
        gs.append(gradient(ws[-1]))
        ws.append({k: reference([w[k] for w in ws], [g[k] for g in gs], **settings) for k in params})
    for got, expected in zip(path, ws, strict=True):
        for k in params:
            assert_allclose(got[k], expected[k], rtol=1e-12, atol=1e-12)


def rosenbrock(p):
    x, y = p["w"]
    return {"w": np.array([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])}


SOLVED = {  # settings for the parabola and for Rosenbrock's valley from (-1, 1), and how many steps there
    "sgd": ({"lr": 0.3}, {"lr": 2e-3}, 12000),
    "momentum": ({"lr": 0.1}, {"lr": 5e-4}, 4000),
    "velocity_momentum": ({"lr": 0.1}, {"lr": 5e-4}, 4000),
    "average_momentum": ({"lr": 0.1}, {"lr": 5e-4}, 4000),
    "nesterov": ({"lr": 0.1}, {"lr": 5e-4}, 4000),
    "velocity_nesterov": ({"lr": 0.1}, {"lr": 5e-4}, 4000),
    "adagrad": ({"lr": 1.0}, {"lr": 0.5}, 12000),
    "rmsprop": ({"lr": optim.Cosine(0.1, steps=300)}, {"lr": optim.Cosine(0.01, steps=6000)}, 6000),
    "adadelta": ({"lr": 10.0}, {"lr": optim.Cosine(5.0, steps=12000), "beta": 0.99}, 12000),
    "lion": ({"lr": optim.Cosine(0.1, steps=300)}, {"lr": optim.Cosine(0.005, steps=6000)}, 6000),
    "adam": ({"lr": 0.1}, {"lr": 0.02}, 6000),
    "adamw": ({"lr": 0.1, "decay": 0.0}, {"lr": 0.02, "decay": 0.0}, 6000),
    "amsgrad": ({"lr": 0.1}, {"lr": 0.02}, 8000),
    "nadam": ({"lr": 0.1}, {"lr": optim.Cosine(0.02, steps=6000)}, 6000),
    "radam": ({"lr": 0.1}, {"lr": optim.Warmup(20, 0.02)}, 6000),
    "schedule_free_adamw": ({"lr": optim.Warmup(50, 0.3)}, {"lr": optim.Warmup(200, 0.02)}, 6000),
    "muon": ({"lr": 0.1}, {"lr": 0.02}, 6000),
    "sklearn_sgd": ({"lr": 0.1}, {"lr": 5e-4}, 4000),
    "sklearn_adam": ({"lr": 0.1}, {"lr": 0.02}, 6000),
}


@pytest.mark.parametrize("name", SOLVED)
def test_a_parabola_and_rosenbrock(name):
    parabola, valley, steps = SOLVED[name]
    end = run(optimizer(name, **parabola), {"w": np.array([2.0, -1.0])}, lambda p: {"w": p["w"] - 0.5}, 300)[-1]
    assert_allclose(end["w"], 0.5, atol=1e-3)
    end = run(optimizer(name, **valley), {"w": np.array([-1.0, 1.0])}, rosenbrock, steps)[-1]
    assert_allclose(end["w"], 1.0, atol=0.01)


@pytest.mark.parametrize(("name", "settings"), FORMS)
def test_inputs_stay_as_they_are(name, settings):
    opt, gradient = optimizer(name, **settings), pel.grad(loss)
    params, state = NET, opt.init(NET)
    for t in range(3):
        g = gradient(params)
        kept = [{k: v.copy() for k, v in one.items()} for one in (params, g, state)]
        new = opt.update(params, g, state, t + 1, opt.numbers(t))
        for before, now in zip(kept, (params, g, state), strict=True):
            for k, v in before.items():
                assert_array_equal(v, now[k])
        for array in new[0].values():
            assert not any(np.shares_memory(array, old) for old in (*params.values(), *g.values()))
        params, state = new


def specs(tree):
    return {name: pel.Spec(np.shape(v), np.asarray(v).dtype) for name, v in tree.items()}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "settings"), FORMS)
def test_recorded_is_eager_to_the_bit(name, settings, dtype):
    """With every number of the rule scheduled, and traced in the graph."""
    changing = {
        k: optim.Polynomial(v, end=0.7 * v, steps=9)
        for k, v in settings.items()
        if k not in ("form", "start") and type(v) is float
    }
    opt = optimizer(name, **settings | changing)
    params = {k: w.astype(dtype) for k, w in NET.items()}
    state, numbers = opt.init(params), opt.numbers(0)
    assert set(numbers) == {"lr", *(f"rule.{k}" for k in changing if k != "lr")}
    record = lambda: pel.record(
        opt.update, specs(params), specs(params), specs(state), pel.Spec((), np.int64), specs(numbers)
    )
    graph = record()
    assert str(graph) == str(record())
    traced, traced_state = params, state
    for t in range(12):
        g = {k: v.astype(dtype) for k, v in pel.grad(loss)(params).items()}
        numbers = opt.numbers(t)
        traced, traced_state = pel.run(graph, traced, g, traced_state, np.int64(t + 1), numbers)
        params, state = opt.update(params, g, state, t + 1, numbers)
        for one, other in ((params, traced), (state, traced_state)):
            assert list(one) == list(other)
            for k, v in one.items():
                assert_array_equal(v, other[k], err_msg=k)
                assert v.dtype == other[k].dtype
    assert all(w.dtype == dtype for w in params.values())
    assert all(v.dtype == (dtype if v.ndim else np.float64) for v in state.values())


@pytest.mark.parametrize(("name", "settings"), FORMS)
def test_float32_follows_float64(name, settings):
    path = run(optimizer(name, **settings), NET, pel.grad(loss), 20)
    single = {k: w.astype(np.float32) for k, w in NET.items()}
    gradient = lambda p: {k: g.astype(np.float32) for k, g in pel.grad(loss)(p).items()}
    short = run(optimizer(name, **settings), single, gradient, 20)
    for k, w in short[-1].items():
        assert w.dtype == np.float32
        assert_allclose(w, path[-1][k], atol=0.045 if name == "lion" else 2e-4)  # a sign may flip


@pytest.mark.parametrize(("name", "settings"), FORMS)
def test_a_bare_step_keeps_float32(name, settings):
    """The rule itself, with Python's numbers, with NumPy's and with traced ones."""
    rule, w = RULES[name](**settings), NET["W"].astype(np.float32)
    s = {k: np.float32(0.5) * np.ones_like(v) if v.ndim else v for k, v in rule.init(w).items()}
    for lr in (0.1, np.float64(0.1), np.array(0.1)):
        new, after = rule.step(w, w, s, lr, 1)
        assert new.dtype == np.float32
        assert set(after) == set(s)
        assert all(after[k].dtype == s[k].dtype for k in s)
    graph = pel.record(rule.step, w, w, s, np.array(0.1), 1)
    assert_allclose(pel.run(graph, w, w, s, np.array(0.1), 1)[0], new, rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_zero_gradients_and_the_first_step(name):
    """A gradient of 0 (a dead unit) makes no NaN."""
    opt = optimizer(name)
    end = run(opt, {"w": np.ones(3)}, lambda p: {"w": np.zeros(3)}, 8)[-1]["w"]
    assert_allclose(end, 1.0, atol=1e-3)


def test_a_rule_of_ones_own():
    class Sign(Rule):
        def init(self, w):
            return {"n": np.zeros_like(w)}

        def step(self, w, g, s, lr, t):
            return w - lr * np.sign(g) / t, {"n": s["n"] + np.float64(1)}

    opt = optimizer(Sign(lr=optim.Constant(0.5)))
    path = run(opt, {"w": np.ones(2, np.float32)}, lambda p: {"w": p["w"]}, 2)
    assert_array_equal(path[-1]["w"], np.float32([0.25, 0.25]))
    assert path[-1]["w"].dtype == np.float32
    _, state = opt.update({"w": np.ones(2, np.float32)}, path[0], opt.init(path[0]), 1, opt.numbers(0))
    assert state["rule.w.n"].dtype == np.float32

    class Dotted(Sign):
        def init(self, w):
            return {"a.b": w}

    with pytest.raises(ValueError, match=r"named without dots, got 'a.b'"):
        chain(Dotted()).init(path[0])


@pytest.mark.parametrize("name", CASES)
def test_settings_are_checked(name):
    kind = RULES[name]
    for field in inspect.signature(kind).parameters:
        for value in {"lr": (-0.1, np.nan, "fast", None), "eps": (-1.0,), "decay": (-1.0,)}.get(field, ()):
            with pytest.raises(ValueError, match=f"{kind.__name__}: {field} is a number from 0, got"):
                kind(**{field: value})
        if field.startswith(("beta", "momentum")):
            for value in (1.0, -0.1, np.nan):
                with pytest.raises(ValueError, match=rf"{kind.__name__}: {field} is a number in \[0, 1\), got"):
                    kind(**{field: value})
    assert hash(kind()) == hash(kind())


def test_words_are_checked():
    with pytest.raises(ValueError, match="form is 'gradient' or 'velocity' or 'average', got 'ball'"):
        optim.Momentum(form="ball")
    with pytest.raises(ValueError, match="form is 'gradient' or 'velocity', got"):
        optim.Nesterov(form="average")
    with pytest.raises(ValueError, match="no rule called 'addam': did you mean 'adam'"):
        optimizer("addam")


def test_one_step_by_hand():
    """W := W - α ∂J/∂W, b := b - α ∂J/∂b"""
    slope = pel.grad(loss)(NET)
    (_, after) = run(optimizer("sgd", lr=0.3), NET, pel.grad(loss), 1)
    for k, w in NET.items():
        assert_array_equal(after[k], w - 0.3 * slope[k])


def test_batches_large_and_small():
    """All rows, one row, some rows; the variance of the mean gradient falls as one over the size of the batch."""
    x, y, w = rng.normal(size=400), rng.normal(size=400), 0.7
    each = 2 * x * (x * w - y)
    for rows in (slice(None), [3], [3, 5, 7]):
        g = pel.grad(lambda p, rows=rows: np.mean((x[rows] * p["w"] - y[rows]) ** 2))
        (_, after) = run(optimizer("sgd", lr=0.1), {"w": np.array(w)}, g, 1)
        assert_allclose(after["w"], w - 0.1 * np.mean(each[rows]), rtol=1e-14)
    spread = [np.var(rng.choice(each, size=(20000, size)).mean(axis=1)) for size in (1, 4, 16, 64)]
    for more, less in pairwise(spread):
        assert 3.6 < more / less < 4.4
