"""What a diagnosis is made of: findings, best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.codes import CODES
from pellucid.lookup import look_up
from pellucid.train import Model

SEVERITIES = ("note", "warning", "error")

Measured = Mapping[str, float | int | str]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or could be better.

    Parameters
    ----------
    code : str
        one of `CODES`
    severity : str
        "note" (good to know), "warning" (it costs) or "error" (nothing can come of it)
    measured : Measured
        the numbers, by name
    means : str
        two sentences on what that does
    remedy : str
        a change, as code
    layer : str | None
        where; None where it is no layer
    column : str | None
        where; None where it is no column
    repair : Callable[[], Model] | None
        returns a new model with that change, with fresh parameters or mended; None where it cannot be done without
        asking
    figure : Callable[[Any], Any] | None
        `figure(ax)` draws the numbers
    explains : tuple[str, ...]
        codes of symptoms that this fault has
    weight : float
        how much it costs, in units of the loss of chance

    Examples
    --------
    >>> finding = Finding("rate-too-high", "warning", {"lr": 3.0}, remedy="optim.SGD(0.1)")
    >>> print(finding)
    rate-too-high (warning): lr 3. Steps are longer than the valley is wide. The loss jumps from wall to wall, stays high or diverges, though a smaller rate goes down from here. Remedy: optim.SGD(0.1)
    """  # noqa: E501

    code: str
    severity: str
    measured: Measured
    means: str = ""
    remedy: str = ""
    layer: str | None = None
    column: str | None = None
    repair: Callable[[], Model] | None = field(default=None, compare=False)
    figure: Callable[[Any], Any] | None = field(default=None, compare=False)
    explains: tuple[str, ...] = ()
    weight: float = field(default=0.0, repr=False, compare=False)  # how much it costs, in units of the loss of chance

    def __post_init__(self) -> None:
        known = look_up("code of a finding", self.code.replace("-", "_"), _BY_NAME)
        if self.severity not in SEVERITIES:
            raise ValueError(f"Finding: severity is one of {', '.join(SEVERITIES)}, got {self.severity!r}")
        if not self.means:
            object.__setattr__(self, "means", CODES[known].means)

    @property
    def where(self) -> str:
        """The layer or the column, in words; "" where it is neither."""
        if self.layer is not None:
            return f"layer {self.layer}"
        return "" if self.column is None else f"column {self.column}"

    def __str__(self) -> str:
        return views.line(self)

    def _repr_html_(self) -> str:
        return views.html([self], "")


_BY_NAME = {code.replace("-", "_"): code for code in CODES}


class Diagnosis(Sequence[Finding]):
    """Findings, the most likely cause first. Print it, or let a notebook show it.

    Parameters
    ----------
    findings : Iterable[Finding]
        those that were made
    about : str
        the network they are about, in words

    Examples
    --------
    >>> diagnosis = Diagnosis([Finding("rate-too-high", "warning", {"lr": 3.0})])
    >>> diagnosis.codes, diagnosis.severity, bool(Diagnosis([]))
    (('rate-too-high',), 'warning', False)
    """

    def __init__(self, findings: Iterable[Finding], about: str = "") -> None:
        self.findings = tuple(findings)
        self.about = about  # what was looked at, in a line

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings, in their order."""
        return tuple(finding.code for finding in self.findings)

    @property
    def severity(self) -> str | None:
        """The worst severity; None where nothing was found."""
        return max((finding.severity for finding in self.findings), key=SEVERITIES.index, default=None)

    def worse_than(self, severity: str) -> tuple[Finding, ...]:
        """The findings above a severity.

        Parameters
        ----------
        severity : str
            "note" gives warnings and errors

        Returns
        -------
        tuple of Finding
            in their order
        """
        if severity not in SEVERITIES:
            raise ValueError(f"severity is one of {', '.join(SEVERITIES)}, got {severity!r}")
        limit = SEVERITIES.index(severity)
        return tuple(finding for finding in self.findings if SEVERITIES.index(finding.severity) > limit)

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, which: int) -> Finding: ...
    @overload
    def __getitem__(self, which: slice) -> tuple[Finding, ...]: ...
    @overload
    def __getitem__(self, which: str) -> Finding: ...
    def __getitem__(self, which: int | slice | str) -> Finding | tuple[Finding, ...]:
        """By place, or the first finding with a code: `diagnosis["dead-units"]`."""
        if isinstance(which, str):
            for finding in self.findings:
                if finding.code == which:
                    return finding
            raise KeyError(f"there is no finding {which!r}: there are {', '.join(self.codes) or 'none'}")
        return self.findings[which]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __contains__(self, what: object) -> bool:
        return what in self.codes if isinstance(what, str) else what in self.findings

    def __str__(self) -> str:
        return views.text(self.findings, self.about)

    def __repr__(self) -> str:
        return f"<Diagnosis: {', '.join(self.codes) or 'nothing found'}; print it for the words>"

    def _repr_html_(self) -> str:
        return views.html(self.findings, self.about)
