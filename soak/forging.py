"""Random changes of bytes, of JSON trees and of named arrays; and the checksum that makes a forgery look whole."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.train.files.container import ZEROS

DEEP: Any = None
for _ in range(400):
    DEEP = [DEEP]

STRANGE = (
    *(None, True, -1, 0, 1, 7, 2**31, 2**63, 2**200, -0.5, 1e308, float("nan"), float("inf")),
    *("", "x" * 1000, "relu", "os.system", "<U200000000", "float128", "O", "(array)", "../../etc/passwd", "\ud800"),
    *([], {}, [[]], [1, 2, 3], [2**40, 2**40], DEEP),
    *({"type": "Popen"}, {"object": "Popen", "state": {}}, {"array": "nowhere"}, {"dtype": "<U200000000"}),
    {"dict": [[[], 1]]},
)
"""What nobody would write into such a file."""


def damaged(raw: bytes, rng: np.random.Generator) -> bytes:
    """Bytes cut off, taken out, put in, or changed."""
    first = int(rng.integers(0, len(raw)))
    last = first + int(rng.integers(0, 20))
    piece = rng.bytes(int(rng.integers(0, 20)))
    flipped = bytes([raw[first] ^ (1 << int(rng.integers(8)))])
    ways = (raw[:first], raw[:first] + raw[last:], raw[:first] + piece + raw[last:])
    return (*ways, raw[:first] + flipped + raw[first + 1 :])[rng.integers(4)]


def parsed(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """The header of a file of ours, with zeros for its checksum, and the bytes of its arrays."""
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    ours = json.loads(header["__metadata__"]["pellucid"])
    header["__metadata__"]["pellucid"] = json.dumps({**ours, "checksum": ZEROS})
    return header, raw[end:]


def sealed(header: Any, body: bytes) -> bytes:
    """A file of this header, with a checksum that is right wherever there is a place for one."""
    text = json.dumps(header).encode()
    raw = len(text).to_bytes(8, "little") + text + body
    checksum = hashlib.blake2b(raw, digest_size=32).hexdigest()
    return raw.replace(ZEROS.encode(), checksum.encode(), 1)


def changed_tree(tree: Any, rng: np.random.Generator) -> Any:
    """One to three entries of a JSON tree replaced, taken away, renamed, or exchanged (in place)."""
    for _ in range(int(rng.integers(1, 4))):
        places = _places(tree)
        if not places:
            return tree
        holder, key = places[rng.integers(len(places))]
        other, its_key = places[rng.integers(len(places))]
        way = rng.integers(4)
        if way == 0:
            del holder[key]
        elif way == 1 and isinstance(holder, dict):
            holder[f"{key}_"] = holder.pop(key)
        elif way == 2:
            holder[key] = copy.deepcopy(other[its_key])
        else:
            holder[key] = copy.deepcopy(STRANGE[rng.integers(len(STRANGE))])
    return tree


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """(dict or list, key or index) of everything in a tree."""
    places: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        places += [(holder, key) for key in keys]
        waiting += [holder[key] for key in keys]
    return places


def changed_arrays(arrays: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """One array lost, renamed, of another shape or dtype, or with other numbers."""
    names = list(arrays)
    name = names[rng.integers(len(names))]
    array = arrays[name]
    others = {key: value for key, value in arrays.items() if key != name}
    ways: list[dict[str, Any]] = [
        {},
        {f"{name}_": array},
        {name: array.reshape(-1)[:-1]},
        {name: array[None]},
        {name: np.zeros((0, 3), array.dtype)},
        {name: array.astype(np.bool_)},
        {name: array.astype(np.float16 if array.dtype.kind == "f" else np.int8)},
        {name: np.full_like(array, np.nan if array.dtype.kind == "f" else 1)},
        {name: arrays[names[rng.integers(len(names))]]},
    ]
    return others | ways[rng.integers(len(ways))]
