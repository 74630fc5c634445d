"""The forward pass, written out: one step for each part of the network."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.graph import Spec
from pellucid.inspect.derivation.content import Equation, Item, Phase
from pellucid.inspect.derivation.entries import sum_of_products, telling
from pellucid.inspect.derivation.formulas import upright
from pellucid.inspect.derivation.numbers import number
from pellucid.inspect.derivation.page import Page, equation
from pellucid.inspect.derivation.parts import INPUT, Part
from pellucid.inspect.derivation.spellings import from_text, of_function
from pellucid.nn.activations.activation import Activation
from pellucid.nn.activations.layers import Activate
from pellucid.nn.dimensions import brief
from pellucid.nn.layers.compose import Compute, Concat, Residual
from pellucid.nn.layers.dense import GLU, Dense, Maxout
from pellucid.nn.layers.noise import Dropout
from pellucid.nn.layers.normalization import BatchNorm, standardize

PRIME = r"^{\prime}"


def write_forward(page: Page) -> None:
    """Steps from the input to the scores."""
    X = page.symbols.of(INPUT)
    page.add(Phase.FORWARD, "Input", [equation(X, page.samples(INPUT))])
    for part in page.trace.parts:
        layer = part.layer
        if isinstance(layer, Dense | Maxout | GLU):
            _affine(page, part, layer)
        elif isinstance(layer, Activate):
            _activation(page, part, layer.activation)
        elif isinstance(layer, BatchNorm) and f"{part.name}.batch_mean" in page.trace.values:
            _batch_norm(page, part, layer)
        elif isinstance(layer, Dropout):
            _dropout(page, part)
        else:
            _other(page, part)


def factor_of(layer: Dense | Maxout | GLU, width: int) -> str:
    """What weights are divided by before they are used."""
    return rf"\frac{{1}}{{\sqrt{{{width}}}}} " if layer.scaling == "ntk" else ""


def _affine(page: Page, part: Part, layer: Dense | Maxout | GLU) -> None:
    own, params, notation = page.owned[part.name], page.trace.before.params, page.notation
    x, W, source = page.value(part.sources[0]), params[own["weight"]], page.symbols.of(part.sources[0])
    bias = params[own["bias"]] if "bias" in own else None
    z, value = page.symbols.of(part.z), page.trace.values[part.z]
    factor = factor_of(layer, len(W))
    pair: tuple[Item, ...] = (notation.samples(x), notation.parameter(W))
    numbers: tuple[Item, ...] = pair if notation.rows else pair[::-1]
    if factor:
        numbers = (factor.strip(), *numbers)
    if bias is not None:
        numbers = (*numbers, "+", notation.parameter(bias))
    scale = 1.0 / np.sqrt(len(W)) if factor else 1.0
    extra = [] if bias is None else [bias[0]]
    entry = (
        f"{notation.entry(z, 0, 0)} = {sum_of_products(x[0] * scale, W[:, 0], page.digits, extra)}"
        f" = {number(float(value[0, 0]), page.digits)}"
    )
    formula = notation.affine(source, part.number, bias is not None, factor)
    equations = [equation(z, formula, numbers, notation.samples(value), entry=entry)]
    if isinstance(layer, Maxout):
        a = rf"\operatorname{{max}}\text{{ over {layer.pieces} pieces of }}{z}"
        equations.append(equation(page.symbols.of(part.name), a, page.samples(part.name)))
    elif isinstance(layer, GLU):
        a = rf"\operatorname{{{layer.gate}}}(\text{{left half of }}{z}) \odot \text{{right half of }}{z}"
        equations.append(equation(page.symbols.of(part.name), a, page.samples(part.name)))
    page.add(Phase.FORWARD, f"{part.name}: {type(layer).__name__}({layer.units})", equations, part)


def definition(record: Activation, name: str, formula: str, symbol: str = "x") -> list[Equation]:
    """What a function is, by its record, or by its graph."""
    text = from_text(formula) if formula else of_function(record, Spec(()), symbols={"x": symbol})
    if not text:
        return []
    text = text.replace("g(x)", f"{name.removesuffix(PRIME)}(x)")  # the record calls its function g
    numbers = {**record.parameters, **record.learned}
    settings = ", ".join(f"{from_text(greek(key))} = {number(value)}" for key, value in numbers.items())
    if record.name == "selu" or not settings:
        settings = ""
    return [equation(rf"{name}({symbol})", text + (rf"\text{{, }}{settings}" if settings else ""))]


def greek(name: str) -> str:
    """The letter of a setting, where it has one.

    >>> greek("alpha"), greek("threshold")
    ('α', 'threshold')
    """
    return {"alpha": "α", "beta": "β"}.get(name, name)


def _activation(page: Page, part: Part, record: Activation) -> None:
    name = upright(record.name, function=True)
    source = part.sources[0]
    a, value = page.symbols.of(part.name), page.trace.values[part.name]
    entry = ""
    if value.ndim == 2:
        row, column = telling(value)
        before, after = (number(float(v[row, column]), page.digits) for v in (page.value(source), value))
        entry = f"{page.notation.entry(a, row, column)} = {name}({before}) = {after}"
    equations = [equation(a, f"{name}({page.symbols.of(source)})", page.samples(part.name), entry=entry)]
    words = [f"{record.reference}"] if record.reference else []
    page.add(Phase.FORWARD, part.name, [*equations, *definition(record, name, record.formula)], part, words)


def standardized(page: Page, part: Part, layer: BatchNorm) -> Any:
    """The batch with mean 0 and variance 1, by the layer's own function."""
    return standardize(page.value(part.sources[0]), axis=0, eps=layer.eps)


def _batch_norm(page: Page, part: Part, layer: BatchNorm) -> None:
    x, k = page.symbols.of(part.sources[0]), part.number
    values, own, notation = page.trace.values, page.owned[part.name], page.notation
    mu, variance, u = notation.weight(r"\mu ", k), notation.weight("v", k), notation.letter("U", k)
    average = r"\frac{1}{n} \sum _{i} "
    equations = [
        equation(mu, f"{average}{x}_{{i}}" if "_" not in x else f"{average}({x})_{{i}}",
                 notation.parameter(values[f"{part.name}.batch_mean"])),
        equation(variance, rf"{average}({x} - {mu})^{{2}}", notation.parameter(values[f"{part.name}.batch_var"])),
        equation(u, rf"\frac{{{x} - {mu}}}{{\sqrt{{{variance} + {number(layer.eps)}}}}}",
                 notation.samples(standardized(page, part, layer))),
    ]  # fmt: skip
    out, value = page.symbols.of(part.name), page.samples(part.name)
    if own:
        gamma, beta = (page.symbol_of(part, name) for name in ("scale", "shift"))
        scale, shift = (notation.parameter(page.trace.before.params[own[name]]) for name in ("scale", "shift"))
        equations.append(equation(gamma, scale))
        equations.append(equation(beta, shift))
        equations.append(equation(out, rf"{gamma} \odot {u} + {beta}", value))
    else:
        equations.append(equation(out, u, value))
    page.add(Phase.FORWARD, f"{part.name}: batch normalisation", equations, part, ["By the statistics of this batch."])


def mask_of(page: Page, part: Part) -> Any:
    """What dropout multiplies by: the layer itself, at work on ones."""
    x = page.value(part.sources[0])
    return part.layer({}, np.ones_like(x), page.trace.context(part.name))


def _dropout(page: Page, part: Part) -> None:
    mask = page.notation.letter("R", part.number)
    equations = [
        equation(mask, page.notation.samples(mask_of(page, part))),
        equation(
            page.symbols.of(part.name), rf"{page.symbols.of(part.sources[0])} \odot {mask}", page.samples(part.name)
        ),
    ]
    words = ["Drawn anew for every step; what stays is divided by the share that stays."]
    if getattr(part.layer, "convention", "inverted") == "classical":
        words = ["Drawn anew for every step; at prediction everything is multiplied by the share that stays."]
    page.add(Phase.FORWARD, f"{part.name}: dropout", equations, part, words)


def _other(page: Page, part: Part) -> None:
    sources = [page.symbols.of(source) for source in part.sources]
    if isinstance(part.layer, Residual):
        formula = " + ".join(sources)
    elif isinstance(part.layer, Concat):
        formula = rf"({', '.join(sources)})\text{{ side by side}}"
    elif isinstance(part.layer, Compute):
        formula = rf"{sources[-1]}\text{{ as it was, in }}\text{{{part.layer.dtype}}}"
    else:
        formula = rf"\operatorname{{{type(part.layer).__name__}}}({', '.join(sources)})"
    name = f"{part.name}: {type(part.layer).__name__ if part.joins else brief(part.layer)}"
    page.add(Phase.FORWARD, name, [equation(page.symbols.of(part.name), formula, page.samples(part.name))], part)
