"""Warnings of an ensemble's members, said once."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TextIO, TypeVar

from pellucid.notices import notice

T = TypeVar("T")
_GATHERED: ContextVar[list[Warning | str] | None] = ContextVar("pellucid_gathered", default=None)


class _Door:
    """In the place of `warnings.showwarning`: warnings of members go to their ensemble, all others pass.

    `warnings.catch_warnings` is not made for threads: leaving it in another order than entering can lose warnings
    for good. This door may stay open without harm.
    """

    def __init__(self) -> None:
        self.lock, self.users, self.before = threading.Lock(), 0, warnings.showwarning

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        messages = _GATHERED.get()
        if messages is not None:
            messages.append(message)
        else:
            self.before(message, category, filename, lineno, file, line)

    def __enter__(self) -> None:
        with self.lock:
            self.users += 1
            if warnings.showwarning is not self:
                self.before, warnings.showwarning = warnings.showwarning, self

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.users -= 1
            if not self.users and warnings.showwarning is self:
                warnings.showwarning = self.before


_DOOR = _Door()


def gathered_warnings(work: Callable[[], T]) -> T:
    """Do some work. What members warn of in it is said once in the end: the first of each kind, and how many more."""
    messages: list[Warning | str] = []
    context = copy_context()
    context.run(_GATHERED.set, messages)
    with _DOOR:
        result = context.run(work)
    kinds: dict[tuple[type, str], list[Warning | str]] = {}
    for message in messages:
        kinds.setdefault((type(message), str(message).partition(".")[0]), []).append(message)
    for (category, _), alike in kinds.items():
        more = f" {len(alike) - 1} more members say the like." if len(alike) > 1 else ""
        notice(f"A member of the ensemble: {alike[0]}{more}", category)
    return result
