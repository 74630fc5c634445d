"""Exported models: sizes of the files, and seconds of a processor for a row, in C and in onnxruntime.

    python -m benchmarks.exported --data DIR

trains a table estimator on each of some tables in the folder (NAME.csv.xz), exports it, compiles the C file with gcc,
and prints a table in Markdown: the one of docs/export.md. It is no part of `make bench`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

TARGETS = {
    "titanic": "Survived",
    "iris": "target",
    "ames_housing": "price",
    "california_housing": "median_house_value",
}
ROWS = 3000
REPEATED = 5
"""Measurements, of which the shortest counts."""

DRIVER = """
#include <stdio.h>
#include <time.h>
#include "{file}"
int main(void) {{
    {row}
    float out[{outputs}];
    volatile float sink = 0.0f;
    double best = 1e9;
    for (int round = 0; round < {rounds}; round++) {{
        clock_t begin = clock();
        for (int k = 0; k < 2000; k++) {{ {name}_predict(&row, out); sink += out[0]; }}
        double spent = (double)(clock() - begin) / CLOCKS_PER_SEC / 2000;
        if (spent < best) best = spent;
    }}
    printf("%.9f\\n", best);
    return 0;
}}
"""


def measured(name: str, target: str, data: Path, folder: Path) -> list[str]:
    """The line of a table: weights, sizes of files, stack in C, times of a row."""
    from pellucid import TabularMLPClassifier, TabularMLPRegressor, export

    frame = pd.read_csv(data / f"{name}.csv.xz").dropna(subset=[target])
    frame = frame.sample(min(len(frame), ROWS), random_state=0)
    classes = frame[target].nunique() < 20
    kind = TabularMLPClassifier if classes else TabularMLPRegressor
    X, y = frame.drop(columns=target), frame[target]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(folds=1, max_iter=4, random_state=0).fit(X, y)
    weights = sum(array.size for each in model.fitted.networks for array in each.model.params.values())
    sizes = {}
    for form, suffix in (("onnx", "onnx"), ("c", "c"), ("json", "json"), ("numpy", "py")):
        path = folder / f"{name}.{suffix}"
        export.write(model, path, to=form)
        sizes[form] = path.stat().st_size
    text = (folder / f"{name}.c").read_text()
    stack = re.search(r"on the stack, (\d+) bytes", text)
    values = list(model.preprocessor_.typical_row().values())
    times = [_in_c(folder, name, values, flags) for flags in (["-O2"], ["-O3", "-march=native"])]
    subprocess.run(["gcc", "-std=c99", "-O2", "-c", f"{name}.c", "-o", f"{name}.o"], cwd=folder, check=True)
    compiled = (folder / f"{name}.o").stat().st_size
    many, one = _in_onnxruntime(folder / f"{name}.onnx", model, X)
    return [
        name,
        f"{weights:,}",
        _megabytes(sizes["onnx"]),
        f"{_megabytes(sizes['c'])}, {_megabytes(compiled)}",
        _megabytes(sizes["json"]),
        _megabytes(sizes["numpy"]),
        "" if stack is None else f"{int(stack[1]) / 1000:.0f} kB",
        *(f"{1e6 * seconds:.0f} µs" for seconds in (*times, many, one)),
    ]


def _in_c(folder: Path, name: str, values: list[object], flags: list[str]) -> float:
    """Seconds for a row of these values."""
    literals = [f"{value:.6g}" if isinstance(value, float) else json.dumps(str(value)) for value in values]
    row = f"{name}_row row = {{ {', '.join(literals)} }};"
    driver = DRIVER.format(file=f"{name}.c", row=row, outputs=f"{name.upper()}_OUTPUTS", name=name, rounds=REPEATED)
    (folder / "driver.c").write_text(driver)
    subprocess.run(["gcc", "-std=c99", *flags, "driver.c", "-o", "driver", "-lm"], cwd=folder, check=True)
    return float(subprocess.run([folder / "driver"], capture_output=True, text=True, check=True).stdout)


def _in_onnxruntime(path: Path, model: Any, X: pd.DataFrame) -> tuple[float, float]:
    """Seconds of one thread for a row of many, and for one row alone."""
    import onnxruntime

    from pellucid.export import inputs

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    many, one = inputs(model, X), inputs(model, X[:1])
    return _shortest(lambda: session.run(None, many), 5) / len(X), _shortest(lambda: session.run(None, one), 200)


def _shortest(work: Callable[[], object], times: int) -> float:
    spent = []
    for _ in range(REPEATED):
        begin = time.process_time()
        for _ in range(times):
            work()
        spent.append((time.process_time() - begin) / times)
    return min(spent)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with NAME.csv.xz")
    data: Path = parser.parse_args().data
    head = ["table", "weights", "ONNX file", "C file, compiled", "JSON", "script", "stack in C", "C, `-O2`"]
    head += ["C, `-O3 -march=native`", "ONNX, many rows", "ONNX, one row"]
    print(f"| {' | '.join(head)} |\n| {' | '.join('---' for _ in head)} |")
    with tempfile.TemporaryDirectory() as folder:
        for name, target in TARGETS.items():
            print(f"| {' | '.join(measured(name, target, data, Path(folder)))} |", flush=True)


if __name__ == "__main__":
    main()
