"""Two commits beside each other: which package each process uses, and what is told."""

import io
import subprocess

import pytest
from rich.console import Console

from benchmarks.against import Comparison, check_package, jobs, package_of, table
from benchmarks.crew import ROOT


def test_each_process_has_the_package_that_it_is_given(tmp_path):
    check_package(ROOT / "src")
    with pytest.raises(SystemExit, match="was asked for"):
        check_package(tmp_path)


@pytest.mark.skipif(
    subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=False).returncode != 0,
    reason="there is no history here",
)
def test_the_package_of_a_commit():
    with package_of("HEAD") as source:
        assert (source / "pellucid" / "__init__.py").exists()
    assert not source.exists()
    with pytest.raises(SystemExit, match="'no-such-commit' is no commit"), package_of("no-such-commit"):
        pass


def test_minima_are_compared():
    comparison = Comparison("mid", 2, before=[4e-3, 2e-3, 9e-3], now=[5e-3, 8e-3, 3e-3])
    assert comparison.ratio == 1.5
    screen = io.StringIO()
    Console(file=screen, width=100).print(table("This tree beside main", [comparison]))
    assert "1.500" in screen.getvalue()


def test_predictions_are_compared_where_the_case_has_them():
    assert [name for name, *_ in jobs(["tiny", "mid"])] == [
        *("tiny", "mid", "predict mid, 1 row", "predict mid, 10,000 rows")
    ]
