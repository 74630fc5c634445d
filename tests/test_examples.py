"""Every script in examples/ runs from any folder, leaves nothing behind, and says what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SAID = {
    "drop_in_classifier": "weighted avg",
    "own_network": "the same parameters, bit for bit: True",
    "own_pieces": "forward mode, reverse mode and differences agree",
    "save_and_load": "by a process that has only the file",
    "seeing_inside": "Reverse adjoint (derivative) trace",
    "table_probabilities": "from Atlantis and from nowhere",
}


def test_every_example_has_its_case_and_its_line():
    names = {script.stem for script in EXAMPLES.glob("*.py")}
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert names == SAID.keys()
    assert all(f"[{name}.py]({name}.py)" in page for name in names)


@pytest.mark.parametrize("name", SAID)
def test_example(name, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    assert SAID[name] in run.stdout
    assert run.stderr == ""
    assert not list(tmp_path.iterdir())
    if name == "save_and_load":
        here, elsewhere = run.stdout.split(":\n")[1:]
        assert elsewhere.startswith("  ")
        assert here.startswith(elsewhere)
