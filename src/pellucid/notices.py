"""Warnings that point at the user's own line, however deep in the package they are given."""

from __future__ import annotations

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def notice(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn, at the first line outside of the package that led here."""
    level, frame = 1, sys._getframe(0)  # noqa: SLF001
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, category, stacklevel=level)
