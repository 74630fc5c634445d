"""How well the diagnosis does on the cases of the tests, as a page and a picture.

Run it from the root of the repository: PYTHONPATH=src:. python docs/make_diagnosis_figures.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from tests.inspect.zoo import BROKEN, CODES, HEALTHY
from tests.inspect.zoo.evaluation import Outcome, of_half, outcomes, share
from tests.inspect.zoo.remedies import failure

DOCS = Path(__file__).parent
NOTHING = "nothing"

HEAD = """# How good the diagnosis is

`inspect.diagnose` is judged on configurations with one known fault each, and on healthy ones: the
functions in `tests/inspect/zoo/`. Every broken case is really broken (its tests compare it with a
twin without the fault, without any help of `inspect`), every healthy one predicts about as well as
good models of scikit-learn do. Thresholds were chosen on half a; half b is only reported. This page
is written by `docs/make_diagnosis_figures.py`.

A fault is *detected* if anything is reported that is as serious as the fault (most are worth a
warning; a constant or a double column is worth a note). It is *named* if a right code is among the
first findings. The cause counts; a few cases accept the name of a symptom as well, where that is
argued beside the case. An *alarm* is anything above a note on a healthy case.
"""


def summary(broken: Sequence[Outcome], healthy: Sequence[Outcome]) -> str:
    """The shares that count, of both halves."""
    lines = [
        "| | half a | half b | all | asked for |",
        "| --- | --- | --- | --- | --- |",
        _line("broken cases", [str(len(of_half(broken, half))) for half in ("a", "b", "")], "60"),
        _line("detected", [_percent([r.detected for r in of_half(broken, half)]) for half in ("a", "b", "")], "95 %"),
    ]
    for first, words, limit in ((1, "named first", ""), (3, "named among the first three", "80 %")):
        shares = [_percent([r.right(first) for r in of_half(broken, half)]) for half in ("a", "b", "")]
        lines.append(_line(words, shares, limit))
    lines.append(_line("healthy cases", [str(len(of_half(healthy, half))) for half in ("a", "b", "")], "120"))
    alarms = [_percent([r.alarm for r in of_half(healthy, half)]) for half in ("a", "b", "")]
    lines.append(_line("false alarms", alarms, "at most 3 %"))
    return "\n".join(lines)


def _line(name: str, cells: list[str], limit: str) -> str:
    return f"| {name} | {' | '.join(cells)} | {limit} |"


def _percent(marks: Sequence[bool]) -> str:
    return f"{100 * share(marks):.1f} %"


def per_code(broken: Sequence[Outcome]) -> str:
    """Numbers of cases for each code: half a + half b."""
    lines = [
        "| code | cases | detected | named first | among the first three | reported first instead |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for code in CODES:
        results = [r for r in broken if r.codes[0] == code]
        counts = [[r for r in results if r.half == half] for half in "ab"]
        cells = [
            " + ".join(str(len(part)) for part in counts),
            " + ".join(str(sum(r.detected for r in part)) for part in counts),
            " + ".join(str(sum(r.right(1) for r in part)) for part in counts),
            " + ".join(str(sum(r.right(3) for r in part)) for part in counts),
        ]
        others = Counter(r.first or NOTHING for r in results if r.first not in r.codes)
        instead = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in others.items())
        lines.append(f"| `{code}` | {' | '.join(cells)} | {instead} |")
    return "\n".join(lines)


def confusion(broken: Sequence[Outcome], healthy: Sequence[Outcome]) -> tuple[list[str], list[str], np.ndarray]:
    """How often a case of one code has another one reported first; the last row are healthy cases."""
    rows, columns = [*CODES, "healthy"], [*CODES, NOTHING]
    table = np.zeros((len(rows), len(columns)), int)
    for result in broken:
        table[rows.index(result.codes[0]), columns.index(result.first or NOTHING)] += 1
    for result in healthy:
        table[-1, columns.index(result.first or NOTHING)] += 1
    return rows, columns, table


def drawn(broken: Sequence[Outcome], healthy: Sequence[Outcome], path: Path) -> None:
    """The confusion table as a picture: shares of each row."""
    rows, columns, table = confusion(broken, healthy)
    figure, ax = plt.subplots(figsize=(9.5, 9.0), layout="constrained")
    ax.imshow(table / np.maximum(table.sum(1, keepdims=True), 1), cmap="Blues", vmin=0, vmax=1.4)
    ax.set_xticks(range(len(columns)), columns, rotation=90, fontsize=8)
    ax.set_yticks(range(len(rows)), rows, fontsize=8)
    ax.set_xlabel("reported first")
    ax.set_ylabel("the fault")
    for (row, column), count in np.ndenumerate(table):
        if count:
            ax.text(column, row, str(count), ha="center", va="center", fontsize=7)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def misses(broken: Sequence[Outcome], healthy: Sequence[Outcome]) -> str:
    """What goes wrong in half a, case by case; of half b only how often, so that nobody chooses a threshold on it."""
    lines = ["| case | fault | reported, best first |", "| --- | --- | --- |"]
    for result in of_half(broken, "a"):
        if not result.right(3):
            lines.append(f"| {result.name} | `{result.codes[0]}` | {_told(result)} |")
    for result in of_half(healthy, "a"):
        if result.alarm:
            lines.append(f"| {result.name} | none: a false alarm | {_told(result)} |")
    listed = "\n".join(lines) if len(lines) > 2 else "Of half a nothing."
    missed = sum(not result.right(3) for result in of_half(broken, "b"))
    alarms = sum(result.alarm for result in of_half(healthy, "b"))
    unlisted = (
        f"Of half b {missed} faults, and {alarms} false alarms; they are not listed, so that nobody tunes on them."
    )
    return f"{listed}\n\n{unlisted}"


def _told(result: Outcome) -> str:
    return ", ".join(f"{code} ({severity})" for code, severity in result.findings[:3]) or NOTHING


def remedies(failures: Mapping[str, str | None]) -> str:
    """How often the first right finding's remedy, applied, brings back what was measured."""
    tried = {name: words for name, words in failures.items() if words is not None}
    back = sum(not words for words in tried.values())
    listed = {case.name for case in BROKEN if case.half == "a"}
    lines = [
        f"Of the {len(tried)} faults that are named, the remedy of the first right finding, applied and trained again,",
        f"brings the measured quantity back to its healthy range in {back} cases, and where training was at fault the",
        "validation rows are predicted better. A remedy of the data (fill, drop, encode, correct) is applied by hand.",
    ]
    rest = {name: words for name, words in tried.items() if words and name in listed}
    if rest:
        lines += ["", "| case of half a | what is not brought back |", "| --- | --- |"]
        lines += [f"| {name} | {words} |" for name, words in rest.items()]
    return "\n".join(lines)


def page(broken: Sequence[Outcome], healthy: Sequence[Outcome], failures: Mapping[str, str | None]) -> str:
    """All of it as text."""
    parts = (
        HEAD,
        summary(broken, healthy),
        "\n## By code\n\nNumbers of half a + half b.\n",
        per_code(broken),
        "\n## Confusion\n",
        "![Which code is reported first for each fault](images/diagnosis-confusion.svg)",
        "\n## What is missed\n",
        misses(broken, healthy),
        "\n## Remedies\n",
        remedies(failures),
    )
    return "\n".join(parts) + "\n"


def main() -> None:
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "pellucid"
    broken, healthy = outcomes(BROKEN), outcomes(HEALTHY)
    failures = {case.name: failure(case) for case in BROKEN}
    drawn(broken, healthy, DOCS / "images" / "diagnosis-confusion.svg")
    (DOCS / "diagnosis-results.md").write_text(page(broken, healthy, failures))


if __name__ == "__main__":
    main()
