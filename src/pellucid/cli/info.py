"""`pellucid info`: this installation and this machine, or what a model's file says about itself."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from pellucid.cli.failures import one_line_errors
from pellucid.cli.screen import Debug, Json, Quiet, Screen

PACKAGES = ("numpy", "scipy", "scikit-learn", "llvmlite", "pandas", "polars", "narwhals", "safetensors")
EXTRAS = ("matplotlib", "sympy", "optuna", "mkl", "starlette", "uvicorn", "onnx", "onnxruntime", "pyarrow")


@one_line_errors
def info(
    model: Annotated[Path | None, typer.Argument(help="A model's file, to say what is in it.")] = None,
    empty_cache: Annotated[bool, typer.Option("--empty-cache", help="Delete the compiled kernels.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Tell versions, processor, threads and kernels; or what a model's file holds.

    Examples:

    pellucid info

    pellucid info model.pel

    pellucid info --empty-cache
    """
    screen = Screen(as_json=json, quiet=quiet)
    if model is not None:
        from pellucid.loading import describe

        about = describe(model)
        _show(screen, about.lines())
        screen.result(about.to_dict())
        return
    if empty_cache:
        from pellucid.engine.kernel_folder import empty

        screen.say(f"emptied: {_bytes(empty())} freed. Kernels are compiled again when they are needed.")
    facts = collect()
    _show(screen, _lines(facts))
    screen.result(facts)


def collect() -> dict[str, Any]:
    """All facts as plain data."""
    from pellucid import __version__
    from pellucid.engine.kernel_folder import kernel_folder
    from pellucid.engine.native.code.llvm.loader import processor_name
    from pellucid.engine.native.runtime.blas import library
    from pellucid.processors import default_threads, usable

    used = library()
    folder = {name: str(v) if isinstance(v, Path) else v for name, v in asdict(kernel_folder()).items()}
    return {
        "pellucid": __version__,
        "location": str(Path(__file__).parents[1]),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": _versions(PACKAGES),
        "extras": _versions(EXTRAS),
        "processor": _model_name() or platform.processor(),
        "compiled_for": processor_name(),
        "processors": usable(),
        "threads": default_threads(),
        "products": "our own" if used is None else used.name,
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith("PELLUCID_")},
        "kernels": folder,
    }


def _lines(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    kernels = facts["kernels"]
    yield "pellucid", f"{facts['pellucid']} ({facts['location']})"
    yield "python", f"{facts['python']}, {facts['platform']}"
    for name in ("packages", "extras"):
        yield name, ", ".join(f"{package} {number}" for package, number in facts[name].items()) or "none"
    yield "processor", f"{facts['processor']}; kernels are compiled for {facts['compiled_for']}"
    plural = "processors" if facts["processors"] > 1 else "processor"
    yield "threads", f"{facts['threads']} ({facts['processors']} {plural} to use); PELLUCID_THREADS sets another number"
    yield "products", facts["products"]
    for name, value in facts["settings"].items():
        yield name, value
    if kernels["path"] is None:
        yield "kernels", "cannot be kept: set PELLUCID_CACHE_DIR to an absolute path of a folder of your own"
        return
    yield "kernels", f"{kernels['kernels']} for this version, {_bytes(kernels['size'])}, in {kernels['present']}"
    yield "", f"of other versions {_bytes(kernels['older'])}"
    yield "", "to empty: pellucid info --empty-cache; to compile the usual ones: pellucid warmup"


def _show(screen: Screen, lines: Iterable[tuple[str, str]]) -> None:
    """Names in a column, what there is to say beside it, wrapped to the terminal; in pipes as it is."""
    pairs = list(lines)
    if not screen.console.is_terminal:
        width = max(len(name) for name, _ in pairs)
        for name, text in pairs:
            screen.say(f"{name:<{width}}  {text}", wrap=False)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in pairs:
        table.add_row(Text(name), Text(text))
    screen.say(table)


def _versions(names: tuple[str, ...]) -> dict[str, str]:
    versions = {}
    for name in names:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _model_name() -> str:
    """What the processor calls itself; Linux tells."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return ""


def _bytes(number: int) -> str:
    return f"{number / 1e6:.1f} MB"
