"""Lasso, ridge and elastic net, a penalty for each layer; and the priors that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

import pellucid as pel
from pellucid import Model, figures, nn, optim
from pellucid.lab import Outcome, Picture, Table, experiment

USED = 3


@experiment(
    "penalties",
    "Lasso, ridge, elastic net: penalties by layer, and what they remove",
    lectures=("book",),
    topic="generalisation",
    claim="Lasso adds λ₁Σ|w|, ridge λ₂Σw², the elastic net both; layers may have different ones. A penalty is a prior: "
    "J + λR is made small. Minimising it is maximising a posterior: ridge stands for normal weights, lasso for "
    "weights with Laplace's distribution.",
    setting="300 rows with 20 columns, of which the target uses three; a network whose first layer has the penalty, "
    "while the output layer has a weak ridge penalty of its own.",
    criterion="The gradient of each penalty agrees with differences off zero; minus the log of the prior density is "
    "the penalty up to a constant, within 1e-9; lasso and elastic net leave less than a third of the weight on the 17 "
    "useless columns that ridge leaves, and make more than half of their weights zero (below 0.001).",
    notice=(
        "Ridge shrinks in proportion: small weights stay small, and are never 0. Lasso pushes with the same force "
        "everywhere, so what is not needed ends at 0.",
        "A gradient step on |w| jumps to and fro around 0; with a falling rate the jumps become small.",
        "At w = 0 the lasso has no slope; the library takes 0 there, a subgradient.",
    ),
    further=(
        'lab.run("penalties", strength=0.03)',
        'lab.run("penalties", units=40)',
        'lab.run("weight-decay")',
    ),
    knobs={
        "strength": "λ of the penalties on the first layer",
        "units": "of the hidden layer",
        "epochs": "of training",
        "seed": "of the data and the weights",
    },
)
def penalties(strength: float = 0.01, units: int = 20, epochs: int = 300, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 20))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=300)
    fresh = rng.normal(size=(2000, 20))
    truth = np.sin(fresh[:, 0]) + 0.5 * fresh[:, 1] * fresh[:, 2]
    first, last = "hidden1.weight", nn.L2(1e-3, on="output.weight")
    every: dict[str, nn.Penalty] = {
        "none": last,
        "ridge": nn.L2(5 * strength, on=first) + last,
        "lasso": nn.L1(strength, on=first) + last,
        "elastic net": nn.ElasticNet(strength, strength, on=first) + last,
    }
    weights, errors = {}, {}
    for name, penalty in every.items():
        rule = optim.Adam(optim.Cosine(0.01))
        model = Model(
            nn.mlp((units,), 1), "squared_error", rule, penalty=penalty, dtype="float64", engine="native", threads=1
        )
        model.fit(X, y, epochs=epochs, batch_size=50, seed=seed, verbose=False)
        weights[name], errors[name] = model.params[first], model.evaluate(fresh, truth)["loss"]

    useless = {name: float(np.abs(w[USED:]).sum()) for name, w in weights.items()}
    zeros = {name: float(np.mean(np.abs(w) < 1e-3)) for name, w in weights.items()}
    sparse = all(useless[n] < useless["ridge"] / 3 and zeros[n] > 0.5 for n in ("lasso", "elastic net"))
    slopes, priors = _slopes(rng), _priors()
    return Outcome(
        slopes < 1e-6 and priors < 1e-9 and sparse,
        f"Useless columns keep weights of {useless['ridge']:.2g} in sum with ridge, {useless['lasso']:.2g} with lasso "
        f"and {useless['elastic net']:.2g} with the elastic net; {zeros['lasso']:.0%} of the lasso's weights are zero. "
        f"Gradients are right within {slopes:.0e}, priors within {priors:.0e}.",
        {"useless": useless, "zeros": zeros, "errors": errors, "slopes": slopes, "priors": priors},
        (),
        (
            Table(
                "First layer",
                ("penalty", "weights that are zero", "Σ|w| of used columns", "Σ|w| of useless columns", "test error"),
                [
                    [n, f"{zeros[n]:.0%}", float(np.abs(w[:USED]).sum()), useless[n], errors[n]]
                    for n, w in weights.items()
                ],
            ),
            Table(
                "A penalty is a prior: J + λR is minus the log of a posterior, up to a constant",
                ("penalty", "prior of each weight", "its width"),
                [
                    ["ridge, ½λw²", "normal, exp(-½λw²)", "deviation 1/√λ"],
                    ["lasso, λ|w|", "Laplace, exp(-λ|w|)", "scale 1/λ"],
                    ["elastic net", "the product of both", ""],
                ],
            ),
        ),
        (
            Picture(
                "weights",
                "Weights of the first layer by size: rows are the 20 columns of the data, those above the line are "
                "used by the target. Lasso and elastic net leave the others white.",
                lambda: _weights(weights),
            ),
            Picture(
                "priors",
                "Left the penalties of one weight, right the densities of the priors. The corner of the lasso at 0 is "
                "what makes weights vanish.",
                _densities,
            ),
        ),
    )


def _slopes(rng: np.random.Generator) -> float:
    """The largest difference between gradients of the penalties and difference quotients, away from 0."""
    w = rng.choice([-1.0, 1.0], (4, 3)) * rng.uniform(0.2, 2, (4, 3))
    worst = 0.0
    for penalty in (nn.L1(0.3), nn.L2(0.3), nn.ElasticNet(0.3, 0.2)):
        cost = lambda w, penalty=penalty: penalty({"a.weight": w})
        worst = max(worst, float(np.abs(pel.grad(cost)(w) - pel.numerical_grad(cost, w)).max()))
    return worst


def _priors(strength: float = 0.7) -> float:
    """How far penalty + log density is from being a constant."""
    from scipy import stats

    w = np.linspace(-3, 3, 41)
    pairs = ((nn.L2(strength), stats.norm(scale=strength**-0.5)), (nn.L1(strength), stats.laplace(scale=1 / strength)))
    worst = 0.0
    for penalty, prior in pairs:
        totals = [float(penalty({"a.weight": np.array([[x]])})) + float(prior.logpdf(x)) for x in w]
        worst = max(worst, float(np.ptp(totals)))
    return worst


def _weights(weights: dict[str, Any]) -> Any:
    axes = figures.grid(len(weights), (2.2, 3.0), columns=4, who="penalties")
    for i, (ax, (name, w)) in enumerate(zip(axes, weights.items(), strict=True)):
        image = ax.imshow(np.abs(w), cmap="Blues", vmin=0, vmax=0.6, aspect="auto")
        ax.axhline(USED - 0.5, color=figures.ORANGE, lw=1.5)
        ax.set(title=name, xlabel="hidden unit", ylabel="" if i else "column of the data")
        ax.set_yticks([0, 5, 10, 15], ["1", "6", "11", "16"])
    bar = figures.figure_of(axes).colorbar(image, ax=axes[-1])
    bar.set_label("|w|")
    return figures.figure_of(axes)


def _densities() -> Any:
    left, right = figures.grid(2, (3.6, 2.9), columns=2, who="penalties")
    w = np.linspace(-3, 3, 301)
    for name, penalty, colour, dash in (
        ("ridge", 0.5 * w**2, figures.BLUE, "-"),
        ("lasso", np.abs(w), figures.ORANGE, "-"),
        ("elastic net", 0.5 * (np.abs(w) + 0.5 * w**2), figures.GREEN, "--"),
    ):
        density = np.exp(-penalty)
        left.plot(w, penalty, color=colour, ls=dash, label=name)
        right.plot(w, density / (density.sum() * (w[1] - w[0])), color=colour, ls=dash)
    for ax, title, label in ((left, "penalty", "R"), (right, "prior", "density")):
        figures.plain(ax).set(xlabel="weight w", ylabel=label, title=title)
    figures.legend(left, 2, fontsize=9)
    return figures.figure_of(left)
