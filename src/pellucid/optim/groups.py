"""Parameter groups: factors for rate and decay by name pattern."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from pellucid.named_arrays import On, matches
from pellucid.optim.checks import check_amounts


@dataclass(frozen=True)
class Group:
    """Parameters whose rate and decay are multiplied by factors. Factors of several groups that match are multiplied.

    The decay of a parameter is lr · its lr factor · rate · its decay factor.

    Parameters
    ----------
    on : On
        names of parameters, with * for anything
    lr : float
        factor of the rate
    decay : float
        factor of the decay

    Examples
    --------
    >>> Group("*.bias", lr=0.1, decay=0.0)
    Group(on='*.bias', lr=0.1, decay=0.0)
    """

    on: On
    lr: float = 1.0
    decay: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.on, str):
            object.__setattr__(self, "on", tuple(self.on))
        check_amounts(self, "lr", "decay")


def factors(name: str, groups: tuple[Group, ...]) -> Group:
    """The factors of one parameter.

    >>> factors("out.bias", (Group("*.bias", lr=0.5), Group("out.*", lr=0.5), Group("hidden.*", decay=0.0)))
    Group(on='out.bias', lr=0.25, decay=1.0)
    """
    mine = [group for group in groups if matches(name, group.on)]
    return Group(name, prod((g.lr for g in mine), start=1.0), prod((g.decay for g in mine), start=1.0))
