"""The same trajectories as PyTorch's and scikit-learn's optimizers. PyTorch is optional."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.neural_network import MLPRegressor
from sklearn.neural_network._stochastic_optimizers import AdamOptimizer, SGDOptimizer

import pellucid as pel
from pellucid import optim
from pellucid.optim import Epochs, Group, chain, optimizer
from tests.optim.descent import SmallNetwork, descent

NETWORK = SmallNetwork(20)
X, Y, NET, loss = NETWORK.X, NETWORK.Y, NETWORK.params, NETWORK.loss
STEPS = 50


def run(opt, steps=STEPS, params=NET):
    return [params for params, _ in descent(opt, params, pel.grad(loss), steps)]


PEERS = {  # our optimizer, the name of PyTorch's and its settings
    "sgd": ("sgd", {"lr": 0.1}, "SGD", {"lr": 0.1}),
    "momentum": ("momentum", {"lr": 0.05}, "SGD", {"lr": 0.05, "momentum": 0.9}),
    "nesterov": ("nesterov", {"lr": 0.05}, "SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    "adagrad": ("adagrad", {"lr": 0.1}, "Adagrad", {"lr": 0.1}),
    "adagrad_start": ("adagrad", {"lr": 0.1, "start": 0.5}, "Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.5}),
    "rmsprop": ("rmsprop", {"lr": 0.02}, "RMSprop", {"lr": 0.02}),
    "rmsprop_all": (
        "rmsprop",
        {"lr": 0.02, "beta": 0.9, "momentum": 0.5, "centered": True},
        "RMSprop",
        {"lr": 0.02, "alpha": 0.9, "momentum": 0.5, "centered": True},
    ),
    "adam": ("adam", {"lr": 0.05}, "Adam", {"lr": 0.05}),
    "adam_betas": ("adam", {"lr": 0.05, "beta1": 0.8, "beta2": 0.9}, "Adam", {"lr": 0.05, "betas": (0.8, 0.9)}),
    "amsgrad": ("amsgrad", {"lr": 0.05, "beta2": 0.9}, "Adam", {"lr": 0.05, "betas": (0.9, 0.9), "amsgrad": True}),
    "adamw": ("adamw", {"lr": 0.05, "decay": 0.1}, "AdamW", {"lr": 0.05, "weight_decay": 0.1}),
    "nadam": ("nadam", {"lr": 0.05}, "NAdam", {"lr": 0.05}),
    "radam": ("radam", {"lr": 0.05}, "RAdam", {"lr": 0.05}),
    "adadelta": ("adadelta", {"lr": 1.0}, "Adadelta", {"lr": 1.0}),
}


@pytest.mark.parametrize("case", PEERS)
def test_trajectories_of_pytorch(case):
    torch = pytest.importorskip("torch")
    ours, settings, theirs, options = PEERS[case]
    path = run(optimizer(ours, **settings))
    p = {name: torch.tensor(w, requires_grad=True) for name, w in NET.items()}
    peer = getattr(torch.optim, theirs)(list(p.values()), **options)
    for got in path:
        peer.zero_grad()
        error = torch.tanh(torch.tensor(X) @ p["W"] + p["b"]) @ p["V"] - torch.tensor(Y)
        torch.mean(error**2).backward()
        peer.step()
        for name, w in p.items():
            # NAdam's products are kept in float32 over there
            assert_allclose(got[name], w.detach().numpy(), atol=1e-6 if case == "nadam" else 1e-12, rtol=0)


def test_groups_and_decay_of_pytorch():
    """Per-group rates and decay, a schedule, clipping: all at once."""
    torch = pytest.importorskip("torch")
    rate = optim.Cosine(0.05, end=0.001, steps=STEPS)
    opt = chain(
        optim.ClipNorm(0.3), optim.Adam(rate), optim.WeightDecay(0.1, on="*"), groups=[Group("b", lr=0.1, decay=0.0)]
    )
    p = {name: torch.tensor(w, requires_grad=True) for name, w in NET.items()}
    peer = torch.optim.AdamW(
        [
            {"params": [p["W"], p["V"]], "lr": 0.05, "weight_decay": 0.1},
            {"params": [p["b"]], "lr": 0.005, "weight_decay": 0.0},
        ]
    )
    for t, got in enumerate(run(opt)):
        for group, factor in zip(peer.param_groups, (1.0, 0.1), strict=True):
            group["lr"] = rate(t) * factor
        peer.zero_grad()
        error = torch.tanh(torch.tensor(X) @ p["W"] + p["b"]) @ p["V"] - torch.tensor(Y)
        torch.mean(error**2).backward()
        torch.nn.utils.clip_grad_norm_(list(p.values()), 0.3)
        peer.step()
        for name, w in p.items():
            assert_allclose(got[name], w.detach().numpy(), rtol=1e-5, atol=1e-5)  # its clipping adds 1e-6 to the norm


def scheduled(torch, make, steps):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    peer = make(torch.optim.lr_scheduler, optimizer)
    values = []
    for _ in range(steps):
        values.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        peer.step()
    return values


@pytest.mark.parametrize(
    ("ours", "theirs", "steps"),
    [
        (optim.Cosine(1.0, end=0.1, steps=40), lambda s, o: s.CosineAnnealingLR(o, 40, eta_min=0.1), 41),
        (
            optim.Cosine(1.0, steps=70, restarts=2, multiplier=2.0),
            lambda s, o: s.CosineAnnealingWarmRestarts(o, 10, 2),
            70,
        ),
        (optim.OneCycle(1.0, steps=40), lambda s, o: s.OneCycleLR(o, 1.0, total_steps=40), 40),
        (optim.Step(1.0, every=7, factor=0.3), lambda s, o: s.StepLR(o, 7, 0.3), 40),
        (optim.Exponential(1.0, factor=0.9), lambda s, o: s.ExponentialLR(o, 0.9), 40),
        (optim.Polynomial(1.0, power=2.0, steps=30), lambda s, o: s.PolynomialLR(o, 30, 2.0), 40),
        (
            optim.Piecewise((1.0, 0.1, 0.01), at=(5, 20)),
            lambda s, o: s.MultiStepLR(o, [5, 20], 0.1),
            40,
        ),
    ],
    ids=["cosine", "restarts", "onecycle", "step", "exponential", "polynomial", "piecewise"],
)
def test_schedules_of_pytorch(ours, theirs, steps):
    torch = pytest.importorskip("torch")
    assert_allclose([ours(t) for t in range(steps)], scheduled(torch, theirs, steps), rtol=1e-10, atol=1e-12)


def test_the_plateau_of_pytorch():
    torch = pytest.importorskip("torch")
    for mode, cooldown, threshold in (("min", 0, 0.0), ("max", 2, 0.02)):
        held = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        peer = torch.optim.lr_scheduler.ReduceLROnPlateau(
            held, mode, 0.5, 3, threshold=threshold, threshold_mode="abs", cooldown=cooldown, min_lr=0.1
        )
        ours = optim.ReduceOnPlateau(0.5, 3, threshold, mode, cooldown, min_factor=0.1)
        for value in np.round(np.random.default_rng(1).normal(size=120), 2):
            peer.step(value)
            ours.observe(value)
            assert ours.factor == held.param_groups[0]["lr"]
        assert ours.factor == 0.1
        assert ours.spent


SKLEARN = {
    "sgd": (lambda p: SGDOptimizer(p, 0.05, nesterov=False), "sklearn_sgd", {"lr": 0.05, "nesterov": False}),
    "nesterov": (lambda p: SGDOptimizer(p, 0.05, momentum=0.7), "sklearn_sgd", {"lr": 0.05, "beta": 0.7}),
    "adam": (lambda p: AdamOptimizer(p, 0.05), "sklearn_adam", {"lr": 0.05}),
}


@pytest.mark.parametrize("case", SKLEARN)
def test_trajectories_of_sklearn(case):
    make, ours, settings = SKLEARN[case]
    arrays = [w.copy() for w in NET.values()]
    peer = make(arrays)
    for got in run(optimizer(ours, **settings)):
        peer.update_params(arrays, list(pel.grad(loss)(dict(zip(NET, arrays, strict=True))).values()))
        for name, w in zip(NET, arrays, strict=True):
            assert_allclose(got[name], w, rtol=1e-12, atol=1e-12)


def test_invscaling_of_sklearn():
    peer = SGDOptimizer([np.zeros(1)], 0.5, lr_schedule="invscaling", power_t=0.3)
    ours = optim.InverseScaling(0.5, power=0.3, every=Epochs(1), per=20).fit(total_steps=50, steps_per_epoch=5)
    for epoch in range(10):
        assert all(ours(5 * epoch + i) == pytest.approx(peer.learning_rate, rel=1e-14) for i in range(5))
        peer.iteration_ends(20 * (epoch + 1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_adaptive_of_sklearn():
    """Told the losses of a run, the controller ends at the rate that scikit-learn ended with."""
    settings = {"solver": "sgd", "learning_rate": "adaptive", "learning_rate_init": 0.2, "random_state": 0}
    peer = MLPRegressor(hidden_layer_sizes=8, tol=1e-3, n_iter_no_change=2, max_iter=400, **settings).fit(X, Y[:, 0])
    ours = optim.Adaptive(start=0.2, patience=2, min_delta=1e-3)
    for value in peer.loss_curve_:
        assert not ours.spent
        ours.observe(value)
    assert 0.2 * ours.factor == pytest.approx(peer._optimizer.learning_rate)
    assert ours.factor < 0.01
    assert ours.spent
