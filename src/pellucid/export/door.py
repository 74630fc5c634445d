"""The door: a fitted model into a file, by kind or by the ending of its name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from json import dumps
from pathlib import Path

import numpy as np

from pellucid import __version__
from pellucid.amounts import one_of
from pellucid.data.inputs import all_finite
from pellucid.data.sparse import dense
from pellucid.data.types import Array, ArrayLike
from pellucid.errors import ExportError
from pellucid.estimators.base import BaseMLP
from pellucid.estimators.ensembles.base import BaseEnsemble
from pellucid.estimators.tables.base import BaseTabularMLP
from pellucid.export.answers import Exportable, columns_of, members_of
from pellucid.export.c_file import source
from pellucid.export.columns import ROWS, table_inputs
from pellucid.export.json_file import document
from pellucid.export.numpy_script import script
from pellucid.export.precision import warn_of_rounding
from pellucid.export.program import Program, program_of
from pellucid.whole_files import write_atomically

PathLike = str | os.PathLike[str]

FLOATS = one_of("float32", "float64", words="'float32' or 'float64'")


def _written(path: PathLike, content: bytes) -> Path:
    write_atomically(path, content)
    return Path(path)


def _narrow_program(model: Exportable, numbers: str, rows: int | None = None) -> Program:
    """A network that computes in float32; a warning where its inputs need more."""
    program = program_of(model, rows=rows, network=np.float32, numbers=np.dtype(numbers))
    if numbers == "float32":
        warn_of_rounding(model)
    return program


def onnx(model: Exportable, path: PathLike, *, numbers: str = "float32") -> Path:
    """Write an ONNX file: one input for each column, by its name, and the answers. Needs the extra `onnx`.

    Columns of numbers are floats (N, 1), NaN where they are missing; categories are texts (N, 1), and any text that
    is none of them stands for a missing one. A model of arrays has one input `X`, (N, features). Outputs are `label`
    and `probabilities` of classifiers, `prediction` of all others. Opset 18, ai.onnx.ml 3.

    Parameters
    ----------
    model : Model | estimator
        fitted
    path : str | PathLike
        of the file
    numbers : str
        what numbers come in, "float32" or "float64": times in seconds and long identifiers need the second. The
        network itself computes in float32

    Returns
    -------
    Path
        of the file

    Examples
    --------
    >>> import tempfile
    >>> import pellucid as pel
    >>> model = pel.Model(pel.nn.mlp((4,), 1), "squared_error").initialize(3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(onnx(model, f"{folder}/rows.onnx").name)
    rows.onnx
    """
    FLOATS.check("numbers", numbers)
    try:
        from pellucid.export.onnx_file import model_proto
    except ImportError as error:
        raise ExportError(
            f"ONNX files are written by the package onnx ({error}): pip install 'pellucid[onnx]'"
        ) from error
    program = _narrow_program(model, numbers)
    return _written(path, model_proto(program, __version__).SerializeToString())


def c(model: Exportable, path: PathLike, *, numbers: str = "float32", name: str | None = None) -> Path:
    """Write a C99 file that predicts one row: no dependencies, no allocation, constant arrays of floats.

    `int NAME_predict(const NAME_row *row, float *out)` puts probabilities or numbers into `out` and returns the number
    of the class. Numbers are NAN and texts NULL where they are missing.

    Parameters
    ----------
    model : Model | estimator
        fitted
    path : str | PathLike
        of the file
    numbers : str
        what numbers come in, "float32" or "float64": times in seconds and long identifiers need the second. The
        network itself computes in float32, scales ahead of it in double
    name : str | None
        what the names in it begin with; None is the name of the file

    Returns
    -------
    Path
        of the file

    Examples
    --------
    >>> import tempfile
    >>> import pellucid as pel
    >>> model = pel.Model(pel.nn.mlp((4,), 1), "squared_error").initialize(3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print("int rows_predict(" in c(model, f"{folder}/rows.c").read_text())
    True
    """
    FLOATS.check("numbers", numbers)
    stem = Path(path).stem if name is None else name
    word = re.sub(r"[^0-9A-Za-z_]", "_", stem)
    if name is not None and not (name.isascii() and name.isidentifier()):
        raise ExportError(f"name is a name of C, letters, digits and _, got {name!r}: try {word!r}")
    word = word if word[:1].isalpha() else f"model{word}"
    program = _narrow_program(model, numbers, rows=1)
    return _written(path, source(program, __version__, word, Path(path).name).encode())


def json(model: Exportable, path: PathLike) -> Path:
    """Write JSON: columns, constants, one step after the other. `export.schema()` says what is in it.

    Parameters
    ----------
    model : Model | estimator
        fitted
    path : str | PathLike
        of the file

    Returns
    -------
    Path
        of the file

    Examples
    --------
    >>> import tempfile
    >>> import pellucid as pel
    >>> model = pel.Model(pel.nn.mlp((4,), 1), "squared_error").initialize(3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(json(model, f"{folder}/rows.json").read_text()[:26])
    {"format":"pellucid-model"
    """
    data = document(program_of(model), __version__)
    return _written(path, dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode())


def numpy(model: Exportable, path: PathLike) -> Path:
    """Write a Python script that predicts with NumPy alone, in the precision of the model.

    Parameters
    ----------
    model : Model | estimator
        fitted
    path : str | PathLike
        of the file, ending in `.py`; `from NAME import predict` then

    Returns
    -------
    Path
        of the file

    Examples
    --------
    >>> import tempfile
    >>> import pellucid as pel
    >>> model = pel.Model(pel.nn.mlp((4,), 1), "squared_error").initialize(3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print("def predict(table):" in numpy(model, f"{folder}/rows.py").read_text())
    True
    """
    return _written(path, script(program_of(model), __version__, Path(path).stem).encode())


WRITERS: dict[str, Callable[..., Path]] = {"onnx": onnx, "c": c, "json": json, "numpy": numpy}
"""What can be written, by name."""

ENDINGS = {".onnx": "onnx", ".c": "c", ".json": "json", ".py": "numpy"}
"""What is meant by the ending of a file's name."""


def write(model: Exportable, path: PathLike, *, to: str | None = None) -> Path:
    """Write a fitted model, its preprocessing inside, for where there is no Pellucid.

    Parameters
    ----------
    model : Model | estimator
        fitted: a `Model`, `MLP*`, `TabularMLP*`, or `BaggedMLP*` of these
    path : str | PathLike
        of the file
    to : str | None
        "onnx", "c", "json" or "numpy"; None goes by the ending: .onnx, .c, .json, .py

    Returns
    -------
    Path
        of the file

    Examples
    --------
    >>> import numpy as np, pellucid as pel, tempfile
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> clf = pel.MLPClassifier((4,), solver="lbfgs", max_iter=20, tol=1.0).fit(X, X[:, 0] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write(clf, f"{folder}/sides.c")
    ...     print(path.name, "int sides_predict(" in path.read_text())
    sides.c True
    """
    ending = Path(path).suffix.lower()
    if to is None and ending not in ENDINGS:
        raise ExportError(
            f"{path}: the ending {ending!r} does not say what to write: end it in {', '.join(ENDINGS)}, or give to="
        )
    kind = ENDINGS[ending] if to is None else to
    if kind not in WRITERS:
        raise ExportError(f"to is one of {', '.join(map(repr, WRITERS))}, got {to!r}")
    return WRITERS[kind](model, path)


def inputs(model: Exportable, X: ArrayLike, *, numbers: str = "float32") -> dict[str, Array]:
    """Rows as an exported model takes them, by the names of its inputs: what onnxruntime is given.

    Parameters
    ----------
    model : Model | estimator
        fitted
    X : data frame or array of shape (n, features)
        rows
    numbers : str
        "float32" or "float64", as in `onnx`

    Returns
    -------
    dict of arrays
        each (n, 1): floats with NaN for missing ones, or texts; dates as the numbers that are made of them. A model of
        arrays has one, `X`, (n, features)

    Examples
    --------
    >>> import numpy as np, pellucid as pel
    >>> X = np.array([[1.0, "a"], [np.nan, "b"], [3.0, "b"], [4.0, None]] * 5, dtype=object)
    >>> reg = pel.TabularMLPRegressor((4,), quality="fast", max_iter=1).fit(X, np.arange(20.0))
    >>> {name: column[:2].ravel().tolist() for name, column in inputs(reg, X).items()}
    {'x0': [1.0, nan], 'x1': ['a', 'b']}
    """
    FLOATS.check("numbers", numbers)
    columns = columns_of(model)
    first = members_of(model)[0] if isinstance(model, BaseEnsemble) else model
    if isinstance(first, BaseTabularMLP):
        preprocessor = first.preprocessor_
        arrays = table_inputs(preprocessor.encoding.layout, columns, preprocessor.known_table(X))
    else:
        rows = dense(first.network_rows(X)) if isinstance(first, BaseMLP) else np.asarray(X)
        rows = rows.reshape(len(rows), -1)
        if not all_finite(rows):
            raise ValueError("X has numbers that are missing or infinite: a model of arrays takes none")
        together = columns[0].name == ROWS and columns[0].width == rows.shape[1]
        parts = [rows] if together else np.split(rows, rows.shape[1], axis=1)
        arrays = {column.name: part for column, part in zip(columns, parts, strict=True)}
    return {name: array if array.dtype == object else array.astype(numbers) for name, array in arrays.items()}
