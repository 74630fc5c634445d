"""The trace tables of the lectures, to the digit."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import pellucid as pel
from pellucid.errors import AbstractValueError, DifferentiationError
from pellucid.graph.show import notation
from tests.lectures import traced_example


@pytest.fixture
def graph():
    return pel.record(traced_example, 2.0, 5.0)


PRIMAL = [
    ["v₋₁", "x₁", "", "2"],
    ["v₀", "x₂", "", "5"],
    ["v₁", "ln v₋₁", "ln 2", "0.693"],
    ["v₂", "v₋₁ × v₀", "2 × 5", "10"],
    ["v₃", "sin v₀", "sin 5", "−0.959"],
    ["v₄", "v₁ + v₂", "0.693 + 10", "10.693"],
    ["v₅", "v₄ − v₃", "10.693 + 0.959", "11.652"],
    ["y", "v₅", "", "11.652"],
]
TANGENT = [
    ["v̇₋₁", "ẋ₁", "", "1"],
    ["v̇₀", "ẋ₂", "", "0"],
    ["v̇₁", "v̇₋₁ / v₋₁", "1 / 2", "0.5"],
    ["v̇₂", "v̇₋₁ × v₀ + v̇₀ × v₋₁", "1 × 5 + 0 × 2", "5"],
    ["v̇₃", "v̇₀ × cos v₀", "0 × cos 5", "0"],
    ["v̇₄", "v̇₁ + v̇₂", "0.5 + 5", "5.5"],
    ["v̇₅", "v̇₄ − v̇₃", "5.5 − 0", "5.5"],
    ["ẏ", "v̇₅", "", "5.5"],
]
ADJOINT = [
    ["x̄₁", "v̄₋₁", "", "5.5"],
    ["x̄₂", "v̄₀", "", "1.716"],
    ["v̄₋₁", "v̄₋₁ + v̄₁ ∂v₁/∂v₋₁", "v̄₋₁ + v̄₁ / v₋₁", "5.5"],
    ["v̄₀", "v̄₀ + v̄₂ ∂v₂/∂v₀", "v̄₀ + v̄₂ × v₋₁", "1.716"],
    ["v̄₋₁", "v̄₂ ∂v₂/∂v₋₁", "v̄₂ × v₀", "5"],
    ["v̄₀", "v̄₃ ∂v₃/∂v₀", "v̄₃ × cos v₀", "−0.284"],
    ["v̄₂", "v̄₄ ∂v₄/∂v₂", "v̄₄ × 1", "1"],
    ["v̄₁", "v̄₄ ∂v₄/∂v₁", "v̄₄ × 1", "1"],
    ["v̄₃", "v̄₅ ∂v₅/∂v₃", "v̄₅ × (−1)", "−1"],
    ["v̄₄", "v̄₅ ∂v₅/∂v₄", "v̄₅ × 1", "1"],
    ["v̄₅", "ȳ", "", "1"],
]


def test_forward_table_is_the_lectures(graph):
    assert graph.table("forward").rows == [PRIMAL, TANGENT]


def test_reverse_table_is_the_lectures(graph):
    assert graph.table("reverse").rows == [PRIMAL, ADJOINT]


def test_seed_by_name_number_or_direction(graph):
    assert graph.table("forward", seed="x2").rows[1][-1][-1] == "1.716"
    assert graph.table("forward", seed=1).rows[1][-1][-1] == "1.716"
    assert graph.table("forward", seed={"x1": 1, "x2": 10}).rows[1][-1][-1] == "22.663"
    with pytest.raises(ValueError, match=r"one of \['x1', 'x2'\].*got 'x3'"):
        graph.table("forward", seed="x3")


def test_more_digits(graph):
    rows = graph.table("reverse", digits=9).rows
    assert rows[0][-1][-1] == "11.652071455"
    assert rows[1][1][-1] == "1.716337815"


def test_text_markdown_and_html_say_the_same(graph):
    table = graph.table("reverse")
    assert "v̄₋₁ = v̄₋₁ + v̄₁ ∂v₁/∂v₋₁ = v̄₋₁ + v̄₁ / v₋₁ = 5.5" in str(table)
    markdown = table.markdown().splitlines()
    chain, formula = r"\bar{v}_{3} \frac{\partial v_{3}}{\partial v_{0}}", r"\bar{v}_{3} \times \cos v_{0}"
    assert rf"| $\bar{{v}}_{{0}}$ | ${chain}$ | ${formula}$ | $-0.284$ |" in markdown
    root = ET.fromstring(f"<div>{table.html()}</div>")
    rows = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    assert len(rows) == len(PRIMAL) + len(ADJOINT)
    assert rows[2] == ["v1", "= ln v−1", "= ln 2", "= 0.693"]
    assert table._repr_html_() == table.html()


def test_lines_are_aligned_whatever_marks_the_letters_carry(graph):
    import unicodedata

    for block in str(graph.table("forward")).split("\n\n"):
        lines = ["".join(c for c in line if not unicodedata.combining(c)) for line in block.splitlines()[2:]]
        assert len({line.index("=") for line in lines}) == 1
        assert len({line.rindex("=") for line in lines}) == 1


def test_arrays_and_other_operations():
    f = lambda W, x: np.sum(np.maximum(W @ x, 0) ** 2) / (1 + np.abs(x[0]))
    graph = pel.record(f, np.array([[1.0, -2.0], [3.0, 4.0]]), np.array([1.0, 2.0]))
    forward, reverse = graph.table("forward", seed="x"), graph.table("reverse")
    assert ["v₁", "v₋₁ @ v₀", "[[1, −2], [3, 4]] @ [1, 2]", "[−3, 11]"] in forward.rows[0]
    assert forward.rows[1][-1][-1] == f"{np.sum(pel.grad(f, 1)(*[n.value for n in graph.nodes[:2]])):.3f}".rstrip("0")
    assert reverse.rows[1][0][-1] == "[[0, 0], [11, 22]]"
    assert all("array" not in cell for row in reverse.rows[1] for cell in row)
    big = pel.record(lambda x: np.sum(x), np.ones((20, 30)))
    assert big.table("primal").rows[0][0][-1] == "20×30 array"


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x: np.ones((4, 2)) @ x[:, 0], id="product"),
        pytest.param(lambda x: np.linalg.norm(x, "nuc"), id="nuclear-norm"),
        pytest.param(lambda x: np.linalg.slogdet(x @ x.T)[1], id="slogdet"),
        pytest.param(lambda x: np.sum(np.linalg.cholesky(x @ x.T)), id="cholesky"),
        pytest.param(lambda x: np.median(x, axis=1), id="median"),
        pytest.param(lambda x: np.cumprod(x, axis=0), id="cumprod"),
    ],
)
def test_tangents_of_arguments_whose_shape_is_not_that_of_the_result(f):
    x = np.array([[0.5, 2.0, -1.0], [1.5, 0.25, 3.0]])
    tangents = pel.record(f, x).table("forward").rows[1]
    assert tangents[-1][-1] == notation.text().number(pel.jvp(f, (x,), (np.ones_like(x),))[1])


def test_what_cannot_be_traced():
    by_shape = pel.record(np.sin, pel.Spec(()))
    with pytest.raises(AbstractValueError, match=r"recorded by shape.*no values to trace"):
        by_shape.table("forward")
    with pytest.raises(ValueError, match="'primal', 'forward', 'reverse', got 'backward'"):
        pel.record(np.sin, 1.0).table("backward")
    with pytest.raises(DifferentiationError, match="output 0 does not depend"):
        pel.record(lambda x: 1.0, 1.0).table("reverse")


def test_pictures_carry_values_and_derivatives(graph):
    svg = graph.svg("reverse")
    ET.fromstring(svg)
    for text in ("v₄ = v₁ + v₂", "10.693", "v̄₀ = 1.716", "y = v₅"):
        assert text in svg
        assert text in graph.mermaid("reverse")
        assert text in graph.dot("reverse")
    assert "v̇₂ = 5" in graph.svg("forward")
    assert "x₁" in graph.svg()
    by_shape = pel.record(lambda x, W: np.tanh(x @ W), pel.Spec(("n", 3)), pel.Spec((3, 2)))
    assert "(n, 2)" in by_shape.svg()
    assert "x @ W" in by_shape.svg()
