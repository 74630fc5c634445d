"""Checking a gradient: what differences can tell, what a kink does to them, how a wrong rule is caught."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import pellucid as pel
from pellucid import figures, nn
from pellucid.errors import GradientCheckError
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lab.xor import HAND_MADE, X, Y

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@experiment(
    "gradient-checking",
    "Gradient checking catches a wrong rule and forgives a kink",
    lectures=("cs231n",),
    topic="derivatives",
    claim="Gradient checking belongs to the one-time setup of a network: compare the gradient with difference "
    "quotients. A quotient that straddles a kink, such as that of ReLU at 0, measures nothing: it must not be taken "
    "for an error.",
    setting="A ReLU network with cross-entropy, checked parameter by parameter. The hand-made XOR network, whose "
    "hidden units lie exactly at the kink for some points. Then a tanh whose rule is wrong by a small share, and the "
    "relative error of a quotient against its step in three cases: right, near a kink, wrong.",
    criterion="The right network passes with errors below 1e-6; kinks of the XOR network are counted and not called "
    "errors; a rule that is wrong by 0.1 % is caught by check_grads and by the report, which names the parameter.",
    notice=(
        "A right gradient has an error that falls with the step; the error of a wrong one stays, whatever the step.",
        "Near a kink the error is large until the step is shorter than the way to the kink.",
        "An error of 1e-2 in single precision is often no error: check in double precision.",
    ),
    further=(
        'lab.run("gradient-checking", wrong=1e-5)',
        'lab.run("gradient-checking", distance=1e-5)',
        'lab.run("difference-steps")',
        'lab.run("backward-passes")',
    ),
    knobs={
        "wrong": "share by which the rule of tanh is wrong",
        "distance": "from the kink, in the picture",
        "seed": "of network and data",
    },
)
def gradient_checking(wrong: float = 1e-3, distance: float = 1e-4, seed: int = 0) -> Outcome:
    rng = np.random.default_rng(seed)
    net, objective = nn.mlp((6, 5), 3), nn.loss("cross_entropy")
    params = {name: rng.normal(size=p.shape) for name, p in net.initialize(4).params.items()}
    inputs, labels = rng.normal(size=(10, 4)), rng.integers(0, 3, 10)
    right = pel.gradient_report(lambda p: objective(net.predict(p, inputs), labels), (params,), seed=seed)
    worst = max(argument.error for argument in right.arguments)

    def xor_loss(p: Any) -> Any:
        h = np.maximum(X @ p["U"].T + p["c"], 0)
        return np.mean(np.logaddexp(0.0, -Y * (h @ p["w"] + p["b"])))

    kinks = pel.gradient_report(xor_loss, (HAND_MADE,), seed=seed)
    pel.check_grads(xor_loss, (HAND_MADE,), order=1)

    bent = pel.custom_rule(np.tanh, slope=lambda d, y, x: d * (1 - y * y) * (1 + wrong))
    faulty = lambda p: np.mean(np.square(bent(inputs @ p["W"]) @ p["v"] - labels))
    weights = {"W": rng.normal(size=(4, 5)), "v": rng.normal(size=5)}
    report = pel.gradient_report(faulty, (weights,), seed=seed)
    told = _told(faulty, weights)
    blamed = [argument.name for argument in report.arguments if not argument.agrees]
    caught = told != "" and len(blamed) == 1 and "W" in blamed[0]
    count = sum(argument.kinks for argument in kinks.arguments)
    curves = error_curves(wrong, distance)
    rows = [
        (
            case,
            argument.name,
            argument.entries,
            argument.kinks,
            f"{argument.error:.1g}",
            "right" if argument.agrees else "WRONG",
        )
        for case, found in (("ReLU network", right), ("XOR by hand", kinks), (f"tanh wrong by {wrong:g}", report))
        for argument in found.arguments
    ]
    return Outcome(
        right.agrees and worst < 1e-6 and kinks.agrees and count > 0 and caught,
        f"The right gradient passes (largest error {worst:.1g}); {count} entries of the XOR network lie at kinks and "
        f"are left out; the rule that is wrong by {wrong:g} is caught in {', '.join(blamed) or 'no parameter'}.",
        {"worst": worst, "kinks": count, "blamed": blamed, "message": told, "curves": curves},
        (),
        (Table("Reports", ("case", "parameter", "entries", "at kinks", "largest error", "verdict"), rows),),
        (
            Picture(
                "steps",
                "Relative error of a central quotient against its step. Right rule: it falls until rounding takes "
                "over. Near a kink: large until the step is shorter than the way to the kink (dotted). Wrong rule: it "
                "never falls below what is wrong.",
                lambda: _draw(curves, distance),
            ),
        ),
    )


def _told(f: Any, weights: Any) -> str:
    """What check_grads says, or nothing."""
    try:
        pel.check_grads(f, (weights,), order=1)
    except GradientCheckError as error:
        return str(error)
    return ""


def error_curves(wrong: float, distance: float) -> dict[str, tuple[Any, Any]]:
    """Steps, and the relative errors of central quotients: a right rule, one near a kink, a wrong one."""
    steps = np.logspace(-1, -9, 65)
    cases: dict[str, tuple[Callable[[Any], Any], float, float]] = {
        "right rule": (np.tanh, 0.5, 1 - np.tanh(0.5) ** 2),
        "near a kink": (lambda x: np.maximum(x, 0.0) + np.sin(x), distance, 1 + np.cos(distance)),
        "wrong rule": (np.tanh, 0.5, (1 - np.tanh(0.5) ** 2) * (1 + wrong)),
    }
    return {
        name: (steps, np.array([abs((f(x + h) - f(x - h)) / (2 * h) - slope) / abs(slope) for h in steps]))
        for name, (f, x, slope) in cases.items()
    }


def _draw(curves: dict[str, tuple[Any, Any]], distance: float) -> Figure:
    ax = figures.axes(size=(6.8, 3.8))
    for (name, (steps, errors)), colour, style in zip(
        curves.items(), (figures.BLUE, figures.GREEN, figures.ORANGE), ("-", "-.", "--"), strict=True
    ):
        ax.loglog(steps, np.maximum(errors, 1e-14), style, color=colour, label=name)
    ax.axvline(distance, color=figures.GREY, linestyle=":", linewidth=1.5)
    ax.text(distance * 1.2, 3e-13, "the kink", color=figures.GREY)
    ax.set(xlabel="step h", ylabel="relative error of the quotient", title="What a check sees")
    figures.legend(ax, 3)
    return figures.figure_of(ax)
