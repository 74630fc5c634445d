"""A run in a folder: model, report, scores, curves, settings, and how far it has come."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.cli.failures import Failure
from pellucid.cli.screen import json_ready
from pellucid.cli.settings import TrainSettings
from pellucid.data.table_files import PACKINGS
from pellucid.train import History
from pellucid.whole_files import write_atomically

MODEL, REPORT, METRICS, HISTORY, CONFIG, STATE = (
    *("model.pel", "report.html", "metrics.json", "history.csv", "config.toml", "state.json"),
)
PIECE, PIECES = 1 << 20, 64
"""Bytes of a piece of a file that is looked at, and how many there are at most."""

NETWORKS = "networks"
"""Networks of a training that is not over."""

BEGUN, TRAINED, INTERRUPTED, DONE = "begun", "trained", "interrupted", "done"
"""Stages of a run: nothing of use yet; a model; a model of a training that was cut short; everything."""


@dataclass(frozen=True)
class RunFolder:
    """The files of a run. Each is written whole or not at all."""

    path: Path

    def __getitem__(self, name: str) -> Path:
        return self.path / name

    # making and finding

    @staticmethod
    def new(asked: str | None, data: Sequence[Path]) -> RunFolder:
        """A new folder: the one that was asked for, or runs/NAME-N with the first N that is free; see `_name_of`."""
        if asked is not None:
            path = Path(asked)
            if (path / STATE).exists() or (path / MODEL).exists():
                raise Failure(f"{path} holds a run already: choose another --out, or go on with --resume {path}")
            return RunFolder._made(path, exist_ok=True)
        name = _name_of(data)
        number = 1
        while True:
            path = Path("runs") / f"{name}-{number}"
            if not path.exists():
                return RunFolder._made(path, exist_ok=False)
            number += 1

    @staticmethod
    def _made(path: Path, *, exist_ok: bool) -> RunFolder:
        try:
            path.mkdir(parents=True, exist_ok=exist_ok)
        except (FileExistsError, NotADirectoryError):
            raise Failure(f"{path} is no folder, or a file is in its way: choose another --out") from None
        except OSError as error:
            raise Failure(f"the folder {path} cannot be made ({error.strerror}): choose another with --out") from None
        return RunFolder(path)

    @staticmethod
    def existing(path: Path) -> RunFolder:
        """A folder that holds a run."""
        folder = RunFolder(path)
        if not path.is_dir():
            raise Failure(f"{path}: there is no such run folder")
        if not folder[STATE].exists():
            raise Failure(f"{path} is no run folder: it has no {STATE}. `pellucid train` makes them")
        return folder

    # how far it has come

    def begin(self, settings: TrainSettings, fingerprint: str, *, together: bool = False) -> None:
        """Write down what the run is; what cannot be written is told ahead of the training.

        together: by the processes of `--processes`
        """
        write_atomically(self[CONFIG], settings.toml().encode())
        self.reach(BEGUN, data=fingerprint, together=together)

    def reach(self, stage: str, **more: Any) -> None:
        """Note a stage."""
        state = (self.state() if self[STATE].exists() else {}) | {"format": 1, "stage": stage} | more
        write_atomically(self[STATE], (json.dumps(state, indent=1) + "\n").encode())

    def state(self) -> dict[str, Any]:
        """The stage and what is known of the run."""
        return _json(self[STATE])

    def settings(self) -> TrainSettings:
        return TrainSettings.of(TrainSettings.from_toml(self[CONFIG]))

    def metrics(self) -> dict[str, Any]:
        """Scores; an error where the run has not come so far."""
        if not self[METRICS].exists():
            raise Failure(f"{self.path} has no {METRICS} yet: go on with pellucid train --resume {self.path}")
        return _json(self[METRICS])

    def write_metrics(self, values: dict[str, Any]) -> None:
        text = json.dumps(json_ready(values), indent=1, ensure_ascii=False)
        write_atomically(self[METRICS], f"{text}\n".encode())

    # curves

    def write_histories(self, histories: Sequence[History]) -> None:
        """A line for each epoch of each network."""
        rows = [{"network": place} | row for place, history in enumerate(histories, 1) for row in history.epochs]
        names = list(dict.fromkeys(name for row in rows for name in row)) or ["network", "epoch", "loss"]
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(self[HISTORY], text.getvalue().encode())

    def history(self) -> list[dict[str, float]]:
        """The epochs of the first network: the one that counts most."""
        if not self[HISTORY].exists():
            raise Failure(f"{self.path} has no {HISTORY}: go on with pellucid train --resume {self.path}")
        with open(self[HISTORY], newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row.get("network") == "1"]
        return [{name: float(value) if value else math.nan for name, value in row.items() if name} for row in rows]


def _name_of(data: Sequence[Path]) -> str:
    """What a run is called by: its file, without suffixes, or the folder of its files.

    >>> _name_of([Path("old/houses.csv.gz")]), _name_of([Path("sales/part-0.parquet"), Path("sales/part-1.parquet")])
    ('houses', 'sales')
    """
    if len(data) > 1 and data[0].parent.name:
        return data[0].parent.name
    name = data[0].name
    while Path(name).suffix.lower() in (*PACKINGS, Path(data[0].stem).suffix, data[0].suffix) and Path(name).suffix:
        name = Path(name).stem
    return name or "table"


def _json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise Failure(f"{path} is damaged: it is no JSON") from None
    if not isinstance(values, dict):
        raise Failure(f"{path} is damaged: it holds no object")
    return values


def fingerprint_of(files: Sequence[Path]) -> str:
    """A digest of the bytes of files: the same data, wherever they are. Of large files, of some pieces."""
    whole = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        whole.update(str(size).encode())
        with open(path, "rb") as file:
            for start in range(0, size, max(PIECE, size // PIECES)):
                file.seek(start)
                whole.update(file.read(PIECE))
    return whole.hexdigest()
