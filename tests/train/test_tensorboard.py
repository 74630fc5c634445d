"""Event files: TensorBoard reads back what was written, and the bytes are those of the format."""

import math
import struct
from contextlib import closing

import numpy as np
import pytest

from pellucid.train.callbacks.tensorboard import EventWriter, crc32c, masked, varint

POINTS = [
    ("loss", 0.5, 1),
    ("loss", 0.1, 2),
    ("val/loss", -3.25, 1),
    ("größe", 1e-30, 2**40),
    ("loss", math.inf, 3),
    ("loss", math.nan, 4),
    ("loss", 1e300, 5),  # beyond float32
    ("step zero", np.float64(2.0), np.int64(0)),
]


# RFC 3720, appendix B.4
@pytest.mark.parametrize(
    ("data", "crc"),
    [
        (b"", 0),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (b"123456789", 0xE3069283),
    ],
)
def test_known_checksums(data, crc):
    assert crc32c(data) == crc


@pytest.mark.parametrize(
    ("value", "data"), [(0, "00"), (127, "7f"), (128, "8001"), (300, "ac02"), (-1, "ffffffffffffffffff01")]
)
def test_varint(value, data):
    assert varint(value) == bytes.fromhex(data)


def records(path):
    """The data of every record of a file, lengths and checksums verified."""
    raw = path.read_bytes()
    while raw:
        (length,) = struct.unpack("<Q", raw[:8])
        data = raw[12 : 12 + length]
        assert len(data) == length
        assert raw[8:12] == masked(raw[:8])
        assert raw[12 + length : 16 + length] == masked(data)
        yield data
        raw = raw[16 + length :]


def fields(data):
    """A protobuf message as (field number, wire type, content), decoded independently of the writer."""
    position = 0

    def number():
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    found = []
    while position < len(data):
        key = number()
        wire = key & 7
        if wire == 0:
            content = number()
        else:
            size = {1: 8, 2: None, 5: 4}[wire] or number()
            content = data[position : position + size]
            position += size
        found.append((key >> 3, wire, content))
    return found


def test_structure(tmp_path):
    with closing(EventWriter(tmp_path / "deep" / "er")) as writer:
        for name, value, step in POINTS:
            writer.scalar(name, value, step)
    assert writer.path.name.startswith("events.out.tfevents.")
    version, *events = [fields(record) for record in records(writer.path)]
    assert version[0][:2] == (1, 1)
    assert version[1:] == [(3, 2, b"brain.Event:2")]
    for (name, value, step), ((_, _, wall), when, (five, two, summary)) in zip(POINTS, events, strict=True):
        assert struct.unpack("<d", wall)[0] > 1.7e9
        assert when == (2, 0, step)
        assert (five, two) == (5, 2)
        ((_, _, point),) = fields(summary)
        tag, number = fields(point)
        assert tag == (1, 2, name.encode())
        with np.errstate(over="ignore"):
            assert number == (2, 5, np.float32(value).tobytes())


def test_complete_at_any_moment_and_unique(tmp_path):
    writers = [EventWriter(tmp_path) for _ in range(3)]
    for count, writer in enumerate(writers):
        for step in range(count):
            writer.scalar("loss", 0.0, step)
        assert len(list(records(writer.path))) == count + 1
    for writer in writers:
        writer.close()
        writer.close()
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(ValueError, match="closed"):
        writers[0].scalar("loss", 0.0, 1)


@pytest.mark.filterwarnings("ignore")  # TensorBoard's own imports
def test_tensorboard_reads_it(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with closing(EventWriter(tmp_path)) as writer:
        for name, value, step in POINTS:
            writer.scalar(name, value, step)
    found = accumulator.EventAccumulator(str(tmp_path), size_guidance={"tensors": 0, "scalars": 0})
    found.Reload()
    names = {name for name, _, _ in POINTS}
    assert set(found.Tags()["scalars"]) == names
    for name in names:
        with np.errstate(over="ignore"):
            expected = [(step, np.float32(value)) for other, value, step in POINTS if other == name]
        np.testing.assert_array_equal([(event.step, event.value) for event in found.Scalars(name)], expected)
