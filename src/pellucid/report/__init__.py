"""A report of a fitted model in one HTML file that needs no network: `pellucid.report(model, "run.html", X, y)`.

The module is callable: `pellucid.report(...)` writes a report, and what else is in the room (`plots`, `Stopwatch`)
stands under the same name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pellucid.report import plots as plots
from pellucid.report.numbers.training import Stopwatch as Stopwatch
from pellucid.report.page import Report as Report
from pellucid.report.page import report as write

if TYPE_CHECKING:  # a module that can be called is nothing that type checkers know
    from pellucid.report.page import report as report
else:

    class _Room(ModuleType):
        """A module that can be called."""

        def __call__(self, *arguments: Any, **options: Any) -> Report:
            return write(*arguments, **options)

    sys.modules[__name__].__class__ = _Room
    report = sys.modules[__name__]
