"""What a case is: a broken one with its codes, its healthy twin and a quantity that must come back; a healthy one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.inspect.zoo.training import Trained

CODES = (
    "input-scale",
    "input-constant",
    "input-duplicate",
    "input-nan",
    "target-domain",
    "target-scale",
    "loss-output-mismatch",
    "wrong-metric",
    "missing-activation",
    "saturated-units",
    "dead-units",
    "vanishing-gradient",
    "exploding-gradient",
    "symmetric-units",
    "not-zero-centred",
    "rate-too-high",
    "rate-too-low",
    "too-few-epochs",
    "plateau",
    "batch-too-large",
    "batch-too-small",
    "capacity-too-small",
    "overfitting",
    "class-imbalance",
    "dropout-too-high",
    "penalty-too-strong",
    "stale-statistics",
    "label-noise",
    "leak-suspected",
    "useless-layer",
)
SEVERITIES = ("note", "warning", "error")


@dataclass(frozen=True)
class Quantity:
    """A number measured on a trained model, and the range in which it is healthy."""

    name: str
    measure: Callable[[Trained], float]
    low: float
    high: float

    def healthy(self, trained: Trained) -> bool:
        """Is it in its range? NaN is not."""
        return self.low <= self.measure(trained) <= self.high


@dataclass(frozen=True)
class Broken:
    """A configuration with one fault, and the same one without.

    `codes` are the right ones, the cause first. `training` says that the fault is one of training, so that validation
    rows must be predicted better once it is mended. Thresholds may be chosen on half "a"; half "b" is only reported.
    """

    name: str
    codes: tuple[str, ...]
    half: str
    make: Callable[[], Trained]
    twin: Callable[[], Trained]
    quantity: Quantity
    severity: str = "warning"
    training: bool = True

    def __post_init__(self) -> None:
        unknown = set(self.codes) - set(CODES)
        if unknown or self.half not in ("a", "b") or self.severity not in SEVERITIES:
            raise ValueError(f"{self.name}: {unknown or self.half or self.severity}")


@dataclass(frozen=True)
class Healthy:
    """A configuration with no fault. `trap` says what a rule of thumb might take for one."""

    name: str
    half: str
    make: Callable[[], Trained]
    trap: str = ""
    margin: float = 0.06  # how far below scikit-learn's model its score may be


RUNS: dict[int, tuple[Callable[[], Trained], Trained]] = {}
"""What has been trained in this process, by the identity of what made it."""


def once(make: Callable[[], Trained]) -> Callable[[], Trained]:
    """The same trained model for every test that asks, and for every case that is a change of the same setup."""

    def trained() -> Trained:
        if id(make) not in RUNS:
            RUNS[id(make)] = make, make()
        return RUNS[id(make)][1]

    return trained
