"""The benchmark of tables: what is made of its records, whole or not. Nothing is fitted here."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import report
from benchmarks.tables import __main__ as command
from benchmarks.tables import page, picture, records
from benchmarks.tables.contestants import CONTESTANTS
from benchmarks.tables.goals import Goal, goals
from benchmarks.tables.plan import DEAR, estimate, wanted
from benchmarks.tables.records import Record
from benchmarks.tables.sets import CHOOSING, JUDGING, LARGE
from benchmarks.tables.summary import Mean, Measure, Results

DOCS = Path(command.__file__).parents[2] / "docs"


def record(table="iris", seed=0, contestant="CatBoost", **more):
    """A fit of two classes."""
    usual = {"rows": 400, "columns": 4, "tests": 100, "classes": 2, "error": 0.1, "log_loss": 0.3}
    usual |= {"calibration": 0.01, "expected": 0.02, "seconds": 1.0, "work": 2.0, "load": 1.0}
    return Record(table=table, seed=seed, contestant=contestant, **usual | more)


def seeds(contestant, values, field="error", table="iris", **more):
    return [record(table, seed, contestant, **{field: value}, **more) for seed, value in enumerate(values)]


def whole_run():
    """All contestants on some tables; a contestant's figures are the usual ones times a factor of its own."""
    fits = []
    for table, seed, name in wanted(["iris", "sonar", "titanic", "cpu_act", *LARGE], CONTESTANTS, 3):
        factor = 0.7 + 0.1 * list(CONTESTANTS).index(name) + 0.01 * seed
        fit = record(table, seed, name, error=0.1 * factor, log_loss=0.3 * factor, seconds=2 / factor)
        fits.append(
            replace(fit, classes=0, log_loss=None, calibration=None, expected=None) if table == "cpu_act" else fit
        )
    return fits


# means and ratios


def test_means_have_standard_errors():
    mean = Results(seeds("fast", [0.1, 0.2, 0.3])).mean("iris", "fast", Measure.ERROR)
    assert mean == Mean(pytest.approx(0.2), pytest.approx(0.1 / math.sqrt(3)), 3)
    assert math.isnan(Mean.of([0.1]).deviation)
    assert Results([]).mean("iris", "fast", Measure.ERROR) is None


def test_ratios_are_those_of_seeds_that_both_have():
    results = Results(seeds("fast", [0.1, 0.1]) + seeds("CatBoost", [0.2, 0.2, 0.9, 0.9]))
    assert results.ratio("iris", "fast", "CatBoost", Measure.ERROR) == pytest.approx(0.5)
    assert results.ratio("wine", "fast", "CatBoost", Measure.ERROR) is None


def test_no_wrong_row_counts_as_half_a_one_of_all_tested():
    results = Results(seeds("fast", [0.0, 0.0]) + seeds("CatBoost", [0.05, 0.05]))
    assert results.ratio("iris", "fast", "CatBoost", Measure.ERROR) == pytest.approx((0.5 / 200) / 0.05)
    one_wrong = Results(seeds("fast", [0.01, 0.0]) + seeds("CatBoost", [0.05, 0.05]))
    assert one_wrong.ratio("iris", "fast", "CatBoost", Measure.ERROR) == pytest.approx(2 * (0.5 / 200) / 0.05)


def test_tables_without_wrong_rows_are_left_out_but_seen():
    results = Results(seeds("fast", [0.0, 0.0]) + seeds("CatBoost", [0.0, 0.0]))
    ratios = results.ratios(["iris"], "fast", "CatBoost", Measure.ERROR)
    assert (len(ratios), ratios.seen) == (0, 1)
    assert math.isnan(ratios.geometric_mean)
    assert math.isnan(ratios.median)


def test_geometric_mean_and_median_over_tables():
    fits = [record(t, 0, "fast", error=0.1 * r) for t, r in (("iris", 0.5), ("wine", 2.0), ("sonar", 8.0))]
    ratios = Results(fits + [record(t) for t in ("iris", "wine", "sonar")]).ratios(
        ["iris", "wine", "sonar"], "fast", "CatBoost", Measure.ERROR
    )
    assert ratios.geometric_mean == pytest.approx(2.0)
    assert ratios.median == pytest.approx(2.0)
    assert ratios.largest == "sonar"


def test_log_losses_next_to_nothing_are_not_compared():
    fits = [record("iris", 0, "fast"), record("iris", log_loss=0.6)]
    fits += [record("mushroom", 0, "fast", log_loss=0.001), record("mushroom", log_loss=0.0001)]
    ratios = Results(fits).ratios(["iris", "mushroom"], "fast", "CatBoost", Measure.LOG_LOSS)
    assert ratios.by_table == {"iris": pytest.approx(0.5)}


def test_times_of_a_quiet_machine_count_where_there_are_some():
    fits = [record("iris", 0, "fast", seconds=9.0, load=5.0), record("iris", 1, "fast", seconds=2.0, load=0.5)]
    fits += [record("iris", 0, seconds=1.0), record("wine", 0, "fast", seconds=6.0, load=7.0), record("wine", 0)]
    results = Results(fits)
    assert results.seconds("iris", "fast") == (2.0, True)
    assert results.seconds("wine", "fast") == (6.0, False)
    ratios = results.time_ratios(["iris", "wine", "sonar"], "fast", "CatBoost")
    assert ratios.by_table == {"iris": 2.0, "wine": 6.0}
    assert ratios.busy == {"wine"}


def test_mean_ranks_are_those_of_tables_that_have_everybody():
    fits = [record(t, 0, n, error=e) for t in ("iris", "wine") for n, e in (("fast", 0.1), ("linear", 0.3))]
    fits += [record("iris", 0, error=0.1)]
    ranks, tables = Results(fits).mean_ranks(["iris", "wine"], CONTESTANTS, Measure.ERROR)
    assert tables == ["iris"]
    assert ranks == {"fast": 1.5, "linear": 3.0, "CatBoost": 1.5}
    assert Results([]).mean_ranks(["iris"], CONTESTANTS, Measure.ERROR) == ({}, [])


# goals


def named(asked: list[Goal], part: str) -> Goal:
    return next(goal for goal in asked if part in goal.name)


def test_without_records_no_goal_is_met_or_missed():
    assert [goal.met for goal in goals(Results([]))] == [None] * len(goals(Results([])))


@pytest.mark.parametrize(("factor", "met"), [(0.7, True), (1.05, False)])
def test_goals_against_catboost(factor, met):
    fits = [record(t, s) for t in ("iris", "sonar") for s in range(3)]
    ours = [replace(r, contestant="default", error=factor * r.error, log_loss=factor * r.log_loss) for r in fits]
    asked = goals(Results(fits + ours))
    for part in ("log loss over CatBoost's: median", "geometric mean", "error over CatBoost's"):
        goal = named(asked, part)
        assert goal.value == pytest.approx(factor)
        assert goal.met is met


def test_choosing_tables_are_not_judged():
    fits = [record(t, s, n) for t in CHOOSING for s in range(2) for n in CONTESTANTS]
    assert not any(goal.met is not None for goal in goals(Results(fits)))


def test_a_table_is_worse_only_beyond_its_standard_errors():
    theirs = seeds("CatBoost", [0.3, 0.3, 0.3], "log_loss")
    within, beyond = ([0.31, 0.36, 0.34], [0.36, 0.37, 0.36])
    part = "above 1.10"
    assert named(goals(Results(theirs + seeds("default", within, "log_loss"))), part).met
    goal = named(goals(Results(theirs + seeds("default", beyond, "log_loss"))), part)
    assert (goal.met, goal.value, goal.note) == (False, 1, "iris")
    assert named(goals(Results(theirs + seeds("default", beyond[:1], "log_loss"))), part).met is None  # one seed


def test_worse_than_linear_in_error_or_log_loss():
    base = seeds("linear", [0.10, 0.12, 0.11])
    assert named(goals(Results(base + seeds("default", [0.10, 0.12, 0.11]))), "linear").met
    goal = named(goals(Results(base + seeds("default", [0.12, 0.13, 0.14]))), "linear")
    assert (goal.met, goal.note) == (False, "iris (error)")


def test_best_is_held_against_default():
    fits = seeds("default", [0.1, 0.1]) + seeds("best", [0.097, 0.097])
    assert not named(goals(Results(fits)), "best, error").met
    assert named(goals(Results(fits + seeds("best", [0.09, 0.09]))), "best, error").met


def test_goals_for_times():
    fits = [record("letter", 0, n, rows=16_000, seconds=s) for n, s in (("fast", 5.0), ("LightGBM", 2.0))]
    fits += [record("iris", 0, n, seconds=s) for n, s in (("fast", 9.0), ("LightGBM", 0.1))]
    goal = named(goals(Results(fits)), "fast, time")
    assert (goal.value, goal.met) == (2.5, True)
    fits += [record("letter", 0, "default", seconds=12.0, load=6.0), record("letter", 0, seconds=2.0)]
    goal = named(goals(Results(fits)), "default, time")
    assert (goal.value, goal.met) == (6.0, False)
    assert "1 of them beside other work" in goal.note


def test_goals_for_calibration():
    good = [record("iris", s, "default") for s in range(19)]
    missed = [record("wine", s, "default", calibration=0.03) for s in range(2)]
    goal = named(goals(Results(good + missed)), "quantile")
    assert (goal.value, goal.met, goal.note) == (19 / 21, False, "19 of 21 fits")
    large = [record(LARGE[0], 0, "default", tests=49_000, calibration=0.03, expected=0.04)]
    goal = named(goals(Results(good + large)), "9,000")
    assert (goal.value, goal.met, goal.note) == (0.03, False, LARGE[0])


# plan and records


def test_the_plan_goes_seed_by_seed_and_has_dear_ones_once():
    keys = wanted(["iris", "sonar", LARGE[0]], ["fast", "RealMLP-TD"], 2)
    assert keys == [
        ("iris", 0, "fast"),
        ("sonar", 0, "fast"),
        ("sonar", 0, "RealMLP-TD"),
        (LARGE[0], 0, "fast"),
        ("iris", 1, "fast"),
        ("sonar", 1, "fast"),
    ]
    assert all(set(tables) <= set(JUDGING) for tables in DEAR.values())


def test_an_estimate_goes_by_the_table_then_by_rows():
    fits = [record("iris", 0, "fast", seconds=3.0), record("iris", 1, "fast", seconds=5.0)]
    keys = [("iris", 2, "fast"), ("letter", 0, "fast"), ("iris", 0, "best")]
    seconds, unknown = estimate(keys, fits, {"letter": 1_000_000})
    assert seconds == pytest.approx(4.0 + (4.0 / 400) * 16_000)
    assert unknown == 1


def test_records_come_back(tmp_path):
    path, fits = tmp_path / "deep" / "tables.jsonl", whole_run()
    assert records.read(path) == {}
    for fit in fits:
        records.add(path, fit)
    records.add(path, replace(fits[0], error=0.5))  # measured anew
    found = records.read(path)
    assert list(found.values()) == [replace(fits[0], error=0.5), *fits[1:]]
    records.keep(tmp_path / "kept.jsonl", found.values())
    assert records.read(tmp_path / "kept.jsonl") == found


def test_a_run_that_ended_within_a_line_is_taken_up(tmp_path):
    path = tmp_path / "tables.jsonl"
    records.add(path, record(seed=0))
    records.add(path, record(seed=1))
    path.write_text(path.read_text()[:-30])
    assert list(records.read(path)) == [("iris", 0, "CatBoost")]
    records.add(path, record(seed=1))
    assert list(records.read(path)) == [("iris", 0, "CatBoost"), ("iris", 1, "CatBoost")]


# what is shown

RUNS = {
    "whole": whole_run(),
    "interrupted": whole_run()[:31],
    "without the reference": [fit for fit in whole_run() if fit.contestant != "CatBoost"],
    "one fit": whole_run()[:1],
}


@pytest.mark.parametrize("fits", RUNS.values(), ids=RUNS.keys())
def test_all_that_is_there_is_shown(fits, tmp_path):
    results, console = Results(fits), Console(width=200, record=True, quiet=True)
    text = page.page(results)
    for fit in fits:
        assert re.search(rf"^\| {fit.table} \|", text, flags=re.M)
    for table in re.split(r"\n\n", text):  # each line of a table has as many cells as its head
        lines = [line for line in table.strip().splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 100
    for grid in page.grids(results):
        console.print(page.terminal(grid))
    assert not re.search(r"\bnan\b", text + console.export_text())


def test_the_best_stands_out():
    text = page.page(Results(seeds("fast", [0.1, 0.2]) + seeds("CatBoost", [0.3, 0.3])))
    assert "| iris | 500 × 4 | error, % | **15.0 ± 5.0** | 30.0 ± 0.0 |" in text


def test_a_picture_has_a_point_for_each_contestant(tmp_path):
    results = Results(whole_run())
    assert [name for name, *_ in picture.points(results, Measure.ERROR)] == list(CONTESTANTS)
    assert picture.draw(results, tmp_path / "tables.png")
    assert (tmp_path / "tables.png").read_bytes().startswith(b"\x89PNG")
    assert not picture.draw(Results(RUNS["one fit"]), tmp_path / "none.png")


def test_figures_are_published(tmp_path):
    docs = tmp_path / "docs"
    (docs / "images").mkdir(parents=True)
    (docs / "benchmarks.md").write_text((DOCS / "benchmarks.md").read_text())
    records.keep(tmp_path / "tables.jsonl", whole_run())
    for _ in range(2):  # the second replaces the first
        command.show(Console(quiet=True), tmp_path / "tables.jsonl")
        kept, changed, image = command.publish(tmp_path / "tables.jsonl", docs)
    assert records.read(kept) == records.read(tmp_path / "tables.jsonl")
    assert changed.read_text().count("### Goals") == 1
    assert changed.read_text().count(f"](images/{image.name})") == 1
    assert image.exists()
    assert "## How good the defaults are\n\n### Goals" in report.write(tmp_path).read_text()


def test_the_docs_name_the_tables():
    text = " ".join((DOCS / "benchmarks.md").read_text().split())
    for tables in (CHOOSING, JUDGING, LARGE):
        assert ", ".join(tables[:-1]) + f" and {tables[-1]}" in text
    assert not set(CHOOSING) & {*JUDGING, *LARGE}
