"""A limit of time: as many networks as there is time for, each to the end of its schedule.

A network that is stopped where its learning rate is highest is of little use: a shorter schedule, or fewer networks,
take its place.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock

from pellucid.estimators.recipe import Recipe
from pellucid.train import Callback, Run

PLANNED = 0.7
"""The share of the time that the first networks may take: others wait for the processor, too, and steps vary."""

FEWEST = 2
"""Networks that there should be time for."""


class Pace(Callback):
    """Seconds of an epoch: a training is stopped behind its second one, or its first where that is the only one."""

    side_by_side = True

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.seconds = math.inf

    def on_epoch_end(self, run: Run) -> None:
        self.seconds, self.begun = time.monotonic() - self.begun, time.monotonic()
        if run.epoch > 1:
            run.stop("the time of an epoch is known")


class Clock:
    """How much of the time is left, and what a network takes of it."""

    def __init__(self, limit: float, begun: float) -> None:
        self.limit, self.begun = limit, begun
        self.longest, self.lock = 0.0, Lock()

    @property
    def left(self) -> float:
        """Seconds."""
        return self.limit - (time.monotonic() - self.begun)

    def enough(self, recipe: Recipe) -> bool:
        """For another network like those that were trained? One without hidden layers takes next to nothing."""
        return self.left > (self.longest if recipe.max_fun is None else 0.0)

    @contextmanager
    def timed(self, recipe: Recipe) -> Iterator[None]:
        """How long its training takes is what the next ones need."""
        begun = time.monotonic()
        yield
        if recipe.max_fun is None:
            with self.lock:
                self.longest = max(self.longest, time.monotonic() - begun)


def shortened(recipe: Recipe, networks: int, seconds: float, pace: float, lanes: int) -> Recipe:
    """With as many epochs as leave time for the fewest networks, and no more than it has.

    networks: how many are wanted   seconds: that are left   pace: seconds of an epoch   lanes: networks at a time
    """
    together = -(-min(FEWEST, networks) // lanes)  # one after the other
    epochs = PLANNED * seconds / max(pace, 1e-9) / together
    return recipe if epochs >= recipe.epochs else replace(recipe, epochs=max(int(epochs), 1))
