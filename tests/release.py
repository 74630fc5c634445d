"""Wheel and source archive: built, looked into, and the wheel used where nothing else of ours is.

`make release-check` runs it all, with an environment of its own; `test_release.py` builds and looks, and uses the wheel
with the packages that are here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pellucid

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pellucid"

TRIAL = """
import sys
import numpy as np
import pellucid as pel
from pellucid import MLPClassifier, lab
from pellucid.datasets import load
print(pel.__file__)
X = np.random.default_rng(0).normal(size=(200, 2))
clf = MLPClassifier((16,), solver="lbfgs", tol=0.01, random_state=0).fit(X, X[:, 0] > 0)
assert clf.score(X, X[:, 0] > 0) > 0.9
assert len(load("penguins").X) == 344
assert "xor" in lab.names()
assert "<html" in pel.report(clf, X=X, y=X[:, 0] > 0, influence=False).html
assert not any(name.split(".")[0] in ("pytest", "mkdocs", "torch") for name in sys.modules)
"""


def build(out: Path) -> tuple[Path, Path]:
    """Build the source archive, and the wheel from it; without a network."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def sources() -> set[str]:
    """Every file of the package as it stands in the repository, below src/."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(ROOT / "src").as_posix() for path in files}


def check_wheel(path: Path) -> None:
    """All of the package and nothing else; licences, entry point, version."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        inside = {name for name in names if not name.startswith(f"pellucid-{pellucid.__version__}.dist-info/")}
        assert inside == sources(), sorted(inside ^ sources())
        about = f"pellucid-{pellucid.__version__}.dist-info"
        points = wheel.read(f"{about}/entry_points.txt").decode()
        metadata = Parser().parsestr(wheel.read(f"{about}/METADATA").decode())
    assert "pellucid = pellucid.cli:main" in points
    assert metadata["Version"] == pellucid.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    licences = {name.rsplit("/licenses/")[-1] for name in names if "/licenses/" in name}
    assert licences == set(metadata.get_all("License-File", [])), licences
    assert {"LICENSE", "src/pellucid/datasets/LICENCES.md", "src/pellucid/report/assets/LICENCES.md"} <= licences
    for needed in ("py.typed", "datasets/adult.csv.xz", "report/assets/page.css", "lab/experiments/xor.py"):
        assert f"pellucid/{needed}" in names, needed


def check_archive(path: Path) -> None:
    """Sources, tests, documentation, examples; no results, no caches, no site."""
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    needed = {"LICENSE", "Makefile", "mkdocs.yml", "CHANGELOG.md", "CITATION.cff", "docs/index.md", "docs/site_hook.py"}
    needed |= {"tests/test_docs.py", "examples/README.md", "benchmarks/__main__.py", ".ci/run", "PKG-INFO"}
    assert needed <= names, needed - names
    assert {f"src/{name}" for name in sources()} <= names
    unwanted = ("__pycache__", ".venv", ".pytest_cache", "site/", "dist/", ".egg-info")
    assert not [name for name in names if any(part in name for part in unwanted)]


def check_use(python: Path, folder: Path, path: str | None = None) -> None:
    """Import it, fit a little, ask for its version; in an empty folder, so that nothing is found by chance."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {} if path is None else {"PYTHONPATH": path}
    run = lambda *words: subprocess.run([python, *words], capture_output=True, text=True, cwd=folder, env=environment)
    trial = run("-c", TRIAL)
    assert trial.returncode == 0, trial.stdout + trial.stderr
    assert trial.stdout.startswith(str(path or python.parents[1])), trial.stdout
    version = run("-m", "pellucid", "--version")
    assert version.stdout.strip() == f"pellucid {pellucid.__version__}", version.stdout + version.stderr


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        wheel, archive = build(folder / "dist")
        check_wheel(wheel)
        check_archive(archive)
        print(
            f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; {archive.name}: {archive.stat().st_size / 1e6:.1f} MB"
        )
        venv.create(folder / "venv", with_pip=True)
        bin_folder = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        python = bin_folder / ("python.exe" if os.name == "nt" else "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
        (folder / "empty").mkdir()
        check_use(python, folder / "empty")
        command = [bin_folder / "pellucid", "--version"]
        print(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip(), "works alone")


if __name__ == "__main__":
    main()
