"""The demo: a picture, a run folder, what to look at next; and what the picture shows."""

import io
import json
import re

import numpy as np
from rich.console import Console

from pellucid.cli import main
from pellucid.cli.demo import _opening
from pellucid.demo.picture import picture, shares


def test_it_trains_and_tells_what_is_next(here, capsys, monkeypatch):
    monkeypatch.setattr("pellucid.cli.demo.EPOCHS", 1)
    main(["demo", "--out", "run"])
    said = capsys.readouterr().out
    assert re.search(r"^ *└17 +age", said, flags=re.M)
    assert "$ pellucid train adult.csv.xz --target income" in said
    assert "pellucid inspect run" in said
    assert max(map(len, said.splitlines())) <= 80
    assert (here / "run/report.html").exists()
    scores = json.loads((here / "run/metrics.json").read_text())["test"]
    assert scores["network"]["accuracy"] > scores["constant"]["accuracy"] + 0.05


def test_the_picture_has_colours_or_shades():
    plain = Console(file=io.StringIO(), no_color=True, width=80)
    assert "█" in _opening(plain).plain
    bright = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=80)
    assert "█" not in _opening(bright).plain


def test_the_picture_is_of_the_numbers():
    x, y = np.repeat([0.0, 1.0], 50), np.tile([0.0, 1.0], 50)
    grid, (left, right), _ = shares(x, y, x > 0.5, 2, 2)
    assert grid.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert (left, right) == (0.0, 1.0)
    lines = picture(x, y, x > 0.5, ("x", "y"), columns=4, rows=2, colour=False).plain.splitlines()
    assert lines[1].endswith("█")


def test_the_lecture_is_one_word_away(capsys):
    main(["demo", "--lecture"])
    assert "Automatic differentiation" in capsys.readouterr().out
