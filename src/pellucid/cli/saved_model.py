"""A trained model, as commands name it: a run folder or a model file; and tables in the columns that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from pellucid.cli.failures import Failure
from pellucid.cli.run_folder import METRICS, MODEL, RunFolder
from pellucid.cli.screen import Screen
from pellucid.data.types import Array
from pellucid.markup import listed

if TYPE_CHECKING:
    import polars as pl

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A run folder, or a model file (.pel).")]
DataPaths = Annotated[list[str], typer.Argument(metavar="DATA", help="Files, or a pattern in quotes.")]


@dataclass(frozen=True, eq=False)
class SavedModel:
    """An estimator from its file, and the names of what it predicts, as far as they are known."""

    path: Path
    estimator: Any
    targets: tuple[str, ...]
    folder: RunFolder | None

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels that it tells apart; () for numbers."""
        return tuple(np.asarray(getattr(self.estimator, "classes_", ())).tolist())

    @property
    def several(self) -> bool:
        """Any number of labels for each row?"""
        return bool(self.classes) and len(self.targets) > 1

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it needs, in the order of the training; those that had no values are not needed."""
        names = getattr(self.estimator, "feature_names_in_", None)
        if names is None:
            raise Failure(f"{self.path} was not trained on columns with names: use it from Python, with pellucid.load")
        preprocessor = getattr(self.estimator, "preprocessor_", None)
        kinds = {} if preprocessor is None else preprocessor.kinds_
        return tuple(str(name) for name in names if kinds.get(str(name)) != "empty")

    def inputs(self, frame: pl.DataFrame, screen: Screen, where: str) -> pl.DataFrame:
        """The columns that it needs; what is left over is said, what is missing is an error."""
        absent = [name for name in self.columns if name not in frame.columns]
        if absent:
            raise Failure(
                f"{where} has no {listed(absent)}, which the model needs: add {'it' if len(absent) == 1 else 'them'}"
            )
        extra = [name for name in frame.columns if name not in self.columns and name not in self.targets]
        if extra:
            screen.note(
                f"{where}: {listed(extra, 8)} {'was' if len(extra) == 1 else 'were'} not learned from, and left aside"
            )
        elif [name for name in frame.columns if name in self.columns] != list(self.columns):
            screen.say("columns come in another order than in training: they are taken by their names")
        return self._with_moments(frame.select(self.columns))

    def _with_moments(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Dates that the model knows as such and a file, such as CSV, has as texts: read."""
        import polars as pl

        from pellucid.cli.table_columns import moments_of
        from pellucid.estimators.tables.columns import TIME

        preprocessor = getattr(self.estimator, "preprocessor_", None)
        kinds, texts = ({}, {}) if preprocessor is None else (preprocessor.kinds_, preprocessor.texts_)
        spelled = [
            name
            for name, dtype in frame.schema.items()
            if dtype == pl.String and kinds.get(name) == TIME and name not in texts
        ]
        return frame.with_columns(pl.Series(name, moments_of(frame[name])) for name in spelled)

    def truth(self, frame: pl.DataFrame, where: str) -> Array:
        """The target of rows, as the estimator knows it."""
        from pellucid.cli.settings import Task
        from pellucid.cli.target import target_of

        if not self.targets:
            raise Failure("which column is the target? Say --target COLUMN: the model file alone does not know")
        absent = [name for name in self.targets if name not in frame.columns]
        if absent:
            raise Failure(f"{where} has no column {listed(absent)}, the target: scores need it")
        task = Task.CLASSES if self.classes else Task.NUMBERS
        values = target_of(frame, self.targets, task).values if frame.height > 1 else frame[self.targets[0]].to_numpy()
        return self._as_labels(values)

    def _as_labels(self, values: Array) -> Array:
        """Labels of the kind that the model has: texts of numbers are numbers, where its labels are."""
        if not self.classes or self.several:
            return values
        wanted = np.asarray(self.classes).dtype
        if wanted.kind != np.asarray(values).dtype.kind:
            try:
                values = np.asarray(values).astype(wanted)
            except ValueError:
                raise Failure(f"the target holds {values[0]!r}, the model knows {listed(self.classes, 5)}") from None
        unknown = sorted(set(np.asarray(values).tolist()) - set(self.classes), key=str)
        if unknown:
            raise Failure(
                f"the target holds {listed(unknown, 5)}, which the model has not learned: it knows "
                f"{listed(self.classes, 5)}"
            )
        return np.asarray(values)


def saved_model(path: Path, targets: tuple[str, ...] = ()) -> SavedModel:
    """The model of a run folder or of a file."""
    from pellucid.loading import load
    from pellucid.train import Model

    file = path / MODEL if path.is_dir() else path
    if not file.exists():
        more = f": it has no {MODEL}; go on with pellucid train --resume {path}" if path.is_dir() else ""
        raise Failure(f"{path}: there is no such model{more}")
    estimator = load(file)
    if isinstance(estimator, Model):
        raise Failure(
            f"{file} holds a bare network without its columns: use it from Python, pellucid.load({str(file)!r})"
        )
    folder = RunFolder(file.parent) if (file.parent / METRICS).exists() and file.name == MODEL else None
    known = tuple(folder.metrics().get("target", ())) if folder is not None else ()
    return SavedModel(file, estimator, targets or known, folder)
