"""Where files go: as `open` would put them, with the mode they had; nothing but a regular file is ever replaced."""

import contextlib
import json
import os
import socket
import stat
import threading
from typing import Any

import numpy as np
import pytest

import pellucid as pel
from pellucid import nn, train
from pellucid.estimators import MLPRegressor
from pellucid.train.callbacks.loggers import CsvLog
from pellucid.train.files.container import read, write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes, links and pipes of POSIX")

X = np.random.default_rng(0).normal(size=(24, 2))


def fitted(**more):
    model = train.Model(nn.mlp((3,), 1), engine="numpy")
    model.fit(X, X[:, 0], epochs=2, verbose=False, **more)
    return model


def logged(path):
    with contextlib.closing(CsvLog(path)) as log:
        log.row({"epoch": 1, "loss": 0.5})
        log.row({"epoch": 2, "loss": 0.25, "val_loss": 1.0})  # a new column: the file is replaced


MODEL = fitted()
ESTIMATOR = MLPRegressor(hidden_layer_sizes=(3,), solver="lbfgs", random_state=0, max_iter=50).fit(X, X[:, 0] * 0.1)
WRITERS = {
    "arrays": lambda path: write(path, {"w": np.eye(2)}, {}, "model"),
    "model": MODEL.save,
    "estimator": ESTIMATOR.save,
    "csv": MODEL.history.to_csv,
    "json": MODEL.history.to_json,
    "log": logged,
    "checkpoint": lambda path: fitted(callbacks=[train.Checkpoint(path)]),
    "csv logger": lambda path: fitted(callbacks=[train.CSVLogger(path)]),
}
every_writer = pytest.mark.parametrize("write_to", WRITERS.values(), ids=WRITERS)


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


@contextlib.contextmanager
def umask(bits):
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


@every_writer
@pytest.mark.parametrize("before", [0o600, 0o640, 0o644, 0o666, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(write_to, before, tmp_path):
    path = tmp_path / "a"
    path.touch()
    path.chmod(before)
    with umask(0o022):
        write_to(path)
    assert path.stat().st_size > 0
    assert mode(path) == before


@every_writer
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_of_any_new_file(write_to, mask, tmp_path):
    with umask(mask):
        write_to(tmp_path / "a")
    assert mode(tmp_path / "a") == 0o666 & ~mask


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "a"
    path.touch()
    os.chown(path, 1234, 4321)
    path.chmod(0o660)
    MODEL.save(path)
    assert (path.stat().st_uid, path.stat().st_gid, mode(path)) == (1234, 4321, 0o660)


@every_writer
@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing yet"])
@pytest.mark.parametrize("relative", [True, False])
def test_a_link_stays_a_link_and_its_target_is_written(write_to, there, relative, tmp_path):
    folder, target = tmp_path / "links", tmp_path / "disk" / "a"
    folder.mkdir()
    target.parent.mkdir()
    if there:
        target.write_text("before")
        target.chmod(0o600)
    (folder / "first").symlink_to("../disk/a" if relative else target)
    (folder / "second").symlink_to("first")  # a link to a link
    write_to(folder / "second")
    assert (folder / "first").is_symlink()
    assert (folder / "second").is_symlink()
    assert target.is_file()
    assert not target.is_symlink()
    assert target.read_bytes() not in (b"", b"before")
    assert not there or mode(target) == 0o600
    assert [path.name for path in target.parent.iterdir()] == ["a"]  # nothing is left beside it, or beside the links
    assert sorted(path.name for path in folder.iterdir()) == ["first", "second"]


def test_what_is_behind_a_link_is_replaced_in_one_step(tmp_path, monkeypatch):
    """Whoever reads through the link sees the old file or the new one."""
    (tmp_path / "disk").mkdir()
    write(tmp_path / "disk" / "a", {}, {"epoch": 1}, "model")
    (tmp_path / "a").symlink_to(tmp_path / "disk" / "a")

    def full(*arguments):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(train.CheckpointError, match="No space left"):
            write(tmp_path / "a", {}, {"epoch": 2}, "model")
    assert read(tmp_path / "a", "model")[1] == {"epoch": 1}
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["a"]


def specials(folder):
    """Things at a path that are no regular files, and what they are called."""
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / "link").symlink_to(folder / "pipe")
    (folder / "link to a folder").symlink_to(folder / "folder")
    door = socket.socket(socket.AF_UNIX)
    before = os.getcwd()
    os.chdir(folder)  # the name of a socket is short
    try:
        door.bind("socket")
    finally:
        os.chdir(before)
        door.close()
    names = {"pipe": "a pipe", "folder": "a folder", "link": "a pipe", "link to a folder": "a folder"}
    names |= {"socket": "a socket"}
    with contextlib.suppress(PermissionError):  # of its own, so that a failure of this test does no harm
        os.mknod(folder / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        names["device"] = "a device"
    return names


@every_writer
def test_what_is_no_regular_file_is_refused_and_left_alone(write_to, tmp_path):
    for name, what in specials(tmp_path).items():
        path = tmp_path / name
        before = path.lstat()
        with pytest.raises((train.CheckpointError, train.CallbackError), match=what):
            write_to(path)
        after = path.lstat()
        assert (after.st_mode, after.st_ino, after.st_rdev) == (before.st_mode, before.st_ino, before.st_rdev)
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.parametrize("open_it", [pel.load, train.load, lambda p: CsvLog(p, append=True)])
def test_what_is_no_regular_file_is_not_read_either(open_it, tmp_path):
    """To open a pipe is to wait for ever; a device has no end."""
    for name, what in specials(tmp_path).items():
        problems: list[Any] = []

        def attempt(path=tmp_path / name, problems=problems):
            try:
                open_it(path)
            except Exception as error:
                problems.append(error)

        thread = threading.Thread(target=attempt, daemon=True)
        thread.start()
        thread.join(20)
        assert not thread.is_alive(), name
        assert isinstance(problems[0], train.CheckpointError), (name, problems)
        assert what in str(problems[0])


def test_a_pipe_among_the_leftovers_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / ".a.0123456789abcdef.tmp")
    thread = threading.Thread(target=WRITERS["arrays"], args=(tmp_path / "a",), daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert (tmp_path / "a").is_file()


def test_links_in_a_circle(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(train.CheckpointError, match="could not be written"):
        MODEL.save(tmp_path / "a")
    with pytest.raises(train.CheckpointError, match="cannot be read"):
        pel.load(tmp_path / "a")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_write_protected_file_is_not_replaced(tmp_path):
    MODEL.save(tmp_path / "a")
    (tmp_path / "a").chmod(0o444)
    with pytest.raises(train.CheckpointError, match="write-protected"):
        MODEL.save(tmp_path / "a")


def test_a_history_in_a_file_is_whole(tmp_path):
    MODEL.history.to_json(tmp_path / "a.json")
    MODEL.history.to_csv(tmp_path / "a.csv")
    assert json.loads((tmp_path / "a.json").read_text())["epochs"] == MODEL.history.epochs
    lines = (tmp_path / "a.csv").read_bytes().decode().split("\r\n")
    assert lines[0].split(",") == list(MODEL.history.epochs[0])
    assert len(lines) == 4
