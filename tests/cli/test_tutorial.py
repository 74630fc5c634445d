"""Every command of docs/command.md runs, in its order."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pellucid.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "command.md"


def commands():
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.S)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.filterwarnings("ignore::pellucid.errors.ColumnWarning")
def test_every_command(here, capsys):
    pytest.importorskip("matplotlib")
    for command in commands():
        program, *words = shlex.split(command)
        if program == "pellucid":
            main(words)
        else:
            assert program == "python"
            subprocess.run([sys.executable, *words], check=True)
    said = capsys.readouterr().out
    assert "predicted_species" in said
    assert (here / "runs/penguins-1/report.html").exists()
    assert {path.name for path in here.iterdir()} >= {"predicted.csv", "masses.parquet", "mass.html", "curves.svg"}
