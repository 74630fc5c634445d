"""A table of numbers, classes and weights, written to files in every form that is read."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

ROWS = 5000


def table(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 4))
    return pd.DataFrame(
        {
            "a": X[:, 0],
            "b": X[:, 1].astype(np.float32),
            "c": rng.integers(0, 9, rows),
            "d": X[:, 3] > 0,
            "label": (X[:, 0] * X[:, 1] > 0).astype(int),
            "number": np.arange(rows, dtype=float),
            "weight": rng.uniform(0.5, 2.0, rows),
        }
    )


def write(folder: Path, kind: str, frame: pd.DataFrame, files: int = 3) -> str:
    """The table in several files; the glob that finds them."""
    for place, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        part = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        path = str(folder / f"part{place}.{kind}")
        if kind == "parquet":
            pyarrow.parquet.write_table(part, path, row_group_size=400)
        elif kind == "feather":
            pyarrow.feather.write_feather(part, path, chunksize=300)
        elif kind == "tsv":
            pyarrow.csv.write_csv(part, path, pyarrow.csv.WriteOptions(delimiter="\t"))
        else:  # by its ending, compressed or not
            with pa.output_stream(path, compression="detect") as stream:
                pyarrow.csv.write_csv(part, stream)
    return str(folder / f"*.{kind}")
