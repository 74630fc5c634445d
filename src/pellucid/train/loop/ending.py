"""How a run ended: of which kind the end was, and why, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.records import Kind
from pellucid.train.files.container import TEXT, among, entry

INTERRUPTED = "interrupted by the user (Ctrl-C)"


class EndingKind(Kind):
    """What ended a run; the values are the words in files."""

    EPOCHS = "epochs"  # all epochs done
    STEPS = "steps"  # all steps (or iterations) done
    TIME = "time"  # the time was over
    CALLBACK = "callback"  # a callback asked for it
    INTERRUPTED = "interrupted"  # Ctrl-C
    DIVERGED = "diverged"  # a loss or gradient that is not finite
    CONVERGED = "converged"  # a method that can tell found a minimum
    FAILED = "failed"  # an error, or a method that gave up


@dataclass(frozen=True)
class Ending:
    """The end of a run.

    Parameters
    ----------
    kind : EndingKind
        for programs
    text : str
        for people

    Examples
    --------
    >>> ending = Ending(EndingKind.CALLBACK, "val_loss has not improved for 10 epochs")
    >>> ending.kind is EndingKind.CALLBACK, ending.complete
    (True, False)
    """

    kind: EndingKind
    text: str

    @property
    def complete(self) -> bool:
        """Was all done that was asked for?"""
        return self.kind in (EndingKind.EPOCHS, EndingKind.STEPS)

    @property
    def limited(self) -> bool:
        """Was it one of the limits of the call, which the next call may raise?"""
        return self.complete or self.kind is EndingKind.TIME


def described(ending: Ending | None) -> dict[str, Any]:
    """As plain data, for a file."""
    if ending is None:
        return {"ending": None, "stopped": ""}
    return {"ending": ending.kind.value, "stopped": ending.text}


def restored(data: Any, path: Any) -> Ending | None:
    """The ending that `described` described. Files of older versions have only the text."""
    text = entry(data, "stopped", TEXT, path)
    kind = entry(data, "ending", among(None, *(kind.value for kind in EndingKind)), path, default=None)
    if kind is None or not text:
        return ending_of_text(text)
    return Ending(EndingKind(kind), text)


TEXTS = {
    "all ": EndingKind.STEPS,
    "the time ": EndingKind.TIME,
    "interrupted": EndingKind.INTERRUPTED,
    "training diverged": EndingKind.DIVERGED,
    "an error: ": EndingKind.FAILED,
    "CONVERGENCE": EndingKind.CONVERGED,
    "STOP: ": EndingKind.STEPS,
    "ABNORMAL": EndingKind.FAILED,
}
"""How the texts of older versions begin, the loop's and those of SciPy's L-BFGS; with other words a callback spoke."""


def ending_of_text(text: str) -> Ending | None:
    """The ending of which only the words are known; None where there are none.

    >>> ending_of_text("the time of 3 s is over").kind
    <EndingKind.TIME: 'time'>
    """
    if not text:
        return None
    kind = next((kind for start, kind in TEXTS.items() if text.startswith(start)), EndingKind.CALLBACK)
    return Ending(EndingKind.EPOCHS if text.startswith("all ") and text.endswith("epochs done") else kind, text)
