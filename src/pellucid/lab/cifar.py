"""CIFAR-10 from files that you have, or a made-up substitute of the same shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pellucid.errors import ShapeError

PIXELS = 32 * 32 * 3
RECORD = 1 + PIXELS
"""Bytes of an image in the binary version: a label, then the red, green and blue values row by row."""

BATCHES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")


class Images(NamedTuple):
    """Pictures as rows of 3072 standardised numbers, their classes, and what they are."""

    X: Any  # (n, 3072), float32
    y: Any  # (n,)
    X_val: Any
    y_val: Any
    what: str


def images(data: str | Path | None, rows: int, held: int, seed: int = 0) -> Images:
    """So many rows to train on and to check with; each column has mean 0 and deviation 1 on the training rows.

    `data` is a folder with the binary version of CIFAR-10 (data_batch_1.bin, ...) or an .npz file with X (n, 3072 or
    n, 32, 32, 3) and y; without it a substitute is made up.

    >>> found = images(None, 30, 10)
    >>> found.X.shape, found.y_val.shape, found.what
    ((30, 3072), (10,), 'a made-up substitute')
    """
    if data is None:
        pixels, y = substitute(rows + held, seed)
        what = "a made-up substitute"
    else:
        pixels, y = load(Path(data), rows + held)
        what = "CIFAR-10"
    if len(pixels) < rows + held:
        raise ShapeError(f"{data}: {rows} training and {held} validation rows are asked for, and it has {len(pixels)}")
    X = np.array(pixels[: rows + held], np.float32)
    mean, deviation = X[:rows].mean(0), X[:rows].std(0)
    X -= mean
    X /= np.where(deviation > 0, deviation, 1)
    y = np.asarray(y[: rows + held], np.int64)
    return Images(X[:rows], y[:rows], X[rows:], y[rows:], what)


def load(path: Path, rows: int) -> tuple[Any, Any]:
    """The first rows of CIFAR-10, from the folder of its binary version or from an .npz file.   -> (n, 3072), (n,)"""
    if path.is_dir():
        files = [path / name for name in BATCHES if (path / name).is_file()]
        if not files:
            raise FileNotFoundError(
                f"{path} has none of {', '.join(BATCHES)}: give the folder cifar-10-batches-bin of CIFAR-10's binary "
                "version, or an .npz file with X and y"
            )
        records = np.concatenate([_records(file) for file in files[: -(-rows // 10_000)]])[:rows]
        return records[:, 1:], records[:, 0]
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file or folder; without `data` a substitute is made up")
    if path.suffix != ".npz":
        raise ValueError(f"{path}: give the folder of CIFAR-10's binary version, or an .npz file with X and y")
    with np.load(path, allow_pickle=False) as arrays:
        if not {"X", "y"} <= set(arrays.files):
            raise ValueError(f"{path} has {', '.join(arrays.files) or 'nothing'}: it should have X and y")
        X, y = arrays["X"][:rows], arrays["y"][:rows]
    X = X.reshape(len(X), -1)
    if X.shape[1] != PIXELS or y.shape != (len(X),) or y.min() < 0 or y.max() > 9:
        raise ShapeError(
            f"{path}: X is (n, 3072) or (n, 32, 32, 3) and y holds n classes 0 ... 9, got X of {X.shape[1]} columns "
            f"and y of shape {y.shape} with values {y.min()} ... {y.max()}"
        )
    return X, y


def _records(file: Path) -> Any:
    data = np.fromfile(file, np.uint8)
    if len(data) == 0 or len(data) % RECORD or data[::RECORD].max() > 9:
        raise ValueError(
            f"{file} is not of CIFAR-10's binary version: records of {RECORD} bytes that begin with 0 ... 9"
        )
    return data.reshape(-1, RECORD)


def substitute(rows: int, seed: int = 0) -> tuple[Any, Any]:
    """Ten classes of smooth colour pictures, several kinds each, with smooth noise on top.   -> (n, 3072), (n,)

    >>> X, y = substitute(5)
    >>> X.shape, X.dtype
    ((5, 3072), dtype('float32'))
    """
    rng = np.random.default_rng(seed)
    kinds = 3
    coarse = rng.normal(size=(10, kinds, 4, 4, 3)).astype(np.float32)
    y, kind = rng.integers(0, 10, rows), rng.integers(0, kinds, rows)
    smooth = coarse[y, kind] + 1.2 * rng.normal(size=(rows, 4, 4, 3)).astype(np.float32)
    pictures = np.repeat(np.repeat(smooth, 8, axis=1), 8, axis=2)
    pictures += 0.5 * rng.standard_normal(pictures.shape, dtype=np.float32)
    return pictures.reshape(rows, PIXELS), y
