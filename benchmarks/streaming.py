"""Training from files that are larger than memory: rows per second and peak memory, beside the same rows as an array.

    python -m benchmarks.streaming --gb 5 --folder DIR

writes Parquet files of that size to the folder (once), and trains a network for one epoch: from the stream, from an
array of as many of the rows as `--array` gigabytes hold, by PyTorch's DataLoader from the same files, and xgboost by
its external memory; each where it is installed, in a process of its own. It is no part of `make bench`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 30
ROW = 4 * COLUMNS + 8
"""Bytes of a row: floats, and a class."""

GROUP, GROUPS = 1 << 17, 16
"""Rows of a row group, row groups of a file."""

SIZES, BATCH = (128, 64), 512
ROUNDS = 5
"""Trees of xgboost: each is a pass over the rows."""


# data


def write_files(folder: Path, gigabytes: float) -> int:
    """Parquet files of about that size, unless they are there already; how many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    groups = max(1, round(gigabytes * 1e9 / ROW / GROUP))
    for number, first in enumerate(range(0, groups, GROUPS)):
        path = folder / f"part{number:04}.parquet"
        count = min(GROUPS, groups - first)
        if path.exists() and pq.ParquetFile(path).num_row_groups == count:
            continue
        writer = None
        for group in range(first, first + count):
            rng = np.random.default_rng(group)
            X = rng.normal(size=(COLUMNS, GROUP)).astype(np.float32)
            table = pa.table(
                {f"x{place}": column for place, column in enumerate(X)} | {"label": (X[0] * X[1] > 0).astype(np.int64)}
            )
            writer = writer or pq.ParquetWriter(path, table.schema, use_dictionary=False)
            writer.write_table(table, row_group_size=GROUP)
        if writer is not None:
            writer.close()
    for path in sorted(folder.glob("part*.parquet"))[-(-groups // GROUPS) :]:
        path.unlink()
    return groups * GROUP


def read_groups(folder: Path) -> Iterator[tuple[Any, Any]]:
    """X and label of each row group."""
    import pyarrow.parquet as pq

    for path in sorted(folder.glob("part*.parquet")):
        file = pq.ParquetFile(path)
        for number in range(file.num_row_groups):
            table = file.read_row_group(number)
            X = np.stack([table.column(f"x{place}").to_numpy() for place in range(COLUMNS)], axis=1)
            yield X, table.column("label").to_numpy()


# contestants: each gives the seconds of its work and the rows that it saw


def pellucid_stream(folder: Path, gigabytes: float) -> tuple[float, int]:
    from pellucid import data

    files = data.dataset(folder, target="label")
    model().fit(files, steps=20, batch_size=BATCH, verbose=False)  # compiles
    start = time.perf_counter()
    model().fit(files, epochs=1, batch_size=BATCH, verbose=False)
    return time.perf_counter() - start, files.rows or 0


def pellucid_array(folder: Path, gigabytes: float) -> tuple[float, int]:
    most = int(gigabytes * 1e9 / ROW)
    parts: list[tuple[Any, Any]] = []
    for part in read_groups(folder):
        parts.append(part)
        if sum(len(y) for _, y in parts) >= most:
            break
    X, y = (np.concatenate(arrays)[:most] for arrays in zip(*parts, strict=True))
    model().fit(X, y, steps=20, batch_size=BATCH, verbose=False)
    start = time.perf_counter()
    model().fit(X, y, epochs=1, batch_size=BATCH, verbose=False)
    return time.perf_counter() - start, len(y)


def model() -> Any:
    import pellucid as pel
    from pellucid import nn, optim

    return pel.Model(nn.mlp(SIZES, 2), "cross_entropy", optim.Adam(1e-3), engine="native")


def torch_loader(folder: Path, gigabytes: float) -> tuple[float, int]:
    """An IterableDataset that shuffles row groups and rows inside them, one worker, batches of tensors."""
    import torch

    class Files(torch.utils.data.IterableDataset):
        def __iter__(self) -> Iterator[Any]:
            for X, y in read_groups(folder):
                order = np.random.default_rng(0).permutation(len(y))
                for first in range(0, len(y), BATCH):
                    rows = order[first : first + BATCH]
                    yield torch.from_numpy(X[rows]), torch.from_numpy(y[rows])

    sizes = (COLUMNS, *SIZES, 2)
    layers: list[Any] = []
    for before, after in pairwise(sizes):
        layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
    net, loss = torch.nn.Sequential(*layers[:-1]), torch.nn.CrossEntropyLoss()
    rule, rows = torch.optim.Adam(net.parameters(), fused=True), 0
    loader = torch.utils.data.DataLoader(Files(), batch_size=None, num_workers=1, prefetch_factor=8)
    start = time.perf_counter()
    for X, y in loader:
        rule.zero_grad()
        loss(net(X), y).backward()
        rule.step()
        rows += len(y)
    return time.perf_counter() - start, rows


def xgboost_external(folder: Path, gigabytes: float) -> tuple[float, int]:
    """Pages on disk; the rows count once for each tree, and the building of the pages is in the time."""
    import tempfile

    import xgboost

    class Files(xgboost.DataIter):
        def __init__(self, cache: str) -> None:
            self.groups, self.rows = read_groups(folder), 0
            super().__init__(cache_prefix=cache)

        def next(self, input_data: Callable[..., None]) -> bool:
            group = next(self.groups, None)
            if group is None:
                return False
            self.rows += len(group[1])
            input_data(data=group[0], label=group[1])
            return True

        def reset(self) -> None:
            self.groups, self.rows = read_groups(folder), 0

    with tempfile.TemporaryDirectory(dir=folder) as cache:
        start = time.perf_counter()
        files = Files(f"{cache}/pages")
        matrix = xgboost.ExtMemQuantileDMatrix(files, max_bin=256)
        xgboost.train({"objective": "binary:logistic", "tree_method": "hist", "max_depth": 6}, matrix, ROUNDS)
        seconds, rows = time.perf_counter() - start, matrix.num_row()
        del matrix
    return seconds, rows * ROUNDS


CONTESTANTS: dict[str, Callable[[Path, float], tuple[float, int]]] = {
    "Pellucid, stream": pellucid_stream,
    "Pellucid, array": pellucid_array,
    "PyTorch, DataLoader": torch_loader,
    "xgboost, external memory": xgboost_external,
}


def alone(name: str, folder: Path, gigabytes: float) -> dict[str, float] | str:
    """The figures of a contestant in a process of its own, or why there are none."""
    words = [sys.executable, "-m", "benchmarks.streaming", "--folder", str(folder), "--array", str(gigabytes)]
    ended = subprocess.run([*words, "--run", name], capture_output=True, text=True, check=False)
    if ended.returncode:
        return (ended.stderr.strip().splitlines() or ["it ended"])[-1][:100]
    figures: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return figures


def measured(name: str, folder: Path, gigabytes: float) -> dict[str, float]:
    """Of a contestant: memory and processor time are those of the process and of what it started."""
    seconds, rows = CONTESTANTS[name](folder, gigabytes)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peak = sum(one.ru_maxrss for one in used) * (1 if sys.platform == "darwin" else 1024)
    processor = sum(one.ru_utime + one.ru_stime for one in used)
    return {"rows": rows, "seconds": seconds, "speed": rows / seconds, "peak": peak / 1e6, "processor": processor}


def line(figures: dict[str, float] | str) -> str:
    """The figures of a contestant, or why there are none."""
    if isinstance(figures, str):
        return f"not measured: {figures}"
    rows, peak = f"{int(figures['rows']):14,}", f"{figures['peak']:18,.0f}"
    return f"{figures['speed'] / 1e6:15.2f}{figures['processor']:15,.0f}{peak}{rows}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streaming", description=__doc__)
    parser.add_argument("--gb", type=float, default=5.0, help="size of the files")
    parser.add_argument("--folder", type=Path, required=True, help="where they are, or are written")
    parser.add_argument("--array", type=float, default=1.0, help="gigabytes of rows that are trained on as an array")
    parser.add_argument("--only", action="append", choices=list(CONTESTANTS), help="one of the contestants; repeated")
    parser.add_argument("--rounds", type=int, default=1, help="each takes its turn so often")
    parser.add_argument("--run", choices=list(CONTESTANTS), help=argparse.SUPPRESS)
    words = parser.parse_args()
    if words.run:
        print(json.dumps(measured(words.run, words.folder, words.array)))
        return
    rows = write_files(words.folder, words.gb)
    print(
        f"{rows:,} rows of {COLUMNS} numbers and a class, {rows * ROW / 1e9:.1f} GB; a network of {SIZES}, one epoch\n"
    )
    print(f"{'':26}{'million rows/s':>15}{'processor, s':>15}{'peak memory, MB':>18}{'rows':>14}")
    for _ in range(words.rounds):
        for name in words.only or CONTESTANTS:
            print(f"{name:26}{line(alone(name, words.folder, words.array))}", flush=True)


if __name__ == "__main__":
    main()
