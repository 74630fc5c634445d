"""Programs that tests start."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment(**settings: str) -> dict[str, str]:
    """The variables of a child process that imports the package from this checkout."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **settings}
