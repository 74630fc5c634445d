"""Work in other processes: under `joblib.parallel_config(backend="loky" | "dask" | "ray")`, with the data sent once.

import joblib
with joblib.parallel_config(backend="loky", n_jobs=4):
    BaggedMLPClassifier(n_estimators=100).fit(X, y)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Task(Generic[T]):
    """function(*own, *shared): `shared` is the same for all tasks, so that it is sent once."""

    function: Callable[..., T]
    own: tuple[Any, ...]
    shared: tuple[Any, ...]

    def __call__(self) -> T:
        return self.function(*self.own, *self.shared)


def in_processes() -> bool:
    """Has the user chosen a backend of joblib whose workers are processes?"""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    return not (getattr(backend, "uses_threads", False) or getattr(backend, "supports_sharedmem", False))


def run_apart(tasks: Sequence[Task[T]], jobs: int | None) -> list[T]:
    """The results of tasks by the workers of the user's backend, in order; `jobs` at a time (None: as it is set).

    Large arrays among the shared arguments are put where all workers find them: loky's in files that are mapped into
    memory, Dask's and Ray's on each worker once.
    """
    import joblib
    from joblib.parallel import get_active_backend

    _, configured = get_active_backend(prefer="threads")
    number = configured.get("n_jobs") if isinstance(configured, dict) else configured
    count = jobs or (number if isinstance(number, int) and number != 1 else -1)
    call = joblib.delayed(_called)
    return joblib.Parallel(n_jobs=count, batch_size=1)(  # type: ignore[no-any-return]
        call(task.function, task.own, *task.shared) for task in tasks
    )


def _called(function: Callable[..., T], own: tuple[Any, ...], *shared: Any) -> T:
    from pellucid.engine.native.announcement import silent

    with silent():
        return function(*own, *shared)
