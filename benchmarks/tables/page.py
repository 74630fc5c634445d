"""The figures as tables: built once, shown in a terminal or written as Markdown."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from rich.table import Table
from rich.text import Text

from benchmarks.tables.contestants import CONTESTANTS
from benchmarks.tables.goals import TREES, Goal, goals, plural
from benchmarks.tables.plan import DEAR
from benchmarks.tables.sets import CHOOSING, JUDGING, LARGE
from benchmarks.tables.summary import QUIET, REFERENCE, SURE, Mean, Measure, Ratios, Results

SHORT = {"HistGradientBoosting": "HistGB"}
"""Names that are too long for a column."""
NOTHING = "–"
FOLDED = ("what", "of")
"""Columns whose text may take several lines."""


class Mark(Enum):
    """How a cell stands out: the colour of a terminal."""

    NONE = ""
    BEST = "bold green"
    MET = "green"
    MISSED = "red"


@dataclass(frozen=True)
class Cell:
    """`more` is left out where there is little room."""

    text: str
    more: str = ""
    mark: Mark = Mark.NONE


@dataclass(frozen=True)
class Grid:
    """A table with a title; columns are aligned to the right from `words` on; a group of lines begins with a name."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    words: int = 1
    notes: tuple[str, ...] = ()


def grids(results: Results) -> list[Grid]:
    """What there is to show of the records, the most important first."""
    names = results.contestants(CONTESTANTS, (*CHOOSING, *JUDGING, *LARGE))
    parts = {
        "Judging tables: no setting was chosen on them": JUDGING,
        "Choosing tables: settings were chosen on them": CHOOSING,
        "Large tables, whole, one seed": LARGE,
    }
    tables = [figures(results, title, group, names) for title, group in parts.items()]
    standings = [standing(results, "Judging tables", JUDGING), standing(results, "Choosing tables", CHOOSING)]
    shown = [goal_grid(goals(results)), *standings, *beside_dear(results), *tables]
    return [grid for grid in shown if grid.rows]


def goal_grid(asked: Sequence[Goal]) -> Grid:
    def row(goal: Goal) -> tuple[Cell, ...]:
        verdict = {True: Cell("yes", mark=Mark.MET), False: Cell("no", mark=Mark.MISSED), None: Cell("not measured")}
        aim = f"{'≥' if goal.at_least else '≤'} {goal.aim:g}"
        value = f"{goal.value:.0f}" if goal.aim == 0 and goal.met is not None else number(goal.value)
        return Cell(goal.name), Cell(value), Cell(aim), verdict[goal.met], Cell(goal.note)

    rows = [row(goal) for goal in asked]
    return Grid("Goals, on judging and large tables", ("what", "measured", "goal", "met", "of"), rows)


def standing(results: Results, group: str, tables: Sequence[str]) -> Grid:
    """Ratios to the reference, mean ranks and calibration of each contestant."""
    names = results.contestants(CONTESTANTS, tables)
    ratios = {measure: {n: results.ratios(tables, n, REFERENCE, measure) for n in names} for measure in Measure}
    ranked = [results.mean_ranks(tables, [name for name in names if name not in DEAR], each) for each in Measure]
    times = {other: {n: results.time_ratios(tables, n, other) for n in names} for other in (REFERENCE, TREES)}
    columns = [[Cell(short(name)) for name in names]]
    for measure, (ranks, _) in zip(Measure, ranked, strict=True):
        columns += [_geometric_means(list(ratios[measure].values()))]
        columns += [[Cell(number(each.median)) for each in ratios[measure].values()]]
        columns += [[Cell(number(ranks.get(name, math.nan))) for name in names]]
    columns += [[Cell(number(each.geometric_mean)) for each in times[other].values()] for other in times]
    columns += [[Cell(" + ".join(str(len(ratios[measure][name])) for measure in Measure)) for name in names]]
    columns += [[_share(*results.calibrated(tables, name)) for name in names]]
    head = ("contestant", "error", "median", "rank", "log loss", "median", "rank", "time", f"× {TREES}")
    busy = {table for by_name in times.values() for each in by_name.values() for table in each.busy}
    notes = (
        f"Over {REFERENCE}'s: geometric means and medians over tables (so many have errors + log losses to compare), "
        f"less is better. Log loss without tables where {REFERENCE}'s is below {SURE:g}. Mean ranks by error on "
        f"{plural(len(ranked[0][1]), 'table')}, by log loss on {len(ranked[1][1])}, of all but {', '.join(DEAR)}. "
        f"× {TREES}: time over {TREES}'s. Calibrated: "
        "fits whose calibration error lies below the 95 % quantile of what labels drawn from the predictions give; of "
        "true probabilities it is 95 %.",
        _times_note(len(busy)),
    )
    rows = list(zip(*columns, strict=True))
    return Grid(f"{group}: beside {REFERENCE}", (*head, "tables", "calibrated"), rows, notes=notes)


def _geometric_means(ratios: Sequence[Ratios]) -> list[Cell]:
    """The least stands out; those of fewer tables do not compete."""
    most = max((each.seen for each in ratios), default=0)
    least = min((each.geometric_mean for each in ratios if each.seen == most), default=math.nan)
    best = [each.seen == most and each.geometric_mean == least for each in ratios]
    marks = [Mark.BEST if is_best else Mark.NONE for is_best in best]
    return [Cell(number(each.geometric_mean), mark=mark) for each, mark in zip(ratios, marks, strict=True)]


def _share(part: int, whole: int) -> Cell:
    return Cell(f"{100 * part / whole:.0f} %" if whole else NOTHING)


def _times_note(busy: int) -> str:
    quiet = f"Times are those of fits that began at a load below {QUIET:g}"
    others = f"; on {plural(busy, 'table')} someone has none, and all fits of that one count"
    return f"{quiet}{others if busy else ''}."


def beside_dear(results: Results) -> Iterator[Grid]:
    """Ours and the reference over a contestant that takes part on a few tables."""
    for dear, tables in DEAR.items():
        if not results.contestants([dear], tables):
            continue
        rows = []
        for name in results.contestants([name for name in CONTESTANTS if name != dear], tables):
            ratios = [results.ratios(tables, name, dear, measure) for measure in Measure]
            times = results.time_ratios(tables, name, dear)
            rows.append(
                (
                    Cell(short(name)),
                    *(Cell(number(each.geometric_mean)) for each in (*ratios, times)),
                    Cell(str(len(times))),
                )
            )
        note = f"Geometric means over {', '.join(tables)}, one seed."
        yield Grid(f"Beside {dear}", ("contestant", "error", "log loss", "time", "tables"), rows, notes=(note,))


def figures(results: Results, title: str, tables: Sequence[str], names: Sequence[str]) -> Grid:
    """Error, log loss and time of each contestant, three lines (two for numbers) to a table."""
    rows = []
    for table in tables:
        info = results.any_of(table)
        if info is None:
            continue
        size = f"{info.rows + info.tests:,} × {info.columns}"
        share = 100.0 if info.classes else 1.0
        errors = [results.mean(table, name, Measure.ERROR) for name in names]
        head = Cell(table), Cell(size)
        rows.append((*head, Cell("error, %" if info.classes else "RMSE / sd"), *_means(errors, share)))
        if info.classes:
            losses = [results.mean(table, name, Measure.LOG_LOSS) for name in names]
            rows.append((Cell(""), Cell(""), Cell("log loss"), *_means(losses)))
        times = [results.seconds(table, name) for name in names]
        shown = [Cell(NOTHING) if time is None else Cell(seconds(time[0]) + "*" * (not time[1])) for time in times]
        rows.append((Cell(""), Cell(""), Cell("seconds"), *shown))
    columns = ("table", "rows × columns", "", *(short(name) for name in names))
    note = "Means over seeds ± standard error, the best in bold; the median time of a fit"
    return Grid(title, columns, rows, words=3, notes=(f"{note}, * measured beside other work.",))


def _means(means: Sequence[Mean | None], share: float = 1.0) -> list[Cell]:
    """The least stands out, and all that are printed alike."""
    values = [mean.value for mean in means if mean is not None]
    places = _places(share * min((value for value in values if value > 0), default=1.0))

    def cell(mean: Mean | None) -> Cell:
        if mean is None:
            return Cell(NOTHING)
        text = f"{share * mean.value:.{places}f}"
        more = "" if math.isnan(mean.deviation) else f" ± {share * mean.deviation:.{places}f}"
        return Cell(text, more, Mark.BEST if text == f"{share * min(values):.{places}f}" else Mark.NONE)

    return [cell(mean) for mean in means]


def _places(least: float) -> int:
    """Digits behind the point, three that count; at most five."""
    return int(min(max(2 - math.floor(math.log10(least)), 0), 5))


def short(name: str) -> str:
    return SHORT.get(name, name)


def number(value: float) -> str:
    if math.isnan(value):
        return NOTHING
    places = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{places}f}" if value >= 0.01 or not value else f"{value:.2g}"


def seconds(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def terminal(grid: Grid) -> Table:
    shown = Table(title=grid.title, caption="\n".join(grid.notes) or None, caption_justify="left", title_justify="left")
    for i, head in enumerate(grid.head):
        words = i < grid.words or head == "of"
        shown.add_column(head, justify="left" if words else "right", no_wrap=head not in FOLDED)
    for i, row in enumerate(grid.rows):
        if grid.words > 1 and i and row[0].text:
            shown.add_section()
        shown.add_row(*(Text(cell.text, style=cell.mark.value) for cell in row))
    return shown


def markdown(grid: Grid, level: int = 3) -> str:
    def cell(shown: Cell) -> str:
        text = shown.text + shown.more
        return f"**{text}**" if shown.mark is Mark.BEST else text

    line: Callable[[Sequence[str]], str] = lambda texts: "| " + " | ".join(texts) + " |"
    rules = ["---" if i < grid.words or head == "of" else "---:" for i, head in enumerate(grid.head)]
    lines = [f"{'#' * level} {grid.title}", "", *wrapped(grid.notes)]
    return (
        "\n".join([*lines, line(grid.head), line(rules), *(line([cell(c) for c in row]) for row in grid.rows)]) + "\n"
    )


def wrapped(paragraphs: Sequence[str]) -> list[str]:
    """Prose in lines of at most 100 columns, an empty one behind each paragraph."""
    return [line for text in paragraphs for line in (*textwrap.wrap(text, 100), "")]


def page(results: Results, level: int = 3) -> str:
    """All grids as Markdown."""
    return "\n".join(markdown(grid, level) for grid in grids(results))
