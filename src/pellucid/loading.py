"""One door for all files: `pellucid.load` opens a model or an estimator, whichever the file holds.

`pellucid.describe` says what is in a file, without opening it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pellucid.markup import plural, short
from pellucid.train.files.container import kind_of, look
from pellucid.train.files.summary import Summary, restored


def load(path: str | os.PathLike[str], custom: Mapping[str, Any] | None = None) -> Any:
    """A model (`Model.save`) or an estimator (`MLPClassifier.save`, tables and ensembles too) from its file.

    Nothing in the file is executed.

    Parameters
    ----------
    path : str | PathLike
        of the file
    custom : Mapping[str, Any] | None
        layers, activations, losses and functions of one's own, by name

    Returns
    -------
    Model | estimator
        as it was saved

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from pellucid import Model, nn
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.pel"
    >>> Model(nn.mlp((4,), 1)).initialize(3).save(file)
    >>> load(file).predict(np.zeros((1, 3))).shape
    (1, 1)
    """
    if kind_of(path) == "estimator":
        from pellucid.estimators.storage import load_estimator

        return load_estimator(path, custom)
    from pellucid.train.files.models import load as load_model

    return load_model(path, custom)


@dataclass(frozen=True)
class FileDescription:
    """What a file of pellucid says about itself.

    Parameters
    ----------
    path : str
        of the file
    kind : str
        "model", "estimator" or "checkpoint"
    schema : int
        of the file's layout
    size : int
        bytes
    versions : dict[str, str]
        of pellucid, NumPy and Python when it was written; empty in files of schema 1
    summary : Summary
        of the training; of files of schema 1 little is known
    """

    path: str
    kind: str
    schema: int
    size: int
    versions: dict[str, str]
    summary: Summary

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    def lines(self) -> Iterator[tuple[str, str]]:
        """What there is to say, by name."""
        it = self.summary
        yield "file", f"{self.path} ({self.size:,} bytes, schema {self.schema}, checksum right)"
        yield "holds", it.made_by or self.kind
        if it.layers:
            yield "network", it.layers if it.networks == 1 else f"{it.networks} networks, such as {it.layers}"
        if it.parameters:
            yield "parameters", f"{it.parameters:,}"
        if it.columns:
            kinds = [column.get("kind") for column in it.columns]
            counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
            yield "columns", f"{len(kinds)} ({counts})"
        if it.classes:
            yield "classes", ", ".join(map(str, it.classes[:10])) + (", ..." if len(it.classes) > 10 else "")
        if it.rows is not None:
            yield "trained on", plural(it.rows, "row")
        if it.epochs is not None:
            best = f", the best was {it.best_epoch}" if it.best_epoch else ""
            yield "epochs", f"{it.epochs}{best}{f' ({it.ending})' if it.ending else ''}"
        if it.seconds is not None:
            yield "time", f"{it.seconds:.1f} s"
        for name, value in it.scores.items():
            yield name, short(value)
        if self.versions:
            yield "written by", ", ".join(f"{name} {version}" for name, version in self.versions.items())

    def __str__(self) -> str:
        lines = list(self.lines())
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in lines)


def describe(path: str | os.PathLike[str]) -> FileDescription:
    """What a file holds, what it was trained on, how long and how well, and which versions wrote it.

    The checksum is looked at, but no array is made, and nothing in the file is executed.

    Parameters
    ----------
    path : str | PathLike
        of the file

    Returns
    -------
    FileDescription
        prints as a small table

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from pellucid import Model, nn
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.pel"
    >>> Model(nn.mlp((4,), 1)).initialize(3).save(file)
    >>> about = describe(file)
    >>> about.kind, about.summary.layers, about.summary.parameters
    ('model', '3-4-1', 21)
    """
    frame = look(path)
    summary = restored(frame.summary, path)
    if not frame.summary:  # schema 1
        described = frame.metadata.get("estimator")
        name = described.get("object") if isinstance(described, dict) else None
        numbers = sum(math.prod(shape) for array, shape in frame.shapes.items() if array.startswith("params/"))
        made_by = str(name) if name else {"model": "Model"}.get(frame.kind, "")
        summary = Summary(made_by=made_by, parameters=numbers or None)
    versions = {name: str(version) for name, version in frame.versions.items()}
    return FileDescription(os.fspath(path), frame.kind, frame.schema, frame.size, versions, summary)
