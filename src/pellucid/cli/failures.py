"""What goes wrong, told in one line with what to do; and the exit code that says so."""

from __future__ import annotations

import errno
import functools
import json
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec

import typer

from pellucid.errors import PellucidError

P = ParamSpec("P")

BAD_INPUT = 2
UNEXPECTED = 1
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)
WrongWords: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for words and options that it does not understand: click's `UsageError`, or a copy of it."""


class Failure(Exception):
    """Something that the user can mend; its text says how."""


class Interrupted(Exception):
    """A signal ended the command; its number, and what was saved."""

    def __init__(self, number: int, said: str = "nothing was saved") -> None:
        super().__init__(said)
        self.signal = number


def one_line_errors(command: Callable[P, None]) -> Callable[P, None]:
    """A command whose errors are one line and an exit code; with `debug` they are errors, with `json` an object.

    2 is for what the user can mend, 130 and 143 for SIGINT and SIGTERM, 1 for what nobody expected.
    """

    @functools.wraps(command)
    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        as_json = bool(kwargs.get("json"))
        try:
            command(*args, **kwargs)
        except typer.Exit:
            raise
        except BrokenPipeError:  # whoever read the output has had enough
            sys.stderr.close()
            raise typer.Exit(0) from None
        except (Interrupted, KeyboardInterrupt) as stop:
            number = stop.signal if isinstance(stop, Interrupted) else signal.SIGINT
            end(f"interrupted: {stop or 'nothing was saved'}", 128 + number, as_json=as_json)
        except Exception as error:
            if kwargs.get("debug"):
                raise
            end(*_words(error), as_json=as_json)

    return call


def is_full(error: BaseException | None) -> bool:
    """Did a full disk, or a limit of files, cause it?"""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        error = error.__cause__
    return False


def _words(error: Exception) -> tuple[str, int]:
    """What to say of an error, and the exit code."""
    if is_full(error):
        return f"there is no room left ({_one_line(error)}): free some, or choose another folder with --out", BAD_INPUT
    if isinstance(error, OSError) and error.errno in REFUSED:
        return f"{error.filename} may not be written or read by you: choose another place with --out", BAD_INPUT
    if isinstance(error, MemoryError):
        return "the table is too large for this machine's memory: take fewer rows or columns (--drop)", BAD_INPUT
    if isinstance(error, Failure | PellucidError | ValueError | TypeError | ImportError | OSError):
        return _one_line(error), BAD_INPUT
    return f"{type(error).__name__}: {_one_line(error)}. Nobody expected this: --debug shows where it was", UNEXPECTED


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def end(text: str, code: int = BAD_INPUT, *, as_json: bool = False) -> NoReturn:
    """Say why, in one line, and end the command."""
    if as_json:
        print(json.dumps({"error": text, "exit_code": code}))
    sys.stderr.write(f"pellucid: {text}\n")
    raise typer.Exit(code) from None


def needs(package: str, extra: str, why: str) -> Any:
    """A package that is not always there; where it is not, how to get it."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise Failure(f"{why} needs {package}, which is not installed: pip install 'pellucid[{extra}]'") from None
