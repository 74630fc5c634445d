"""Back through what has no weights: activations, batch normalisation, dropout, and whatever else there is."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.autodiff import jvp
from pellucid.inspect.derivation.content import Equation, Phase
from pellucid.inspect.derivation.entries import product, telling
from pellucid.inspect.derivation.formulas import upright
from pellucid.inspect.derivation.forward import PRIME, definition, mask_of, standardized
from pellucid.inspect.derivation.numbers import number
from pellucid.inspect.derivation.page import Page, equation
from pellucid.inspect.derivation.parts import INPUT, Part
from pellucid.nn.activations.layers import Activate
from pellucid.nn.layers.compose import Residual
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.layer import within
from pellucid.nn.layers.noise import Dropout
from pellucid.nn.layers.normalization import BatchNorm

BY_GRAPH = "By the rules of the recorded graph."
WAITS = "What comes back here is added to what comes through the other branch."


def write_through(page: Page, part: Part) -> None:
    """The step back through a part without weights."""
    if isinstance(part.layer, Activate):
        _activation(page, part, part.layer)
    elif isinstance(part.layer, BatchNorm) and f"{part.name}.batch_mean" in page.trace.values:
        _batch_norm(page, part, part.layer)
    elif isinstance(part.layer, Dropout):
        _dropout(page, part)
    else:
        _other(page, part)


def gradient_symbol(parameter: str) -> str:
    return rf"\frac{{\partial J}}{{\partial {parameter}}}"


def derivative_entry(page: Page, symbol: str, source: str, row: int, column: int) -> str:
    """One entry of a derivative: of delta, or of a quotient by a value."""
    if symbol.startswith(r"\frac"):
        return rf"\frac{{\partial \ell}}{{\partial {page.notation.entry(page.symbols.of(source), row, column)}}}"
    return page.notation.entry(symbol, row, column)


def _jacobian(page: Page, part: Part, source: str) -> str:
    """The transposed Jacobian of a part, where there is no shorter formula."""
    return rf"(\frac{{\partial {page.symbols.of(part.name)}}}{{\partial {page.symbols.of(source)}}})^{{\top}} "


def _parameters(page: Page, part: Part) -> list[Equation]:
    """Gradients of what a part learns, without a formula."""
    return [
        equation(gradient_symbol(page.symbol_of(part, own)), page.notation.parameter(page.trace.gradients[name]))
        for own, name in page.owned.get(part.name, {}).items()
    ]


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
    name = upright(record.name, function=True)
    incoming, outgoing = page.trace.adjoints[part.name], page.trace.adjoints[source]
    slopes = slope(page, part)
    symbol, prime = page.symbols.derivative(source), f"{name}{PRIME}"
    z = page.symbols.of(source)
    elementwise = np.allclose(incoming * slopes, outgoing, rtol=1e-4, atol=1e-12, equal_nan=True)
    if page.takers[source] > 1 or not elementwise:
        formula = page.passed(source, _jacobian(page, part, source) + page.symbols.derivative(part.name))
        result = [] if formula is None else [equation(symbol, formula, page.adjoint(source))]
        words = [WAITS if formula is None else BY_GRAPH]
        page.add(Phase.BACKWARD, f"{part.name}: through {record.name}", [*result, *own], part, words)
        return
    samples = page.notation.samples
    entry = ""
    if outgoing.ndim == 2:
        r, c = telling(outgoing)
        written = product((incoming[r, c], slopes[r, c]), page.digits)
        entry = (
            f"{derivative_entry(page, symbol, source, r, c)} = {written} = {number(float(outgoing[r, c]), page.digits)}"
        )
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
    page.add(Phase.BACKWARD, title, [equation(page.symbols.derivative(source), *sides, page.adjoint(source))], part)


def _other(page: Page, part: Part) -> None:
    equations, words = _parameters(page, part), [] if isinstance(part.layer, Residual) else [BY_GRAPH]
    for source in part.sources:
        if source == INPUT:
            continue
        share = page.symbols.derivative(part.name)
        if not isinstance(part.layer, Residual):
            share = f"{_jacobian(page, part, source)}{share}"
        formula = page.passed(source, share)
        if formula is None:
            words.append(WAITS)
        else:
            equations.append(equation(page.symbols.derivative(source), formula, page.adjoint(source)))
    if equations or words != [BY_GRAPH]:
        page.add(Phase.BACKWARD, f"{part.name}: back through it", equations, part, words)
