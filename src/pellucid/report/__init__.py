"""A report of a fitted model in one HTML file that needs no network: `pellucid.report(model, "run.html", X, y)`.

The module is callable: `pellucid.report(...)` is `pellucid.report.write(...)`, and what else is in the room
(`plots`, `Stopwatch`) stands under the same name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from pellucid.report import plots as plots
from pellucid.report.numbers.training import Stopwatch as Stopwatch
from pellucid.report.page import Report as Report
from pellucid.report.page import report as write


class _Room(ModuleType):
    """A module that can be called."""

    def __call__(self, *arguments: Any, **options: Any) -> Report:
        return write(*arguments, **options)


sys.modules[__name__].__class__ = _Room
report = sys.modules[__name__]
"""The room itself, for `from pellucid.report import report`: it writes a report when it is called."""
