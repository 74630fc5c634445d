"""What all tests share: a folder of their own for compiled kernels, small work on many threads, closed pictures."""

import os
import sys
import tempfile

import pytest

from pellucid.engine.native.runtime.announcement import silent


@pytest.fixture(autouse=True, scope="session")
def kernel_folder():
    """Compiled kernels go to a folder of the tests' own, never to the user's, in child processes too.

    All workers of a run share the folder, and it stays: a second run compiles nothing.
    """
    user = getattr(os, "getuid", lambda: 0)()
    folder = os.path.join(tempfile.gettempdir(), f"pellucid-test-kernels-{user}")
    with pytest.MonkeyPatch.context() as patch, silent():
        patch.setenv("PELLUCID_CACHE_DIR", folder)
        yield


@pytest.fixture(scope="session")
def quick_xla():
    """XLA compiles without its costly passes, and what it has compiled stays in a folder of the tests' own."""
    jax = pytest.importorskip("jax")
    user = getattr(os, "getuid", lambda: 0)()
    folder = os.path.join(tempfile.gettempdir(), f"pellucid-test-xla-{user}")
    jax.config.update("jax_disable_most_optimizations", True)
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


@pytest.fixture
def split(monkeypatch):
    """Graphs of every size are split over all threads they are given."""
    monkeypatch.setattr("pellucid.engine.native.runtime.work.PER_THREAD", 1)


@pytest.fixture
def closed_pictures():
    """Pictures are closed after the test: matplotlib warns of many open ones."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
