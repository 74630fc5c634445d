"""How long `import` takes, each in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.timing import Result


def measure_imports(repeats: int = 11) -> Result:
    """Interleaved. Ours includes NumPy's own."""
    names = ("pellucid", "numpy", "sklearn.neural_network", "torch", "jax")
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(repeats):
        for name in names:
            code = f"import time; t = time.perf_counter(); import {name}; print(time.perf_counter() - t)"
            printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
            times[name].append(float(printed))
    return Result("import", times)
