"""Watch: looks at a network all through its training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.amounts import check_whole
from pellucid.data.rows import Rows
from pellucid.engine import engine_named
from pellucid.graph.graph import Graph
from pellucid.inspect.blocks import blocks
from pellucid.inspect.look import Looks, Sight
from pellucid.inspect.subject import column_names
from pellucid.inspect.taps import LIKENESS, tapped
from pellucid.train import Callback, History
from pellucid.train.loop.step import float64s, shared

if TYPE_CHECKING:
    from pellucid.train.loop.run import Run


RANKS = 4
"""Looks from one with ranks to the next."""


class Watch(Callback):
    """Look at every layer, every so many steps of a training: a callback for `Model.fit` and all estimators.

    A look is taken ahead of a step, on the batch of that step: what is seen is what that step does. Its statistics
    are computed by the engine that trains, in a graph of its own, so that the training has the same bits with and
    without it. Ranks and copies of units, which take a product of their own, are computed at every fourth look and at
    the end, and stand until then. `watch.looks` are the looks; they are kept in checkpoints, and in the history of the
    model (`inspect.looks`).

    Parameters
    ----------
    every : int
        steps between two looks
    most : int
        limits the memory: when there are so many looks, every other one is dropped and looks come half as often
    columns : tuple[str, ...] | None
        the names of the inputs

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Model, inspect, nn
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> watch = inspect.Watch(every=10)
    >>> model = Model(nn.mlp((8,), 1))
    >>> _ = model.fit(X, X[:, 0], epochs=5, callbacks=[watch], verbose=False)
    >>> watch.looks
    <Looks: 5 of hidden1, output; steps 0 to 35>
    >>> watch.looks.series("hidden1", "a", "std").shape
    (5,)
    """

    def __init__(self, every: int = 100, *, most: int = 200, columns: tuple[str, ...] | None = None) -> None:
        check_whole(every=every)
        check_whole(2, most=most)
        self.every, self.most, self.columns = every, most, columns
        self.reset()

    def reset(self) -> None:
        self.look_every = self.every
        self.looks = Looks()
        self._graphs: dict[tuple[int, bool], Graph] = {}
        self._last: Rows | None = None

    def on_look(self, run: Run, batch: Rows) -> None:
        self._look(run, batch)
        self._last = batch
        if len(self.looks) >= self.most:
            self.looks.thin()
            self.look_every *= 2

    def on_fit_end(self, run: Run) -> None:
        """One more look at the end, on the last batch that was looked at."""
        if self._last is not None and (not self.looks or self.looks.steps[-1] != run.step):
            self._look(run, self._last, ranks=True)
        self._last = None
        run.history.looks = self.looks.state()

    def _look(self, run: Run, batch: Rows, *, ranks: bool = False) -> None:
        state, t = run.steps.view(run), run.step
        numbers, settings = float64s(run.rule_numbers(t)), run.settings(t)
        args = ((state.params, state.state, state.rule), batch.arrays, np.int64(t), numbers, settings)
        ranks = ranks or not self.looks or t // self.look_every % RANKS == 0
        with np.errstate(all="ignore"):  # what is not finite is shown as such
            raw = engine_named(run.steps.engine)(self._graph(run, args, ranks), *args)
        if not ranks:
            raw |= {key: value for key, value in self.looks.raws[-1].items() if key.endswith(f"/{LIKENESS}")}
        self.looks.add(raw, run.step, run.epoch, len(batch))

    def _graph(self, run: Run, args: tuple[Any, ...], ranks: bool) -> Graph:
        """The graph of a look, with the number of rows left open; recorded once for equal tasks (and for weights)."""
        batch = args[1]
        key = (len(batch), ranks)
        if key not in self._graphs:
            watched = blocks(run.trainer.net, batch[0].shape[1:])
            self.looks.sight = Sight.of(watched, self.columns or column_names(int(np.prod(batch[0].shape[1:]))))
            name = "look" if ranks else "look without ranks"
            self._graphs[key] = shared(run.trainer, name, tapped(run.trainer, watched, ranks=ranks), args)
        return self._graphs[key]

    def meaning(self) -> dict[str, Any]:
        return {"every": self.every, "most": self.most}

    def state(self) -> dict[str, Any]:
        return {"every": self.look_every, "looks": self.looks.state()}

    def load(self, state: dict[str, Any]) -> None:
        self.look_every, self.looks = int(state["every"]), Looks.restored(state["looks"])


def looks(history: History | Mapping[str, Any]) -> Looks:
    """What a `Watch` saw, out of a history (also of a model that was loaded from a file); none without one.

    Parameters
    ----------
    history : History | Mapping[str, Any]
        of a fit

    Returns
    -------
    Looks
        in their order
    """
    seen = history.looks if isinstance(history, History) else history
    return Looks() if seen is None else Looks.restored(seen)
