"""An experiment that was run: its numbers, its figures, its verdict, and how it shows itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pellucid.lab.experiment import LECTURES, Experiment, find
from pellucid.lab.outcome import Outcome
from pellucid.train.engine_choice import on_engine
from pellucid.whole_files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What `lab.run` returns. `print` it; in a notebook it shows itself, with its figures.

    Parameters
    ----------
    experiment : Experiment
        that was run
    settings : Mapping[str, Any]
        its parameters
    outcome : Outcome
        what came out
    seconds : float
        it took
    """

    experiment: Experiment
    settings: Mapping[str, Any]
    outcome: Outcome
    seconds: float

    @property
    def numbers(self) -> Mapping[str, Any]:
        """Every number by name."""
        return self.outcome.numbers

    @property
    def passed(self) -> bool:
        """Is the claim shown?"""
        return self.outcome.passed

    @property
    def verdict(self) -> str:
        """Why, in one sentence."""
        return self.outcome.verdict

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures by name, drawn anew by matplotlib."""
        return {picture.name: picture.draw() for picture in self.outcome.pictures}

    def html(self) -> str:
        """A whole page, with figures inside, for a browser: light and dark."""
        from pellucid.lab.page import page

        return page(self)

    def save(self, folder: str | Path) -> Path:
        """Write the page as NAME.html into a folder.

        Parameters
        ----------
        folder : str | Path
            made where it is not there

        Returns
        -------
        Path
            of the page
        """
        path = Path(folder) / f"{self.experiment.name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, self.html().encode())
        return path

    def show(self, console: Console | None = None) -> None:
        """Print everything but the figures.

        Parameters
        ----------
        console : Console | None
            of rich; None is the terminal
        """
        from pellucid.lab.terminal import show

        show(self, console)

    def __repr__(self) -> str:
        return f"<Result {self.experiment.name!r}: {'shown' if self.passed else 'NOT shown'}. {self.verdict}>"

    def __str__(self) -> str:
        from pellucid.lab.terminal import text

        return text(self)

    def _repr_html_(self) -> str:
        from pellucid.lab.page import fragment

        return fragment(self)


def run(name: str, *, full: bool = False, engine: str | None = None, **parameters: Any) -> Result:
    """Run an experiment of the lectures.

    Parameters
    ----------
    name : str
        One of `lab.names()`, such as "xor".
    full : bool
        The setting of the original, where that is larger than the quick one.
    engine : str | None
        Of all models of the experiment, "jax" for example; None is the one that each was written for.
    **parameters
        What a student may turn; the page of the experiment lists them.

    Returns
    -------
    Result
        Numbers, figures and a verdict.

    Examples
    --------
    >>> result = run("xor")
    >>> result.passed
    True
    """
    it = find(name)
    unknown = sorted(set(parameters) - set(it.defaults))
    if unknown:
        raise TypeError(
            f"experiment {it.name!r} has no parameter {unknown[0]!r}: it has {', '.join(it.defaults) or 'none'}"
        )
    settings = {**it.defaults, **(it.full if full else {}), **parameters}
    start = time.perf_counter()
    with on_engine(engine):
        outcome = it.work(**settings)
    return Result(it, settings, outcome, time.perf_counter() - start)


def lectures_of(it: Experiment) -> str:
    """The lectures of an experiment in words."""
    return "; ".join(LECTURES[key] for key in it.lectures)
