"""Equal weights stay equal: why a network starts at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import Model, figures, inspect, nn, optim
from pellucid.lab import Beside, Outcome, Picture, Table, experiment
from pellucid.lab.normalization import rings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "symmetry",
    "Equal weights stay equal: why a network starts at random",
    lectures=("kth", "cs231n", "book"),
    topic="initialisation",
    claim="If all weights start at the same constant, all units of a layer compute the same and get the same gradient, "
    "whatever the number of steps. In a network of L layers without biases the first matrix gives every unit the same "
    "weights, the last one has one constant for each output, and each one between is a single number times a matrix of "
    "ones. With W = 0 (ReLU, tanh) nothing but the output bias ever learns.",
    setting="A network of four layers of equal width without biases starts at a constant and takes mini-batch steps; a "
    "network of two hidden units is compared with the lecture's formula; networks of 16 units start at 0, at a "
    "constant, and at random, and learn two rings.",
    criterion="After all steps equal weights differ by at most rounding (1e-12), outputs' constants differ; both units "
    "give max(0, γx₁ + γx₂) to rounding; from W = 0 the hidden gradients are 0 for ReLU and tanh; the diagnosis names "
    "equal units; the random start is at least 10 points better than the constant one.",
    notice=(
        "Sixteen equal units are one unit: the network has the power of a single one.",
        "With the sigmoid h = ½ at W = 0, so the output weights learn in the first step and the hidden ones in the "
        "second, but all units stay equal.",
        "A lecture says biases may start at 0 because their gradient does not depend on deeper layers. It does; the "
        "reason is that random weights already make the units differ.",
    ),
    further=(
        'lab.run("symmetry", constant=0.0)',
        'lab.run("symmetry", steps=100, rate=1.0)',
        'lab.run("biases")',
    ),
    knobs={
        "constant": "all weights at the start",
        "width": "inputs, and units in each hidden layer",
        "steps": "of mini-batch gradient descent",
        "rate": "of these steps",
        "seed": "of data and random start",
    },
)
def symmetry(constant: float = 0.2, width: int = 5, steps: int = 20, rate: float = 0.5, seed: int = 0) -> Outcome:
    matrices = _train_constant(constant, width, steps, rate, seed)
    first, *middle, last = matrices
    differences = (
        float(np.ptp(first, axis=1).max()),
        max(float(np.ptp(W)) for W in middle),
        float(np.ptp(last, axis=0).max()),
    )
    outputs_differ = float(np.ptp(last.mean(axis=0)))

    X = np.random.default_rng(seed).normal(size=(50, 2))
    two = nn.mlp((2,), 1, init=constant, output_init=constant)
    taps: dict[str, Any] = {}
    two.apply(two.initialize(2).params, X, taps=taps)
    formula = np.maximum(0, constant * X[:, 0] + constant * X[:, 1])
    by_formula = float(np.abs(taps["hidden1.activation"] - formula[:, None]).max())

    zero = {activation: _from_zero(activation, seed) for activation in ("relu", "tanh", "sigmoid")}
    accuracies, codes = {}, {}
    points, y = rings(seed=seed)
    for name, init in (("zero", 0.0), ("constant", constant), ("random", "auto")):
        net = nn.mlp((16,), 1, activation="tanh", init=init, output_init=init)
        model = Model(net, "binary_cross_entropy", optim.SGD(0.3), ["accuracy"], engine="native")
        model.fit(points, y, epochs=60, batch_size=30, seed=seed, verbose=False)
        accuracies[name] = model.evaluate(points, y)["accuracy"]
        codes[name] = [finding.code for finding in inspect.diagnose(model, points, y)]

    equal = max(differences) <= 1e-12
    stays = all(zero[a][0][key] == 0.0 for a in ("relu", "tanh") for key in ("hidden", "output"))
    passed = (
        equal
        and (outputs_differ > 1e-6 or constant == 0.0)
        and by_formula < 1e-15
        and stays
        and "symmetric-units" in codes["constant"]
        and "symmetric-units" not in codes["random"]
        and accuracies["random"] > max(accuracies["constant"], accuracies["zero"]) + 0.1
    )
    return Outcome(
        passed,
        f"After {steps} steps equal weights still differ by at most {max(differences):.1g}; accuracy on the rings is "
        f"{accuracies['constant']:.2f} from a constant, {accuracies['zero']:.2f} from 0, {accuracies['random']:.2f} "
        "from random weights.",
        {
            "differences": differences,
            "outputs_differ": outputs_differ,
            "zero_start": zero,
            "accuracies": accuracies,
            "findings": codes,
        },
        (
            Beside("first matrix: weights from one input to all units", "equal", f"differ by {differences[0]:.1g}"),
            Beside("matrices between: all entries", "equal", f"differ by {differences[1]:.1g}"),
            Beside("last matrix: weights to one output", "equal", f"differ by {differences[2]:.1g}"),
            Beside("last matrix: from output to output", "different", f"differ by {outputs_differ:.2g}"),
            Beside("two units, weights γ: max(0, γx₁ + γx₂)", "both", f"off by {by_formula:.1g}"),
        ),
        (
            Table(
                "What happens when W = 0? Largest gradient of each part",
                ("activation", "step", "hidden weights", "output weights", "output bias"),
                [
                    (activation, step + 1, g["hidden"], g["output"], g["bias"])
                    for activation, found in zero.items()
                    for step, g in enumerate(found)
                ],
            ),
            Table(
                "Two rings, 16 tanh units",
                ("start", "accuracy", "findings of the diagnosis"),
                [(name, accuracies[name], ", ".join(codes[name]) or "none") for name in accuracies],
            ),
        ),
        (
            Picture(
                "matrices",
                "The four weight matrices after training from a constant (rows are inputs of a layer, columns its "
                "units). Stripes and flat colour: units have stayed equal.",
                lambda: _draw(matrices),
            ),
        ),
    )


def _train_constant(constant: float, width: int, steps: int, rate: float, seed: int) -> list[Any]:
    """The weights of four layers without biases after training from a constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, width))
    y = np.argmax(X @ rng.normal(size=(width, 3)), axis=1)
    layers: list[Any] = []
    for _ in range(3):
        layers += [nn.Dense(width, init=constant, bias=None), "tanh"]
    net = nn.Sequential(*layers, nn.Dense(3, init=constant, bias=None))
    model = Model(net, "cross_entropy", optim.SGD(rate), dtype="float64", engine="numpy")
    model.fit(X, y, steps=steps, batch_size=20, seed=seed, verbose=False)
    return [w for name, w in model.params.items() if name.endswith("weight")]


def _from_zero(activation: str, seed: int) -> list[dict[str, float]]:
    """The largest gradient of each part in the first two steps from W = 0."""
    X, y = rings(seed=seed)
    net, cost = nn.mlp((4,), 1, activation=activation, init=0.0, output_init=0.0), nn.loss("squared_error")
    params, target = net.initialize(2).params, cost.prepare(y.astype(float)[:, None])
    found = []
    for _ in range(2):
        g = pel.grad(lambda p: cost(net.predict(p, X), target))(params)
        parts = {"hidden": "hidden1.weight", "output": "output.weight", "bias": "output.bias"}
        found.append({part: float(np.abs(g[name]).max()) for part, name in parts.items()})
        params = {name: w - 0.1 * g[name] for name, w in params.items()}
    return found


def _draw(matrices: list[Any]) -> Figure:
    axes = figures.grid(len(matrices), (2.3, 2.6), columns=4, who="symmetry")
    size = max(float(np.abs(W).max()) for W in matrices)
    for i, (ax, W) in enumerate(zip(axes, matrices, strict=True), start=1):
        image = ax.imshow(W, cmap="PuOr", vmin=-size, vmax=size, aspect="equal")
        ax.set(title=f"$W_{i}$", xlabel="unit" if i < len(matrices) else "output")
        ax.set_xticks(range(W.shape[1]), [str(j + 1) for j in range(W.shape[1])])
        ax.set_yticks(range(W.shape[0]), [str(j + 1) for j in range(W.shape[0])])
    axes[0].set_ylabel("input of the layer")
    figure = figures.figure_of(axes)
    figure.colorbar(image, ax=list(axes), label="weight", shrink=0.8)
    return figure
