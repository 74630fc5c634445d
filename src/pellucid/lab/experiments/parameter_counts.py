"""How many parameters: a quadratic model, a network of gates, a polynomial of high degree."""

from __future__ import annotations

import math
from typing import Any

from pellucid import figures, nn
from pellucid.lab import Beside, Outcome, Picture, Table, experiment


@experiment(
    "parameter-counts",
    "Why networks, why deep: counting parameters",
    lectures=("book",),
    topic="approximation",
    claim="A quadratic model of 1,000 inputs has about 500,000 parameters. A network with four hidden units for every "
    "product has 2 billion; but if only ten products matter, 40,040. With 250 products in each layer a deep network "
    "reaches degree 1,000, for which linear regression would need about 1000^1000/1000! parameters.",
    setting="The library counts the parameters of the networks (without biases, as the lecture does); products and "
    "monomials are counted exactly in whole numbers.",
    criterion="The counts are 40,040 and 2,002,000,000 to the unit, the products 500,500, 1000^1000/1000! has the "
    "power 432 of ten, and the exact number of monomials of degree at most 1,000 is C(2000, 1000), with the power 600.",
    notice=(
        "Half of 1000 x 1000 is 500,000; with the squares there are 500,500 products.",
        "n^k/k! is good for many variables and a low degree. With 1,000 of each it is too small by 168 powers of ten.",
        "Depth wins: gates of gates double the degree with each layer, so ten layers reach 1,024.",
        "Which ten products matter must be learned; the count says only that a network has room for them.",
    ),
    further=(
        'lab.run("parameter-counts", inputs=100)',
        'lab.run("parameter-counts", products=50)',
        'lab.run("multiplication-gate")',
    ),
    knobs={"inputs": "d, features of the model", "products": "that matter", "per_layer": "products in each deep layer"},
)
def parameter_counts(inputs: int = 1000, products: int = 10, per_layer: int = 250) -> Outcome:
    exact = math.comb(inputs + 1, 2)
    about = inputs * inputs // 2
    few = nn.count_parameters(nn.mlp((4 * products,), 1, bias=None), inputs)
    every = nn.count_parameters(nn.mlp((4 * about,), 1, bias=None), inputs)
    layers = math.ceil(math.log2(inputs))
    deep = nn.count_parameters(nn.mlp((4 * per_layer,) * layers, 1, bias=None), inputs)
    printed = inputs**inputs // math.factorial(inputs)
    monomials = math.comb(2 * inputs, inputs)

    as_formula = few == inputs * 4 * products + 4 * products and every == inputs * 4 * about + 4 * about
    lecture = (inputs, products) != (1000, 10) or (
        (few, every, exact) == (40_040, 2_002_000_000, 500_500)
        and (int(power(printed)), int(power(monomials))) == (432, 600)
    )
    rows: list[tuple[str, float]] = [
        (f"network, {products} products", math.log10(few)),
        ("quadratic model", math.log10(exact)),
        (f"network, {layers} layers", math.log10(deep)),
        ("network, all products", math.log10(every)),
    ]
    compared = (
        ("parameters for 10 products", 40_040, few),
        ("parameters for all products", 2_002_000_000, every),
        ("products of two of 1,000 inputs", "about 500,000", exact),
        ("hidden units for all products", 2_000_000, 4 * about),
        ("hidden units in each deep layer", 1_000, 4 * per_layer),
        ("1000^1000/1000!", None, f"10^{power(printed):.1f}"),
        ("monomials of degree up to 1,000, exactly", None, f"10^{power(monomials):.1f}"),
    )
    return Outcome(
        as_formula and lecture,
        f"{few:,} parameters for {products} products and {every:,} for all; {exact:,} products exactly; the polynomial "
        f"has 10^{power(printed):.1f} terms by the lecture's estimate and 10^{power(monomials):.1f} exactly.",
        {
            "few": few,
            "all": every,
            "products": exact,
            "deep": deep,
            "log10_printed": power(printed),
            "log10_monomials": power(monomials),
        },
        tuple(Beside(*row) for row in compared) if (inputs, products) == (1000, 10) else (),
        (
            Table(
                f"Parameters for {inputs:,} inputs",
                ("model", "degree", "parameters"),
                [
                    ("linear regression on all products", "2", f"{exact:,}"),
                    ("network, four units for each product", "2", f"{every:,}"),
                    (f"network, {products} products", "2", f"{few:,}"),
                    (f"network, {layers} layers of {4 * per_layer:,} units", f"{2**layers:,}", f"{deep:,}"),
                    ("linear regression, n^k/k!", f"{inputs:,}", f"10^{power(printed):.1f}"),
                    ("linear regression, exactly", f"{inputs:,}", f"10^{power(monomials):.1f}"),
                ],
            ),
        ),
        (
            Picture(
                "counts",
                "Parameters of each model, in powers of ten. Regression on all monomials of the same degree as the "
                f"deep network would need 10^{power(monomials):.0f}, far off to the right.",
                lambda: _draw(rows),
            ),
            Picture(
                "growth",
                "Powers of ten in the number of monomials of degree k: exactly (blue) and by n^k/k! (orange, dashed). "
                "They agree while k is small beside n.",
                lambda: _growth(inputs),
            ),
        ),
    )


def power(number: int) -> float:
    """The logarithm to the base 10 of a whole number of any size."""
    return math.log10(number)


def _draw(rows: list[tuple[str, float]]) -> Any:
    ax = figures.axes(size=(7.0, 2.8))
    bars = ax.barh([name for name, _ in rows][::-1], [value for _, value in rows][::-1], color=figures.BLUE)
    ax.bar_label(bars, labels=[f"{10**value:,.0f}" for _, value in rows][::-1], padding=3)
    ax.set(xlabel="parameters, as a power of ten", title="Parameters", xlim=(0, 13))
    ax.grid(False, axis="y")
    return figures.figure_of(ax)


def _growth(n: int) -> Any:
    ax = figures.axes(size=(6.8, 3.4))
    degrees = [*range(1, n, max(n // 40, 1)), n]
    exact = [power(math.comb(n + k, k)) for k in degrees]
    estimate = [power(max(n**k // math.factorial(k), 1)) for k in degrees]
    ax.plot(degrees, exact, color=figures.BLUE, linewidth=2)
    ax.plot(degrees, estimate, color=figures.ORANGE, linewidth=2, linestyle=(0, (4, 2)))
    ax.set(xlabel="degree k", ylabel="power of ten", title=f"Monomials of {n:,} variables")
    ends = [
        figures.end_of(degrees, exact, "exactly", figures.BLUE),
        figures.end_of(degrees, estimate, "n^k/k!", figures.ORANGE),
    ]
    figures.annotate(ax, ends, bottom=0.0)
    return figures.figure_of(ax)
