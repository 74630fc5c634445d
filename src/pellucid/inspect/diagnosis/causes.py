"""Causes before symptoms: one fault is one finding, with the symptoms that it explains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pellucid.inspect.diagnosis.codes import CODES
from pellucid.inspect.diagnosis.finding import SEVERITIES, Finding

SLOW = ("rate-too-low", "too-few-epochs", "plateau", "capacity-too-small", "batch-too-large")
"""What a network looks like that hardly learns, whatever the reason."""

WILD = ("rate-too-high", "batch-too-small", "plateau", "capacity-too-small", "stale-statistics")
"""What it looks like if steps do not fit."""

SIGNALS = ("vanishing-gradient", "exploding-gradient", "saturated-units", "dead-units", "not-zero-centred")
"""What layers show if what goes into them, or their weights, have a wrong size."""

EXPLAINS: dict[str, tuple[str, ...]] = {
    "input-nan": (*SLOW, *WILD, *SIGNALS),
    "target-domain": (*SLOW, *WILD, *SIGNALS),
    "loss-output-mismatch": (*SLOW, *WILD, *SIGNALS, "useless-layer", "target-scale"),
    "input-scale": (*SLOW, *WILD, *SIGNALS, "useless-layer", "overfitting"),
    "target-scale": (*SLOW, *WILD, *SIGNALS, "useless-layer", "penalty-too-strong"),
    "symmetric-units": (*SLOW, *SIGNALS, "useless-layer"),
    "missing-activation": ("capacity-too-small", "plateau", "useless-layer"),
    "exploding-gradient": (*WILD, "saturated-units", "dead-units", "overfitting", "too-few-epochs"),
    "vanishing-gradient": (*SLOW, "saturated-units", "useless-layer", "not-zero-centred"),
    "saturated-units": (*SLOW, *WILD, "vanishing-gradient", "exploding-gradient", "useless-layer", "overfitting"),
    "dead-units": (*SLOW, "vanishing-gradient", "useless-layer"),
    "not-zero-centred": (*SLOW, *WILD, "vanishing-gradient", "saturated-units", "dead-units"),
    "rate-too-high": (
        "plateau",
        "capacity-too-small",
        "saturated-units",
        "exploding-gradient",
        "useless-layer",
        "stale-statistics",
    ),
    "batch-too-small": ("rate-too-high", "plateau", "capacity-too-small", "stale-statistics"),
    "batch-too-large": ("too-few-epochs", "rate-too-low", "plateau", "capacity-too-small"),
    "dropout-too-high": (*SLOW, "rate-too-high"),
    "penalty-too-strong": (*SLOW, "vanishing-gradient", "dead-units", "rate-too-high"),
    "rate-too-low": ("too-few-epochs", "plateau", "capacity-too-small"),
    "too-few-epochs": ("plateau", "capacity-too-small", "stale-statistics"),
    "capacity-too-small": ("plateau",),
    "leak-suspected": ("overfitting",),
    "label-noise": ("overfitting",),
}
"""Which symptoms a fault has. A finding that is only a note explains nothing, and is explained by nothing."""


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Roots first: a finding that another one explains becomes part of that one's evidence.

    What a check has measured to be a symptom (`explains` of its finding) goes before what faults usually explain.
    """
    everything = sorted(promoted(list(findings)), key=_place)
    told = {code for finding in everything for code in finding.explains}
    roots: list[Finding] = []
    for finding in everything:
        if finding.code in told:
            continue
        place = next((i for i, root in enumerate(roots) if _explains(root, finding)), None)
        if place is None:
            present = tuple(code for code in finding.explains if any(one.code == code for one in everything))
            roots.append(replace(finding, explains=present))
        else:
            root = roots[place]
            roots[place] = replace(root, explains=tuple(dict.fromkeys((*root.explains, finding.code))))
    return tuple(sorted(roots, key=_place))


SIZES = ("input-scale", "not-zero-centred")
DAMAGE = ("saturated-units", "dead-units", "exploding-gradient", "vanishing-gradient")


def promoted(findings: list[Finding]) -> list[Finding]:
    """Inputs of an odd size that would be good to know are the cause where units are closed from the start."""
    damaged = any(one.code in DAMAGE and one.severity != "note" and one.measured.get(FROM_START) for one in findings)
    if not damaged:
        return findings
    return [
        replace(one, severity="warning") if one.code in SIZES and one.column is not None else one for one in findings
    ]


FROM_START = "at the start"
"""What checks of units call the share that is closed before the first step."""


def _explains(root: Finding, other: Finding) -> bool:
    return root.severity != "note" and other.code in EXPLAINS.get(root.code, ())


def _place(finding: Finding) -> tuple[int, float]:
    """Errors and warnings ahead of notes; among them what is nearer to the cause."""
    rank = float(CODES[finding.code].rank)
    if str(finding.measured.get("cause", "")).startswith("steps"):  # what a rate has done comes behind the rate
        rank = CODES["rate-too-high"].rank + 0.5
    return (0 if finding.severity != SEVERITIES[0] else 1, rank)
