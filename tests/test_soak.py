"""The soak test itself: a few cases of each part, and that it fails when a figure is not as wanted."""

import os
import re
import subprocess
import sys

import pytest

from soak import __main__ as soak
from soak.part import ROOT, Failures, Figure, Part


@pytest.mark.parametrize("part", list(soak.PARTS))
def test_a_few_cases(part):
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    command = [sys.executable, "-m", "soak", part, "--quick"]
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    assert "✓" in ended.stdout


def test_what_is_not_as_wanted_fails_and_can_be_repeated(monkeypatch, capsys):
    seen = []

    def run(cases, seed, advance):
        failures = Failures()
        for case in cases:
            seen.append((seed, case))
            if case == 7:
                failures.add(case, "the [bits] differ")
            advance()
        yield from failures.figures("cases", len(cases))
        yield Figure("size", "3 MB")

    monkeypatch.setattr(soak, "PARTS", {"odd": Part("odd", run, cases=10, quick=2)})
    assert soak.main(["odd", "--seed", "5"]) == 1
    text = capsys.readouterr().out
    assert re.search(r"cases +│ 9 of 10 +│ all +│ ✗", text)
    assert re.search(r"case 7 +│ the \[bits\] differ +│ +│ ✗", text)
    assert "seed 5" in text
    seen.clear()
    assert soak.main(["odd", "--seed", "5", "--case", "7"]) == 1
    assert seen == [(5, 7)]
    seen.clear()
    assert soak.main(["--quick"]) == 0
    assert seen == [(0, 0), (0, 1)]
    with pytest.raises(SystemExit, match="2"):
        soak.main(["even"])
    assert "there is no part 'even'" in capsys.readouterr().err
