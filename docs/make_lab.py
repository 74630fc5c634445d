"""Run the experiments of the lectures and write their pages: python docs/make_lab.py [--full] [--only NAME]

For each docs/lab/NAME.md and its figures; then docs/lab/index.md, from the pages that are there. The same pages serve
the repository and the book, so figures are files: SVG on white, or PNG where that would be large.
"""

from __future__ import annotations

import argparse
import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid import lab
from pellucid.lab.outcome import Picture
from pellucid.lab.result import lectures_of
from pellucid.whole_files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent / "lab"
LARGEST = 150_000
"""Bytes of an SVG; what takes more is a PNG."""

SHOWN, NOT_SHOWN = "**✓ Shown.**", "**✗ Not shown.**"

INDEX = """\
# The lab

<!-- Written by docs/make_lab.py. -->

Each experiment tries one claim of a lecture: it says what is claimed, what is done, and when the
claim counts as shown; then it gives the lecture's numbers beside ours, figures, and a verdict. The
code is one file each. Run one yourself, and turn its knobs:

```
pellucid lab                        # lists all
pellucid lab xor                    # runs one, in the terminal and as a page
pellucid lab xor --set seed=3       # with another parameter
pellucid lab xor --open             # and opens the page in a browser
```

In Python and in notebooks `lab.run("xor")` gives the same, with every number by name:

```python
from pellucid import lab

result = lab.run("xor")
assert result.passed
print(result.verdict)
```

To add one: [extending](../extending.md).
"""

BESIDE = {
    "errata.md": "errors that we found in the lectures",
    "answers.md": "answers to the questions that the lectures ask",
    "glossary.md": "names, papers and tools of the lectures",
}
"""Pages of the folder that are written by hand."""


def page(result: lab.Result, figures: Sequence[str]) -> str:
    """The page of a result, its figures by the names of their files."""
    it, outcome = result.experiment, result.outcome
    facts = [("Lecture", lectures_of(it)), ("Setting", it.setting), ("Criterion", it.criterion)]
    parts = [
        f"# {plain(it.title)}",
        f"<!-- Written by docs/make_lab.py from lab/experiments/{module(it)}. -->",
        wrapped(it.claim, "> "),
        wrapped(f"{SHOWN if outcome.passed else NOT_SHOWN} {outcome.verdict}"),
        "\n".join(wrapped(f"**{name}.** {words}", "- ", "  ") for name, words in facts),
    ]
    if outcome.compared:
        parts += ["## The lecture's numbers beside ours"]
        parts += [table(("", "lecture", "here"), [beside.cells for beside in outcome.compared], (1, 2))]
    for each in outcome.tables:
        parts += [f"## {plain(each.title)}", table(each.head, each.cells, each.numbers)]
    if figures:
        parts.append("## Figures" if len(figures) > 1 else "## Figure")
    for picture, file in zip(outcome.pictures, figures, strict=True):
        parts += [f"![{plain(it.title)}: {picture.name}]({file})", wrapped(picture.caption)]
    parts += ["## What to notice", listed(it.notice)]
    parts += ["## Try next", listed(f"`{line}`" if "(" in line else line for line in it.further)]
    if it.knobs:
        rows = [(f"`{name}`", f"`{value(it.defaults[name])}`", words) for name, words in it.knobs.items()]
        parts += ["## What you may turn", table(("parameter", "default", "what it is"), rows)]
    return "\n\n".join([*parts, wrapped(_footer(result))]) + "\n"


def _footer(result: lab.Result) -> str:
    it = result.experiment
    turned = {name: each for name, each in result.settings.items() if name != "data" and each != it.defaults[name]}
    setting = f"Run with {', '.join(f'`{name}={value(each)}`' for name, each in turned.items())}. " if turned else ""
    source = f"[{module(it)}](../../src/pellucid/lab/experiments/{module(it)})"
    return f"{setting}The program: {source}. Run it: `pellucid lab {it.name}` ({duration(result.seconds)})."


def index() -> str:
    """The page that lists all experiments that have a page, by topic."""
    parts = [INDEX]
    for topic, title in lab.TOPICS.items():
        rows = [
            (f"[{plain(it.title)}]({it.name}.md)", ", ".join(it.lectures), _verdict(FOLDER / f"{it.name}.md"))
            for it in lab.catalogue()
            if it.topic == topic and (FOLDER / f"{it.name}.md").exists()
        ]
        if rows:
            parts += [f"## {title}\n", table(("experiment", "lecture", "verdict"), rows) + "\n"]
    there = {name: what for name, what in BESIDE.items() if (FOLDER / name).exists()}
    beside = [f"[{name.removesuffix('.md')}]({name}): {what}" for name, what in there.items()]
    if beside:
        parts += ["## Beside the experiments\n", listed(beside) + "\n"]
    return "\n".join(parts)


def _verdict(path: Path) -> str:
    return "shown" if SHOWN in path.read_text(encoding="utf-8") else "not shown"


# Markdown


def plain(text: str) -> str:
    """Text that is not taken for HTML, for a cell or for a link."""
    return unlike_html(text).replace("|", "\\|").replace("[", "(").replace("]", ")")


def unlike_html(text: str) -> str:
    """Without tags: what stands in code is none.

    >>> unlike_html("a < b, `a < b`")
    'a &lt; b, `a < b`'
    """
    return re.sub(r"`[^`]*`|<", lambda match: "&lt;" if match[0] == "<" else match[0], text)


def wrapped(text: str, first: str = "", then: str | None = None) -> str:
    """A paragraph of lines of about 100 columns; code and links are not broken."""
    whole = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", lambda match: match[0].replace(" ", "\0"), unlike_html(text))
    whole = re.sub(r" (?=([-+*>#=]|\d+[.)]) )", "\0", whole)  # at the beginning of a line it would be a list
    lines = textwrap.fill(
        whole,
        100,
        initial_indent=first,
        subsequent_indent=first if then is None else then,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace("\0", " ")


def listed(lines: Iterable[str]) -> str:
    return "\n".join(wrapped(line, "- ", "  ") for line in lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    lines = [head, ["---:" if c in numbers else "---" for c in range(len(head))], *rows]
    return "\n".join("| " + " | ".join(cell(each) for each in line) + " |" for line in lines)


def cell(text: str) -> str:
    """Text for a table; links and code pass."""
    return unlike_html(text).replace("|", "\\|").replace("\n", " ")


def value(each: Any) -> str:
    return repr(each) if isinstance(each, str | int | float | tuple | list | None) else str(each)


def module(it: lab.Experiment) -> str:
    return f"{it.name.replace('-', '_')}.py"


def duration(seconds: float) -> str:
    """Coarse, so that a page stays the same from run to run.

    >>> duration(0.3), duration(24.0), duration(200.0)
    ('some seconds', 'half a minute', 'about 3 minutes')
    """
    limits = {10: "some seconds", 45: "half a minute", 90: "about a minute"}
    return next((words for limit, words in limits.items() if seconds < limit), f"about {seconds / 60:.0f} minutes")


# figures


def draw(picture: Picture, name: str) -> tuple[str, bytes]:
    """The name of the file of a figure, and its content."""
    from matplotlib import pyplot as plt

    figure = picture.draw()
    try:
        svg = drawing(figure)
        if len(svg) <= LARGEST:
            return f"{name}-{picture.name}.svg", svg
        return f"{name}-{picture.name}.png", dots(figure)
    finally:
        plt.close(figure)


def drawing(figure: Figure) -> bytes:
    """SVG on white; words are words, and hundredths of a point are enough."""
    from matplotlib import pyplot as plt

    buffer = io.StringIO()
    with plt.rc_context({"svg.hashsalt": "pellucid", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", facecolor="white", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    short = re.sub(r"<[^>]*>", lambda tag: shorter(tag[0]), svg)  # tags only: the words keep their digits
    return "\n".join(line.rstrip() for line in short[short.index("<svg") :].splitlines()).encode() + b"\n"


def shorter(tag: str) -> str:
    """A tag of a drawing, its places rounded."""
    return re.sub(r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), tag)


def dots(figure: Figure) -> bytes:
    """PNG of 256 colours, at about twice the size of a screen's dots."""
    from PIL import Image

    buffer, small = io.BytesIO(), io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, facecolor="white")
    Image.open(buffer).convert("RGB").quantize(256).save(small, format="png", optimize=True)
    return small.getvalue()


# all of them


def write(name: str, *, full: bool, data: Path | None) -> bool:
    """Run an experiment and write its page. Is the claim shown?"""
    result = lab.run(name, full=full, **lab.find(name).given(data))
    figures = [draw(picture, name) for picture in result.outcome.pictures]
    path = FOLDER / f"{name}.md"
    before = re.findall(r"\]\(([\w.-]+\.(?:svg|png))\)", path.read_text(encoding="utf-8")) if path.exists() else []
    for file in before:
        (FOLDER / file).unlink(missing_ok=True)
    for file, content in figures:
        write_atomically(FOLDER / file, content)
    write_atomically(path, page(result, [file for file, _ in figures]).encode())
    print("✓" if result.passed else "✗", name, f"{result.seconds:.1f} s ", result.verdict, flush=True)
    return result.passed


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pages of the lab.")
    parser.add_argument("--full", action="store_true", help="as in the lectures, where that is larger")
    parser.add_argument("--only", action="append", metavar="NAME", help="one experiment; may be given several times")
    parser.add_argument("--data", type=Path, metavar="PATH", help="data of your own, such as CIFAR-10")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    shown = [write(name, full=options.full, data=options.data) for name in options.only or lab.names()]
    write_atomically(FOLDER / "index.md", index().encode())
    print(f"{sum(shown)} of {len(shown)} shown; {FOLDER / 'index.md'}")


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    main()
