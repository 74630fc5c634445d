"""What was measured: one line for a table, a seed and a contestant, kept in a file that a later run goes on with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

Key = tuple[str, int, str]


@dataclass(frozen=True)
class Record:
    """A fit and its test.

    error: share of wrong classes, or RMSE over the deviation of the target; log_loss: None for numbers;
    calibration: the expected calibration error, `expected`: the 95 % quantile of what labels drawn from the
    predictions would give; seconds: of the fit on the wall; work: seconds of all cores.
    """

    table: str
    seed: int
    contestant: str
    rows: int
    columns: int
    tests: int
    classes: int
    error: float
    log_loss: float | None
    calibration: float | None
    expected: float | None
    seconds: float
    work: float
    load: float

    @property
    def key(self) -> Key:
        return self.table, self.seed, self.contestant


def read(path: Path) -> dict[Key, Record]:
    """All of a file; a later line stands for an earlier one of the same key."""
    return {record.key: record for record in _lines(path)} if path.exists() else {}


def _lines(path: Path) -> Iterator[Record]:
    for line in path.read_text().splitlines():
        with suppress(json.JSONDecodeError):  # of a line that was being written when the run was ended
            yield Record(**json.loads(line))


def keep(path: Path, records: Iterable[Record]) -> None:
    """A file of them, in the order of tables, contestants and seeds."""
    lines = [json.dumps(asdict(each)) for each in sorted(records, key=lambda r: (r.table, r.contestant, r.seed))]
    path.write_text("\n".join(lines) + "\n")


def add(path: Path, record: Record) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a") as file:
        file.write("\n" * torn + json.dumps(asdict(record)) + "\n")
