"""Independent work: on threads of this process, or on the workers of a joblib backend, where the user has set one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from pellucid.engine.native.runtime.announcement import silent
from pellucid.notices import notice
from pellucid.train.callbacks.screens import bar
from pellucid.train.side_by_side import side_by_side

T = TypeVar("T")

Told = list[tuple[str, type[Warning]]]
"""What a worker warned of."""


def are_elsewhere() -> bool:
    """Has the user set a backend whose workers are other processes, or on other machines?

    >>> import joblib
    >>> with joblib.parallel_config(backend="loky"):
    ...     there = are_elsewhere()
    >>> are_elsewhere(), there
    (False, True)
    """
    backend = _backend()[0]
    return not getattr(backend, "supports_sharedmem", False)


def spread(
    work: Callable[..., T],
    tasks: Sequence[Any],
    shared: Iterable[Any] = (),
    *,
    threads: int | None = None,
    verbose: bool = False,
    what: str = "piece",
) -> list[T]:
    """`work(task, *shared)` of each task, in their order.

    Without a backend of joblib's they run on threads, see `side_by_side`. Elsewhere `work` and tasks are pickled, what
    is `shared` is sent once (loky keeps large arrays in files that all workers read, Dask scatters them), and what
    workers warn of is said here. An error names its `what`.

    >>> spread(pow, [2, 3], [2], threads=2)
    [4, 9]
    """
    if not are_elsewhere():
        works = [partial(work, task, *shared) for task in tasks]
        return side_by_side(works, threads=threads, verbose=verbose, what=what)
    from joblib import Parallel, delayed

    backend, jobs = _backend()
    as_they_come = {"return_as": "generator"} if getattr(backend, "supports_return_generator", False) else {}
    parallel = Parallel(n_jobs=jobs if jobs is not None else threads or -1, **as_they_come)
    count, results = len(tasks), list[T]()
    names = [f"in {what} {number} of {count}" for number in range(count)]
    outcomes: Iterator[tuple[T, Told]] = iter(
        parallel(delayed(_piece)(name, work, task, *shared) for name, task in zip(names, tasks, strict=True))
    )
    with bar("training", verbose) as draw:
        for result, told in outcomes:
            results.append(result)
            draw(len(results) / count, f"training: {len(results)} of {count}")
            for text, kind in told:
                notice(text, kind)
    return results


def _backend() -> tuple[Any, int | None]:
    """What the user has set, and for how many jobs; threads without it."""
    from joblib.parallel import get_active_backend

    backend, jobs = get_active_backend(prefer="threads")
    return backend, jobs


def _piece(name: str, work: Callable[..., T], task: Any, *shared: Any) -> tuple[T, Told]:
    """One task, on a worker: its result, and what it warned of."""
    try:
        with silent(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = work(task, *shared)
    except Exception as error:
        error.add_note(name)
        raise
    return result, [(str(one.message), one.category) for one in caught]
