"""The package as it is installed."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pellucid

ROOT = Path(__file__).parent.parent


def test_version_is_single_sourced():
    assert importlib.metadata.version("pellucid") == pellucid.__version__


def test_importing_pellucid_does_not_import_what_it_does_not_need():
    heavy = ["scipy.special", "scipy.optimize", "matplotlib", "sympy", "rich"]
    code = f"import sys, pellucid; print([m for m in {heavy} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_the_command_line():
    run = lambda *words: subprocess.run([sys.executable, "-m", "pellucid", *words], capture_output=True, text=True)
    assert run("--version").stdout.strip() == f"pellucid {pellucid.__version__}"
    demo = run("demo", "--lecture")
    assert demo.returncode == 0, demo.stderr
    assert "1.716" in demo.stdout
    assert demo.stdout.count("✓") == 4
    wrong = run("demonstrate")
    assert wrong.returncode == 2
    assert "No such command" in wrong.stderr


def test_every_requirement_has_a_lowest_version_and_tests_that_run_with_it():
    run = lambda what: subprocess.run(
        [sys.executable, ROOT / "tests" / "lowest.py", what], capture_output=True, text=True
    )
    versions, tests = run("versions"), run("tests")
    assert versions.returncode == 0, versions.stderr
    assert "scikit-learn==" in versions.stdout
    assert tests.returncode == 0, tests.stderr
    assert all((ROOT / path).is_file() for path in tests.stdout.split())


def test_extras_are_those_of_parts_that_exist():
    """The readme says what each brings; the others are for whoever works on the package itself."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / "README.md").read_text(), flags=re.M)
    assert set(extras) == {*listed, "test", "peers", "dev"}
