"""How small should the step of a difference quotient be?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid import figures, lab
from pellucid.lab import Outcome, Picture, Table, experiment
from pellucid.lookup import look_up

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "runge": lambda x: 1 / (1 + x * x),
    "exp": np.exp,
    "sin": np.sin,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
}


@experiment(
    "difference-steps",
    "Difference quotients: a smaller step is not always better",
    lectures=("book",),
    topic="derivatives",
    claim="(f(x + h) − f(x)) / h needs a small h and has an error; (f(x + h) − f(x − h)) / 2h does better. Neither "
    "ever eliminates the error.",
    setting="Both quotients of a smooth function for 121 steps from 1 to 1e-15, beside the automatic derivative.",
    criterion="While truncation rules, the error falls as h (slope 1 ± 0.05) and as h² (slope 2 ± 0.05). The best "
    "steps are within a factor of 10 of √ε = 1.5e-8 and ε^⅓ = 6e-6 (ε = 2.2e-16, the spacing of numbers at 1). Below "
    "1e-12 the errors are large again, and no step makes the error 0 for good.",
    notice=(
        "Too large a step: the function bends on the way. Too small a step: f(x + h) and f(x) share most of their "
        "digits, and these cancel.",
        "The best central quotient has about 11 right digits, the best forward quotient 8, automatic derivatives 16.",
    ),
    further=(
        'lab.run("difference-steps", function="exp")',
        'lab.run("difference-steps", x=-2.0)',
        'lab.run("gradient-checking")',
        'lab.run("four-ways")',
    ),
    knobs={"function": "runge (1 / (1 + x²)), exp, sin or logistic", "x": "where"},
)
def difference_steps(function: str = "runge", x: float = 0.7) -> Outcome:
    errors = lab.difference_errors(look_up("function", function, FUNCTIONS), x)
    eps = float(np.finfo(float).eps)
    rules = {"forward": eps ** (1 / 2), "central": eps ** (1 / 3)}
    slopes = {"forward": errors.forward_slope, "central": errors.central_slope}
    best = {"forward": errors.forward_best, "central": errors.central_best}
    tiny = errors.h < 1e-12
    late = {"forward": float(errors.forward[tiny].mean()), "central": float(errors.central[tiny].mean())}
    near = {"forward": float(np.median(_around(errors.h, errors.forward, best["forward"])))}
    near["central"] = float(np.median(_around(errors.h, errors.central, best["central"])))
    passed = (
        abs(slopes["forward"] - 1) < 0.05
        and abs(slopes["central"] - 2) < 0.05
        and all(rules[name] / 10 < best[name] < 10 * rules[name] for name in rules)
        and all(late[name] > 100 * near[name] > 0 for name in rules)
        and near["central"] < near["forward"]
    )
    return Outcome(
        passed,
        f"Errors fall as h^{slopes['forward']:.2f} and h^{slopes['central']:.2f}; the best steps are "
        f"{best['forward']:.1g} and {best['central']:.1g} (errors about {near['forward']:.1g} and "
        f"{near['central']:.1g}); below 1e-12 the mean errors are {late['forward']:.1g} and {late['central']:.1g}.",
        {"slopes": slopes, "best": best, "errors": near, "late": late, "curves": errors},
        (),
        (
            Table(
                "Both quotients",
                ("quotient", "error ∼ h to the", "best h", "rule of thumb", "error there", "error for h < 1e-12"),
                [(name, slopes[name], best[name], rules[name], near[name], late[name]) for name in rules],
            ),
        ),
        (
            Picture(
                "errors",
                "Error of both quotients against the step, both axes logarithmic. From the right it falls with slope 1 "
                "or 2, as the function bends less; from the best step (dashed: rule of thumb) it rises again, as "
                "digits cancel.",
                lambda: figures.figure_of(lab.plot_difference_errors(errors)),
            ),
        ),
    )


def _around(h: Any, errors: Any, best: float) -> Any:
    """Errors of the steps around the best one."""
    return errors[np.abs(np.log10(h / best)) < 0.5]
