"""Batch normalisation forward and backward: every formula of the lectures, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.node_pictures import draw_nodes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPS = 1e-5


@experiment(
    "batch-norm",
    "Batch normalisation, forward and backward: every formula checked",
    lectures=("notes", "kth", "waterloo", "cs231n", "book"),
    topic="normalisation",
    claim="u = (z − μ)/√(σ² + ε) with the mean and the (biased) variance of the batch, then γu + β. The notes derive "
    "its backward pass and wonder why it does not agree with Ioffe and Szegedy: it does. Only their ∂L/∂γ and ∂L/∂β "
    "lack a sum over the batch; the extra term of ∂L/∂μ is multiplied by Σ(z − μ) = 0. Further slips set right here: "
    "∂ẑ/∂u is γ, not f'; the variance is a mean over the batch, as the mean is; the line headed ∂l/∂σ² in the notes "
    "shows ∂l/∂μ.",
    setting="A batch of random numbers; each partial derivative of the notes and of the KTH lecture is compared with "
    "central differences, and the whole backward pass, by parts and in compact form, with automatic differentiation.",
    criterion="Batch outputs have mean β and deviation γ (within 1e-4); γ = √(Var + ε), β = mean give the input back "
    "(1e-12); every partial agrees with differences (1e-6), the whole backward pass in three forms (1e-12); Σ ∂L/∂z = "
    "0 (1e-12), Σ u ∂L/∂z = 0 up to ε (1e-3); the bias before the normalisation has gradient 0 (1e-12).",
    notice=(
        "With γ = √Var instead of √(Var + ε) the identity is missed by about ε/(2σ²) of its size.",
        "The compact form (d − mean(d) − u·mean(d·u))/√(σ² + ε) says what happens: the gradient loses its mean and its "
        "part along u. A shift or a stretch of the whole batch would change nothing, so there is nothing to learn.",
        "γ may be negative: one lecture writes γ > 0 and gives γ, β as many entries as there are rows. They have one "
        "for each unit.",
    ),
    further=(
        'lab.run("batch-norm", rows=2)',
        'lab.run("influence-diagram")',
        'lab.run("scale-invariance")',
        'lab.run("batch-norm-rates")',
    ),
    knobs={"rows": "of the batch, at least 2", "units": "columns", "seed": "of the numbers"},
)
def batch_norm(rows: int = 8, units: int = 3, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    Z, d = rng.normal(1.0, 2.0, (rows, units)), rng.normal(size=(rows, units))
    gamma, beta = rng.normal(1.0, 0.5, units), rng.normal(size=units)
    mu, var = Z.mean(0), Z.var(0)
    root = np.sqrt(var + EPS)
    u = (Z - mu) / root

    layer = nn.BatchNorm(eps=EPS)
    state = layer.initialize(units).state
    out = layer.apply({"scale": gamma, "shift": beta}, Z, state, training=True)[0]
    forward = float(max(np.abs(out.mean(0) - beta).max(), np.abs(out.std(0) / np.abs(gamma) - 1).max()))
    identity, nearly = (
        float(np.abs(layer.apply({"scale": s, "shift": mu}, Z, state, training=True)[0] - Z).max())
        for s in (root, np.sqrt(var))
    )
    partials = _partials(Z, mu, var)

    du = gamma * d  # d is the gradient of the loss by the output: dẑ/du = γ
    d_var = -0.5 * (var + EPS) ** -1.5 * np.sum(du * (Z - mu), axis=0)
    d_mu = -np.sum(du, axis=0) / root + d_var * -2 * np.mean(Z - mu, axis=0)
    by_parts = du / root + d_var * 2 * (Z - mu) / rows + d_mu / rows
    compact = (du - du.mean(0) - u * np.mean(du * u, axis=0)) / root

    def loss(z: Any, scale: Any, shift: Any) -> Any:
        return np.sum(d * layer.apply({"scale": scale, "shift": shift}, z, state, training=True)[0])

    dz, dscale, dshift = pel.grad(loss, (0, 1, 2))(Z, gamma, beta)
    forms = float(max(np.abs(by_parts - dz).max(), np.abs(compact - dz).max()))
    sums = float(max(np.abs(np.sum(d * u, 0) - dscale).max(), np.abs(np.sum(d, 0) - dshift).max()))
    shift_sum, stretch_sum = float(np.abs(dz.sum(0)).max()), float(np.abs(np.sum(dz * u, 0)).max())
    bias = _bias_gradient(Z, d)
    passed = (
        forward < 1e-4
        and identity < 1e-12
        and max(partials.values()) < 1e-6
        and forms < 1e-12
        and sums < 1e-12
        and shift_sum < 1e-12
        and stretch_sum < 1e-3
        and bias < 1e-12
    )
    return Outcome(
        passed,
        f"Six partials agree with differences within {max(partials.values()):.1g}, three forms of the backward pass "
        f"within {forms:.1g}; Σ ∂L/∂z = {shift_sum:.1g}, the bias before it has gradient {bias:.1g}.",
        {
            "forward": forward,
            "identity": identity,
            "identity_without_eps": nearly,
            "partials": partials,
            "backward": forms,
            "scale_and_shift": sums,
            "sum_dz": shift_sum,
            "sum_u_dz": stretch_sum,
            "bias_gradient": bias,
        },
        (
            Beside("batch output: mean − β, deviation/γ − 1", 0, forward),
            Beside("γ = √(Var + ε), β = mean: output − input", 0, identity),
            Beside("γ = √Var, as the lectures write: output − input", 0, nearly),
            Beside("∂σ²/∂μ = −(2/B) Σ(z − μ)", 0, float(np.abs(2 * np.mean(Z - mu, axis=0)).max())),
            Beside("gradient of the bias before it", 0, bias),
        ),
        (
            Table(
                "Partial derivatives, against central differences",
                ("of", "formula", "largest difference"),
                [(*name.split(": "), f"{value:.1g}") for name, value in partials.items()],
            ),
            Table(
                "Invariants of the backward pass",
                ("what", "should be", "is"),
                [
                    ("Σ ∂L/∂z over the batch", "0", f"{shift_sum:.1g}"),
                    ("Σ u·∂L/∂z over the batch", "0 up to ε", f"{stretch_sum:.1g}"),
                    ("∂L/∂γ − Σ u·∂L/∂ẑ, ∂L/∂β − Σ ∂L/∂ẑ", "0", f"{sums:.1g}"),
                    ("by parts, compact and automatic", "equal", f"{forms:.1g}"),
                ],
            ),
        ),
        (
            Picture(
                "graph",
                "The graph of a normalisation for a batch of two: each z goes three ways, to its own u, to the mean "
                "and to the variance. The backward pass adds up what comes back on the three arrows.",
                _draw_graph,
            ),
            Picture(
                "before-and-after",
                "The numbers of each unit before and behind the normalisation (γ = 1, β = 0): every unit gets mean 0 "
                "and deviation 1, and the order of its rows stays.",
                lambda: _draw_numbers(Z, u),
            ),
        ),
    )


def _partials(Z: Any, mu: Any, var: Any) -> dict[str, float]:
    """Each formula's largest difference from central differences, with everything else held fixed."""
    B, root, h = len(Z), np.sqrt(var + EPS), 1e-5

    def difference(f: Any, at: Any) -> Any:
        """The derivative of each unit's numbers by that unit's argument."""
        return (f(at + h) - f(at - h)) / (2 * h)

    def bumped(f: Any, i: int) -> Any:
        step = np.zeros_like(Z)
        step[i] = h
        return (f(Z + step) - f(Z - step)) / (2 * h)

    def normalise(z: Any, m: Any, v: Any) -> Any:
        return (z - m) / np.sqrt(v + EPS)

    def variance(z: Any, m: Any) -> Any:
        return np.mean((z - m) ** 2, axis=0)

    def by_row(f: Any, formula: Any) -> float:
        return max(float(np.abs(bumped(f, i) - formula(i)).max()) for i in range(B))

    return {
        "∂u/∂μ: −1/√(σ² + ε)": float(np.abs(difference(lambda m: normalise(Z, m, var), mu) + 1 / root).max()),
        "∂u/∂σ²: −½ (z − μ)(σ² + ε)^(−3/2)": float(
            np.abs(difference(lambda v: normalise(Z, mu, v), var) + 0.5 * (Z - mu) * (var + EPS) ** -1.5).max()
        ),
        "∂u/∂z: 1/√(σ² + ε)": float(np.abs(difference(lambda z: normalise(z, mu, var), Z) - 1 / root).max()),
        "∂σ²/∂μ: −(2/B) Σ(z − μ) = 0": float(np.abs(difference(lambda m: variance(Z, m), mu)).max()),
        "∂σ²/∂z: 2(z − μ)/B": by_row(lambda z: variance(z, mu), lambda i: 2 * (Z[i] - mu) / B),
        "∂μ/∂z: 1/B": by_row(lambda z: z.mean(0), lambda i: np.full(len(mu), 1 / B)),
    }


def _bias_gradient(X: Any, d: Any) -> float:
    """The largest gradient of the bias of an affine layer with a normalisation behind it."""
    net = nn.Sequential(("affine", nn.Dense(d.shape[1], bias=0.3)), ("norm", nn.BatchNorm()), "tanh")
    params, state = net.initialize(X.shape[1])
    gradient = pel.grad(lambda p: np.sum(d * net.apply(p, X, state, training=True)[0]))(params)
    return float(np.abs(gradient["affine.bias"]).max())


def _draw_graph() -> Figure:
    places = {
        "$z_1$": (0.0, 1.6),
        "$z_2$": (0.0, 0.0),
        "$\\mu$": (1.4, 2.1),
        "$\\sigma^2$": (1.4, -0.5),
        "$u_1$": (2.8, 1.6),
        "$u_2$": (2.8, 0.0),
        "$\\hat z_1$": (4.2, 1.6),
        "$\\hat z_2$": (4.2, 0.0),
        "$\\gamma$": (3.5, 2.4),
        "$\\beta$": (3.5, -0.8),
        "$L$": (5.4, 0.8),
    }
    arrows = [("$\\mu$", "$\\sigma^2$")]
    for i in "12":
        z, u, out = f"$z_{i}$", f"$u_{i}$", f"$\\hat z_{i}$"
        arrows += [(z, u), (z, "$\\mu$"), (z, "$\\sigma^2$"), ("$\\mu$", u), ("$\\sigma^2$", u), (u, out), (out, "$L$")]
        arrows += [("$\\gamma$", out), ("$\\beta$", out)]
    colours = dict.fromkeys(("$\\mu$", "$\\sigma^2$"), figures.ORANGE)
    colours |= dict.fromkeys(("$\\gamma$", "$\\beta$"), figures.GREEN)
    ax = draw_nodes(figures.axes(size=(7.0, 3.8)), places, arrows, colours=colours, size=13)
    ax.set_title("A batch of two through batch normalisation")
    return figures.figure_of(ax)


def _draw_numbers(Z: Any, u: Any) -> Figure:
    axes = figures.grid(2, (4.2, 3.2), who="batch-norm")
    for ax, values, title in zip(axes, (Z, u), ("before: z", "behind: u"), strict=True):
        figures.plain(ax)
        for unit in range(Z.shape[1]):
            colour = figures.COLOURS[unit % len(figures.COLOURS)]
            ax.plot(np.full(len(Z), unit + 1), values[:, unit], "o", color=colour, alpha=0.6)
            ax.plot([unit + 0.75, unit + 1.25], [values[:, unit].mean()] * 2, color=figures.INK, linewidth=2)
        ax.set(xlabel="unit", title=title, xticks=range(1, Z.shape[1] + 1))
    axes[0].set_ylabel("value (line: mean of the batch)")
    return figures.figure_of(axes)
