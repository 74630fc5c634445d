"""A training run: what was asked for, where it stands, what it has seen. What must survive a resume is in `Run`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import numpy as np

from pellucid.data.rows import Rows
from pellucid.data.streams import Stream
from pellucid.nn import Layer, Loss
from pellucid.optim import Constant, Schedule
from pellucid.train.callbacks.callback import Callback, CallbackError
from pellucid.train.files.runs import task_of
from pellucid.train.history import History
from pellucid.train.loop.divergence import Diverged, Trouble, ValidationTrouble, go_back
from pellucid.train.loop.ending import Ending, EndingKind
from pellucid.train.loop.step import Arrays, Mark, Snapshot, Trainer, mean_names
from pellucid.train.loop.steps import Steps


def as_it_is(value: Any) -> Any:
    """One process alone agrees with itself."""
    return value


@dataclass
class Plan:
    """What was asked for. The loop leaves it as it is; a callback may change a limit."""

    data: Rows | Stream
    validation: Rows | None = None
    epochs: int | None = None
    steps: int | None = None
    batch_size: int = 32
    seed: int = 0
    shuffle: bool = True
    max_time: float | None = None
    on_divergence: str = "raise"
    settings: dict[str, Schedule] = field(default_factory=dict)  # scheduled numbers of layers and loss
    evaluate: Callable[[Any, Any, Rows], dict[str, float]] | None = None
    metrics: tuple[str, ...] = ()  # what the validation rows are judged by
    dtype: str = "float32"
    alone: bool = True  # is this the only process of the run?
    writes: bool = True  # of several processes one writes files
    agreed: Callable[[Any], Any] = as_it_is  # what the first of several processes has in its place


@dataclass
class Run:
    """A training run: where it stands, what it has seen. Callbacks read it, and may call `stop`.

    Parameters
    ----------
    plan : Plan
        data and limits
    trainer : Trainer
        network, loss, rule and penalty
    steps : Steps
        what makes the steps: NumPy or the native engine
    callbacks : Sequence[Callback]
        told of its events
    history : History
        the rows of the epochs that have ended
    epoch : int
        counts from 1 inside an epoch
    step : int
        the number of updates made
    batch : int
        the number of the batch in the epoch, from 1
    loss : float
        of the last batch, without the penalty
    objective : float
        the same with the penalty
    gradient_norm : float
        of the last step
    logs : dict[str, Any]
        the row of the epoch that just ended
    numbers : dict[str, float]
        what the rule was given in the last step, by name
    factor : float
        the rate is multiplied by it (see `Plateau`)
    ending : Ending | None
        how it ended; None while it goes on
    elapsed : float
        seconds so far, those before a resumed run included
    final : tuple[Arrays, Arrays] | None
        parameters and statistics to end with, in place of the last
    total : int | None
        steps of the whole run, where that is known
    resumed : tuple[str | None, int | None]
        engine and number of threads with which a resumed run began
    sums : dict[str, float]
        sums over the epoch so far
    weight : float
        of the rows of the epoch so far
    trouble : Trouble | ValidationTrouble | None
        what was not finite
    begins : tuple[Mark, ...]
        places to return to
    """

    plan: Plan
    trainer: Trainer
    steps: Steps
    callbacks: Sequence[Callback]
    history: History = field(default_factory=History)
    epoch: int = 0
    step: int = 0
    batch: int = 0
    loss: float = math.nan
    objective: float = math.nan
    gradient_norm: float = math.nan
    logs: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    factor: float = 1.0  # of the learning rate, set by controllers such as ReduceOnPlateau
    ending: Ending | None = None
    elapsed: float = 0.0
    final: tuple[Arrays, Arrays] | None = None  # (params, state) that a callback wants the model to end with
    total: int | None = None  # steps, where that is known beforehand
    resumed: tuple[str | None, int | None] = (None, None)  # engine and threads of the checkpoint that it goes on from
    sums: dict[str, float] = field(default_factory=dict)  # of what the epoch has the mean of, times weights
    weight: float = 0.0  # the sum of the weights
    trouble: Trouble | ValidationTrouble | None = None  # what made it diverge
    begins: tuple[Mark, ...] = ()  # where the run, the last epoch and this one began

    def __post_init__(self) -> None:
        self.sums = dict.fromkeys(self.means, 0.0)

    # the state

    @property
    def now(self) -> Snapshot:
        """Parameters, statistics and rule state as they are now."""
        return self.steps.snapshot(self)

    @now.setter
    def now(self, snapshot: Snapshot) -> None:
        self.steps.load(snapshot, self)

    @property
    def prediction(self) -> tuple[Arrays, Arrays]:
        """Parameters and statistics as they would predict now (averages, where there are any), to be kept."""
        params, state = self.prediction_view
        return {name: a.copy() for name, a in params.items()}, {name: a.copy() for name, a in state.items()}

    @property
    def prediction_view(self) -> tuple[Arrays, Arrays]:
        """The same, to be used at once and not kept: nothing is copied."""
        return self._predicting(self.steps.view(self))

    def outcome(self) -> tuple[Arrays, Arrays]:
        """The parameters and statistics that the model ends with; the engine's memory is given back."""
        outcome = self._predicting(self.steps.last(self)) if self.final is None else self.final
        self.steps.close()
        return outcome

    def _predicting(self, state: Snapshot) -> tuple[Arrays, Arrays]:
        return self.trainer.optimizer.for_prediction(state.params, state.rule), state.state

    # what a step takes

    @property
    def lr(self) -> float:
        return self.numbers.get("lr", math.nan)

    def rule_numbers(self, t: int, factor: float | None = None) -> dict[str, float]:
        """The rule's numbers for the update after t updates, the rate times a factor (the run's, if none is said).

        Parameters
        ----------
        t : int
            updates so far
        factor : float | None
            times the rate; None is the run's

        Returns
        -------
        dict
            the numbers by name
        """
        numbers = self.trainer.optimizer.numbers(t)
        numbers["lr"] *= self.factor if factor is None else factor
        return numbers

    def settings(self, t: int) -> Arrays:
        """The scheduled numbers of layers and loss after t updates.

        Parameters
        ----------
        t : int
            updates so far

        Returns
        -------
        dict
            the numbers by name
        """
        return {name: np.float64(schedule(t)) for name, schedule in self.plan.settings.items()}

    # where it stands

    @functools.cached_property
    def task(self) -> dict[str, Any]:
        """What a resumed run must have in common with this one."""
        return task_of(self.plan, self.trainer)

    @property
    def means(self) -> tuple[str, ...]:
        """What an epoch has the mean of."""
        return mean_names(self.trainer.penalty)

    @property
    def steps_per_epoch(self) -> int | None:
        return self.plan.data.count(self.plan.batch_size)

    def stop(self, reason: str) -> None:
        """End the run after the current batch (or epoch), with a reason.

        Parameters
        ----------
        reason : str
            in words; `history.stopped` has it
        """
        if reason:
            self.end(EndingKind.CALLBACK, reason)

    def end(self, kind: EndingKind, text: str) -> None:
        """End the run after the current batch (or epoch). The first ending counts.

        Parameters
        ----------
        kind : EndingKind
            for programs
        text : str
            for people
        """
        self.ending = self.ending or Ending(kind, text)

    @property
    def stopped(self) -> str:
        """Why the run ended; empty while it goes on."""
        return "" if self.ending is None else self.ending.text

    def begin_epoch(self, epoch: int) -> None:
        """Nothing has been seen of this epoch.

        Parameters
        ----------
        epoch : int
            its number, from 1
        """
        self.begins = (self.begins[0], *self.begins[1:][-1:], Mark(epoch - 1, self.step, 0, self.steps.mark(self)))
        self.epoch, self.sums, self.weight = epoch, dict.fromkeys(self.means, 0.0), 0.0

    def note(
        self, steps: int, sums: dict[str, float], weight: float, loss: float, objective: float, gradient_norm: float
    ) -> None:
        """So many steps were made: the sums of the epoch so far, and what was measured in the last one.

        Parameters
        ----------
        steps : int
            how many
        sums : dict[str, float]
            of the epoch so far
        weight : float
            of the rows of the epoch so far
        loss : float
            of the last batch
        objective : float
            of the last batch
        gradient_norm : float
            of the last step
        """
        self.step, self.batch = self.step + steps, self.batch + steps
        self.sums, self.weight = sums, weight
        self.loss, self.objective, self.gradient_norm = loss, objective, gradient_norm

    def return_to(self, mark: Mark) -> None:
        """Be there again.

        Parameters
        ----------
        mark : Mark
            a place in the run
        """
        self.epoch, self.step, self.batch, state = mark
        self.steps.load(None if state is None else self.with_rule(state), self)

    def with_rule(self, state: Snapshot) -> Snapshot:
        """The same with the rule's first state where it has none: that can be made again, so nobody keeps it.

        Parameters
        ----------
        state : Snapshot
            parameters, statistics and rule state

        Returns
        -------
        Snapshot
            with a rule state
        """
        return state if state.rule else state._replace(rule=self.trainer.optimizer.init(state.params))

    def diverge(self, trouble: Trouble | ValidationTrouble, batch: Rows | None = None) -> None:
        """End the run, by an error if that is asked for, with the last parameters whose predictions are finite.

        Parameters
        ----------
        trouble : Trouble | ValidationTrouble
            what was not finite
        batch : Rows | None
            the rows of the step, where they are known
        """
        self.trouble = trouble = replace(trouble, kept=go_back(self, batch))
        self.end(EndingKind.DIVERGED, str(trouble))
        if self.plan.on_divergence == "raise":
            raise Diverged(trouble)

    def end_epoch(self) -> None:
        """The row of the history."""
        row: dict[str, Any] = {
            "epoch": self.epoch,
            "step": self.step,
            **{name: total / self.weight if self.weight else 0.0 for name, total in self.sums.items()},
            "lr": self.lr,
        }
        if self.plan.validation is not None and self.plan.evaluate is not None:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is not finite is told below
                metrics = self.plan.agreed(self.plan.evaluate(*self.prediction_view, self.plan.validation))
            row |= {f"val_{name}": float(value) for name, value in metrics.items()}
        self.logs = row
        self.history.epochs.append(row)
        self.batch = 0
        if not math.isfinite(row.get("val_loss", 0.0)) and self.plan.on_divergence != "ignore":
            self.diverge(ValidationTrouble(self.epoch, row["val_loss"]))

    def emit(self, event: str, *details: Any) -> None:
        """Tell the callbacks; an error inside one names it and the event. The end is told to all of them.

        Parameters
        ----------
        event : str
            without its "on_": "batch_end"
        *details
            what its method is given beside the run
        """
        first: CallbackError | None = None
        for callback in self.callbacks:
            try:
                self._tell(callback, event, *details)
            except CallbackError as error:
                if event != "fit_end":
                    raise
                first = first or error
        if first is not None:
            raise first

    @functools.cached_property
    def lookers(self) -> list[Callback]:
        """The callbacks that look at steps."""
        return [callback for callback in self.callbacks if callback.handles("look")]

    @property
    def until_look(self) -> int:
        """Steps from here to the next look behind this place; very many where nobody looks."""
        return min((each.look_every - self.step % each.look_every for each in self.lookers), default=1 << 62)

    def look(self, batch: Callable[[], Rows]) -> None:
        """Show the batch of the next step to the callbacks that are due.

        Parameters
        ----------
        batch : Callable[[], Rows]
            gives the rows of the next step
        """
        due = [callback for callback in self.lookers if self.step % callback.look_every == 0]
        rows = batch() if due else None
        for callback in due:
            self._tell(callback, "look", rows)

    def changed_gradients(self, gradients: dict[str, Any]) -> dict[str, Any]:
        """The gradients after the callbacks have seen them, and perhaps changed them.

        Parameters
        ----------
        gradients : dict[str, Any]
            an array for each parameter, by name

        Returns
        -------
        dict
            the same names
        """
        for callback in self.callbacks:
            changed = self._tell(callback, "gradients", gradients)
            gradients = gradients if changed is None else changed
        return gradients

    def _tell(self, callback: Callback, event: str, *details: Any) -> Any:
        if not callback.handles(event) or (callback.writes and not self.plan.writes):
            return None
        try:
            return getattr(callback, f"on_{event}")(self, *details)
        except Diverged:
            raise
        except Exception as error:
            raise CallbackError(f"callback {callback.name}, event {event}: {error}") from error


# schedules in the place of numbers


def checked_settings(settings: Mapping[str, Any], net: Layer, loss: Loss) -> dict[str, Schedule]:
    """Schedules by the names of the numbers of layers or loss; an error where there is no such number."""
    names: set[str] = {f"loss.{f.name}" for f in fields(loss)} if is_dataclass(loss) else set()
    layers: list[tuple[str, Layer]] = [("", net)]
    while layers:
        path, layer = layers.pop()
        if is_dataclass(layer):
            names |= {f"{path}.{f.name}" for f in fields(layer) if f.name in ("rate", "sigma")}
        layers += [(f"{path}.{name}" if path else name, child) for name, child in layer.children]
    for name in settings:
        if name not in names:
            raise ValueError(
                f"settings: there is no number called {name!r}: there are {', '.join(sorted(names)) or 'none'}"
            )
    return {name: value if isinstance(value, Schedule) else Constant(value) for name, value in settings.items()}


def resolved(what: str, scheduled: Any, total: int | None, per_epoch: int | None) -> Any:
    """Schedules over the whole run, fitted to its length; an error where they need a length that nobody knows."""
    fitted = scheduled.fit(total or 1, per_epoch or 1)
    if total is None and fitted != scheduled.fit(2, per_epoch or 1):
        raise ValueError(
            f"{what} has a schedule over the whole run, but the run has no known length: give epochs or steps"
        )
    if per_epoch is None and fitted != scheduled.fit(total or 1, 2):
        raise ValueError(
            f"{what} has a schedule in epochs, but the number of batches of an epoch is not known: use steps"
        )
    return fitted
