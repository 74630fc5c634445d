"""report: everything about a fitted model on one page."""

from __future__ import annotations

import datetime
import html
import os
import time
from collections.abc import Callable, Sequence
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any, TypeVar

from pellucid import inspect
from pellucid.nn.dimensions import outline
from pellucid.report.elements import Markup, element, joined
from pellucid.report.numbers.confusion import confusion
from pellucid.report.numbers.data import data
from pellucid.report.numbers.influence import dependence, importance
from pellucid.report.numbers.layers import Inside, inside
from pellucid.report.numbers.ranking import ranking
from pellucid.report.numbers.regions import regions
from pellucid.report.numbers.reliability import reliability
from pellucid.report.numbers.residuals import residuals
from pellucid.report.numbers.scores import Score, scores
from pellucid.report.numbers.training import Stopwatch, learning_curves
from pellucid.report.plain import block
from pellucid.report.predictor import Predictor, kept_epoch, last_step, predictor
from pellucid.report.rows import Sample, sample
from pellucid.report.sections.data import data_section
from pellucid.report.sections.findings import findings_section
from pellucid.report.sections.influence import influence_section
from pellucid.report.sections.layers import layers_section
from pellucid.report.sections.network import network_section
from pellucid.report.sections.quality import quality_section
from pellucid.report.sections.reproduce import reproduce_section
from pellucid.report.sections.section import Section
from pellucid.report.sections.summary import summary
from pellucid.report.sections.timings import timings_section
from pellucid.report.sections.training import training_section
from pellucid.train import History
from pellucid.whole_files import write_atomically

if TYPE_CHECKING:
    from pellucid.inspect import Finding, Looks, Watch

T = TypeVar("T")
ROWS = 20_000
"""Rows on which quality is measured, and that are described, at most."""


class Report:
    """A page: `html` is all of it, `save` writes it. A notebook shows it in a frame.

    Parameters
    ----------
    title : str
        of the page
    html : str
        all of it
    numbers : dict[str, Any]
        what is on it, as plain data
    path : str | PathLike | None
        where it was written
    """

    def __init__(
        self, title: str, html: str, numbers: dict[str, Any], path: str | os.PathLike[str] | None = None
    ) -> None:
        self.title, self.html, self.path = title, html, path
        self.numbers = numbers
        """The records behind the charts, for `pellucid.report.plots`."""

    def save(self, path: str | os.PathLike[str]) -> Report:
        """Write the page; the file appears whole or not at all.

        Parameters
        ----------
        path : str | PathLike
            of the file

        Returns
        -------
        Report
            itself
        """
        write_atomically(path, self.html.encode())
        self.path = path
        return self

    def __repr__(self) -> str:
        where = "" if self.path is None else f" in {os.fspath(self.path)}"
        return f"<Report {self.title!r}{where}, {len(self.html.encode()) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        frame = html.escape(self.html)
        return (
            f'<iframe srcdoc="{frame}" style="width:100%;height:80vh;border:1px solid #8884" title="Report"></iframe>'
        )


def report(
    thing: Any,
    path: str | os.PathLike[str] | None = None,
    X: Any = None,
    y: Any = None,
    *,
    validation: Any = None,
    test: Any = None,
    history: History | None = None,
    watch: Watch | Looks | None = None,
    findings: Sequence[Finding] | None = None,
    stopwatch: Stopwatch | None = None,
    influence: bool = True,
    title: str | None = None,
    code: str | None = None,
    seed: int = 0,
    totals: tuple[int, int] = (0, 0),
) -> Report:
    """Everything about a fitted model on one page: written to `path`, and returned.

    What cannot be shown is left out with a line that says how to get it.

    Parameters
    ----------
    thing : Model | estimator | pipeline | search
        what the page is about; a pipeline or search ends in one of ours
    path : str | PathLike | None
        of the file; None writes none
    X : array or data frame of shape (n, features)
        rows as its `fit` takes them
    y : array of shape (n,) or (n, outputs)
        their target; of a data frame of several columns the page has their names
    validation : tuple
        (X, y) of rows that were not trained on: quality is measured on those
    test : tuple
        (X, y) of rows that nothing was chosen by either: quality is measured on those, and not on `validation`
    history : History | None
        of the fit; by default the model's own
    watch : Watch | Looks | None
        an `inspect.Watch`, or its looks: the slider over training steps; by default from the history
    findings : Sequence[Finding] | None
        those of `inspect.diagnose`, which is called where X and y are there and nothing is given
    stopwatch : Stopwatch | None
        seconds of each epoch
    influence : bool
        False leaves out what asks the model many thousand times: permutation importance and partial dependence
    title : str | None
        of the page
    code : str | None
        shown as the program that made the run
    seed : int
        of the rows that are drawn
    totals : tuple of int
        where X, and the rows that quality is measured on, are a sample: how many rows each is drawn from

    Returns
    -------
    Report
        in a notebook it shows itself

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Model, nn, report
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = Model(nn.mlp((4,), 1))
    >>> history = model.fit(X, X[:, 0], epochs=3, verbose=False)
    >>> page = report(model, title="A first look")
    >>> page.title, "Learning" in page.html or "epochs" in page.html
    ('A first look', True)
    """
    asked = predictor(thing, y)
    validation = validation if test is None else test
    given = sample(X, y, "rows", whole=totals[0])
    held = _held(validation, "validation" if test is None else "test", totals[1])
    measured = held if held is not None else given
    story = history if history is not None else (asked.model.history if len(asked.model.history) else None)
    spent: dict[str, float] = {}
    seen, no_look = _layers(asked, X, y, watch, story, spent)
    found, no_findings = _findings(asked, findings, X, y, validation, story, spent)
    title = title or asked.name
    no_quality = "" if measured is None else asked.trouble(measured.some(ROWS).X)
    if no_quality:
        measured = None
    quality, marks = _quality(asked, measured, no_quality, spent)
    described = (
        None
        if given is None
        else data(asked.as_taken(given.some(ROWS)), classes=bool(asked.classes), outputs=asked.outputs)
    )
    seconds = () if stopwatch is None else stopwatch.seconds
    sections = [
        findings_section(found, no_findings),
        data_section(described, held),
        network_section(asked, () if given is None else given.columns),
        _training(asked, story, seen),
        layers_section(seen, no_look),
        quality,
        _influence(asked, measured, influence, seed, spent),
        timings_section(asked, measured, seconds, spent, None if story is None else story.rows),
        reproduce_section(asked, story, (given, held), code),
    ]
    tiles = summary(asked, story, marks, None if measured is None else measured.some(ROWS))
    page = Report(
        title, _page(title, asked, tiles, sections), {k: v for each in sections for k, v in each.data.items()}
    )
    return page if path is None else page.save(path)


def _held(rows: Any, name: str, whole: int) -> Sample | None:
    """Rows that were not trained on."""
    if rows is None:
        return None
    if not isinstance(rows, tuple | list) or len(rows) not in (2, 3):
        raise TypeError(f"report: {name} is (X, y) of rows that were not trained on, got {type(rows).__name__}")
    return sample(rows[0], rows[1], f"{name} rows", new=True, whole=whole)


def _timed(spent: dict[str, float], name: str, work: Callable[[], T]) -> T:
    start = time.perf_counter()
    outcome = work()
    spent[name] = time.perf_counter() - start
    return outcome


def _layers(
    asked: Predictor, X: Any, y: Any, watch: Watch | Looks | None, story: History | None, spent: dict[str, float]
) -> tuple[Inside | None, str]:
    """What was seen during training; else a look at this moment; else why not."""
    looks: Any = getattr(watch, "looks", watch)
    if looks is None and story is not None:
        looks = inspect.looks(story)
    if looks is not None and len(looks):
        return inside(looks), ""
    if X is None:
        return None, ""
    thing = asked.thing if len(asked.models) == 1 else last_step(asked.thing).estimators_[0]
    try:
        return _timed(spent, "a look at the layers", lambda: inside([inspect.run(thing, X, y)])), ""
    except (TypeError, ValueError) as error:  # members of an ensemble that are not ours, rows that are no numbers
        return None, str(error)


def _findings(
    asked: Predictor,
    findings: Sequence[Finding] | None,
    X: Any,
    y: Any,
    validation: Any,
    story: History | None,
    spent: dict[str, float],
) -> tuple[Sequence[Finding] | None, str]:
    if findings is not None or X is None or y is None or len(asked.models) > 1:
        return findings, ""
    try:
        return _timed(
            spent, "the diagnosis", lambda: inspect.diagnose(asked.thing, X, y, history=story, validation=validation)
        ), ""
    except (TypeError, ValueError) as error:
        return None, str(error)


def _training(asked: Predictor, story: History | None, seen: Inside | None) -> Section:
    curves = None if story is None else learning_curves(story, kept_epoch(asked.thing))
    return training_section(story, curves, seen, len(asked.models))


def _quality(
    asked: Predictor, measured: Sample | None, trouble: str, spent: dict[str, float]
) -> tuple[Section, tuple[Score, ...]]:
    if measured is None:
        return quality_section(None, trouble=trouble), ()
    rows = measured.some(ROWS)

    def section() -> tuple[Section, tuple[Score, ...]]:
        marks = scores(asked, rows)
        curves = confusion(asked, rows), reliability(asked, rows), ranking(asked, rows), residuals(asked, rows)
        return quality_section(rows.counted, marks, *curves, new=rows.new), marks

    return _timed(spent, "scores and curves", section)


def _influence(asked: Predictor, measured: Sample | None, wanted: bool, seed: int, spent: dict[str, float]) -> Section:
    if measured is None:
        return influence_section(None, (), None, given=False, asked=wanted)
    plane = regions(asked, measured)
    if not wanted:
        return influence_section(None, (), plane, given=True, asked=False)
    ranks = _timed(spent, "importance", lambda: importance(asked, measured, seed))
    places = tuple(range(len(measured.columns))) if ranks is None else ranks.places
    curves = _timed(spent, "partial dependence", lambda: dependence(asked, measured, places, seed))
    return influence_section(ranks, curves, plane, given=True, asked=True)


def asset(name: str) -> str:
    """A file of the page."""
    return (resources.files("pellucid.report") / "assets" / name).read_text(encoding="utf-8")


def _page(title: str, asked: Predictor, tiles: Markup, sections: Sequence[Section]) -> str:
    records = {key: record for section in sections for key, record in section.data.items()}
    contents = [
        element("li", element("a", each.title, element("b", each.mark) if each.mark else None, href=f"#{each.key}"))
        for each in sections
    ]
    now = datetime.datetime.now().astimezone().strftime("%d %B %Y, %H:%M")
    return Template(asset("page.html")).substitute(
        title=html.escape(title),
        subtitle=html.escape(f"{asked.name} · {outline(asked.model.net, asked.model.features)} · {now}"),
        contents=joined(contents),
        tiles=tiles,
        sections=Markup("\n".join(section.html() for section in sections)),
        data=block(records),
        css=asset("page.css"),
        d3=asset("d3.min.js"),
        plot=asset("plot.umd.min.js"),
        charts=asset("charts.js"),
        script=asset("page.js"),
    )
