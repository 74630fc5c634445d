"""Compiled kernels go to a folder of the tests' own; it stays, so that a second run compiles nothing."""

import os
import tempfile

import pytest

from pellucid.engine.native import cache


@pytest.fixture(autouse=True, scope="session")
def kernels_of_the_tests():
    before = os.environ.get("PELLUCID_CACHE_DIR")
    user = getattr(os, "getuid", lambda: 0)()
    os.environ.setdefault("PELLUCID_CACHE_DIR", os.path.join(tempfile.gettempdir(), f"pellucid-test-kernels-{user}"))
    with cache.silent():
        yield
    if before is None:
        del os.environ["PELLUCID_CACHE_DIR"]


@pytest.fixture
def split(monkeypatch):
    """Graphs of every size are split over all threads they are given."""
    monkeypatch.setattr("pellucid.engine.native.work.PER_THREAD", 1)
