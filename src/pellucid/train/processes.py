"""The processes that a fit runs in: what they must agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.data.rows import Rows
from pellucid.data.shared_rows import SharedRows, shared
from pellucid.data.streams import Stream


@dataclass(frozen=True)
class Processes:
    """How many there are, and which one this is."""

    count: int
    index: int

    @property
    def several(self) -> bool:
        return self.count > 1

    @property
    def first(self) -> bool:
        """The one that writes files and shows progress."""
        return self.index == 0

    def check(self, validation: Any, class_weight: Any, max_time: Any) -> None:
        """Refuse what every process would decide on by itself."""
        if validation is not None and not isinstance(validation, tuple):
            raise ValueError(
                "with several processes, validation is rows (X, y) that are the same in all of them, got "
                f"{type(validation).__name__}: a part of the rows would be another one in each process"
            )
        if class_weight is not None:
            raise ValueError("with several processes, class_weight is not known to one alone: give sample_weight")
        if max_time is not None:
            raise ValueError("with several processes, max_time would end them at different steps: give epochs or steps")

    def share(self, data: Rows | Stream) -> SharedRows:
        """The rows of this process as a share of all."""
        if isinstance(data, Stream) or data.sparse:
            raise TypeError("with several processes, X is an array or a data frame: the share of this process")
        return shared(data)

    def from_the_first(self, arrays: Any) -> Any:
        """What process 0 begins with, so that all begin alike."""
        from pellucid.engine.jax.processes import from_the_first

        return from_the_first(arrays)
