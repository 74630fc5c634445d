"""The loss, written out: prediction, target, loss of each sample, penalty, objective; and its slope at the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.inspect.derivation.content import Equation, Phase
from pellucid.inspect.derivation.entries import total
from pellucid.inspect.derivation.numbers import Numbers, number
from pellucid.inspect.derivation.page import Page, equation
from pellucid.inspect.derivation.spellings import from_text, of_function
from pellucid.named_arrays import matches
from pellucid.nn import L1, L2, ElasticNet, LinkKind, Loss, Penalties, Penalty, PerRow, Summed
from pellucid.nn.losses import classes, numbers

SLOPES: dict[type[Loss], str] = {
    numbers.SquaredError: r"2 (\hat{Y} - Y)",
    numbers.HalfSquaredError: r"\hat{Y} - Y",
    numbers.AbsoluteError: r"\operatorname{sign}(\hat{Y} - Y)",
    numbers.Poisson: r"\hat{Y} - Y",
    classes.CrossEntropy: r"P - Q",
    classes.BinaryCrossEntropy: r"P - Q",
    classes.Multilabel: r"P - Q",
}
"""The derivative of the loss by the scores, for one output; losses of several outputs are averages over them."""

SUMMED = (classes.CrossEntropy,)
"""Losses that sum over outputs."""


def write_loss(page: Page) -> None:
    """From the scores to the objective."""
    trace, loss, notation = page.trace, page.trace.trainer.loss, page.notation
    last = trace.parts[-1].name
    scores, kind = page.symbols.of(last), loss.link.kind
    prediction = _case(page, "P" if kind.gives_probabilities else r"\hat{Y}")
    equations = [
        equation(
            prediction,
            scores if loss.link.name == "identity" else rf"\operatorname{{{_link_name(page)}}}({scores})",
            notation.samples(loss.link(trace.values[last])),
        ),
        equation(_case(page, "Y"), notation.samples(target_of(page))),
    ]
    equations += _smoothed(page)
    page.add(Phase.LOSS, f"Prediction and target, {loss.name}", equations)
    page.add(Phase.LOSS, "Loss and objective", _objective(page), words=_penalty_words(trace.trainer.penalty))


def _link_name(page: Page) -> str:
    """The name of the link; of one that depends on the number of scores, the one that is meant."""
    link, scores = page.trace.trainer.loss.link, page.trace.values[page.trace.parts[-1].name]
    if link.kind is not LinkKind.EITHER:
        return link.name
    return "sigmoid" if scores.shape[1] == 1 else "softmax"


def _case(page: Page, symbol: str) -> str:
    """Small letters for one sample."""
    return symbol.replace("Y", "y").replace("P", "p").replace("Q", "q") if page.notation.one else symbol


def target_of(page: Page) -> Any:
    """The target as the loss sees it; labels of several classes as unit vectors."""
    y, scores = page.trace.batch.y, page.trace.values[page.trace.parts[-1].name]
    shares = page.trace.trainer.loss.link.kind.for_scores(scores.shape[1]) is LinkKind.PROBABILITIES
    return np.eye(scores.shape[1])[y] if y.ndim == 1 and shares else np.reshape(y, (len(y), -1))


def _smoothed(page: Page) -> list[Equation]:
    """What log-losses compare with: the target, smoothed."""
    loss = page.trace.trainer.loss
    smoothing = page.trace.settings.get("loss.smoothing", getattr(loss, "smoothing", 0.0))
    if not smoothing:
        return []
    target = target_of(page)
    outputs = target.shape[1] if isinstance(loss, classes.CrossEntropy) else 2
    q = (1.0 - smoothing) * target + smoothing / outputs
    formula = rf"(1 - {number(float(smoothing))}) {_case(page, 'Y')} + \frac{{{number(float(smoothing))}}}{{{outputs}}}"
    return [equation(_case(page, "Q"), formula, page.notation.samples(q))]


def _objective(page: Page) -> list[Equation]:
    trace, digits, weights = page.trace, page.digits, page.trace.batch.weights
    formula = _formula(page)
    each: Any = np.asarray(trace.losses)
    shown = Numbers(each[:, None] if page.notation.rows else each[None, :])
    ell = r"\ell " if page.notation.one else r"\ell _{i}"
    equations = [equation(ell, *([formula] if formula else []), shown)]
    if weights is not None:
        w = np.asarray(weights)
        equations.append(equation("w_{i}", Numbers(w[:, None] if page.notation.rows else w[None, :])))
        mean, written = r"\frac{\sum _{i} w_{i} \ell _{i}}{\sum _{i} w_{i}}", ""
    elif page.notation.one:
        mean, written = r"\ell ", ""
    else:
        mean = r"\frac{1}{n} \sum _{i} \ell _{i}"
        written = rf"\frac{{1}}{{{trace.rows}}} ({total([_positive(float(v), digits) for v in each])})"
    value = number(trace.loss, digits)
    equations.append(equation("L", mean, *([written] if written else []), value))
    if trace.penalty is not None:
        assert trace.trainer.penalty is not None
        equations.append(equation("R", penalty_formula(trace.trainer.penalty), number(trace.penalty, digits)))
        summed = f"{value} + {number(trace.penalty, digits)}"
        equations.append(equation("J", "L + R", summed, number(trace.objective, digits)))
    else:
        equations.append(equation("J", "L", value))
    return equations


def _positive(value: float, digits: int) -> str:
    text = number(value, digits)
    return f"({text})" if text.startswith("-") else text


def _formula(page: Page) -> str | None:
    """The loss of one sample: in terms of the prediction where that is what people write."""
    loss: Loss = page.trace.trainer.loss
    q = "q" if _smoothed(page) else "y"
    if isinstance(loss, classes.CrossEntropy):
        return rf"-\sum _{{k}} {q}_{{k}} \operatorname{{ln}} p_{{k}}"
    if isinstance(loss, classes.BinaryCrossEntropy):
        return rf"-{q} \operatorname{{ln}} p - (1 - {q}) \operatorname{{ln}}(1 - p)"
    if isinstance(loss, numbers.SquaredError | numbers.HalfSquaredError):
        outputs = page.trace.values[page.trace.parts[-1].name].shape[1]
        average = rf"\frac{{1}}{{{outputs}}} \sum _{{k}} " if outputs > 1 else ""
        index = "_{k}" if outputs > 1 else ""
        half = r"\frac{1}{2} " if isinstance(loss, numbers.HalfSquaredError) else ""
        return rf"{half}{average}(\hat{{y}}{index} - y{index})^{{2}}"
    if loss.formula:
        return from_text(loss.formula)
    column: Any = np.zeros((2, 1))
    return of_function(lambda s, y: loss.each(s, y), column, column, symbols={"s": "s", "y": "y"})


def penalty_formula(penalty: Penalty) -> str:
    """A penalty as the sum that it is."""
    if isinstance(penalty, L2):
        return rf"\frac{{1}}{{2}} \cdot {number(float(penalty.strength))} \sum \Vert W\Vert ^{{2}}"
    if isinstance(penalty, L1):
        return rf"{number(float(penalty.strength))} \sum \vert W\vert "
    if isinstance(penalty, ElasticNet):
        return f"{penalty_formula(L1(penalty.l1))} + {penalty_formula(L2(penalty.l2))}"
    if isinstance(penalty, Penalties):
        return " + ".join(map(penalty_formula, penalty.parts))
    if isinstance(penalty, PerRow):
        return rf"\frac{{1}}{{n}} ({penalty_formula(penalty.of)})"
    return rf"\operatorname{{{type(penalty).__name__}}}(W)"


def penalty_slope(penalty: Penalty, weight: str, name: str) -> str:
    """The derivative of a penalty by a parameter that it counts; `weight` is its symbol."""
    if isinstance(penalty, L2):
        return f"{number(float(penalty.strength))} {weight}"
    if isinstance(penalty, L1):
        return rf"{number(float(penalty.strength))} \operatorname{{sign}}({weight})"
    if isinstance(penalty, ElasticNet):
        return f"{penalty_slope(L1(penalty.l1), weight, name)} + {penalty_slope(L2(penalty.l2), weight, name)}"
    if isinstance(penalty, Penalties):
        counting = [part for part in penalty.parts if matches(name, getattr(part, "on", "*"))]
        return " + ".join(penalty_slope(part, weight, name) for part in counting)
    if isinstance(penalty, PerRow):
        return rf"\frac{{1}}{{n}} ({penalty_slope(penalty.of, weight, name)})"
    return rf"\frac{{\partial R}}{{\partial {weight}}}"


def _penalty_words(penalty: Penalty | None) -> list[str]:
    if not isinstance(penalty, L2):
        return []
    half = number(float(penalty.strength) / 2)
    return [f"The lectures write λ‖W‖² with λ = {half}, whose slope is 2λW: the same number."]


def slope_of(page: Page) -> str | None:
    """The derivative of the sum of losses by the scores, as a formula; None where only the graph knows it."""
    loss: Loss = page.trace.trainer.loss
    outputs = page.trace.values[page.trace.parts[-1].name].shape[1]
    average = not isinstance(loss, SUMMED)
    if isinstance(loss, Summed) and loss.shown == "sum":
        loss, average = loss.of, False
    formula = SLOPES.get(type(loss))
    if formula is None:
        return None
    if not getattr(loss, "smoothing", 0.0) and "loss.smoothing" not in page.trace.settings:
        formula = formula.replace("Q", "Y")
    formula = _case(page, formula)
    several = average and outputs > 1
    if several or page.trace.batch.weights is not None:
        factor, core = ("2", formula[2:]) if formula.startswith("2 ") else ("1", f"({formula})")
        formula = (rf"\frac{{{factor}}}{{{outputs}}} " if several else f"{factor} " if factor != "1" else "") + core
    if page.trace.batch.weights is not None:
        formula = rf"\frac{{n w_{{i}}}}{{\sum _{{j}} w_{{j}}}} {formula}"
    return formula
