"""How an estimator learned, as a picture: a run for each network inside."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from pellucid.train.history import History
from pellucid.train.history_plot import plot_histories

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LearningRun(NamedTuple):
    """The training of a network, and the epoch whose parameters were kept, where validation rows chose one."""

    history: History
    kept: int | None


class LearningCurves:
    """An estimator that draws how it learned."""

    @abstractmethod
    def learning_runs(self) -> list[LearningRun]:
        """The training of each network inside, with the epoch that was kept."""

    def plot_learning(self, ax: Axes | None = None) -> Axes:
        """Training and validation loss by epoch; the epoch whose parameters were kept is marked.

        The training loss is the mean over the epoch while parameters change, without the penalty, as the validation
        loss is. An ensemble has a line for each member. Other quantities: `model_.history.plot`.

        Parameters
        ----------
        ax : matplotlib axes
            to draw on; None makes new ones

        Returns
        -------
        matplotlib axes
            those drawn on
        """
        runs = self.learning_runs()
        return plot_histories([run.history for run in runs], kept=[run.kept for run in runs], ax=ax)  # type: ignore[no-any-return]


def runs_of_members(members: list[object]) -> list[LearningRun]:
    """Those of all members (at the ends of pipelines, too); networks that come from one training share a run."""
    runs: list[LearningRun] = []
    for member in members:
        end = member.steps[-1][1] if hasattr(member, "steps") else member
        if not isinstance(end, LearningCurves):
            raise TypeError(f"plot_learning draws networks of pellucid, got a member {type(end).__name__}")
        runs += [run for run in end.learning_runs() if all(run.history.epochs != one.history.epochs for one in runs)]
    return runs
