"""Wheel and source archive can be built, hold what they should, and the wheel works."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import release

pytest.importorskip("build")
pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return release.build(tmp_path_factory.mktemp("dist"))


def test_the_wheel_has_all_of_the_package_and_its_licences(built):
    release.check_wheel(built[0])


def test_the_source_archive_has_what_tests_and_documentation_need(built):
    release.check_archive(built[1])


def test_the_wheel_works(built, tmp_path):
    """With the packages that are here; `make release-check` does it in an environment of its own."""
    target, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        target,
        built[0],
    ]
    subprocess.run(command, check=True, capture_output=True)
    release.check_use(Path(sys.executable), empty, str(target))
