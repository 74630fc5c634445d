"""Files of arrays and metadata: exact, all or nothing, and suspicious of whatever they did not write themselves."""

import errno
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pellucid import whole_files
from pellucid.train.files import container as files
from pellucid.train.files.container import CheckpointError, read, write
from pellucid.train.files.runs import newest
from tests.processes import environment

ARRAYS = {
    "z.last first": np.linspace(-1.0, 1.0, 6).reshape(2, 3),
    "small": np.array([0.1, np.nan, np.inf], dtype=np.float32),
    "half": np.ones(3, dtype=np.float16),
    "step": np.array(7),
    "flag": np.array(True),
    "mask": np.array([[True], [False]]),
    "seed": np.array([2**64 - 1], dtype=np.uint64),
    "bytes": np.arange(5, dtype=np.uint8),
    "none": np.zeros((0, 3), dtype=np.int32),
    "0" * 64: np.arange(2),  # looks like the place that the checksum is put into
}
METADATA = {
    "best": float("inf"),
    "state": 2**127 + 1,
    "history": [{"loss": -0.0, "ok": True}, None, "ä\n\ud800"],
    "": {},
}
SMALL = {"w": np.arange(12.0).reshape(3, 4), "step": np.array(3)}


def same(a, b):
    assert list(a) == list(b)
    for name, array in a.items():
        assert array.dtype == b[name].dtype, name
        assert_array_equal(array, b[name], strict=True)


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(".tmp"))


def test_round_trip(tmp_path):
    write(tmp_path / "a.ckpt", ARRAYS, METADATA, "checkpoint")
    arrays, metadata = read(tmp_path / "a.ckpt", "checkpoint")
    same(arrays, ARRAYS)
    assert repr(metadata) == repr(METADATA)
    assert all(array.flags.writeable for array in arrays.values())
    assert [path.name for path in tmp_path.iterdir()] == ["a.ckpt"]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=50, deadline=None)
@given(metadata=st.dictionaries(st.text(), plain, max_size=4), name=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_metadata_and_name(metadata, name, tmp_path_factory):
    path = tmp_path_factory.mktemp("any") / "a.ckpt"
    write(path, {name: np.arange(3)}, metadata, "checkpoint")
    arrays, found = read(path, "checkpoint")
    assert list(arrays) == [name]
    assert repr(found) == repr(metadata)


def test_strided_and_swapped_arrays(tmp_path):
    """safetensors takes the memory as it lies; these do not lie as they read."""
    grid = np.arange(12.0).reshape(3, 4)
    arrays: dict[str, Any] = {
        "transposed": grid.T,
        "strided": grid[::2, ::-1],
        "big-endian": grid.astype(">f8"),
        "scalar": np.float32(2),
    }
    write(tmp_path / "a", arrays, {}, "model")
    found, _ = read(tmp_path / "a", "model")
    for name, array in arrays.items():
        assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype.newbyteorder("=")


def test_other_programs_can_open_it_and_equal_contents_are_equal_bytes(tmp_path):
    for name in "ab":
        write(tmp_path / name, SMALL, {"x": float("nan")}, "model")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert_array_equal(safetensors.numpy.load_file(tmp_path / "a")["w"], SMALL["w"])


@pytest.mark.parametrize(
    ("arrays", "metadata", "text"),
    [
        ({"w": np.array(["a"])}, {}, "array 'w' has dtype <U1"),
        ({"w": np.array([object()])}, {}, "array 'w' has dtype object"),
        ({"w": np.ones(2, dtype=complex)}, {}, "dtype complex128"),
        ({"__metadata__": np.ones(2)}, {}, "cannot be called '__metadata__'"),
        ({"\ud800": np.ones(2)}, {}, "cannot be stored"),
        ({}, {"a": [1, (2, 3)]}, r"metadata\['a'\]\[1\] is a tuple"),
        ({}, {"a": {1: 2}}, r"metadata\['a'\] has the key 1"),
        ({}, {"a": np.int64(1)}, r"metadata\['a'\] is a int64"),
    ],
)
def test_what_would_not_come_back_is_refused(arrays, metadata, text, tmp_path):
    with pytest.raises(CheckpointError, match=text):
        write(tmp_path / "a", arrays, metadata, "model")
    assert not list(tmp_path.iterdir())


def test_unicode_long_and_missing_folders(tmp_path):
    for name in ("Größe ∂x/运行 [1].ckpt", "deep/er/" + "x" * 250, "b%s{}.ckpt"):
        write(tmp_path / name, SMALL, {}, "model")
        same(read(str(tmp_path / name), "model")[0], SMALL)


# files that are not what they should be


def refuse(path, text, kind="checkpoint"):
    with pytest.raises(CheckpointError, match=text) as caught:
        read(path, kind)
    assert str(path) in str(caught.value)


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_foreign_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.ckpt"
    refuse(path, "does not exist")
    refuse(tmp_path, "cannot be read")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Bomb(), protocol=protocol))
        refuse(path, "pickle" if protocol >= 2 else "not a safetensors file|damaged")
    assert not (tmp_path / "exploded").exists()
    np.savez(tmp_path / "a.npz", w=np.ones(3))
    refuse(tmp_path / "a.npz", "not a safetensors file")
    path.write_text("epoch,loss\n1,0.5\n")
    refuse(path, "not a safetensors file")
    safetensors.numpy.save_file({"w": np.ones(3)}, path)
    refuse(path, "was not written by pellucid")
    safetensors.numpy.save_file({"w": np.ones(3)}, path, {"format": "np"})
    refuse(path, "was not written by pellucid")


@pytest.mark.parametrize(
    "ours", ["", "{", "[]", "null", "{}", "[" * 100_000, '{"schema": "x"}', '{"schema": 1, "checksum": 3}']
)
def test_damaged_json(ours, tmp_path):
    safetensors.numpy.save_file({"w": np.ones(3)}, tmp_path / "a", {"pellucid": ours})
    refuse(tmp_path / "a", "is damaged")


def test_newer_schema_and_wrong_kind(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write(path, SMALL, {}, "model")
    refuse(path, "holds a model, expected a checkpoint")
    monkeypatch.setattr(files, "SCHEMA", files.SCHEMA + 1)
    write(path, SMALL, {}, "checkpoint")
    monkeypatch.undo()
    refuse(path, r"written by a newer pellucid \(schema 3, known is 2\): upgrade")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "a.ckpt"
    write(path, SMALL, {"epoch": 3, "loss": 0.25}, "checkpoint")
    return path.read_bytes()


def test_every_prefix_is_refused(sample, tmp_path):
    path = tmp_path / "a.ckpt"
    for length in range(len(sample)):
        path.write_bytes(sample[:length])
        refuse(path, "is empty" if length == 0 else "damaged|not a safetensors file")
    path.write_bytes(sample + b"\0")
    refuse(path, "damaged")


def test_a_flip_of_any_bit_is_refused(sample, tmp_path):
    path = tmp_path / "a.ckpt"
    for position in range(len(sample)):
        for bit in (0, 3, 7) if position > 8 else range(8):
            changed = bytearray(sample)
            changed[position] ^= 1 << bit
            path.write_bytes(changed)
            refuse(path, ".")


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_damage_is_refused(data, sample, tmp_path_factory):
    start = data.draw(st.integers(0, len(sample) - 1))
    piece = data.draw(st.binary(min_size=0, max_size=20))
    changed = sample[:start] + piece + sample[start + data.draw(st.integers(0, 20)) :]
    path = tmp_path_factory.getbasetemp() / "damaged.ckpt"
    path.write_bytes(changed)
    if changed != sample:
        refuse(path, ".")


# interruptions


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_full_disk(broken, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "a.ckpt"
    write(path, SMALL, {"epoch": 1}, "checkpoint")
    with monkeypatch.context() as patch:
        patch.setattr(os, broken, full)
        with pytest.raises(CheckpointError, match=r"a\.ckpt could not be written .*No space left on device.*intact"):
            write(path, SMALL, {"epoch": 2}, "checkpoint")
    assert read(path, "checkpoint")[1] == {"epoch": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.ckpt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_permission_denied(tmp_path):
    write(tmp_path / "a", SMALL, {}, "model")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(CheckpointError, match="could not be written"):
            write(tmp_path / "a", SMALL, {}, "model")
        (tmp_path / "a").chmod(0)
        refuse(tmp_path / "a", "cannot be read")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write(tmp_path / "a", SMALL, {}, "model")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


WRITER = """
import itertools, sys, zlib
import numpy as np
from pellucid.train.files.container import write
path, size, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
for epoch in itertools.count(first):
    w = np.random.default_rng(epoch).normal(size=size + epoch % 1000)
    write(path, {"w": w, "crc": np.array(zlib.crc32(w.tobytes()), dtype=np.uint32)}, {"epoch": epoch}, "checkpoint")
    print(epoch, flush=True)
"""


def start_writer(path, size, first=0):
    command = [sys.executable, "-c", WRITER, str(path), str(size), str(first)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True)
    assert child.stdout.readline() == "ready\n"
    return child


def kill(child):
    """Kill without warning; the number of the last write that was reported as done."""
    child.send_signal(signal.SIGKILL)
    done = child.communicate()[0].split()
    return int(done[-1]) if done else -1


def check_whole(path):
    arrays, metadata = read(path, "checkpoint")
    expected = np.random.default_rng(metadata["epoch"]).normal(size=arrays["w"].size)
    assert_array_equal(arrays["w"], expected)
    return metadata["epoch"]


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_killed_while_writing(tmp_path):
    """Each writer is killed at a random moment, or in a write: the file is always the last one reported, or a later."""
    chance, path, torn, first = random.Random(0), tmp_path / "run.ckpt", 0, 0
    for attempt in range(20):
        before = {name for name in leftovers(tmp_path) if (tmp_path / name).stat().st_size}
        child = start_writer(path, 300_000, first)
        try:
            assert child.stdout.readline() == f"{first}\n"
            assert not before & set(leftovers(tmp_path))  # those of the one before are gone (empty ones may stay)
            time.sleep(chance.uniform(0.0, 0.05))
            deadline = time.monotonic() + 10
            while attempt % 2 and not leftovers(tmp_path) and time.monotonic() < deadline:
                pass
        finally:
            reported = kill(child)
        epoch = check_whole(path)
        assert epoch >= max(reported, first)
        assert newest(tmp_path) == path
        torn += bool(leftovers(tmp_path))
        first = epoch + 1
    assert torn > 0  # some were hit in the middle of a write, or this test shows nothing
    write(path, SMALL, {}, "checkpoint")
    assert all((tmp_path / name).stat().st_size == 0 for name in leftovers(tmp_path))


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_two_writers_at_once(tmp_path):
    path = tmp_path / "run.ckpt"
    children = [start_writer(path, 50_000, first) for first in (0, 1_000_000)]
    try:
        for child in children:
            child.stdout.readline()
        seen: set[bool] = set()
        deadline = time.monotonic() + 20
        while seen != {True, False} and time.monotonic() < deadline:
            seen.add(check_whole(path) >= 1_000_000)
        alive = [child.poll() is None for child in children]
    finally:
        for child in children:
            kill(child)
    assert alive == [True, True]  # none has failed because of the other
    assert check_whole(path) >= 0
    assert seen == {True, False}


@pytest.mark.skipif(os.name == "nt", reason="no locks")
def test_leftovers(tmp_path):
    dead = tmp_path / ".a.ckpt.0123456789abcdef.tmp"
    foreign = [tmp_path / name for name in (".a.ckpt.notes.tmp", ".b.ckpt.0123456789abcdef.tmp", "a.ckpt.tmp")]
    for path in (dead, *foreign):
        path.write_bytes(b"half a checkpo")
    alive = tmp_path / ".a.ckpt.aaaaaaaaaaaaaaaa.tmp"
    with open(alive, "wb") as file:
        assert whole_files.lock(file)
        file.write(b"half")
        file.flush()
        write(tmp_path / "a.ckpt", SMALL, {}, "model")
        assert alive.exists()
    assert not dead.exists()
    assert all(path.exists() for path in foreign)
    write(tmp_path / "a.ckpt", SMALL, {}, "model")
    assert not alive.exists()


def test_newest(tmp_path):
    assert newest(tmp_path) is None
    assert newest(tmp_path / "nowhere") is None
    for epoch in (9, 10, 11):
        write(tmp_path / f"epoch-{epoch}.ckpt", SMALL, {"epoch": epoch}, "checkpoint")
        os.utime(tmp_path / f"epoch-{epoch}.ckpt", (1000, 1000))
    write(tmp_path / "final.model", SMALL, {}, "model")
    (tmp_path / "folder.ckpt").mkdir()
    assert newest(tmp_path) == tmp_path / "epoch-11.ckpt"  # a tie: the larger number
    os.utime(tmp_path / "epoch-9.ckpt", (2000, 2000))
    assert newest(tmp_path) == tmp_path / "epoch-9.ckpt"
    (tmp_path / "epoch-9.ckpt").write_bytes(b"half")
    with pytest.warns(UserWarning, match=r"passed over: .*epoch-9\.ckpt is damaged"):
        assert newest(tmp_path) == tmp_path / "epoch-11.ckpt"
    assert newest(tmp_path, "*.model", kind="checkpoint") is None
    assert newest(tmp_path, "*.model", kind="model") == tmp_path / "final.model"


def test_the_header_is_strict_json(tmp_path):
    write(tmp_path / "a", SMALL, {"x": float("nan")}, "model")
    raw = (tmp_path / "a").read_bytes()

    def refuse_constant(name):
        raise AssertionError(name)

    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")], parse_constant=refuse_constant)
    assert list(header["__metadata__"]) == ["pellucid"]
    assert json.loads(header["__metadata__"]["pellucid"])["schema"] == files.SCHEMA
