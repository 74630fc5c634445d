"""The backward pass, written out: from the slope of the loss at the scores to the gradient of every parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.autodiff import jvp
from pellucid.inspect.derivation.content import Equation, Item, Phase
from pellucid.inspect.derivation.entries import mean_of, product, sum_of_products, telling
from pellucid.inspect.derivation.forward import PRIME, definition, factor_of, mask_of, standardized
from pellucid.inspect.derivation.loss import penalty_slope, slope_of, target_of
from pellucid.inspect.derivation.numbers import Numbers, number
from pellucid.inspect.derivation.page import Page, equation
from pellucid.inspect.derivation.parts import INPUT, Part
from pellucid.nn.activations.layers import Activate
from pellucid.nn.layers.compose import Residual
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.dense import GLU, Dense, Maxout
from pellucid.nn.layers.layer import within
from pellucid.nn.layers.noise import Dropout
from pellucid.nn.layers.normalization import BatchNorm

BY_GRAPH = "By the rules of the recorded graph."


def write_backward(page: Page) -> None:
    """Steps from the scores back to the first layer."""
    _at_scores(page)
    for part in reversed(page.trace.parts):
        if isinstance(part.layer, Dense | Maxout | GLU):
            _affine(page, part, part.layer)
            _back(page, part, part.layer)
        elif isinstance(part.layer, Activate):
            _activation(page, part, part.layer)
        elif isinstance(part.layer, BatchNorm) and f"{part.name}.batch_mean" in page.trace.values:
            _batch_norm(page, part, part.layer)
        elif isinstance(part.layer, Dropout):
            _dropout(page, part)
        else:
            _other(page, part)


WAITS = "What comes back here is added to what comes through the other branch."


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


def gradient_symbol(parameter: str) -> str:
    return rf"\frac{{\partial J}}{{\partial {parameter}}}"


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
        entry = f"{_entry(page, symbol, source, r, c)} = {written} = {number(float(value[r, c]), page.digits)}"
    page.add(
        Phase.BACKWARD, title, [equation(symbol, *sides, notation.samples(value), entry=entry)], part
    )


def _idle(page: Page, part: Part) -> list[str]:
    """A word on a bias that batch normalisation takes off again."""
    behind = [one for one in page.trace.parts if one.sources == (part.name,)]
    normalised = any(f"{one.name}.batch_mean" in page.trace.values for one in behind)
    if not normalised or "bias" not in page.owned[part.name]:
        return []
    return ["Batch normalisation takes the mean off again: this bias has no effect, its gradient is rounding."]


def _entry(page: Page, symbol: str, source: str, row: int, column: int) -> str:
    """One entry of a derivative: of delta, or of a quotient by a value."""
    if symbol.startswith(r"\frac"):
        return rf"\frac{{\partial \ell}}{{\partial {page.notation.entry(page.symbols.of(source), row, column)}}}"
    return page.notation.entry(symbol, row, column)


def _bias(page: Page, part: Part, name: str, error: str) -> Equation:
    symbol, gradient = page.symbol_of(part, "bias"), page.trace.gradients[name]
    formula = page.notation.summed(error)
    penalty = page.trace.penalty_gradients.get(name)
    if penalty is not None and page.trace.trainer.penalty is not None:
        formula += f" + {penalty_slope(page.trace.trainer.penalty, symbol, name)}"
    return equation(gradient_symbol(symbol), formula, page.notation.parameter(gradient))


def slope(page: Page, part: Part) -> Any:
    """The slope of an activation at every entry, by its own rule."""
    inner = within(page.trace.before.params, part.name)
    x = page.value(part.sources[0])
    return jvp(lambda z: part.layer(inner, z, Context()), (x,), (np.ones_like(x),))[1]


def _activation(page: Page, part: Part, layer: Activate) -> None:
    record, source = layer.activation, part.sources[0]
    own = _parameters(page, part)
    if source == INPUT:
        if own:
            page.add(Phase.BACKWARD, f"{part.name}: gradients", own, part, [BY_GRAPH])
        return
    name = rf"\operatorname{{{record.name}}}"
    incoming, outgoing = page.trace.adjoints[part.name], page.trace.adjoints[source]
    slopes = slope(page, part)
    symbol, prime = page.symbols.derivative(source), f"{name}{PRIME}"
    z = page.symbols.of(source)
    elementwise = np.allclose(incoming * slopes, outgoing, rtol=1e-4, atol=1e-12, equal_nan=True)
    if page.takers[source] > 1 or not elementwise:
        share = rf"(\frac{{\partial {page.symbols.of(part.name)}}}{{\partial {z}}})^{{\top}} "
        formula = page.passed(source, share + page.symbols.derivative(part.name))
        result = [] if formula is None else [equation(symbol, formula, page.adjoint(source))]
        words = [WAITS if formula is None else BY_GRAPH]
        page.add(Phase.BACKWARD, f"{part.name}: through {record.name}", [*result, *own], part, words)
        return
    samples = page.notation.samples
    entry = ""
    if outgoing.ndim == 2:
        r, c = telling(outgoing)
        written = product((incoming[r, c], slopes[r, c]), page.digits)
        entry = f"{_entry(page, symbol, source, r, c)} = {written} = {number(float(outgoing[r, c]), page.digits)}"
    equations = [
        equation(f"{prime}({z})", samples(slopes)),
        equation(
            symbol, rf"{page.symbols.derivative(part.name)} \odot {prime}({z})",
            (samples(incoming), r"\odot", samples(slopes)), samples(outgoing), entry=entry,
        ),
        *(definition(record, prime, record.derivative) if record.derivative else []),
        *own,
    ]  # fmt: skip
    page.add(Phase.BACKWARD, f"{part.name}: through {record.name}", equations, part)


def _batch_norm(page: Page, part: Part, layer: BatchNorm) -> None:
    notation, own, source = page.notation, page.owned[part.name], part.sources[0]
    u, incoming = notation.letter("U", part.number), page.trace.adjoints[part.name]
    D, mean, both = (notation.letter("D"), r"\bar{D}", r"\bar{E}")
    over = r"\frac{1}{n} \sum _{i} "
    equations = [equation(D, page.symbols.derivative(part.name))]
    if own:
        gamma, beta = (page.symbol_of(part, name) for name in ("scale", "shift"))
        for symbol, name, formula in ((gamma, "scale", rf"{over}{u} \odot {D}"), (beta, "shift", f"{over}{D}")):
            gradient = notation.parameter(page.trace.gradients[own[name]])
            equations.append(equation(gradient_symbol(symbol), formula, gradient))
    if source != INPUT:
        through = incoming * standardized(page, part, layer)
        equations.append(equation(mean, f"{over}{D}", notation.parameter(np.mean(incoming, axis=0))))
        equations.append(equation(both, rf"{over}{D} \odot {u}", notation.parameter(np.mean(through, axis=0))))
        variance = notation.weight("v", part.number)
        scale = rf"\frac{{{gamma if own else '1'}}}{{\sqrt{{{variance} + {number(layer.eps)}}}}}"
        formula = rf"{scale} \odot ({D} - {mean} - {u} \odot {both})"
        passed = page.passed(source, formula)
        if passed is not None:
            equations.append(equation(page.symbols.derivative(source), passed, page.adjoint(source)))
    words = ["Every sample acts on all others through mean and variance: hence the two averages."]
    page.add(Phase.BACKWARD, f"{part.name}: through batch normalisation", equations, part, words)


def _dropout(page: Page, part: Part) -> None:
    source = part.sources[0]
    if source == INPUT:
        return
    mask = page.notation.letter("R", part.number)
    share = rf"{page.symbols.derivative(part.name)} \odot {mask}"
    formula, title = page.passed(source, share), f"{part.name}: through the mask"
    if formula is None:
        page.add(Phase.BACKWARD, title, [], part, [WAITS])
        return
    sides: list[Any] = [formula]
    if formula == share:
        samples = page.notation.samples
        sides.append((samples(page.trace.adjoints[part.name]), r"\odot", samples(mask_of(page, part))))
    page.add(
        Phase.BACKWARD, title, [equation(page.symbols.derivative(source), *sides, page.adjoint(source))], part
    )


def _parameters(page: Page, part: Part) -> list[Equation]:
    """Gradients of what a part learns, without a formula."""
    return [
        equation(gradient_symbol(page.symbol_of(part, own)), page.notation.parameter(page.trace.gradients[name]))
        for own, name in page.owned.get(part.name, {}).items()
    ]


def _other(page: Page, part: Part) -> None:
    equations, words = _parameters(page, part), [] if isinstance(part.layer, Residual) else [BY_GRAPH]
    for source in part.sources:
        if source == INPUT:
            continue
        share = page.symbols.derivative(part.name)
        if not isinstance(part.layer, Residual):
            share = rf"(\frac{{\partial {page.symbols.of(part.name)}}}{{\partial {page.symbols.of(source)}}})^{{\top}} {share}"
        formula = page.passed(source, share)
        if formula is None:
            words.append(WAITS)
        else:
            equations.append(equation(page.symbols.derivative(source), formula, page.adjoint(source)))
    if equations or words != [BY_GRAPH]:
        page.add(Phase.BACKWARD, f"{part.name}: back through it", equations, part, words)
