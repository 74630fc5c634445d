"""Drawings, their layout, and the three languages they are written in."""

import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.graph.show.diagrams import dot, mermaid
from pellucid.graph.show.drawing import KINDS, Box, Drawing
from pellucid.graph.show.layers import layers
from pellucid.graph.show.layout import Layout, Place, arrange
from pellucid.graph.show.svg import svg, text_width

SVG = "{http://www.w3.org/2000/svg}"
SCOPES = ("", "", "a", "a/b", "c")


def size(box: Box) -> tuple[float, float]:
    return 40.0 + 10 * len(box.lines[0]), 20.0 + 10 * len(box.lines)


def place(drawing: Drawing) -> Layout:
    return arrange(drawing, size, lambda scope: 8.0 * len(scope))


def chain(n: int) -> Drawing:
    boxes = tuple(Box(i, (f"v{i}",), "operation") for i in range(n))
    return Drawing("chain", boxes, tuple(pairwise(range(n))))


def texts(picture: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(picture).iter(f"{SVG}text")]


@st.composite
def drawings(draw: st.DrawFn) -> Drawing:
    n = draw(st.integers(0, 14))
    boxes = tuple(
        Box(
            7 - 3 * i,  # keys are names, not positions
            tuple("x" * length for length in draw(st.lists(st.integers(0, 12), min_size=1, max_size=3))),
            draw(st.sampled_from(KINDS)),
            draw(st.sampled_from(SCOPES)),
        )
        for i in range(n)
    )
    pairs = st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, max(n - 1, 0)))
    arrows = draw(st.lists(pairs.filter(lambda p: p[0] < p[1]), max_size=25)) if n > 1 else []
    return Drawing("random", boxes, tuple((boxes[a].key, boxes[b].key) for a, b in arrows))


def overlap(a: Place, b: Place) -> bool:
    return abs(a.x - b.x) < (a.width + b.width) / 2 - 1e-6 and abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-6


def contains(outer: Place, inner: Place) -> bool:
    return (
        abs(outer.x - inner.x) <= (outer.width - inner.width) / 2 + 1e-6
        and abs(outer.y - inner.y) <= (outer.height - inner.height) / 2 + 1e-6
    )


@given(drawings())
@settings(deadline=None)
def test_boxes_never_overlap_and_stay_on_the_page(drawing: Drawing) -> None:
    layout = place(drawing)
    assert not any(overlap(a, b) for a, b in combinations(layout.boxes.values(), 2))
    page = Place(layout.width / 2, layout.height / 2, layout.width, layout.height)
    assert all(contains(page, box) for box in [*layout.boxes.values(), *(group for _, group in layout.groups)])


@given(drawings())
@settings(deadline=None)
def test_every_arrow_leads_down_from_its_source_to_its_target(drawing: Drawing) -> None:
    layout = place(drawing)
    assert len(layout.routes) == len(drawing.arrows)
    for (source, target), route in zip(drawing.arrows, layout.routes, strict=True):
        start, end = layout.boxes[source], layout.boxes[target]
        assert route[0] == pytest.approx((start.x, start.y + start.height / 2))
        assert route[-1][1] == pytest.approx(end.y - end.height / 2)
        assert abs(route[-1][0] - end.x) < end.width / 2
        assert all(above[1] <= below[1] + 1e-9 for above, below in pairwise(route))
        assert route[0][1] < route[-1][1]


@given(drawings())
@settings(deadline=None)
def test_no_arrow_runs_through_a_box_in_its_straight_parts(drawing: Drawing) -> None:
    layout = place(drawing)
    for arrow, route in zip(drawing.arrows, layout.routes, strict=True):
        for (x, above), (_, below) in zip(route[::2], route[1::2], strict=True):
            line = Place(x, (above + below) / 2, 0.0, below - above)
            assert not any(overlap(line, box) for key, box in layout.boxes.items() if key not in arrow)


@given(drawings())
@settings(deadline=None)
def test_a_scope_holds_its_own_boxes_and_no_others(drawing: Drawing) -> None:
    layout = place(drawing)
    for box in drawing.boxes:
        for scope in box.scopes:
            assert any(name == scope and contains(group, layout.boxes[box.key]) for name, group in layout.groups)
        for name, group in layout.groups:
            if name not in box.scopes:
                assert not overlap(group, layout.boxes[box.key])


@given(drawings())
@settings(deadline=None)
def test_scopes_are_disjoint_or_nested(drawing: Drawing) -> None:
    for (name, a), (other, b) in combinations(place(drawing).groups, 2):
        assert not overlap(a, b) or (contains(a, b) and other.startswith(name + "/"))


@given(drawings())
@settings(deadline=None, max_examples=30)
def test_the_same_drawing_gives_the_same_text_and_valid_xml(drawing: Drawing) -> None:
    twin = Drawing(drawing.title, tuple(drawing.boxes), tuple(drawing.arrows))
    assert svg(drawing) == svg(twin)
    root = ET.fromstring(svg(drawing))
    assert len(root.findall(f".//{SVG}path[@marker-end]")) == len(drawing.arrows)
    assert dot(drawing).count("->") == mermaid(drawing).count("-->") == len(drawing.arrows)


def test_inputs_sit_right_above_their_first_user() -> None:
    boxes = tuple(Box(i, (str(i),), "operation") for i in range(5))
    assert layers(Drawing("", boxes, ((0, 1), (1, 3), (2, 3), (3, 4)))) == {0: 0, 1: 1, 2: 1, 3: 2, 4: 3}


def test_a_value_kept_for_later_is_computed_where_it_is_used() -> None:
    boxes = tuple(Box(i, (str(i),), "operation") for i in range(7))
    along = ((0, 1), (1, 2), (2, 3), (3, 4))
    assert layers(Drawing("", boxes, (*along, (1, 5), (1, 5), (4, 6), (5, 6))))[5] == 4


def test_a_scope_that_returns_much_later_is_a_second_group() -> None:
    boxes = tuple(Box(i, (str(i),), "operation", "w" if i in (0, 5) else "") for i in range(6))
    assert [name for name, _ in place(Drawing("", boxes, chain(6).arrows)).groups] == ["w", "w"]


def test_a_chain_is_straight_even_when_deep() -> None:
    layout = place(chain(5000))
    xs = {round(box.x, 6) for key, box in layout.boxes.items()}
    assert max(xs) - min(xs) < 30  # the boxes differ in width, not in their middle
    assert svg(chain(5000)).count("<path") == 5000  # 4999 arrows and their head


def test_one_value_used_everywhere_needs_one_lane() -> None:
    n = 300
    arrows = ((0, i) for i in range(2, n))
    layout = place(Drawing("", chain(n).boxes, (*chain(n).arrows, *arrows)))
    assert layout.width < 400


def test_arguments_stay_in_order_where_nothing_speaks_against_it() -> None:
    boxes = tuple(Box(i, (f"x{i}",), "input") for i in range(12))
    layout = place(Drawing("", (*boxes, Box(12, ("sum",), "output")), tuple((i, 12) for i in range(12))))
    xs = [layout.boxes[i].x for i in range(12)]
    ends = [route[-1][0] for route in layout.routes]
    assert xs == sorted(xs)
    assert ends == sorted(ends)
    assert len(set(ends)) == 12
    assert layout.boxes[12].x == pytest.approx(sum(xs) / 12, abs=5.0)


def test_both_arrows_of_a_product_with_itself_are_seen() -> None:
    drawing = Drawing("", (Box(0, ("x",), "input"), Box(1, ("x × x",), "output")), ((0, 1), (0, 1)))
    first, second = place(drawing).routes
    assert abs(first[-1][0] - second[-1][0]) > 8


def test_text_is_escaped_in_svg() -> None:
    nasty = "a < b & c > \"d\" 'e' ]]> \x00"
    drawing = Drawing(nasty, (Box(0, (nasty, "<script>"), "constant", nasty),), ())
    seen = nasty.replace("\x00", "\ufffd")
    assert texts(svg(drawing)) == [seen, seen, seen, "<script>"]
    assert ET.fromstring(svg(drawing)).findtext(f"{SVG}title") == seen


def test_svg_stands_alone_and_speaks_to_screen_readers() -> None:
    root = ET.fromstring(svg(chain(3)))
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == "chain"
    assert not [node.tag for node in root.iter() if node.tag in (f"{SVG}script", f"{SVG}style", f"{SVG}image")]


def test_pictures_of_one_page_do_not_share_ids() -> None:
    def ids(drawing: Drawing) -> set[str]:
        return {node.attrib["id"] for node in ET.fromstring(svg(drawing)).iter() if "id" in node.attrib}

    assert ids(chain(3))
    assert not ids(chain(3)) & ids(chain(4))


@pytest.mark.parametrize("drawing", [Drawing("", (), ()), Drawing("nothing", (), ()), chain(1)])
def test_small_drawings(drawing: Drawing) -> None:
    root = ET.fromstring(svg(drawing))
    assert float(root.attrib["width"]) > 0
    assert float(root.attrib["height"]) > 0
    assert dot(drawing).startswith("digraph {")
    assert "flowchart TD" in mermaid(drawing)


def test_combining_marks_have_no_width() -> None:
    assert text_width("v\u0307\u2081", 14) == text_width("v\u0304\u2081", 14) == text_width("v\u2081", 14) > 0


def test_dot_escapes_and_nests() -> None:
    boxes = (Box(-1, ('say "hi"', r"a\n"), "input", "s/t"), Box(5, ("y",), "output", "s"))
    text = dot(Drawing('"', boxes, ((-1, 5),)))
    assert r'label="say \"hi\"\na\\n"' in text
    assert r'graph [label="\""' in text
    assert text.count("subgraph cluster_") == 2
    assert text.count("{") == text.count("}")
    assert "n0 -> n1" in text


def test_mermaid_escapes_and_nests() -> None:
    boxes = (Box(-1, ('x["#1"]', "0.5"), "input", "s/t"), Box(5, ("y",), "operation", "s"))
    text = mermaid(Drawing('a "title"', boxes, ((-1, 5), (-1, 5))))
    assert 'n0(["x#91;#34;#35;1#34;#93;<br/>0.5"]):::input' in text
    assert 'n1["y"]:::operation' in text
    assert text.count("subgraph ") == text.count("\n  end") + text.count("\n    end") == 2
    assert text.count("n0 --> n1") == 2
    assert r'title: "a \"title\""' in text


def test_each_scope_is_opened_once_even_if_its_boxes_are_scattered() -> None:
    boxes = tuple(Box(i, (str(i),), "operation", ("a", "", "a/b", "c", "a")[i]) for i in range(5))
    assert dot(Drawing("", boxes, ())).count("subgraph") == mermaid(Drawing("", boxes, ())).count("subgraph") == 3


def test_what_a_drawing_cannot_be() -> None:
    a, b = Box(0, ("a",), "input"), Box(1, ("b",), "output")
    with pytest.raises(ValueError, match="two boxes with key 0"):
        Drawing("d", (a, a), ())
    with pytest.raises(ValueError, match="no box with key 7"):
        Drawing("d", (a, b), ((0, 7),))
    with pytest.raises(ValueError, match="topological order"):
        Drawing("d", (a, b), ((1, 0),))
    with pytest.raises(ValueError, match="expects a kind"):
        Box(2, ("c",), "tensor")
