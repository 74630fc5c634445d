"""How well `inspect.diagnose` does on the cases: what it reports of each, and the shares that count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pellucid import inspect
from tests.inspect.zoo.records import SEVERITIES, Broken, Healthy
from tests.inspect.zoo.training import Trained


@dataclass(frozen=True)
class Outcome:
    """What was reported of a case: (code, severity), best first. `codes` are the right ones, none for healthy cases."""

    name: str
    half: str
    codes: tuple[str, ...]
    severity: str
    findings: tuple[tuple[str, str], ...]

    @property
    def detected(self) -> bool:
        """Is anything reported, as serious as the fault at least?"""
        return any(at_least(severity, self.severity) for _, severity in self.findings)

    def right(self, first: int) -> bool:
        """Is a right code, as serious as the fault at least, among the first findings?"""
        return any(code in self.codes and at_least(severity, self.severity) for code, severity in self.findings[:first])

    @property
    def alarm(self) -> bool:
        """Is anything reported above a note?"""
        return any(severity != "note" for _, severity in self.findings)

    @property
    def first(self) -> str:
        """The code of the first finding that counts; "" where there is none."""
        return next((code for code, severity in self.findings if at_least(severity, self.severity)), "")


def at_least(severity: str, other: str) -> bool:
    """Is one severity as high as another?"""
    return SEVERITIES.index(severity) >= SEVERITIES.index(other)


DIAGNOSES: dict[int, tuple[Trained, Any]] = {}
"""What has been said in this process, by the identity of the training."""


def diagnosis(trained: Trained) -> Any:
    """What the diagnosis says of a training; asked once."""
    if id(trained) not in DIAGNOSES:
        told = inspect.diagnose(
            trained.model, trained.X, trained.y, history=trained.history, validation=trained.validation
        )
        DIAGNOSES[id(trained)] = trained, told
    return DIAGNOSES[id(trained)][1]


def outcome(case: Broken | Healthy) -> Outcome:
    """What is reported of a case."""
    findings = tuple((finding.code, finding.severity) for finding in diagnosis(case.make()))
    if isinstance(case, Healthy):
        return Outcome(case.name, case.half, (), "warning", findings)
    return Outcome(case.name, case.half, case.codes, case.severity, findings)


def outcomes(cases: Iterable[Broken | Healthy]) -> tuple[Outcome, ...]:
    """Of all cases."""
    return tuple(outcome(case) for case in cases)


def share(marks: Sequence[bool]) -> float:
    """The share that is true."""
    return sum(marks) / max(len(marks), 1)


def of_half(results: Sequence[Outcome], half: str) -> tuple[Outcome, ...]:
    """The outcomes of one half; of both, if none is named."""
    return tuple(result for result in results if half in ("", result.half))
