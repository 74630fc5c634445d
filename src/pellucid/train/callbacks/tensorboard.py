"""Event files that TensorBoard reads, encoded by hand: neither TensorBoard nor protobuf is needed to write them.

A file is a chain of TFRecords, each (length, its checksum, data, their checksum); the data are protobuf:

    Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5 }
    Summary { repeated Value value = 1 }
    Value   { string tag = 1; float simple_value = 2 }
"""

import itertools
import os
import socket
import struct
import time
from pathlib import Path

import numpy as np

VARINT, DOUBLE, BYTES, FLOAT = 0, 1, 2, 5  # protobuf's wire types
COUNTER = itertools.count()


def _table() -> list[int]:
    rows = list(range(256))
    for _ in range(8):
        rows = [row >> 1 ^ 0x82F63B78 * (row & 1) for row in rows]  # the polynomial of Castagnoli et al., 1993
    return rows


TABLE = _table()


def crc32c(data: bytes) -> int:
    """The CRC-32C checksum (zlib's crc32 has another polynomial).

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> bytes:
    """The checksum as TFRecord stores it: rotated by 15 bits and shifted, since a CRC of a CRC is worth little."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(number: int) -> bytes:
    """Seven bits per byte, the lowest first; a negative number as its two's complement in 64 bits.

    >>> varint(300)
    b'\\xac\\x02'
    """
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, wire: int, content: bytes) -> bytes:
    """One protobuf field: its key, and its content (with the length in front, if that is not fixed)."""
    return varint(number << 3 | wire) + (varint(len(content)) if wire == BYTES else b"") + content


class EventWriter:
    """Scalars for TensorBoard: a new event file in the folder, complete up to the last call at any moment.

    A slash in a name makes a group. Values become float32, as TensorBoard keeps them. Several writers may share a
    folder: a resumed run continues the curves of the one before.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{time.time():010.0f}.{socket.gethostname()}.{os.getpid()}.{next(COUNTER)}"
        self.path = Path(folder) / name
        self._file = open(self.path, "xb", buffering=0)  # noqa: SIM115  (closed by close)
        self._event(field(3, BYTES, b"brain.Event:2"))

    def scalar(self, name: str, value: float, step: int) -> None:
        """One point of the curve `name`."""
        with np.errstate(over="ignore"):
            number = np.float32(value).astype("<f4").tobytes()  # beyond float32 is infinite; struct would raise
        point = field(1, BYTES, name.encode()) + field(2, FLOAT, number)
        self._event(field(2, VARINT, varint(int(step))) + field(5, BYTES, field(1, BYTES, point)))

    def _event(self, content: bytes) -> None:
        data = field(1, DOUBLE, struct.pack("<d", time.time())) + content
        length = struct.pack("<Q", len(data))
        self._file.write(length + masked(length) + data + masked(data))

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()
