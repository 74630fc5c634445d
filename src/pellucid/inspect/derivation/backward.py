"""The backward pass, written out: from the slope of the loss at the scores to the gradient of every parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.inspect.derivation.content import Equation, Item, Phase
from pellucid.inspect.derivation.entries import mean_of, product, sum_of_products, telling
from pellucid.inspect.derivation.forward import factor_of
from pellucid.inspect.derivation.loss import penalty_slope, slope_of, target_of
from pellucid.inspect.derivation.numbers import Numbers, number
from pellucid.inspect.derivation.page import Page, equation
from pellucid.inspect.derivation.parts import INPUT, Part
from pellucid.inspect.derivation.through import BY_GRAPH, WAITS, derivative_entry, gradient_symbol, write_through
from pellucid.nn.layers.dense import GLU, Dense, Maxout


def write_backward(page: Page) -> None:
    """Steps from the scores back to the first layer."""
    _at_scores(page)
    for part in reversed(page.trace.parts):
        if isinstance(part.layer, Dense | Maxout | GLU):
            _affine(page, part, part.layer)
            _back(page, part, part.layer)
        else:
            write_through(page, part)


def _at_scores(page: Page) -> None:
    last = page.trace.parts[-1]
    formula, values = slope_of(page), page.trace.adjoints[last.name]
    symbol = page.symbols.derivative(last.name)
    quotient = rf"\frac{{\partial \ell}}{{\partial {page.symbols.of(last.name)}}}"
    sides: list[Any] = [quotient] if symbol != quotient else []
    if formula is not None:
        sides.append(formula)
        loss = page.trace.trainer.loss
        plain = not getattr(loss, "smoothing", 0.0) and page.trace.batch.weights is None
        if plain and formula in ("P - Y", "p - y", r"\hat{Y} - Y", r"\hat{y} - y"):
            samples = page.notation.samples
            sides.append((samples(loss.link(page.trace.values[last.name])), "-", samples(target_of(page))))
    words = ["ℓ is the sum of the losses of the batch; its mean is ℓ/n."] if not page.notation.one else []
    if formula is None:
        words.append(BY_GRAPH)
    page.add(
        Phase.BACKWARD, "Slope of the loss at the scores", [equation(symbol, *sides, page.notation.samples(values))],
        last, words,
    )  # fmt: skip


def _affine(page: Page, part: Part, layer: Dense | Maxout | GLU) -> None:
    notation, trace = page.notation, page.trace
    source, own = part.sources[0], page.owned[part.name]
    weight, error = own["weight"], page.symbols.derivative(part.z)
    if part.z != part.name and not isinstance(layer, Dense):
        through = equation(error, page.adjoint(part.z))
        page.add(Phase.BACKWARD, f"{part.name}: back to its affine map", [through], part, [BY_GRAPH])
    W, delta, x = trace.before.params[weight], trace.adjoints[part.z], page.value(source)
    factor = factor_of(layer, len(W))
    scale = 1.0 / np.sqrt(len(W)) if factor else 1.0
    turned = Numbers(x.T if notation.rows else x)  # transposed, as the formula has it
    pair: tuple[Item, ...] = (turned, notation.samples(delta)) if notation.rows else (notation.samples(delta), turned)
    symbol, penalty = page.symbol_of(part, "weight"), trace.penalty_gradients.get(weight)
    formula = notation.weight_gradient(page.symbols.of(source, transposed=True), error, factor)
    numbers: tuple[Item, ...] = ((notation.mean.replace("n", str(trace.rows)) + factor).strip(), *pair)
    numbers = numbers if numbers[0] else numbers[1:]
    i, j = telling(trace.gradients[weight])
    written = mean_of(sum_of_products(x[:, i] * scale, delta[:, j], page.digits), trace.rows)
    if penalty is not None:
        assert trace.trainer.penalty is not None
        formula += f" + {penalty_slope(trace.trainer.penalty, symbol, weight)}"
        numbers = (*numbers, "+", notation.parameter(penalty))
        written += f" + {product((float(penalty[i, j]),), page.digits)}"
    entry = (
        f"{gradient_symbol(notation.weight_entry(symbol, i, j))} = {written}"
        f" = {number(float(trace.gradients[weight][i, j]), page.digits)}"
    )
    result = notation.parameter(trace.gradients[weight])
    equations = [equation(gradient_symbol(symbol), formula, numbers, result, entry=entry)]
    if "bias" in own:
        equations.append(_bias(page, part, own["bias"], error))
    page.add(Phase.BACKWARD, f"{part.name}: gradients", equations, part, _idle(page, part))


def _back(page: Page, part: Part, layer: Dense | Maxout | GLU) -> None:
    """Through an affine map to what went into it."""
    notation, source = page.notation, part.sources[0]
    if source == INPUT:
        return
    error, symbol = page.symbols.derivative(part.z), page.symbols.derivative(source)
    W, delta, value = (
        page.trace.before.params[page.owned[part.name]["weight"]], page.trace.adjoints[part.z],
        page.trace.adjoints[source],
    )  # fmt: skip
    factor = factor_of(layer, len(W))
    share = notation.back(error, part.number, factor)
    formula, title = page.passed(source, share), f"{part.name}: back to its input"
    if formula is None:
        page.add(Phase.BACKWARD, title, [], part, [WAITS])
        return
    sides: list[Any] = [formula]
    entry = ""
    if formula == share and value.ndim == 2:
        pair: tuple[Item, ...] = (notation.samples(delta), Numbers(W.T if notation.rows else W))
        pair = pair if notation.rows else pair[::-1]
        sides.append((factor.strip(), *pair) if factor else pair)
        r, c = telling(value)
        scale = 1.0 / np.sqrt(len(W)) if factor else 1.0
        written = sum_of_products(delta[r] * scale, W[c], page.digits)
        entry = (
            f"{derivative_entry(page, symbol, source, r, c)} = {written} = {number(float(value[r, c]), page.digits)}"
        )
    page.add(Phase.BACKWARD, title, [equation(symbol, *sides, notation.samples(value), entry=entry)], part)


def _idle(page: Page, part: Part) -> list[str]:
    """A word on a bias that batch normalisation takes off again."""
    behind = [one for one in page.trace.parts if one.sources == (part.name,)]
    normalised = any(f"{one.name}.batch_mean" in page.trace.values for one in behind)
    if not normalised or "bias" not in page.owned[part.name]:
        return []
    return ["Batch normalisation takes the mean off again: this bias has no effect, its gradient is rounding."]


def _bias(page: Page, part: Part, name: str, error: str) -> Equation:
    symbol, gradient = page.symbol_of(part, "bias"), page.trace.gradients[name]
    formula = page.notation.summed(error)
    penalty = page.trace.penalty_gradients.get(name)
    if penalty is not None and page.trace.trainer.penalty is not None:
        formula += f" + {penalty_slope(page.trace.trainer.penalty, symbol, name)}"
    return equation(gradient_symbol(symbol), formula, page.notation.parameter(gradient))
