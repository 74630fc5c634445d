"""The lowest versions that pyproject.toml allows, and the tests that are run with them: `make test-lowest`.

`python tests/lowest.py versions` prints "name==version" for every requirement of the package and of its tests;
`python tests/lowest.py tests` prints the files to run. A dependency without tests in the table below is an error.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
EXTRAS = ("symbolic", "optuna", "plot", "onnx", "serve", "files", "jax", "dask", "test")
"""Extras that the tests use. Torch (`peers`) and MKL are tried by hand: each is larger than all the others."""

COMPANIONS = {"pyparsing": "3.1.2", "click": "8.2.1"}
"""Packages that ours bring with them, as old as those: newer ones warn of how matplotlib and typer use them, and
warnings are errors in the tests."""

CASES: dict[str, tuple[str, ...]] = {
    "numpy": ("graph/test_primitives.py", "graph/test_numpy_api.py", "engine/test_numpy.py"),
    "scipy": ("graph/test_primitives.py", "estimators/test_parity.py"),  # special functions, L-BFGS
    "llvmlite": ("engine/native/test_program.py", "engine/native/test_cache.py", "train/test_native.py"),
    "rich": ("train/test_progress.py", "test_package.py"),
    "safetensors": ("train/test_files.py", "train/test_config.py"),
    "scikit-learn": (
        "estimators/test_checks.py",
        "estimators/test_parity.py",
        "estimators/test_storage.py",
        "report/test_numbers.py",
        "estimators/ecosystem/test_html.py",
        "importing/test_sklearn.py",
    ),
    "pandas": ("estimators/test_tables.py", "test_datasets.py"),
    "threadpoolctl": ("train/test_native.py", "train/test_side_by_side.py"),
    "platformdirs": ("engine/native/test_cache.py",),
    "narwhals": ("estimators/test_tables.py",),
    "typer": ("cli/test_words.py", "cli/test_train.py"),
    "sympy": ("lab/test_derivatives.py",),
    "optuna": ("estimators/test_tune.py",),
    "matplotlib": ("lab/test_plots.py", "graph/show/test_drawing.py", "report/test_plots.py"),
    "starlette": ("serve/test_predict.py", "serve/test_batch.py"),
    "anyio": ("serve/test_service.py",),
    "uvicorn": ("serve/test_process.py",),
    "httptools": ("serve/test_process.py",),
    "prometheus-client": ("serve/test_service.py",),
    "httpx": ("serve/test_predict.py",),
    "pytest": ("test_package.py",),
    "pytest-xdist": ("test_package.py",),  # runs all of them
    "pytest-cov": ("test_package.py",),  # measures all of them
    "hypothesis": ("train/test_files.py",),
    "mpmath": ("engine/native/test_vectormath.py",),
    "pyarrow": ("data/test_dataset.py", "data/test_arrow_files.py", "train/test_dataset_fit.py"),
    "polars": ("estimators/test_tables.py", "data/test_dataset.py", "data/test_table_files.py", "cli/test_models.py"),
    "zstandard": ("data/test_table_files.py",),
    "tensorboard": ("train/test_tensorboard.py",),
    "onnx": ("importing/test_onnx.py", "export/test_operations.py", "export/test_formats.py"),
    "onnxruntime": ("export/test_operations.py", "export/test_formats.py"),
    "jsonschema": ("export/test_operations.py",),
    "shap": ("estimators/ecosystem/test_explanations.py",),
    "jax": ("engine/jax/test_primitives.py", "train/test_jax.py"),
    "dask": ("dask/test_estimators.py",),
    "openmpi": ("distributed/test_processes.py",),
    "skops": ("estimators/ecosystem/test_files_of_others.py",),
}


def versions() -> dict[str, str]:
    """The lower bound of each requirement, by name."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    optional = project["optional-dependencies"]
    bounds = {}
    for requirement in (*project["dependencies"], *(line for extra in EXTRAS for line in optional[extra])):
        name, bound = re.fullmatch(r"([\w.-]+)(?:\[.*\])?(?:>=([\w.]+))?.*", requirement).groups()
        if name == project["name"]:  # its own extras
            continue
        if bound is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound: write {name}>=version")
        bounds[name] = bound
    return bounds


def tests() -> list[str]:
    """The files to run, each once."""
    names = versions().keys()
    if names != CASES.keys():
        raise SystemExit(f"tests/lowest.py: no tests for, or no need of: {', '.join(sorted(names ^ CASES.keys()))}")
    return sorted({f"tests/{path}" for paths in CASES.values() for path in paths})


if __name__ == "__main__":
    what = sys.argv[1]
    pins = [f"{name}=={version}" for name, version in (versions() | COMPANIONS).items()]
    print("\n".join(pins if what == "versions" else tests()))
