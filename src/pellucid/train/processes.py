"""The processes that a fit runs in: which rows each has, and what they must agree on."""

from __future__ import annotations

from typing import Any

from pellucid.data.dataset import Dataset
from pellucid.data.rows import Rows
from pellucid.data.shared_rows import SharedRows, shared, shared_parts
from pellucid.data.sharing import told
from pellucid.data.streams import Stream
from pellucid.engine.jax.holdings import side_by_side


class Alone:
    """One process: it has all rows, decides, writes files and shows progress."""

    alone = first = True

    def own(self, X: Any, validation: Any, class_weight: Any) -> tuple[Any, Any]:
        """What of these is known to one process: it is taken care of while its rows are prepared."""
        return validation, class_weight

    def share(
        self, data: Rows | Stream, held: Rows | None, y: Any, validation: Any, class_weight: Any, **split: Any
    ) -> tuple[Rows | Stream, Rows | None]:
        """What is trained on, and what checks, of the prepared rows of this process."""
        if isinstance(data, SharedRows) and data.holdings.processes > 1:
            raise ValueError("the data set is shared by several processes: fit(data, devices='all') trains with all")
        return data, held

    def from_the_first(self, value: Any) -> Any:
        """What process 0 has, for all."""
        return value


class WithSameRows(Alone):
    """One of several processes that have the same rows. What they could differ in is what process 0 has."""

    def __init__(self, count: int, index: int) -> None:
        self.count, self.index = count, index
        self.alone, self.first = count == 1, index == 0

    def share(
        self, data: Rows | Stream, held: Rows | None, y: Any, validation: Any, class_weight: Any, **split: Any
    ) -> tuple[Rows | Stream, Rows | None]:
        return data, held

    def from_the_first(self, value: Any) -> Any:
        from pellucid.engine.jax.processes import from_the_first

        return from_the_first(value)


class WithOwnRows(WithSameRows):
    """One of the processes that have joined, be it the only one, each with a share of the rows."""

    def own(self, X: Any, validation: Any, class_weight: Any) -> tuple[Any, Any]:
        if isinstance(X, Dataset):
            return validation, class_weight
        return validation if isinstance(validation, tuple) else None, None

    def share(
        self, data: Rows | Stream, held: Rows | None, y: Any, validation: Any, class_weight: Any, **split: Any
    ) -> tuple[Rows | Stream, Rows | None]:
        if isinstance(data, SharedRows):
            return data, held
        if isinstance(data, Stream) or data.sparse:
            batches = "batches that come one by one (a Dataset that is not shared, or an iterable)"
            raise TypeError(
                "with several processes, X is an array or a data frame, the share of this process; or a Dataset that "
                "they share, pellucid.distributed.share(data.dataset(...)). Got "
                f"{batches if isinstance(data, Stream) else 'sparse rows: X.toarray() of the share, if it has room'}"
            )
        lengths = told(len(data), self.count)
        rows = shared(data, side_by_side(lengths), self.index)
        rows, drawn = shared_parts(rows, y, validation if held is None else None, class_weight, **split)
        return rows, drawn if held is None else held


def processes_of(devices: str | None, *, alike: bool) -> Alone:
    """The processes of a fit on these devices; do all have the same rows?"""
    if devices is None:
        return Alone()
    from pellucid.engine.jax.library import require_jax

    require_jax()
    from pellucid.engine.jax.processes import count, index, joined

    if count() == 1 and (alike or not joined()):
        return Alone()
    return (WithSameRows if alike else WithOwnRows)(count(), index())
