"""Partitions of Dask's frames and arrays: kept by workers, and predicted for where they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.errors import ShapeError


@dataclass(frozen=True)
class Partition:
    """A part of the rows: a future of (X, y, weights), and the worker that holds it."""

    rows: Any
    worker: str


def kept_by_workers(client: Any, X: Any, y: Any, weights: Any) -> list[Partition]:
    """The partitions in their order, computed and held by workers."""
    import dask
    from distributed import wait

    given = [parts_of(part) for part in (X, y) if part is not None]
    if weights is not None:
        given.append(parts_of(weights))
    counts = {len(parts) for parts in given}
    if len(counts) != 1:
        raise ShapeError(f"X, y and sample_weight have {sorted(counts)} partitions: repartition them alike")
    together = dask.delayed(lambda *parts: parts)
    futures = client.compute([together(*parts) for parts in zip(*given, strict=True)])
    wait(futures)
    for future in futures:
        if future.status == "error":
            raise future.exception()
    holders = client.who_has(futures)
    return [Partition(future, min(holders[future.key])) for future in futures]


def parts_of(collection: Any) -> list[Any]:
    """The delayed partitions of a frame, a series or an array (blocks of rows)."""
    if hasattr(collection, "to_delayed") and hasattr(collection, "divisions"):
        return list(collection.to_delayed())
    if hasattr(collection, "chunks"):
        whole = collection.rechunk(dict.fromkeys(range(1, collection.ndim), -1))
        return list(whole.to_delayed().ravel())
    raise TypeError(
        f"expected a Dask frame, series or array, got {type(collection).__name__}: pellucid's own estimators take it"
    )


def lazily(X: Any, model: Any, method: str) -> Any:
    """What a method of a fitted estimator says of all partitions, when it is asked for."""
    import dask

    if hasattr(X, "divisions"):
        example = answered(X._meta_nonempty, model, method)  # noqa: SLF001  (Dask's own way to an example)
        return X.map_partitions(answered, dask.delayed(model), method, example[:0], meta=example[:0])
    if not hasattr(X, "chunks"):
        raise TypeError(f"expected a Dask frame or array, got {type(X).__name__}: to_local() takes it")
    import dask.array as da

    sent = dask.delayed(model)
    rows = X.chunks[0]
    example = answered(np.zeros((1, X.shape[1]), X.dtype), model, method)
    blocks = [
        da.from_delayed(
            dask.delayed(answered)(part, sent, method, example[:0]),
            shape=(count, *example.shape[1:]),
            dtype=example.dtype,
        )
        for part, count in zip(parts_of(X), rows, strict=True)
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def answered(rows: Any, model: Any, method: str, without_rows: Any = None) -> Any:
    """The answer for a partition; of a frame with its index.

    without_rows: the answer for a partition that is empty
    """
    framed = hasattr(rows, "iloc")
    if not len(rows):
        return without_rows.set_axis(rows.index, axis=0) if framed else without_rows
    answer = getattr(model, method)(rows)
    if not framed:
        return answer
    import pandas as pd

    if answer.ndim == 1:
        return pd.Series(answer, index=rows.index)
    return pd.DataFrame(answer, index=rows.index)
