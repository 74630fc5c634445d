"""What a run makes its steps with: one protocol, whatever computes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pellucid.train.loop.step import Snapshot

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run


@dataclass(frozen=True)
class Mark:
    """A place in a run to which it can go back. Without a snapshot the steps find the state again."""

    epoch: int
    step: int
    batch: int
    now: Snapshot | None


class Steps(Protocol):
    """The steps of a run, and the state that they change: parameters, statistics, rule state.

    The run has the position (epoch, step, batch) and what was measured; the steps bring it up to date by `run.note`.
    """

    @property
    def engine(self) -> str:
        """The name of the engine that computes them."""

    @property
    def threads(self) -> int:
        """How many threads a step runs on."""

    def advance(self, run: Run, listening: Mapping[str, bool]) -> Iterator[bool]:
        """The rest of the epoch: batch by batch, or in larger parts where nobody listens to single batches.

        Was the last step of each part made? One that is not finite is not.
        """

    def catch_up(self, run: Run) -> None:
        """Tell the run of epochs that were computed ahead of time (the user pressed Ctrl-C between them)."""

    def snapshot(self, run: Run) -> Snapshot:
        """The state as it is now, to be kept."""

    def view(self, run: Run) -> Snapshot:
        """The state where it lies: to be read at once, not kept."""

    def mark(self, run: Run) -> Snapshot | None:
        """The state as it is now, for a mark; None where a copy would have to be made, and it can be found again."""

    def load(self, state: Snapshot | None, run: Run) -> None:
        """Go on from this state; without one, from that which the run had where it says that it stands."""

    def last(self, run: Run) -> Snapshot:
        """The state that the run ends with, to be kept. After it there is only `close`."""

    def close(self) -> None:
        """The run is over: memory is given back."""
