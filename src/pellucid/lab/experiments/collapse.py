"""Layers with nothing between them are one layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import Model, figures, inspect, nn, optim, train
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "collapse",
    "Without activations any number of layers is one",
    lectures=("cs231n", "book"),
    topic="models",
    claim="Without a nonlinearity ŷ = W₂ W₁ x + W₂ b₁ + b₂ = W_new x + b_new: two layers are one, and so are more. "
    "One slide says that W₂W₁ is C × H; it is C × D, with C classes and D inputs.",
    setting="Random networks of several layers, some with the identity and some with ReLU between the layers; "
    "nn.collapse multiplies what can be multiplied. Then a deep linear network and one with ReLU are trained on two "
    "rings, and inspect.diagnose is asked what is wrong.",
    criterion="The collapsed layer has C × D weights and predicts the same to 1e-12 (relative); ReLU networks do not "
    "collapse; on the rings the deep linear network has no smaller loss than the best single layer, the one with ReLU "
    "less than half of it, and the diagnosis names the missing activation.",
    notice=(
        "The deep linear network has more numbers to learn and can say no more.",
        "A network with ReLU is straight in pieces: each unit adds a bend.",
    ),
    further=(
        'lab.run("collapse", depth=10)',
        'lab.run("collapse", width=100)',
        'lab.run("formal-neuron")',
        'lab.run("layer-shapes")',
    ),
    knobs={"depth": "layers", "width": "units of each hidden layer", "seed": "of weights and data"},
)
def collapse(depth: int = 4, width: int = 12, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 5))
    linear, bent = (nn.mlp([width] * (depth - 1), 3, activation=name, bias=0.3) for name in ("identity", "relu"))
    params, state = linear.initialize(5, seed=seed)
    params = {name: np.asarray(p, float) for name, p in params.items()}
    one = nn.collapse(linear, params)
    whole = linear.predict(params, X, state)
    apart = float(np.abs(one.net.predict(one.params, X) - whole).max() / np.abs(whole).max())
    W, b = np.eye(5), np.zeros(5)
    for name in [*(f"hidden{k}" for k in range(1, depth)), "output"]:
        W, b = W @ params[f"{name}.weight"], b @ params[f"{name}.weight"] + params[f"{name}.bias"]
    (weight,) = (p for name, p in one.params.items() if name.endswith("weight"))
    by_hand = float(np.abs(weight - W).max() / np.abs(W).max())
    layers = nn.summary(nn.collapse(bent, bent.initialize(5).params).net, 5).layers

    rows, y = rings(200, seed)
    one_layer = Model(nn.mlp((), 1), "binary_cross_entropy", metrics=["accuracy"], dtype="float64")
    train.fit_lbfgs(one_layer, rows, y, tol=1e-9)  # the best that one layer can do
    models = {"one layer": one_layer}
    for name, activation in (("deep, linear", "identity"), ("deep, ReLU", "relu")):
        model = Model(nn.mlp((8, 8), 1, activation=activation), "binary_cross_entropy", optim.Adam(0.05), ["accuracy"])
        model.fit(rows, y, epochs=40, batch_size=50, seed=seed, verbose=False)
        models[name] = model
    results = {name: model.evaluate(rows, y) for name, model in models.items()}
    loss = {name: result["loss"] for name, result in results.items()}
    codes = inspect.diagnose(models["deep, linear"], rows, y).codes
    passed = (
        max(apart, by_hand) < 1e-12
        and weight.shape == (5, 3)
        and layers == depth
        and loss["deep, linear"] >= loss["one layer"] - 1e-6
        and loss["deep, ReLU"] < loss["one layer"] / 2
        and "missing-activation" in codes
    )
    return Outcome(
        passed,
        f"{depth} linear layers are one of {weight.shape[1]} × {weight.shape[0]} weights (apart by {apart:.1g}); with "
        f"ReLU {layers} layers remain. On the rings the least loss of one layer is {loss['one layer']:.4f}; three "
        f"linear ones have {loss['deep, linear']:.4f}, three with ReLU {loss['deep, ReLU']:.4f}.",
        {"apart": apart, "by_hand": by_hand, "shape": weight.shape, "loss": loss, "codes": codes},
        (Beside("shape of W₂W₁, D = 5 inputs, C = 3 classes", f"C × H = 3 × {width}", "C × D = 3 × 5"),),
        (
            Table(
                "Two rings",
                ("network", "parameters", "loss", "right"),
                [
                    (name, nn.summary(m.net, 2).count, loss[name], f"{results[name]['accuracy']:.1%}")
                    for name, m in models.items()
                ],
            ),
        ),
        (
            Picture(
                "line",
                "Random networks along one line through the input space: with the identity between the layers the "
                "output is a straight line for every depth, with ReLU it has bends.",
                lambda: _draw(width, seed),
            ),
        ),
    )


def _draw(width: int, seed: int) -> Figure:
    left, right = figures.grid(2, (4.4, 3.4), who="collapse")
    figures.plain(left), figures.plain(right)
    rng = np.random.default_rng(seed)
    t = np.linspace(-4, 4, 401)
    line = rng.normal(size=5) + t[:, None] * rng.normal(size=5) / np.sqrt(5)
    for ax, activation, title in ((left, "identity", "Nothing between the layers"), (right, "relu", "ReLU between")):
        ends: list[Any] = []
        for depth, colour in ((1, figures.GREEN), (2, figures.BLUE), (4, figures.ORANGE), (8, figures.PINK)):
            net = nn.mlp([width] * (depth - 1), 1, activation=activation, bias=0.3)
            out = net.predict(net.initialize(5, seed=seed).params, line)[:, 0]
            out = out / np.abs(out).max()
            ax.plot(t, out, color=colour)
            ends.append(figures.end_of(t, out, str(depth), colour))
        ax.set(xlabel="way along the line", ylabel="output (largest = 1)", title=title)
        figures.annotate(ax, ends)
    return figures.figure_of(left)
