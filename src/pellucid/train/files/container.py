"""One file holds named arrays and JSON metadata, and is either complete or refused.

The format is safetensors: other programs can open it, and nothing in it is ever executed. Pellucid's part is one JSON
text under the key "pellucid" of the header's metadata: schema version, kind, the arrays' names in order, a checksum,
and the caller's own metadata. Python's json writes NaN and Infinity there, which strict JSON lacks; they sit inside a
string, so the header itself remains strict.

The checksum is that of the whole file with zeros in the checksum's own place: a change of any byte is noticed.
"""

import hashlib
import json
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from pellucid.train.files.atomic import CheckpointError as CheckpointError
from pellucid.train.files.atomic import regular, write_atomically
from pellucid.train.files.entries import MAPPING, TEXT, TEXTS, entry

SCHEMA = 1
ZEROS = "0" * 64
DTYPES = {
    "bool",
    "float16",
    "float32",
    "float64",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}


def write(path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], metadata: dict[str, Any], kind: str) -> None:
    """Arrays and metadata as one file, which appears at once or not at all.

    Shapes, dtypes and the order of names are kept; equal contents give equal bytes.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "run.ckpt"
    >>> write(path, {"weight": np.eye(2), "step": np.array(7)}, {"best": float("inf")}, kind="checkpoint")
    >>> read(path, kind="checkpoint")
    ({'weight': array([[1., 0.],
           [0., 1.]]), 'step': array(7)}, {'best': inf})
    >>> folder.cleanup()
    """
    _check_plain(metadata, "metadata")
    ours = {"checksum": ZEROS, "schema": SCHEMA, "kind": kind, "names": list(arrays), "metadata": metadata}
    tensors = {name: _check_array(name, array) for name, array in arrays.items()}
    try:
        raw = safetensors.numpy.save(tensors, {"pellucid": json.dumps(ours)})
    except (SafetensorError, ValueError) as error:
        raise CheckpointError(f"{path}: the arrays cannot be stored as safetensors: {error}") from error
    checksum = hashlib.blake2b(raw, digest_size=32).hexdigest()
    try:
        write_atomically(path, raw.replace(ZEROS.encode(), checksum.encode(), 1))
    except OSError as error:
        raise CheckpointError(
            f"{path} could not be written ({error}); a file that was there before is intact"
        ) from error


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the metadata of a file of this kind; a CheckpointError if anything about it is wrong."""
    arrays, metadata, kind_there = _load(Path(path))
    if kind_there != kind:
        raise CheckpointError(f"{path} holds a {kind_there}, expected a {kind}: is it the right file?")
    return arrays, metadata


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file holds: "model", "estimator", "checkpoint"."""
    return _load(Path(path))[2]


def newest(folder: str | os.PathLike[str], pattern: str = "*.ckpt", kind: str | None = None) -> Path | None:
    """The newest file of a folder that loads (and is of this kind); damaged ones are passed over with a warning."""

    def age(path: Path) -> tuple[int, list[str | int]]:  # among equal times epoch-10 is newer than epoch-9
        return path.stat().st_mtime_ns, [
            int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path.name)
        ]

    candidates = [path for path in Path(folder).glob(pattern) if path.is_file() and not path.name.endswith(".tmp")]
    for path in sorted(candidates, key=age, reverse=True):
        try:
            kind_there = _load(path)[2]
            if kind in (None, kind_there):
                return path
        except CheckpointError as error:
            warnings.warn(f"passed over: {error}", stacklevel=2)
    return None


def _load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any], str]:
    try:
        if regular(path) is None:  # asked first: to open a pipe is to wait, and a device has no end
            raise CheckpointError(f"{path} does not exist")
        raw = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    damaged = f"{path} is damaged: it was cut off or changed since it was written ({len(raw)} bytes); use an older one"
    if len(raw) < 9:
        raise CheckpointError(f"{path} is empty" if not raw else damaged)
    end = 8 + int.from_bytes(raw[:8], "little")
    if raw[8:9] != b"{":
        what = " It looks like a pickle, which could run code, and is never opened." if raw[:1] == b"\x80" else ""
        raise CheckpointError(f"{path} was not written by pellucid: it is not a safetensors file.{what}")
    try:
        header = json.loads(raw[8:end])
        if "pellucid" not in header.get("__metadata__", {}):
            raise CheckpointError(f"{path} is a safetensors file, but was not written by pellucid")
        ours = json.loads(header["__metadata__"]["pellucid"])
        if ours["schema"] > SCHEMA:
            text = (
                f"{path} was written by a newer pellucid (schema {ours['schema']}, known is {SCHEMA}): upgrade pellucid"
            )
            raise CheckpointError(text)
        zeroed = raw.replace(ours["checksum"].encode(), ZEROS.encode(), 1)
        if hashlib.blake2b(zeroed, digest_size=32).hexdigest() != ours["checksum"]:
            raise CheckpointError(damaged)
        tensors = safetensors.numpy.load(raw)  # sizes that the file does not have are refused
        names = entry(ours, "names", TEXTS, path)
        if sorted(names) != sorted(tensors) or not {array.dtype.name for array in tensors.values()} <= DTYPES:
            raise CheckpointError(damaged)
        arrays = {name: tensors[name] for name in names}
        return arrays, entry(ours, "metadata", MAPPING, path), entry(ours, "kind", TEXT, path)
    except CheckpointError:
        raise
    except MemoryError as error:
        raise CheckpointError(f"{path} has {len(raw)} bytes, and does not fit into memory") from error
    except Exception as error:  # whatever a parser meets in bytes that nobody should have written
        raise CheckpointError(damaged) from error


def _check_array(name: str, array: np.ndarray) -> np.ndarray:
    """The array in the form safetensors takes for granted: native byte order, contiguous (it does not check)."""
    if name == "__metadata__":
        raise CheckpointError("an array cannot be called '__metadata__': safetensors keeps the name for itself")
    if np.asarray(array).dtype.name not in DTYPES:
        raise CheckpointError(f"array {name!r} has dtype {np.asarray(array).dtype}, expected bool, int or real float")
    return np.asarray(array, dtype=np.asarray(array).dtype.newbyteorder("="), order="C")


def _check_plain(value: object, where: str) -> None:
    """JSON would turn tuples into lists and keys into strings without a word: refuse what would come back changed."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if not isinstance(key, str):
                raise CheckpointError(f"{where} has the key {key!r}, expected a string")
            _check_plain(entry, f"{where}[{key!r}]")
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            _check_plain(entry, f"{where}[{index}]")
    elif not (value is None or isinstance(value, bool | int | float | str)):
        kinds = "None, bool, int, float, str, list or dict"
        raise CheckpointError(f"{where} is a {type(value).__name__}, expected {kinds}; arrays go to `arrays`")
