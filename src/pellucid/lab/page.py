"""How a result looks in a browser: one page, its figures inside; and the page that lists all."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pellucid.figures import GRID, INK, MARK
from pellucid.lab.experiment import TOPICS, Experiment
from pellucid.lab.outcome import Picture
from pellucid.lab.result import Result, lectures_of
from pellucid.report.elements import Markup, code, element, heading, joined, paragraph, table
from pellucid.report.page import asset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDEST_DRAWING = 400_000
"""Characters of an SVG; what takes more is a picture of dots."""

STYLE = """
main.lab { max-width: 900px; margin: 0 auto; padding: 0 1.2rem 3rem; }
.lab dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.2rem; }
.lab dt { color: var(--quiet); } .lab dd { margin: 0; }
.claim { font-size: 1.1rem; border-left: 4px solid var(--c1); padding-left: 1rem; }
.verdict { border-left: 4px solid var(--good); background: var(--card); padding: .7rem 1rem; border-radius: 8px; }
.verdict.missed { border-left-color: var(--error); }
.lab figure { margin: 1.2rem 0; } .lab figure svg, .lab figure img { max-width: 100%; height: auto; display: block; }
.lab figure svg { color: var(--ink); } .lab li { margin: .3rem 0; }
"""


def page(result: Result) -> str:
    """The whole page of a result."""
    return _whole(result.experiment.title, joined([heading(result.experiment.title, 1), body(result)]))


def fragment(result: Result) -> str:
    """A result inside a notebook, whose own style it takes."""
    return element("div", heading(result.experiment.title, 3), body(result))


def body(result: Result) -> Markup:
    """Claim, setting, verdict, numbers, figures, what to notice, what to try, the program."""
    it, outcome = result.experiment, result.outcome
    settings = ", ".join(f"{name}={value!r}" for name, value in result.settings.items())
    facts = (("Lecture", lectures_of(it)), ("Setting", it.setting), ("Criterion", it.criterion), ("Here", settings))
    parts = [
        paragraph(it.claim, class_="claim"),
        element("dl", *(joined((element("dt", name), element("dd", words))) for name, words in facts if words)),
        element(
            "p",
            element("strong", "Shown. " if result.passed else "Not shown. "),
            outcome.verdict,
            class_="verdict" if result.passed else "verdict missed",
        ),
    ]
    if outcome.compared:
        rows = [beside.cells for beside in outcome.compared]
        parts += [heading("The lecture's numbers beside ours"), table(rows, ("", "lecture", "here"), numbers=(1, 2))]
    for each in outcome.tables:
        parts += [heading(each.title), table(each.cells, each.head, numbers=each.numbers)]
    parts += [_figure(picture) for picture in outcome.pictures]
    parts += [heading("What to notice"), _list(it.notice), heading("Try next"), _list(it.further, as_code=True)]
    if it.knobs:
        knobs = [(name, repr(it.defaults[name]), words) for name, words in it.knobs.items()]
        parts += [heading("What you may turn"), table(knobs, ("parameter", "default", ""))]
    parts.append(element("details", element("summary", "The program"), code(it.source)))
    return joined(parts)


def index(experiments: Iterable[Experiment], shown: dict[str, bool]) -> str:
    """A page that lists all experiments by topic."""
    parts = [
        heading("The lab", 1),
        paragraph("Every experiment, figure and claim of the five lectures, tried.", class_="claim"),
    ]
    for topic, title in TOPICS.items():
        rows = [
            (
                element("a", it.title, href=f"{it.name}.html"),
                ", ".join(it.lectures),
                {True: "shown", False: "not shown", None: ""}[shown.get(it.name)],
            )
            for it in experiments
            if it.topic == topic
        ]
        if rows:
            parts += [heading(title, 2), table(rows, ("experiment", "lecture", "verdict"))]
    return _whole("The lab", joined(parts))


def drawing(figure: Figure) -> str | None:
    """A figure as SVG whose words and lines take the colour of the page; None where it would be too large."""
    from matplotlib import pyplot as plt

    buffer = io.StringIO()
    with plt.rc_context({"svg.hashsalt": "pellucid"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    if len(svg) > WIDEST_DRAWING:
        return None
    svg = svg[svg.index("<svg") :]
    for colour in ("#000000", INK.lower(), "#262626"):
        svg = svg.replace(colour, "currentColor")
    return re.sub(rf"stroke: {GRID.lower()}", "stroke: currentColor; stroke-opacity: 0.13", svg)


def dots(figure: Figure) -> bytes:
    """A figure as PNG, at twice the size of a screen's dots."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()


def _figure(picture: Picture) -> Markup:
    from matplotlib import pyplot as plt

    figure = picture.draw()
    svg = drawing(figure)
    if svg is None:
        import base64

        data = base64.b64encode(dots(figure)).decode()
        shown = element("img", src=f"data:image/png;base64,{data}", alt=picture.caption)
    else:
        shown = _named_apart(svg, picture.name)
    plt.close(figure)
    return element("figure", shown, element("figcaption", picture.caption))


def _named_apart(svg: str, name: str) -> Markup:
    """Ids that no other figure of the page has."""
    svg = svg.replace(f' id="{MARK}"', "")  # several words of one figure have it
    ids = re.findall(r'\bid="([^"]+)"', svg)
    if ids:
        either = "|".join(sorted(map(re.escape, set(ids)), key=len, reverse=True))
        svg = re.sub(rf'(id="|#)({either})(?=["\)])', lambda found: f"{found[1]}{name}-{found[2]}", svg)
    return Markup(svg)


def _list(lines: Sequence[str], *, as_code: bool = False) -> Markup:
    return element("ul", *(element("li", element("code", line) if as_code and "(" in line else line) for line in lines))


def _whole(title: str, content: Markup) -> str:
    view = Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')
    style = element("style", Markup(asset("page.css") + STYLE))
    body = element("body", element("main", content, class_="lab"))
    return "<!doctype html>\n" + element("html", element("head", view, element("title", title), style), body, lang="en")
