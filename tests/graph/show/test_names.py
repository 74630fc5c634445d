"""Whatever people call their arguments, no two variables are shown under one name."""

from __future__ import annotations

import ast
import inspect
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pellucid as pel

NAMES = (
    *("x", "y", "z", "r", "v", "w", "u", "f", "g", "n", "out"),
    *("x1", "x_1", "y1", "y_1", "y2", "z1", "z2", "v0", "v1", "v_1", "v2", "v3", "w0", "w1", "u1", "t1", "c1"),
    *("x̄", "ẋ", "ȳ", "ẏ", "ybar", "v1_2"),
)


def function_of(names: Sequence[str], outputs: int = 1) -> Callable[..., Any]:
    """A function whose arguments have these names: it uses all of them, and gives one or two results."""

    def apply(*xs: Any) -> Any:
        total = xs[0]
        for x in xs[1:]:
            total = np.sin(total) * x
        return total if outputs == 1 else (total, np.exp(xs[-1]))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    apply.__name__ = "<lambda>"
    vars(apply)["__signature__"] = inspect.Signature([inspect.Parameter(name, kind) for name in names])
    return apply


some_functions = given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True), st.integers(min_value=1, max_value=2)
)


def record(names: Sequence[str], outputs: int) -> pel.Graph:
    return pel.record(function_of(names, outputs), *np.linspace(0.5, 2.0, len(names)))


def all_different(*groups: Sequence[str]) -> bool:
    listed = [name for group in groups for name in group]
    return len(set(listed)) == len(listed)


@some_functions
@settings(deadline=None, max_examples=150)
def test_tables_name_every_variable_once(names: list[str], outputs: int) -> None:
    graph = record(names, outputs)
    n = len(names)
    for mode in ("forward", "reverse"):
        primal, derivative = graph.table(mode).rows
        variables = [row[0] for row in primal]
        arguments = [row[1] for row in primal[:n]]
        assert all_different(variables, arguments)
        if mode == "forward":
            marked = [*(row[0] for row in derivative), *(row[1] for row in derivative[:n])]
        else:
            marked = [*(row[0] for row in derivative[:n]), *(row[1] for row in derivative[:n]), derivative[-1][1]]
        assert all_different(variables, arguments, marked)


@some_functions
@settings(deadline=None, max_examples=50)
def test_markdown_and_html_tables_do_so_too(names: list[str], outputs: int) -> None:
    table = record(names, outputs).table("primal")
    rows = [re.findall(r"\$(.*?)\$", line) for line in table.markdown().splitlines() if "$" in line]
    assert all_different([row[0] for row in rows], [row[1] for row in rows[: len(names)]])
    cells = [
        [ET.tostring(c, encoding="unicode").removeprefix("<td>= ").removeprefix("<td>") for c in row]
        for row in ET.fromstring(f"<div>{table.html()}</div>").iter("tr")
    ]
    assert all_different([row[0] for row in cells], [row[1] for row in cells[: len(names)]])


@some_functions
@settings(deadline=None, max_examples=50)
def test_pictures_name_every_box_once(names: list[str], outputs: int) -> None:
    graph = record(names, outputs)
    for mode in ("primal", "forward", "reverse"):
        root = ET.fromstring(graph.svg(mode))
        headings = [t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text") if t.get("font-size") == "14"]
        assert len(headings) == len(graph) + len(graph.outputs)
        assert all_different([heading.split(" = ")[0] for heading in headings])


def run_program(text: str, *args: Any) -> Any:
    """What the printed program computes, if no name in it is given twice."""
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    arguments = [a.arg for a in function.args.args]
    targets = [statement.targets[0] for statement in function.body if isinstance(statement, ast.Assign)]
    assigned = [target.id for target in targets if isinstance(target, ast.Name)]
    assert len(assigned) == len(targets)
    assert all_different([function.name], arguments, assigned)
    space: dict[str, Any] = {"sin": np.sin, "exp": np.exp, "float64": float}
    exec(text, space)
    return space[function.name](*args)


@some_functions
@settings(deadline=None)
def test_programs_compute_what_they_show(names: list[str], outputs: int) -> None:
    args = np.linspace(0.5, 2.0, len(names))
    got = run_program(str(record(names, outputs)), *args)
    np.testing.assert_array_equal(got, function_of(names, outputs)(*args))


def test_the_output_gives_way_to_an_argument_called_y() -> None:
    primal, reverse = pel.record(lambda x, y: x * y, 2.0, 3.0).table("reverse").rows
    assert primal[1][:2] == ["v₀", "y"]
    assert primal[-1] == ["z", "v₁", "", "6"]
    assert reverse[1][:2] == ["ȳ", "v̄₀"]
    assert reverse[-1][:2] == ["v̄₁", "z̄"]


def test_the_lectures_letters_stay_where_nothing_clashes() -> None:
    primal, tangent = pel.record(lambda v, y1, ybar: v * y1 * ybar, 2.0, 3.0, 4.0).table("forward").rows
    assert [row[0] for row in primal] == ["v₋₂", "v₋₁", "v₀", "v₁", "v₂", "y"]
    assert [row[1] for row in primal[:3]] == ["v", "y₁", "ybar"]
    assert [row[0] for row in tangent] == ["v̇₋₂", "v̇₋₁", "v̇₀", "v̇₁", "v̇₂", "ẏ"]


def test_marks_become_words_where_a_marked_letter_is_an_argument() -> None:
    graph = pel.record(lambda x, x̄: x * x̄, 2.0, 3.0)
    adjoints = graph.table("reverse").rows[1]
    assert [row[0] for row in adjoints[:2]] == ["adjoint(x)", "adjoint(x̄)"]
    assert r"$\operatorname{adjoint}(x)$" in graph.table("reverse").markdown()
    assert "adjoint(<i>x</i>)" in graph.table("reverse").html()
    assert graph.table("forward").rows[1][0][:2] == ["v̇₋₁", "ẋ"]  # nobody's name has a dot


def test_names_of_nodes_stay_and_made_up_ones_give_way() -> None:
    def f(x: Any) -> Any:
        first = np.sin(x)
        h = pel.named(np.cos(first), "v1")
        return pel.named(np.tanh(h), "v1") + pel.named(np.exp(h), "y")

    graph = pel.record(f, 1.0)
    assert "    v1 = cos(w1)\n    v1_2 = tanh(v1)\n    y = exp(v1)\n" in str(graph)
    assert all(heading in graph.mermaid() for heading in ("v₁ = cos w₁", "y = exp v₁", "z = w₅"))


def test_open_sizes_and_arguments_of_one_name() -> None:
    def f(n: Any, x: Any) -> Any:
        return np.sum(x) / x.shape[0] + n * np.reshape(x, (-1, 1))

    graph = pel.record(f, pel.Spec(()), pel.Spec(("n", 3)))
    assert str(graph) == (
        """\
def f(n: float64, x: float64[size_n, 3]):
    v1 = sum(x)
    v2 = v1 / size_n
    v3 = reshape(x, shape=(3*size_n, 1))   # [3*size_n, 1]
    v4 = n * v3                            # [3*size_n, 1]
    v5 = v2 + v4                           # [3*size_n, 1]
    return v5"""
    )
    assert "v₃ = v₁ / size_n" in graph.svg()
    assert "(size_n, 3)" in graph.svg()
    sized = pel.record(lambda x: x / x.shape[0], pel.Spec(("v1",)))
    assert "w1 = x / v1" in str(sized)
    assert "w₁ = x / v1" in sized.svg()


def test_constants_and_arguments_of_one_name() -> None:
    assert "k1 = constant float64[2]" in str(pel.record(lambda c1: c1 * np.ones(2), np.ones(2)))


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        pytest.param(lambda x2, *rest: x2 * rest[0], (1.0, 2.0), ["x2", "arg2"], id="any-number-of-arguments"),
        pytest.param(lambda *xs: xs[0] * xs[1], (1.0, 2.0), ["x1", "x2"], id="no-names"),
        pytest.param(lambda p: p[0] * p[1], ([1.0, 2.0],), ["p[0]", "p[1]"], id="list"),
    ],
)
def test_arguments_without_a_name_get_one_of_their_own(f: Any, args: Any, expected: list[str]) -> None:
    assert [node.name for node in pel.record(f, *args).nodes[:2]] == expected


def test_keys_that_look_the_same_are_told_apart() -> None:
    class Key:
        def __repr__(self) -> str:
            return "key"

    a, b = Key(), Key()
    graph = pel.record(lambda p: p[a] - p[b], {a: 5.0, b: 2.0})
    assert "v1 = p[key] - p[key]_2" in str(graph)
    assert graph.table("forward", seed="p[key]_2").rows[1][-1][-1] == "−1"
    renamed = pel.record(lambda x, y: pel.named(x, "a") - pel.named(y, "a"), 5.0, 2.0)
    assert [node.name for node in renamed.nodes[:2]] == ["a", "a_2"]


def test_symbols_of_equal_names_are_not_one_symbol() -> None:
    sympy = pytest.importorskip("sympy")
    y = sympy.Symbol("y", real=True)
    assert len(pel.record(lambda x, y: x - y, 5.0, 2.0).sympy(y).free_symbols) == 2
    assert len(pel.record(lambda x, y: pel.named(x, "a") - pel.named(y, "a"), 5.0, 2.0).sympy().free_symbols) == 2
