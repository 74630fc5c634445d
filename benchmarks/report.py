"""Tables of the measurements with the targets beside them: for the terminal, and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from rich.table import Table

from benchmarks import targets
from benchmarks.cases import CASES
from benchmarks.contestants import OURS
from benchmarks.figures import Figure
from benchmarks.meter import BUSY
from benchmarks.store import Entry, load, machine, measured_at, setting
from benchmarks.timing import Result

TITLES = {
    "train": "Training: time per step",
    "profile": "Where our step spends its time: parts of the program run alone",
    "predict": "Prediction",
    "many": "Many models at once (scikit-learn through joblib, JAX by vmap)",
    "fits": "Whole fits with the defaults",
    "target": "Training to a given validation loss",
    "memory": "Memory",
    "latency": "First fit of a process",
    "watching": "Seeing through: a watched training, a diagnosis, over the training itself",
    "reading": "A CSV of 1,000,000 x 30 to the first training step, beside `pandas.read_csv` alone",
    "imports": "Import",
    "autodiff": "Recording and differentiating, on the numpy executor",
}
HEAD = ("case", "who", "time or value", "× ours (quartiles)", "target", "")


def rows(entry: Entry) -> Iterator[tuple[str, ...]]:
    """A line for each contestant: case, who, value, ratio, target, verdict."""
    if isinstance(entry, Figure):
        aim = "" if entry.limit is None else f"≤ {entry.limit:.3g} {entry.unit}"
        missing = math.isnan(entry.value)
        value = f"failed: {entry.note}" if missing else f"{entry.value:.3g} {entry.unit}"
        yield entry.name, entry.who, value, "", aim, "" if missing else targets.word(entry.met)
        return
    ratios = entry.ratios()
    for who, micro in entry.microseconds.items():
        note = f", {entry.notes[who]}" if who in entry.notes else ""
        value, shown = micro / 1e6, ""
        if who in ratios:
            low, value, high = ratios[who]
            beyond = who.startswith(("limit", "products"))  # the other way round: what we need beyond them
            if beyond:
                low, value, high = 1 / high, 1 / value, 1 / low
            shown = f"{number(value)} ({number(low)} to {number(high)})" + " of theirs" * beyond
        judged = who in ratios or who == OURS
        verdict = targets.word(targets.met(entry.name, who, value)) if judged else ""
        yield entry.name, who, f"{duration(micro)}{note}", shown, targets.aim(entry.name, who), verdict
    if entry.foreign > BUSY:
        yield entry.name, "(others)", f"used {100 * entry.foreign:.0f} % of the machine meanwhile", "", "", ""
    for who, reason in entry.failures.items():
        yield entry.name, who, f"not run: {reason}", "", targets.aim(entry.name, who), ""


def duration(micro: float) -> str:
    """µs, ms or s, with three digits."""
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if micro >= size:
            return f"{micro / size:.3g} {unit}"
    return f"{micro:.3g} µs"


def number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(title: str, entries: list[Entry]) -> Table:
    shown = Table(title=title)
    for i, head in enumerate(HEAD):
        shown.add_column(head, justify="right" if i in (3, 4) else "left")
    for entry in entries:
        for i, (case, *rest, verdict) in enumerate(rows(entry)):
            colour = {"met": "green", "not met": "red"}.get(verdict, "")
            shown.add_row(case if i == 0 else "", *rest, f"[{colour}]{verdict}[/]" if colour else verdict)
        shown.add_section()
    return shown


def write(folder: Path) -> Path:
    """The record, `<date>-<machine>.md`, of every measurement in the folder; one of the same day is replaced."""
    where = setting()
    day = where["date"].split()[0]
    lines = [f"# Benchmarks of {day}", "", f"- Machine: {where['processor']}, {where['cores']} cores"]
    lines += [f"- System: {where['system']}, Python {where['python']}"]
    lines += ["- Packages:", *(f"  - {name} {number}" for name, number in where["packages"].items())]
    lines += ["", "Medians of interleaved rounds; each peer with the better of 2 threads and 1; ratios round by round."]
    for benchmark, title in TITLES.items():
        entries = load(folder, benchmark)
        if not entries:
            continue
        lines += ["", f"## {title}", "", f"Measured {measured_at(folder, benchmark)}.", ""]
        if benchmark == "train":
            names = [entry.name for entry in entries if isinstance(entry, Result)]
            lines += [f"- {name}: {CASES[name].title()}" for name in names] + [""]
        lines += [f"| {' | '.join(HEAD)} |", "| --- | --- | ---: | ---: | ---: | --- |"]
        for entry in entries:
            lines += ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows(entry)]
    tables = folder / "tables.md"
    if tables.exists():
        lines += ["", "## How good the defaults are", "", tables.read_text().rstrip()]
    path = folder / f"{day}-{machine(where)}.md"
    path.write_text("\n".join(lines) + "\n")
    return path
