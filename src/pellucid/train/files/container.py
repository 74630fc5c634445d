"""One file holds named arrays and JSON metadata, and is either complete or refused; what is in it is looked at, too.

The format is safetensors: other programs can open it, and nothing in it is ever executed. Pellucid's part is one JSON
text under the key "pellucid" of the header's metadata: schema version, kind, the arrays' names in order, a checksum,
and the caller's own metadata. Python's json writes NaN and Infinity there, which strict JSON lacks; they sit inside a
string, so the header itself remains strict.

The checksum is that of the whole file with zeros in the checksum's own place: a change of any byte is noticed.

Schema 2 added two parts: `versions`, of what wrote the file, and `summary`, what the caller wants to be known of it
without its arrays. Files of schema 1 lack them.
"""

import hashlib
import json
import os
import reprlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from pellucid.amounts import Condition, or_none
from pellucid.errors import CheckpointError as CheckpointError
from pellucid.whole_files import regular, write_atomically

SCHEMA = 2
ZEROS = "0" * 64
PART = 2**20
"""Bytes that are read at once."""

HEADER = 100_000_000
"""Bytes of a header at most: as safetensors has it. What claims to be longer is not read."""

REMEDY = "copy it again from where it was made, use an older one, or train anew"
SIZES = {"bool": ("",), "int": (8, 16, 32, 64), "uint": (8, 16, 32, 64), "float": (16, 32, 64)}
DTYPES = {f"{kind}{bits}": np.dtype(f"{kind}{bits}") for kind, sizes in SIZES.items() for bits in sizes}


@dataclass(frozen=True)
class Frame:
    """What a file says about itself, beside its arrays."""

    kind: str
    schema: int
    names: list[str]
    metadata: dict[str, Any]
    versions: dict[str, Any]
    summary: dict[str, Any]
    shapes: dict[str, list[int]]
    size: int  # bytes


def write(
    path: str | os.PathLike[str],
    arrays: Mapping[str, np.ndarray],
    metadata: dict[str, Any],
    kind: str,
    summary: dict[str, Any] | None = None,
) -> None:
    """Arrays and metadata as one file, which appears at once or not at all.

    Shapes, dtypes and the order of names are kept; equal contents give equal bytes. The summary is what `look` shows.

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
    _check_plain(summary, "summary")
    ours = {"checksum": ZEROS, "schema": SCHEMA, "kind": kind, "versions": present_versions(), "summary": summary or {}}
    ours |= {"names": list(arrays), "metadata": metadata}
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
    return look(path).kind


def present_versions() -> dict[str, str]:
    """Of what writes a file."""
    from pellucid import __version__

    return {"pellucid": __version__, "numpy": np.__version__, "python": ".".join(map(str, sys.version_info[:3]))}


def look(path: str | os.PathLike[str]) -> Frame:
    """What a file says about itself. All of it is read, for the checksum, but in parts: no array is made."""
    path = Path(path)
    try:
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(8)
            header = file.read(_header_size(start, size))
            return _frame(path, start, header, iter(lambda: file.read(PART), b""), size)
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error


def _header_size(start: bytes, size: int) -> int:
    """How much of a file of so many bytes is its header, by the first eight; enough to see that it is none."""
    length = int.from_bytes(start, "little")
    return min(length, max(size - 8, 0)) if length <= HEADER else min(16, max(size - 8, 0))


def _opened(path: Path) -> Any:
    if regular(path) is None:  # asked first: to open a pipe is to wait, and a device has no end
        raise CheckpointError(f"{path} does not exist")
    return path.open("rb")


def _load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any], str]:
    try:
        with _opened(path) as file:
            raw: bytes = file.read()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    end = 8 + _header_size(raw[:8], len(raw))
    frame = _frame(path, raw[:8], raw[8:end], [memoryview(raw)[end:]], len(raw))
    try:
        tensors = safetensors.numpy.load(raw)  # sizes that the file does not have are refused
    except MemoryError as error:
        raise CheckpointError(f"{path} has {len(raw)} bytes, and does not fit into memory") from error
    except Exception as error:  # whatever a parser meets in bytes that nobody should have written
        raise _damaged(path, len(raw)) from error
    names = frame.names
    if sorted(names) != sorted(tensors) or not {array.dtype.name for array in tensors.values()} <= DTYPES.keys():
        raise _damaged(path, len(raw))
    return {name: tensors[name] for name in names}, frame.metadata, frame.kind


def _frame(path: Path, start: bytes, header: bytes, rest: Iterable[bytes | memoryview], size: int) -> Frame:
    """The parts of the header, once the checksum of all bytes is right."""
    if not header:
        raise _damaged(path, size) if size else CheckpointError(f"{path} is empty: {REMEDY}")
    if not header.startswith(b"{"):
        what = " It looks like a pickle, which could run code, and is never opened." if start[:1] == b"\x80" else ""
        raise CheckpointError(f"{path} was not written by pellucid: it is not a safetensors file.{what}")
    try:
        parts = json.loads(header)
        if "pellucid" not in parts.get("__metadata__", {}):
            raise CheckpointError(f"{path} is a safetensors file, but was not written by pellucid")
        ours = json.loads(parts["__metadata__"]["pellucid"])
        if ours["schema"] > SCHEMA:
            raise CheckpointError(
                f"{path} was written by a newer pellucid (schema {ours['schema']}, known is {SCHEMA}): upgrade pellucid"
            )
        digest = hashlib.blake2b(start, digest_size=32)
        digest.update(header.replace(ours["checksum"].encode(), ZEROS.encode(), 1))
        for part in rest:
            digest.update(part)
        if digest.hexdigest() != ours["checksum"]:
            raise _damaged(path, size)
        return Frame(
            entry(ours, "kind", TEXT, path),
            entry(ours, "schema", COUNT, path),
            entry(ours, "names", TEXTS, path),
            entry(ours, "metadata", MAPPING, path),
            entry(ours, "versions", MAPPING, path, default={}),
            entry(ours, "summary", MAPPING, path, default={}),
            {name: entry(one, "shape", COUNTS, path) for name, one in parts.items() if name != "__metadata__"},
            size,
        )
    except (CheckpointError, OSError):
        raise
    except Exception as error:  # whatever a parser meets in bytes that nobody should have written
        raise _damaged(path, size) from error


def _damaged(path: Path, size: int) -> CheckpointError:
    return CheckpointError(
        f"{path} is damaged: it was cut off or changed since it was written ({size} bytes); {REMEDY}"
    )


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


# the arrays of a file by their parts


def joined(trees: Mapping[str, Mapping[str, Any]], mark: str = "/") -> dict[str, Any]:
    """Named arrays of several parts in one dict.

    >>> joined({"params": {"bias": 1.0}, "state": {}})
    {'params/bias': 1.0}
    """
    return {f"{part}{mark}{name}": array for part, tree in trees.items() for name, array in tree.items()}


def parted(arrays: Mapping[str, Any], mark: str = "/") -> defaultdict[str, dict[str, Any]]:
    """The way back; arrays without dimensions are numbers."""
    trees: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for key, array in arrays.items():
        part, _, name = key.partition(mark)
        trees[part][name] = array[()] if array.ndim == 0 else array
    return trees


# plain data, looked at before they are used: a file may hold anything, whoever wrote it

MISSING: Any = object()
LARGEST = 2**62
"""Counts end here: what is added to them must not leave 64 bits."""


COUNT = Condition(lambda value: type(value) is int and 0 <= value < LARGEST, "a whole number from 0")
NUMBER = Condition(lambda value: type(value) in (int, float), "a number")
CELL = Condition(lambda value: value is None or type(value) in (bool, int, float, str), "a number or a text")
TEXT = Condition(lambda value: type(value) is str, "a text")
MAPPING = Condition(lambda value: type(value) is dict, "values by name")
TEXTS = Condition(lambda value: type(value) is list and all(type(item) is str for item in value), "a list of texts")
COUNTS = Condition(lambda value: type(value) is list and all(map(COUNT.holds, value)), "a list of whole numbers")
MAPPINGS = Condition(
    lambda value: type(value) is list and all(type(item) is dict for item in value), "a list of values by name"
)


def maybe(kind: Condition) -> Condition:
    """The same, or None."""
    return or_none(kind, f"{kind.words}, or nothing")


def among(*values: Any) -> Condition:
    """One of these."""
    return Condition(
        lambda value: any(value is v or value == v for v in values), f"one of {', '.join(map(repr, values))}"
    )


def entry(data: Any, name: str, kind: Condition, path: Any, default: Any = MISSING) -> Any:
    """data[name], which must be of this kind; the default where it is missing and there is one.

    >>> entry({"epoch": 3}, "epoch", COUNT, "run.ckpt")
    3
    """
    value = data.get(name, default) if type(data) is dict else MISSING
    if value is MISSING:
        raise CheckpointError(f"{path}: {name!r} is missing: the file is not what pellucid writes")
    if not kind.holds(value):
        raise CheckpointError(
            f"{path}: {name!r} is to be {kind.words}, got {short(value)}: the file is not what pellucid writes"
        )
    return value


def short(value: Any) -> str:
    """A value of any size and depth in few words."""
    return reprlib.repr(value)[:200]


def must_match(path: Any, part: str, expected: Mapping[str, Any], stored: Mapping[str, Any], whose: str) -> None:
    """The same names, shapes and kinds of numbers, or an error that says what differs. Nothing is allocated.

    `expected` has arrays, or what has a shape and a dtype.
    """
    for name in [*expected, *(name for name in stored if name not in expected)]:
        mine, theirs = (_form(tree[name]) if name in tree else None for tree in (expected, stored))
        if mine != theirs:
            raise CheckpointError(
                f"{path}: {part} {name!r} is {_words(theirs)} in the file and {_words(mine)} in {whose}"
            )


def _form(array: Any) -> tuple[tuple[int, ...], str]:
    array = array if hasattr(array, "shape") and hasattr(array, "dtype") else np.asarray(array)
    return tuple(array.shape), np.dtype(array.dtype).kind


def _words(form: tuple[tuple[int, ...], str] | None) -> str:
    if form is None:
        return "not there"
    kinds = {"f": "floats", "i": "whole numbers", "u": "whole numbers", "b": "truth values"}
    return f"an array of {kinds.get(form[1], 'something else')} of shape {form[0]}"
