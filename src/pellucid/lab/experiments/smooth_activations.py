"""The smooth relatives of ReLU: where they dip, what they tend to, and how SELU keeps mean and variance."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.curves import derivative

DIPS = {"gelu": (-0.751792, -0.169971), "silu": (-1.278465, -0.278465), "mish": (-1.192431, -0.308843)}


@experiment(
    "smooth-activations",
    "Smooth activations: dips, limits, and SELU through 20 layers",
    lectures=("waterloo", "kth"),
    topic="activations",
    claim="GELU, SiLU and Mish are smooth and dip below 0; softplus is a soft ReLU with the sigmoid as its slope; "
    "Swish with a trainable β lies between x/2 and ReLU; SELU, with λ = 1.0507 and α = 1.67326, is bounded by -λα; "
    "the modified tanh as it is printed is no new function.",
    setting="Minima by a search; identities on a grid from -20 to 20; a network of SELU layers with LeCun's weights, "
    "fed with standard normal numbers; the printed form of Soboleva's tanh beside tanh((a+b)x/2).",
    criterion="The minima agree with the reference values to 1e-6, all identities hold to 1e-12, SELU has a mean "
    "within 0.1 of 0 and a variance within 0.2 of 1 behind every layer, and the printed tanh collapses.",
    notice=(
        "All three dips are attained: the ranges are closed on the left.",
        "Softplus does not overflow at 1000, although e to the 1000 does: it is computed as max(x, 0) + ln(1 + "
        "e^-|x|).",
        "With β = 0 Swish is x/2; with large β it is ReLU.",
        "Soboleva's function needs different exponents below, c and d: then it is not odd and may have a hill.",
        "Softmax, the output map, is smooth, too: its Jacobian is diag(p) - ppᵀ.",
    ),
    further=(
        'lab.run("smooth-activations", layers=50)',
        'lab.run("smooth-activations", width=100)',
        'lab.run("elu-mean")',
    ),
    knobs={"layers": "of the SELU network", "width": "of each layer", "rows": "of its input", "seed": "of the weights"},
)
def smooth_activations(layers: int = 20, width: int = 300, rows: int = 300, seed: int = 0) -> Outcome:
    dips = {name: least(nn.activation(name)) for name in DIPS}
    identities = check_identities()
    means, variances = through_selu(layers, width, rows, seed)

    near = all(np.allclose(dips[name], wanted, atol=1e-6) for name, wanted in DIPS.items())
    kept = float(np.max(np.abs(means))) < 0.1 and float(np.max(np.abs(variances - 1))) < 0.2
    passed = near and max(identities.values()) < 1e-12 and kept
    selu = nn.activation("selu").range
    return Outcome(
        passed,
        f"GELU, SiLU and Mish dip to {', '.join(f'{value:.6f}' for _, value in dips.values())}; the identities hold to "
        f"{max(identities.values()):.0e}; behind {layers} SELU layers the mean is {means[-1]:.3f} and the variance "
        f"{variances[-1]:.3f}.",
        {"dips": dips, "identities": identities, "selu_means": means, "selu_variances": variances},
        (
            Beside("least value of GELU", "-0.17...", f"{dips['gelu'][1]:.6f} at x = {dips['gelu'][0]:.6f}"),
            Beside("least value of SiLU", "-0.278...", f"{dips['silu'][1]:.6f} at x = {dips['silu'][0]:.6f}"),
            Beside("least value of Mish", None, f"{dips['mish'][1]:.6f} at x = {dips['mish'][0]:.6f}"),
            Beside(
                "lower bound of SELU, -1.0507 * 1.67326", f"{-1.0507 * 1.67326:.4f}", f"{selu.low if selu else 0:.4f}"
            ),
        ),
        (Table("Identities, and by how much they fail", ("identity", "off by"), list(identities.items())),),
        (
            Picture(
                "dips",
                "Left: the smooth functions near 0, their lowest points marked. Right: Swish for several β, from x/2 "
                "to ReLU.",
                lambda: _draw_dips(dips),
            ),
            Picture(
                "selu",
                "Mean and variance of the outputs behind each SELU layer, for standard normal inputs: they stay near 0 "
                "and 1 without any normalisation.",
                lambda: _draw_selu(means, variances),
            ),
        ),
    )


def least(f: Any) -> tuple[float, float]:
    """Where a function is least between -3 and 0, and how low it is there."""
    found = minimize_scalar(
        lambda x: float(f(np.array(x))), bounds=(-3.0, 0.0), options={"xatol": 1e-9}, method="bounded"
    )
    return float(found.x), float(found.fun)


def check_identities() -> dict[str, float]:
    """The largest difference of both sides of each identity, from -20 to 20."""
    x = np.linspace(-20.0, 20.0, 801)
    g = {
        name: nn.activation(name)
        for name in ("sigmoid", "softplus", "softsign", "swish", "silu", "log_sigmoid", "sinc")
    }
    far = np.array([-1000.0, 1000.0])
    a, b = 0.5, 2.0
    printed = nn.activation("soboleva").with_(a=a, b=b, c=a, d=b)
    four = nn.activation("soboleva").with_(a=0.5, b=0.75, c=1.0, d=1.5)
    z = np.linspace(-4.0, 4.0, 81)
    below = np.exp(z) + np.exp(-1.5 * z)
    slope = (0.5 * np.exp(0.5 * z) + 0.75 * np.exp(-0.75 * z) - four(z) * (np.exp(z) - 1.5 * np.exp(-1.5 * z))) / below
    scores = np.array([1.0, -0.5, 2.0, 0.3])
    p = pel.softmax(scores)
    sides = {
        "slope of softplus = sigmoid": (derivative(g["softplus"], x), g["sigmoid"](x)),
        "softplus(±1000) = 1000, 0": (g["softplus"](far), np.maximum(far, 0)),
        "sigmoid(-x) = 1 - sigmoid(x)": (g["sigmoid"](-x), 1 - g["sigmoid"](x)),
        "log-sigmoid(x) = -softplus(-x)": (g["log_sigmoid"](x), -g["softplus"](-x)),
        "slope of log-sigmoid = sigmoid(-x)": (derivative(g["log_sigmoid"], x), g["sigmoid"](-x)),
        "slope of softsign = 1/(1+|x|)²": (derivative(g["softsign"], x), 1 / (1 + np.abs(x)) ** 2),
        "sinc(0) = 1 and slope 0": (
            np.array([g["sinc"](np.array(0.0)), derivative(g["sinc"], 0.0)]),
            np.array([1.0, 0.0]),
        ),
        "Swish with β = 0: x/2": (g["swish"](x, beta=0.0), x / 2),
        "Swish with β = 1: SiLU": (g["swish"](x, beta=1.0), g["silu"](x)),
        "Swish with β = 10⁴: ReLU": (g["swish"](x, beta=1e4), np.maximum(x, 0)),
        "∂Swish/∂β = x²σ(1-σ) at β = 1": (_by_beta(x), x**2 * g["sigmoid"](x) * g["sigmoid"](-x)),
        "printed smht = tanh((a+b)x/2)": (printed(x), np.tanh((a + b) * x / 2)),
        "slope of smht (a, b, c, d), blank in the lecture": (derivative(four, z), slope),
        "Jacobian of softmax = diag(p) - ppᵀ": (pel.jacobian(pel.softmax)(scores), np.diag(p) - np.outer(p, p)),
    }
    return {name: float(np.max(np.abs(left - right))) for name, (left, right) in sides.items()}


def _by_beta(x: Any) -> Any:
    swish = nn.activation("swish")
    return pel.jvp(lambda beta: swish(x, beta=beta), (1.0,), (1.0,))[1]


def through_selu(layers: int, width: int, rows: int, seed: int) -> tuple[Any, Any]:
    """Mean and variance of the outputs behind each layer."""
    net = nn.Sequential(*chain.from_iterable((nn.Dense(width, init="lecun"), "selu") for _ in range(layers)))
    X = np.random.default_rng(seed).normal(size=(rows, width))
    signals = nn.signals(net, net.initialize(width, seed=seed), X)
    behind = signals.activations
    return np.array([a.mean for a in behind]), np.array([a.std**2 for a in behind])


def _draw_dips(dips: dict[str, tuple[float, float]]) -> Any:
    left, right = figures.grid(2, (5.2, 3.6), who="smooth-activations")
    x = np.linspace(-4.0, 1.0, 301)
    ends = []
    for (name, (at, low)), colour in zip(dips.items(), figures.COLOURS, strict=False):
        figures.plain(left)
        left.plot(x, nn.activation(name)(x), color=colour, linewidth=2)
        left.plot(at, low, "o", color=colour)
        ends.append(figures.end_of(x, nn.activation(name)(x), f"{name}, {low:.3f}", colour))
    left.set(xlabel="x", ylabel="output", title="Below zero, and back")
    figures.annotate(left, ends)
    figures.plain(right)
    ends, swish, x = [], nn.activation("swish"), np.linspace(-4, 3, 301)
    for beta, colour in zip((0.0, 0.5, 1.0, 3.0, 50.0), figures.COLOURS, strict=False):
        right.plot(x, swish(x, beta=beta), color=colour, linewidth=1.8)
        ends.append(figures.end_of(x, swish(x, beta=beta), f"β = {beta:g}", colour))
    right.set(xlabel="x", ylabel="output", title="Swish between x/2 and ReLU")
    figures.annotate(right, ends)
    return figures.figure_of(left)


def _draw_selu(means: Any, variances: Any) -> Any:
    ax = figures.axes(size=(6.8, 3.2))
    depth = np.arange(1, len(means) + 1)
    ends = []
    for values, name, colour in ((variances, "variance", figures.BLUE), (means, "mean", figures.ORANGE)):
        ax.plot(depth, values, "o-", color=colour, markersize=4)
        ends.append(figures.end_of(depth, values, name, colour))
    ax.set(xlabel="layer", ylabel="of the outputs", title="SELU keeps mean 0 and variance 1")
    figures.annotate(ax, ends, bottom=-0.3, top=1.5)
    return figures.figure_of(ax)
