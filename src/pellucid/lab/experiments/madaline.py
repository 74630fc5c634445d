"""Madaline: three layers that classify, by trial in the old days and by gradients today."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import Model, figures, nn, optim
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.madaline import Madaline, answers, teach
from pellucid.lab.normalization import rings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "madaline",
    "Madaline: a three-layer network for classes, without gradients",
    lectures=("kth", "cs231n"),
    topic="models",
    claim="Adaline's extension Madaline is a three-layer, fully connected, feed-forward network for classification. "
    "Its units answer −1 or +1; the derivative of such a step is 0, so its own rule, MRII, goes by trial: it turns "
    "the unit around whose sum is nearest to 0, if that mends the answer. Backpropagation came later.",
    setting="Two rings of points, one around the other, which no line separates. One Adaline; a Madaline of two hidden "
    "layers of sign units, taught by MRII; the same layers with tanh in place of the sign, taught by gradients.",
    criterion="Both three-layer networks tell at least 95 % of the points apart and the single Adaline less than 75 %; "
    "the gradient with respect to the hidden weights of the network of signs is exactly 0.",
    notice=(
        "The boundary of sign units is made of straight pieces: each hidden unit draws one line.",
        "MRII mends one sample at a time and may break others, so its errors go up and down.",
        "With tanh the sums are passed on and not only their signs: then a gradient exists.",
    ),
    further=(
        'lab.run("madaline", first=4)',
        'lab.run("madaline", seed=1)',
        'lab.run("adaline")',
        'lab.run("xor")',
    ),
    knobs={
        "first": "units in the first hidden layer",
        "second": "units in the second hidden layer",
        "epochs": "of both networks",
        "seed": "of points and starts",
    },
)
def madaline(first: int = 8, second: int = 4, epochs: int = 60, seed: int = 0) -> Outcome:
    X, y = rings(200, seed)
    signs = 2.0 * y - 1.0
    adaline = nn.Adaline(lr=0.01).fit(X, signs, 2)
    single = float(np.mean(adaline.predict(X) == signs))
    old = teach(X, signs, (first, second), epochs=epochs, seed=seed)
    by_trial = float(np.mean(old.predict(X) == signs))
    model = Model(nn.mlp((first, second), 1, activation="tanh"), "binary_cross_entropy", optim.Adam(0.05), ["accuracy"])
    model.fit(X, y, epochs=epochs, batch_size=50, seed=seed, verbose=False)
    by_gradient = model.evaluate(X, y)["accuracy"]
    slopes = hidden_slopes(old, X, signs)
    return Outcome(
        by_trial >= 0.95 and by_gradient >= 0.95 and single < 0.75 and slopes == 0.0,
        f"One Adaline gets {single:.1%} right, the Madaline taught by trial {by_trial:.1%}, the same layers with tanh "
        f"taught by gradients {by_gradient:.1%}; the largest gradient of the hidden sign units is {slopes:g}.",
        {
            "single": single,
            "by_trial": by_trial,
            "by_gradient": by_gradient,
            "hidden_gradient": slopes,
            "errors": old.errors,
        },
        (),
        (
            Table(
                "Share of points that are told apart",
                ("network", "layers", "taught by", "right"),
                [
                    ("Adaline", 1, "half squared error", f"{single:.1%}"),
                    (f"Madaline, signs, 2-{first}-{second}-1", 3, "trial (MRII)", f"{by_trial:.1%}"),
                    (f"tanh, 2-{first}-{second}-1", 3, "gradients", f"{by_gradient:.1%}"),
                ],
            ),
        ),
        (
            Picture(
                "regions",
                "What the two three-layer networks answer all over the plane. Left: signs, a boundary of straight "
                "pieces. Right: tanh, a smooth one. Dots are the two rings.",
                lambda: _draw(X, y, old, model),
            ),
            Picture(
                "errors",
                "Points that the Madaline gets wrong after each epoch of MRII: fewer, but not in every epoch.",
                lambda: _draw_errors(old),
            ),
        ),
    )


def hidden_slopes(old: Madaline, X: Any, signs: Any) -> float:
    """The largest derivative of the squared error by a hidden weight, all units being signs."""

    def cost(layers: list[Any]) -> Any:
        h = X
        for W in layers[:-1]:
            h = np.sign(h @ W[:, :-1].T + W[:, -1])
        return np.mean(np.square(h @ layers[-1][:, :-1].T + layers[-1][:, -1] - signs[:, None]))

    gradient = pel.grad(cost)(list(old.layers))
    assert np.any(gradient[-1])  # the last layer, before its sign, does have a gradient
    return max(float(np.abs(g).max()) for g in gradient[:-1])


def _draw(X: Any, y: Any, old: Madaline, model: Model) -> Figure:
    left, right = figures.grid(2, (4.2, 4.0), who="madaline")
    t = np.linspace(-3.2, 3.2, 201)
    plane = np.column_stack([part.ravel() for part in np.meshgrid(t, t)])
    regions = (answers(old.layers, plane)[-1][:, 0], 2 * model.predict_classes(plane).ravel() - 1.0)
    for ax, region, title in zip((left, right), regions, ("Signs, by trial", "tanh, by gradients"), strict=True):
        ax.contourf(t, t, region.reshape(201, 201), [-2, 0, 2], colors=[figures.ORANGE, figures.BLUE], alpha=0.2)
        for label, colour, marker in ((0, figures.ORANGE, "s"), (1, figures.BLUE, "o")):
            ax.plot(*X[y == label].T, marker, color=colour, markersize=4)
        ax.set(xlabel="$x_1$", ylabel="$x_2$", title=title, aspect="equal")
    return figures.figure_of(left)


def _draw_errors(old: Madaline) -> Figure:
    ax = figures.axes(size=(6.4, 2.8))
    ax.step(range(1, len(old.errors) + 1), old.errors, where="mid", color=figures.BLUE)
    ax.set(xlabel="epoch", ylabel="points that are wrong", title="A Madaline taught by trial", ylim=(0, None))
    return figures.figure_of(ax)
