"""The folder of compiled kernels holds code that is executed: only what this user alone can write is used."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import pytest

from pellucid.engine.native.code.llvm.processor import processor
from pellucid.engine.native.runtime import cache
from tests.kernels import plus
from tests.processes import ROOT

KERNEL, OTHER = plus(41), plus(42)
STRANGER = 54321

as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")


def result(kernel):
    """(what the kernel returns for 1, how many were compiled for it), as in a new process"""
    before = cache.compilations
    cache._addresses.pop((kernel.name, processor()), None)
    (address,) = cache.addresses([kernel])
    assert address
    one = ctypes.c_int64(1)
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(address)(ctypes.addressof(one)), cache.compilations - before


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A folder with one kernel in it."""
    folder = tmp_path / "parent" / "kernels"
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(folder))
    assert result(KERNEL) == (42, 1)
    assert result(KERNEL) == (42, 0)  # stored
    return folder


def inside(root):
    return next(path for path in root.iterdir() if list(path.glob("*.o")))


PLACES = {
    "parent": lambda root: root.parent,
    "root": lambda root: root,
    "folder": inside,
    "file": lambda root: next(inside(root).glob("*.o")),
}


def refused(root, match):
    """Kernels are compiled, not loaded, and that is said once; nothing is written any more."""
    files = sorted(root.rglob("*"))
    with pytest.warns(UserWarning, match=match) as told:
        results = [result(kernel) for kernel in (KERNEL, OTHER, KERNEL)]
    assert results == [(42, 1), (43, 1), (42, 1)]
    assert len(told) == 1
    assert "PELLUCID_CACHE_DIR" in str(told[0].message) or "remove it" in str(told[0].message)
    assert sorted(root.rglob("*")) == files


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707])
def test_what_others_may_write_is_not_loaded(root, place, mode):
    path = PLACES[place](root)
    path.chmod(mode)
    refused(root, match=f"others may write to {path}")


@as_root
@pytest.mark.parametrize("place", PLACES)
def test_what_belongs_to_another_user_is_not_loaded(root, place):
    path = PLACES[place](root)
    os.chown(path, STRANGER, -1)
    refused(root, match=f"{path} belongs to another user")


@pytest.mark.parametrize("place", ["folder", "file"])
def test_links_are_not_followed_out_of_the_folder(root, place, tmp_path):
    path = PLACES[place](root)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    refused(root, match=f"{path} is a symbolic link")


def test_what_is_not_a_file_is_not_read(root):
    path = PLACES["file"](root)
    path.unlink()
    os.mkfifo(path, 0o600)
    refused(root, match=f"{path} is not a regular file")


@as_root
def test_a_link_of_another_user_is_not_followed_on_the_way(root, tmp_path, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(root)
    os.chown(link, STRANGER, -1, follow_symlinks=False)
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(link))
    refused(root, match=f"{link} belongs to another user")


def test_the_folder_itself_may_lie_behind_a_link_of_the_user(root, tmp_path, monkeypatch):
    (tmp_path / "one").symlink_to("parent")
    (tmp_path / "two").symlink_to(tmp_path / "parent" / ".." / "one")
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path / "two" / "kernels"))
    assert result(KERNEL) == (42, 0)


def test_links_that_lead_nowhere_end(root, tmp_path, monkeypatch):
    (tmp_path / "round").symlink_to("round")
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path / "round"))
    assert result(KERNEL) == (42, 1)


def test_a_folder_of_all_users_may_lie_above_if_they_cannot_touch_each_others_entries(root):
    root.parent.chmod(0o1777)
    assert result(KERNEL) == (42, 0)


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_what_is_made_is_the_users_alone_whatever_the_umask(tmp_path, monkeypatch, mask):
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path / "new" / "kernels"))
    before = os.umask(mask)
    try:
        result(KERNEL)
    finally:
        os.umask(before)
    paths = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert any(p.suffix == ".o" for p in paths)
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("setting", ["kernels", "./kernels", "~/kernels"])
def test_a_relative_path_is_never_used(tmp_path, monkeypatch, setting):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PELLUCID_CACHE_DIR", setting)
    refused(tmp_path, match="relative path")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("home", ["~/.cache/pellucid", ".cache/pellucid", None])
def test_without_a_home_directory_kernels_live_in_memory(tmp_path, monkeypatch, home):
    def user_cache_dir(*args, **kwargs):
        if home is None:
            raise RuntimeError("Could not determine home directory.")
        return home

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PELLUCID_CACHE_DIR", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_dir", user_cache_dir)
    monkeypatch.setattr(cache, "_refused", set(), raising=False)
    refused(tmp_path, match="home directory|relative path")
    assert not list(tmp_path.iterdir())


# files that are not whole


def test_leftovers_of_killed_processes_are_swept(tmp_path, monkeypatch):
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path))
    result(KERNEL)
    code = """
import os, signal
from pellucid.engine.native.runtime import cache
from tests.kernels import plus
os.replace = os.rename = lambda *args, **kwargs: os.kill(os.getpid(), signal.SIGKILL)
cache.addresses([plus(42)])
"""
    killed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=120)
    assert killed.returncode == -9
    assert len(list(tmp_path.rglob(".part-*"))) == 1
    again = (
        "from tests.kernels import plus; from pellucid.engine.native.runtime import cache; cache.addresses([plus(41)])"
    )
    subprocess.run([sys.executable, "-c", again], cwd=ROOT, check=True, timeout=120)
    assert not list(tmp_path.rglob(".part-*"))


def test_a_file_that_is_being_written_is_no_leftover(tmp_path, monkeypatch):
    from pellucid.engine.native.runtime.private_folder import PrivateFolder

    folder = PrivateFolder(tmp_path, "kernels")
    reached, go_on, sync = threading.Event(), threading.Event(), os.fsync

    def slow(handle):
        reached.set()
        assert go_on.wait(60)
        sync(handle)

    monkeypatch.setattr(os, "fsync", slow)
    writer = threading.Thread(target=folder.write, args=("a", b"content"))
    writer.start()
    assert reached.wait(60)
    code = "import sys, pathlib; from pellucid.engine.native.runtime.private_folder import PrivateFolder; "
    code += "PrivateFolder(pathlib.Path(sys.argv[1]), 'kernels')"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=120)
    go_on.set()
    writer.join()
    assert folder.read("a") == b"content"
    assert [p.name for p in folder.path.iterdir()] == ["a"]


def test_the_code_of_another_kernel_is_not_taken_for_it(root):
    result(OTHER)
    mine, other = (inside(root) / f"{kernel.name}.o" for kernel in (KERNEL, OTHER))
    mine.write_bytes(other.read_bytes())
    assert result(KERNEL) == (42, 1)
    assert result(KERNEL) == (42, 0)  # mended


@as_root
def test_what_root_has_filled_may_be_read_by_others(monkeypatch):
    """And what they cannot write is compiled in memory, without a word."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setenv("PELLUCID_CACHE_DIR", folder)
        assert result(KERNEL) == (42, 1)
        for path in (Path(folder), *Path(folder).rglob("*")):
            path.chmod(0o755)
        os.seteuid(STRANGER)
        try:
            assert result(KERNEL) == (42, 0)
            assert result(OTHER) == (43, 1)
            assert result(OTHER) == (43, 1)
        finally:
            os.seteuid(0)
