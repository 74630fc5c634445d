"""Who influences whom in a batch: the Jacobian of batch normalisation."""

from __future__ import annotations

from collections.abc import Callable
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
    "influence-diagram",
    "Who influences whom in a batch",
    lectures=("notes", "kth"),
    topic="normalisation",
    claim="Batch normalisation is a vector function over the batch, not over the units: every z_j of a unit influences "
    "every normalised u_i of the same unit through the mean and the variance, and no other unit. The notes ask "
    "whether BN(x_i) = f(x_i, x_−i, μ, σ²) is wrong: the other rows enter only through μ and σ². Later activations "
    "are missing in the diagram because ∂L/∂u_j already carries all that comes behind.",
    setting="A batch of random numbers goes through batch normalisation, layer normalisation and an activation alone; "
    "the Jacobian ∂u_i/∂z_j is computed by automatic differentiation and by differences.",
    criterion="The Jacobian equals (I − 1/B − u uᵀ/B)/√(σ² + ε) within 1e-12 and central differences within 1e-7; "
    "between units it is exactly 0; without normalisation everything off the diagonal is exactly 0; with layer "
    "normalisation nothing goes from row to row.",
    notice=(
        "The diagonal is positive and the rest mostly negative: raise one number, and the others fall behind the mean.",
        "Rows of the matrix add up to 0: raising all numbers by the same amount changes nothing.",
        "So the loss of one example depends on all the others in its batch, and gradients flow to all of them.",
    ),
    further=(
        'lab.run("influence-diagram", rows=3)',
        'lab.run("influence-diagram", rows=30)',
        'lab.run("batch-sizes")',
    ),
    knobs={"rows": "of the batch", "units": "of the layer", "seed": "of the numbers"},
)
def influence_diagram(rows: int = 8, units: int = 3, seed: int = 0) -> Outcome:
    Z = np.random.default_rng(seed).normal(1.0, 2.0, (rows, units))
    maps: dict[str, Callable[[Any], Any]] = {
        "batch normalisation": lambda z: nn.standardize(z, axis=0, eps=EPS),
        "layer normalisation": lambda z: nn.standardize(z, axis=-1, eps=EPS),
        "no normalisation (tanh)": np.tanh,
    }
    J = {name: pel.jacobian(f)(Z) for name, f in maps.items()}  # (rows, units, rows, units)
    batch = J["batch normalisation"]
    u = (Z - Z.mean(0)) / np.sqrt(Z.var(0) + EPS)
    formula = [
        (np.eye(rows) - 1 / rows - np.outer(u[:, k], u[:, k]) / rows) / np.sqrt(Z[:, k].var() + EPS)
        for k in range(units)
    ]
    off = max(float(np.abs(batch[:, k, :, k] - formula[k]).max()) for k in range(units))
    numeric = float(np.abs(_differences(maps["batch normalisation"], Z) - batch).max())
    between_units = max(float(np.abs(batch[:, k, :, m]).max()) for k in range(units) for m in range(units) if k != m)
    other_rows = {name: _between_rows(each) for name, each in J.items()}
    row_sums = float(np.abs(batch[:, 0, :, 0].sum(1)).max())
    passed = (
        off < 1e-12
        and numeric < 1e-7
        and between_units == 0.0
        and other_rows["batch normalisation"] > 0.0
        and other_rows["layer normalisation"] == 0.0
        and other_rows["no normalisation (tanh)"] == 0.0
    )
    return Outcome(
        passed,
        f"The {rows} × {rows} matrix agrees with its formula within {off:.1g} and with differences within "
        f"{numeric:.1g}; influence between rows is up to {other_rows['batch normalisation']:.2f} with batch "
        "normalisation, and 0 otherwise.",
        {
            "jacobian": batch[:, 0, :, 0],
            "formula_difference": off,
            "numeric_difference": numeric,
            "between_units": between_units,
            "between_rows": other_rows,
            "row_sums": row_sums,
        },
        (
            Beside("influence of other rows of the unit", "yes", f"up to {other_rows['batch normalisation']:.2f}"),
            Beside("influence of other units", "none", between_units),
            Beside("sum of each row of the matrix", 0, row_sums),
        ),
        (
            Table(
                "Largest influence of another row",
                ("layer", "largest ∂u_i/∂z_j, i ≠ j"),
                list(other_rows.items()),
            ),
        ),
        (
            Picture(
                "matrix",
                "How much each z_j of the first unit moves each output. Batch normalisation fills the matrix; "
                "without it (and with layer normalisation) only the diagonal is left.",
                lambda: _draw_matrices({name: each[:, 0, :, 0] for name, each in J.items()}),
            ),
            Picture(
                "diagram",
                "The influence diagram of the notes for a batch of three: in orange, the ways from z₁ to all outputs.",
                _draw_diagram,
            ),
        ),
    )


def _differences(f: Any, Z: Any, h: float = 1e-5) -> Any:
    """The Jacobian by central differences.   -> (rows, units, rows, units)"""
    J = np.empty((*Z.shape, *Z.shape))
    for place in np.ndindex(*Z.shape):
        step = np.zeros_like(Z)
        step[place] = h
        J[(..., *place)] = (f(Z + step) - f(Z - step)) / (2 * h)
    return J


def _between_rows(J: Any) -> float:
    rows = len(J)
    return max(float(np.abs(J[i, :, j]).max()) for i in range(rows) for j in range(rows) if i != j)


def _draw_matrices(matrices: dict[str, Any]) -> Figure:
    axes = figures.grid(len(matrices), (3.1, 3.2), who="influence-diagram")
    size = max(float(np.abs(J).max()) for J in matrices.values())
    for ax, (name, J) in zip(axes, matrices.items(), strict=True):
        image = ax.imshow(J, cmap="PuOr", vmin=-size, vmax=size)
        places = range(0, len(J), -(-len(J) // 10))
        ax.set_xticks(places, [str(j + 1) for j in places])
        ax.set_yticks(places, [str(j + 1) for j in places])
        ax.set(title=name, xlabel="input $z_j$ of row $j$")
    axes[0].set_ylabel("output of row $i$")
    figure = figures.figure_of(axes)
    figure.colorbar(image, ax=list(axes), label="∂ output / ∂ input", shrink=0.8)
    return figure


def _draw_diagram() -> Figure:
    places = {f"$z_{i}$": (0.0, 4.0 - 1.5 * i) for i in (1, 2, 3)} | {
        f"$u_{i}$": (3.0, 4.0 - 1.5 * i) for i in (1, 2, 3)
    }
    places |= {"$\\mu$": (1.5, 3.1), "$\\sigma^2$": (1.5, -1.1)}
    arrows = [("$\\mu$", "$\\sigma^2$")]
    for i in (1, 2, 3):
        arrows += [(f"$z_{i}$", "$\\mu$"), (f"$z_{i}$", "$\\sigma^2$"), (f"$z_{i}$", f"$u_{i}$")]
        arrows += [("$\\mu$", f"$u_{i}$"), ("$\\sigma^2$", f"$u_{i}$")]
    others = {f"$z_{i}$" for i in (2, 3)}
    colours = {pair: figures.GRID if pair[0] in others else figures.ORANGE for pair in arrows}
    arrows.sort(key=lambda pair: pair[0] not in others)
    ax = draw_nodes(figures.axes(size=(5.6, 4.2)), places, arrows, arrow_colours=colours, size=13)
    ax.set_title("Every $z$ reaches every $u$ of its unit")
    return figures.figure_of(ax)
