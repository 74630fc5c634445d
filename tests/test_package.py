"""The package as it is installed."""

import importlib.metadata
import subprocess
import sys

import pellucid


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
    assert "invalid choice" in wrong.stderr
