"""A rectifier of one's own: hinge and slopes are learned."""

from __future__ import annotations

from typing import Any

import numpy as np

import pellucid as pel
from pellucid import Model, figures, nn, optim
from pellucid.lab import Outcome, Picture, Table, experiment

TRUE = {"hinge": 0.5, "left": 0.3, "right": 1.5}


def rectifier(x: Any, hinge: Any, left: Any, right: Any) -> Any:
    """Two straight lines that meet at the hinge."""
    return np.where(x > hinge, right, left) * (x - hinge)


RECTIFIER = nn.Activation("rectifier", rectifier, learned={"hinge": 0.0, "left": 0.01, "right": 1.0})


@experiment(
    "own-activation",
    "Make up your own parametric rectifier",
    lectures=("cs231n", "kth"),
    topic="activations",
    claim="Make up your own parametric rectifier: shift the hinge, change the slope, change the right side, mix "
    "several kinds in a layer. PReLU learns its slope α, Swish its β.",
    setting="A function of three numbers becomes an activation in one line. It starts as a leaky ReLU and learns from "
    "points of another rectifier. Then a small network on a function of two variables, with ReLU, with learned "
    "activations and with a mixed layer, all with the same steps.",
    criterion="The three numbers are found to 0.01; the derivatives with respect to α and β equal the formulas Σ x g "
    "(over x < 0) and Σ x²σ(1-σ) g to 1e-10 (g: the gradient from above); every network passes the gradient check, all "
    "learned numbers move, and each loss falls to a tenth.",
    notice=(
        "No derivative was written: that of the new function comes from its NumPy code.",
        "Learned numbers are parameters of the layer, one for each unit: they cost next to nothing.",
        "The five losses are of one size: on so small a task the choice matters little. A mixed layer spreads the "
        "risk.",
    ),
    further=(
        'lab.run("own-activation", seed=2)',
        'lab.run("own-activation", units=4)',
        'lab.run("maxout-and-gates")',
    ),
    knobs={"epochs": "of the small networks", "units": "of their hidden layer", "seed": "of data and weights"},
)
def own_activation(epochs: int = 30, units: int = 16, seed: int = 0) -> Outcome:
    recovered, path = recover()
    by_formula = _formulas(seed)
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (200, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + np.abs(X[:, 1])
    layers = {
        "ReLU": nn.ReLU(),
        "PReLU, α learned": nn.PReLU(),
        "Swish, β learned": nn.Swish(),
        "own, all learned": nn.Activate(RECTIFIER),
        "mixed: ReLU, tanh, |x|, own": nn.Mixed("relu", "tanh", np.abs, RECTIFIER),
    }
    runs = {name: _train(layer, X, y, units, epochs, seed) for name, layer in layers.items()}

    found = all(abs(recovered[key] - value) < 0.01 for key, value in TRUE.items())
    moved = all(shift > 1e-3 for _, _, shift in runs.values() if shift is not None)
    learned = all(last < first / 10 for first, last, _ in runs.values())
    passed = found and max(by_formula.values()) < 1e-10 and moved and learned
    return Outcome(
        passed,
        "The learned rectifier has "
        + ", ".join(f"{key} {value:.3f}" for key, value in recovered.items())
        + f" (the teacher: {', '.join(f'{v:g}' for v in TRUE.values())}); the losses of the five networks end between "
        f"{min(last for _, last, _ in runs.values()):.4f} and {max(last for _, last, _ in runs.values()):.4f}.",
        {"recovered": recovered, "formulas_off": by_formula, "losses": {name: run[1] for name, run in runs.items()}},
        (),
        (
            Table(
                f"A hidden layer of {units} units after {epochs} epochs",
                ("activation", "loss at first", "loss at last", "largest change of a learned number"),
                [
                    (name, first, last, "" if shift is None else f"{shift:.3f}")
                    for name, (first, last, shift) in runs.items()
                ],
            ),
            Table("Derivatives beside their formulas", ("derivative", "off by"), list(by_formula.items())),
        ),
        (
            Picture(
                "learning",
                "Left: the rectifier as it starts (dashed), as it ends (blue), and the points it learns from. Right: "
                "its three numbers over the steps; dotted, those of the teacher.",
                lambda: _draw(recovered, path),
            ),
        ),
    )


def recover(steps: int = 300, rate: float = 0.3) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Learn the three numbers from points of another rectifier. Returns them, and their way."""
    x = np.linspace(-2.0, 2.0, 81)
    y = rectifier(x, **TRUE)
    slope = pel.compile(pel.grad(lambda p: np.mean(np.square(RECTIFIER(x, **p) - y))))
    p: dict[str, Any] = {name: np.array(start) for name, start in RECTIFIER.learned.items()}
    path: dict[str, list[float]] = {name: [] for name in p}
    for _ in range(steps):
        for name, value in p.items():
            path[name].append(float(value))
        p = pel.tree_map(lambda w, d: w - rate * d, p, slope(p))
    return {name: float(value) for name, value in p.items()}, path


def _formulas(seed: int) -> dict[str, float]:
    x, g = np.random.default_rng(seed).normal(size=(2, 50))
    prelu, swish, s = nn.activation("prelu"), nn.activation("swish"), nn.activation("sigmoid")(x)
    by_alpha = pel.grad(lambda alpha: np.sum(g * prelu(x, alpha=alpha)))(0.25)
    by_beta = pel.grad(lambda beta: np.sum(g * swish(x, beta=beta)))(1.0)
    return {
        "PReLU: Σ x g over x < 0": abs(float(by_alpha - np.sum((x * g)[x < 0]))),
        "Swish: Σ x² σ (1-σ) g": abs(float(by_beta - np.sum(x * x * s * (1 - s) * g))),
    }


def _train(layer: nn.Layer, X: Any, y: Any, units: int, epochs: int, seed: int) -> tuple[float, float, float | None]:
    """Loss before and after, and the largest change of a learned number of the activation (None without any)."""
    net = nn.Sequential(nn.Dense(units), ("activation", layer), nn.Dense(1))
    model = Model(net, "squared_error", optim.Adam(0.05), dtype="float64").initialize(2, seed=seed)
    start = dict(model.params)
    pel.check_grads(lambda p: np.sum(net.predict(p, X[:5])), (start,))  # an error, if one is wrong
    first = model.evaluate(X, y)["loss"]
    model.fit(X, y, epochs=epochs, batch_size=40, seed=seed, verbose=False)
    shifts = [float(np.max(np.abs(model.params[k] - start[k]))) for k in start if k.startswith("activation")]
    return first, model.evaluate(X, y)["loss"], max(shifts) if shifts else None


def _draw(recovered: dict[str, float], path: dict[str, list[float]]) -> Any:
    left, right = figures.grid(2, (4.6, 3.4), who="own-activation")
    x = np.linspace(-2, 2, 161)
    figures.plain(left)
    left.plot(x[::5], rectifier(x, **TRUE)[::5], "o", color=figures.ORANGE, markersize=4, label="points")
    left.plot(x, RECTIFIER(x), color=figures.GREY, linestyle="--", label="start")
    left.plot(x, rectifier(x, **recovered), color=figures.BLUE, linewidth=1.8, label="learned")
    left.set(xlabel="x", ylabel="output", title="A rectifier that learns")
    left.legend(frameon=False, loc="upper left")
    figures.plain(right)
    ends = []
    for (name, values), colour in zip(path.items(), figures.COLOURS, strict=False):
        right.plot(values, color=colour, linewidth=2)
        right.plot([0, len(values) - 1], [TRUE[name]] * 2, color=colour, linestyle=":", linewidth=1)
        ends.append(figures.end_of(range(len(values)), values, name, colour))
    right.set(xlabel="step", ylabel="value", title="Hinge and slopes")
    figures.annotate(right, ends)
    return figures.figure_of(left)
