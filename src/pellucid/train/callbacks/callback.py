"""What a callback is: an object with the events it cares about.

Events, in this order: fit_begin, epoch_begin, look, forward, gradients, batch_end, epoch_end, fit_end (always
reached). The middle four are the points of a step: batch sampled, forward pass, backward pass, update made. A
callback costs nothing for the events it leaves alone. It stops a run by `run.stop(reason)`. What it must remember
across a resumed run it names in `remembers`, or gives in `state()` and takes back in `load()`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pellucid.train.files.container import joined, parted

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run

EVENTS = (
    *("fit_begin", "epoch_begin", "look", "forward", "gradients", "batch_end"),
    *("epoch_end", "checkpoint", "fit_end"),
)


class Callback:
    """Override the events you need: `on_epoch_end(self, run)`, `on_batch_end`, ...

    Events are `on_fit_begin`, `on_epoch_begin`, `on_forward`, `on_gradients`, `on_batch_end`, `on_epoch_end`,
    `on_checkpoint`, `on_fit_end` and `on_look`; see `Run` for what can be read. `on_gradients(self, run, gradients)` is
    called in every step, between the backward pass and the update. `gradients` is a dict with one array for each
    parameter, under its name and of its shape: the derivative of the mean loss of the batch plus the penalty, ahead of
    clipping and all other links. What it returns, a dict with the same names, takes their place; nothing leaves them as
    they are. Arrays are not changed in place. `on_forward(self, run, objective)` is called ahead of it, with the mean
    loss of the batch plus the penalty as the forward pass gave it. `on_look(self, run, batch)` is called ahead of every
    step whose number `look_every` divides, with its batch; between looks a run does not leave compiled code.

    Examples
    --------
    >>> class Shout(Callback):
    ...     def on_epoch_end(self, run):
    ...         print(f"epoch {run.epoch}!")
    >>> class OnlyTheLastLayer(Callback):
    ...     def on_gradients(self, run, gradients):
    ...         return {name: g if name.startswith("output.") else 0.0 * g for name, g in gradients.items()}
    """

    look_every: int = 1
    """Steps from one look to the next, for callbacks that have `on_look`."""

    every_batch: bool = True
    """Is `on_batch_end` wanted, where there is one? Without it a run need not leave compiled code inside an epoch."""

    writes: bool = False
    """Does it write files? Of several processes that train together one alone tells it of events."""

    side_by_side: bool = False
    """May it be told of several trainings at once, from several threads? A table estimator trains its networks one
    after the other for the sake of callbacks that may not."""

    remembers: tuple[str, ...] = ()
    """Names of attributes that a resumed run has again: what `state` gives and `load` takes."""

    def on_networks(self, count: int, *, anew: bool) -> None:
        """Table estimators train several networks: so many more will follow, each with a run of its own.

        Parameters
        ----------
        count : int
            networks that are trained by steps
        anew : bool
            do they follow because earlier ones failed?
        """

    def reset(self) -> None:
        """Forget earlier runs: called when a run begins afresh, so that one object can serve several models."""

    def state(self) -> dict[str, Any]:
        """What to remember: numbers, strings, lists, and arrays."""
        return {name: copy.copy(getattr(self, name)) for name in self.remembers}

    def meaning(self) -> dict[str, Any]:
        """What of its settings a resumed run must have in common with the first, as plain data.

        Those that give a meaning to what is remembered: which value `best` is of. Mere limits may change.
        """
        return {}

    def load(self, state: dict[str, Any]) -> None:
        """Remember again.

        Parameters
        ----------
        state : dict[str, Any]
            what `state` gave
        """
        for name in self.remembers:
            setattr(self, name, state[name])

    def handles(self, event: str) -> bool:
        """Does it want to be told of this event?

        Parameters
        ----------
        event : str
            without its "on_": "batch_end"

        Returns
        -------
        bool
            by default, whether the class has that method
        """
        return hasattr(self, f"on_{event}") and (event != "batch_end" or self.every_batch)

    @property
    def name(self) -> str:
        return type(self).__name__


class OnEpoch(Callback):
    """A plain function of the run, called after each epoch. If it returns a text, that is the reason to stop."""

    def __init__(self, function: Callable[[Run], Any]) -> None:
        self.function = function

    def on_epoch_end(self, run: Run) -> None:
        reason = self.function(run)
        if isinstance(reason, str):
            run.stop(reason)

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", "function")


class KeepsBest(Callback):
    """A callback that wants the model to end with the parameters of the best epoch, which it has kept."""

    kept: tuple[dict[str, Any], dict[str, Any]] | None = None  # (params, state)

    def on_fit_end(self, run: Run) -> None:
        if self.kept is not None:
            run.final = self.kept

    def state(self) -> dict[str, Any]:
        """With what is kept, as one dict of arrays."""
        return super().state() | {"kept": joined(dict(zip(("params", "state"), self.kept or (), strict=False)), ".")}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        trees = parted(state["kept"], ".")
        self.kept = (trees["params"], trees["state"]) if trees["params"] else None


class CallbackError(RuntimeError):
    """An error inside a callback; it names the callback and the event, and its cause is the error itself."""


def callback(which: Any) -> Callback:
    """A callback, or a function as one."""
    if isinstance(which, Callback):
        return which
    if callable(which) and not isinstance(which, type):
        return OnEpoch(which)
    raise TypeError(
        f"a callback is a Callback object or a function of the run, got {which!r}: write {which}() for a class"
    )
