"""A penalty beside a sum of losses, or beside their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid import Model, figures, nn, train
from pellucid.lab import Outcome, Picture, Table, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "sum-or-mean",
    "A penalty beside the sum of losses fades as data grow",
    lectures=("kth",),
    topic="models",
    claim="The cost is printed as J = Σ l + λ R, a sum over the data, and its gradients are divided by the number of "
    "samples before 2λW is added, which belongs to a mean. The two are not the same: the library takes the mean of "
    "the losses plus the penalty, so that λ means the same for every amount of data.",
    setting="Ridge regression with R = ‖w‖², and the same rows repeated 1, 2, 4, ... times: no new information. The "
    "network is trained to the end; beside it stand the solutions of the sum and of the mean in closed form.",
    criterion="With the mean the weights are the same for every number of copies (to 1e-6), trained and in closed "
    "form; with the sum their distance to those of no penalty falls as 1 over the copies (power −1 ± 0.1).",
    notice=(
        "With the sum, λ has to grow with the data to mean the same.",
        "λ‖W‖² has the gradient 2λW: in the library it is nn.L2(2 * λ), as L2 has a factor of ½.",
    ),
    further=(
        'lab.run("sum-or-mean", penalty=1.0)',
        'lab.run("sum-or-mean", copies=8)',
        'lab.run("losses")',
    ),
    knobs={"penalty": "λ", "rows": "of the data", "copies": "at most, a power of 2", "seed": "of the data"},
)
def sum_or_mean(penalty: float = 0.3, rows: int = 30, copies: int = 64, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=rows)
    counts = [2**k for k in range(int(np.log2(copies)) + 1)]
    free = np.linalg.lstsq(X, y, rcond=None)[0]
    mean, total, trained = [], [], []
    for count in counts:
        A, b = np.tile(X, (count, 1)), np.tile(y, count)
        # mean ½ (y − ŷ)² + λ ‖w‖², and the same with a sum
        mean.append(np.linalg.solve(A.T @ A / len(A) + 2 * penalty * np.eye(3), A.T @ b / len(A)))
        total.append(np.linalg.solve(A.T @ A + 2 * penalty * np.eye(3), A.T @ b))
        net = nn.Sequential(("out", nn.Dense(1, bias=None)))
        model = Model(net, "half_squared_error", penalty=nn.L2(2 * penalty), dtype="float64")
        train.fit_lbfgs(model, A, b, tol=1e-10)
        trained.append(model.params["out.weight"][:, 0])
    same = max(float(np.abs(np.array(w) - mean[0]).max()) for w in (mean, trained))
    gaps = [float(np.linalg.norm(w - free)) for w in total]
    power = float(np.polyfit(np.log(counts), np.log(gaps), 1)[0])
    kept = [float(np.linalg.norm(w - free)) for w in trained]
    return Outcome(
        same < 1e-6 and abs(power + 1) < 0.1,
        f"With the mean, {counts[-1]} copies of the data change the weights by {same:.1g}; with the sum their distance "
        f"to those without a penalty falls from {gaps[0]:.4f} to {gaps[-1]:.5f}, as copies^{power:.2f}.",
        {"same": same, "sum_gaps": gaps, "mean_gaps": kept, "copies": counts},
        (),
        (
            Table(
                "Distance to the weights without a penalty",
                ("copies of the data", "sum + λ R", "mean + λ R", "mean + λ R, trained"),
                [
                    (c, g, float(np.linalg.norm(m - free)), k)
                    for c, g, m, k in zip(counts, gaps, mean, kept, strict=True)
                ],
            ),
        ),
        (
            Picture(
                "copies",
                "How far the penalty pulls the weights away from least squares. Beside a mean of losses it does not "
                "matter how often the same data are there; beside a sum the pull fades.",
                lambda: _draw(counts, gaps, kept),
            ),
        ),
    )


def _draw(counts: list[int], gaps: list[float], kept: list[float]) -> Figure:
    ax = figures.axes(size=(6.4, 3.4))
    ends: list[Any] = []
    for values, name, colour, marker in ((gaps, "sum", figures.ORANGE, "s"), (kept, "mean", figures.BLUE, "o")):
        ax.loglog(counts, values, color=colour, marker=marker)
        ends.append(figures.end_of(counts, values, name, colour))
    ax.set_xscale("log", base=2)
    ax.set(xlabel="copies of the data", ylabel="distance to least squares", title="The same λ beside a sum and a mean")
    ax.set_xticks(counts, [str(count) for count in counts])
    figures.annotate(ax, ends)
    return figures.figure_of(ax)
