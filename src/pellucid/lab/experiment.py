"""What an experiment is: a claim of a lecture, a function that tries it, and the words around it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pellucid.lab.outcome import Outcome
from pellucid.lookup import look_up

LECTURES: Mapping[str, str] = MappingProxyType(
    {
        "waterloo": "Waterloo CS480/680, lecture 8: multilayer perceptrons (Yu, 2025)",
        "cs231n": "Lecture 7: neural networks, part 2 (cs231n family)",
        "notes": "Handwritten notes on batch normalisation (after CMU 11-785 and Ioffe & Szegedy, 2015)",
        "kth": "KTH DD2424, lecture 4: k-layer networks (Sullivan, 2025)",
        "book": "Mathematical Engineering of Deep Learning, chapter 4 (Liquet, Moka, Nazarathy)",
    }
)
"""The five lectures by a short name."""

TOPICS: Mapping[str, str] = MappingProxyType(
    {
        "models": "Models and their history",
        "derivatives": "Derivatives",
        "activations": "Activation functions",
        "data": "Data before training",
        "initialisation": "Initialisation and signals",
        "normalisation": "Normalisation",
        "optimisation": "Optimisation",
        "generalisation": "Overfitting and regularisation",
        "ensembles": "Dropout and ensembles",
        "approximation": "What networks can represent",
    }
)
"""Topics in the order in which they are listed."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """One claim of a lecture, tried.

    Parameters
    ----------
    name : str
        to run it by
    title : str
        in a line
    lectures : tuple[str, ...]
        keys of `LECTURES`
    topic : str
        a key of `TOPICS`
    claim : str
        what the lecture says
    setting : str
        what is done
    criterion : str
        when the claim counts as shown
    work : Callable[..., Outcome]
        is called with the parameters that a student may turn: its defaults are the quick setting
    knobs : Mapping[str, str]
        what each parameter is, in a line
    notice : tuple[str, ...]
        sentences on what to look at
    further : tuple[str, ...]
        calls that are worth a try, as code
    full : Mapping[str, Any]
        the values of the original, where that is larger
    """

    name: str
    title: str
    lectures: tuple[str, ...]
    topic: str
    claim: str
    setting: str
    criterion: str
    work: Callable[..., Outcome]
    knobs: Mapping[str, str]
    notice: tuple[str, ...]
    further: tuple[str, ...]
    full: Mapping[str, Any]

    @property
    def defaults(self) -> dict[str, Any]:
        """What a student may turn, at its quick setting."""
        return {name: p.default for name, p in inspect.signature(self.work).parameters.items()}

    def given(self, data: str | Path | None) -> dict[str, Any]:
        """Data of one's own as a parameter, where the experiment takes any.

        Parameters
        ----------
        data : str | Path | None
            a file or a folder

        Returns
        -------
        dict
            for `run`
        """
        return {"data": data} if data is not None and "data" in self.defaults else {}

    @property
    def source(self) -> str:
        """The program: all of its file."""
        return inspect.getsource(inspect.getmodule(self.work) or self.work)


def experiment(
    name: str,
    title: str,
    *,
    lectures: tuple[str, ...],
    topic: str,
    claim: str,
    setting: str,
    criterion: str,
    notice: tuple[str, ...],
    further: tuple[str, ...],
    knobs: Mapping[str, str] = MappingProxyType({}),
    full: Mapping[str, Any] = MappingProxyType({}),
) -> Callable[[Callable[..., Outcome]], Experiment]:
    """Make an experiment of a function that returns an `Outcome`. A decorator.

    Parameters
    ----------
    name : str
        to run it by
    title : str
        in a line
    lectures : tuple[str, ...]
        keys of `LECTURES`
    topic : str
        a key of `TOPICS`
    claim : str
        what the lecture says
    setting : str
        what is done
    criterion : str
        when the claim counts as shown
    notice : tuple[str, ...]
        sentences on what to look at
    further : tuple[str, ...]
        calls that are worth a try, as code
    knobs : Mapping[str, str]
        what each parameter of the function is, in a line
    full : Mapping[str, Any]
        parameters of the original, where that is larger

    Returns
    -------
    Callable
        takes the function, gives an `Experiment`
    """

    def declare(work: Callable[..., Outcome]) -> Experiment:
        it = Experiment(
            name, title, lectures, topic, claim, setting, criterion, work, knobs, notice, further, dict(full)
        )
        for lecture in lectures:
            look_up("lecture", lecture, LECTURES)
        look_up("topic", topic, TOPICS)
        if set(knobs) != set(it.defaults) or not set(full) <= set(knobs):
            raise ValueError(
                f"experiment {name!r}: knobs describe {sorted(knobs)}, full sets {sorted(full)}, and the parameters "
                f"are {sorted(it.defaults)}: describe each of them once"
            )
        return it

    return declare


def names() -> tuple[str, ...]:
    """The names of all experiments: each is a file of `pellucid.lab.experiments`."""
    from pellucid.lab import experiments

    return tuple(sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(experiments.__path__)))


def find(name: str) -> Experiment:
    """The experiment of this name; an error suggests the nearest ones.

    Parameters
    ----------
    name : str
        one of `names()`

    Returns
    -------
    Experiment
        not run yet
    """
    key = name.replace("_", "-")
    look_up("experiment", key, {each.replace("-", "_"): each for each in names()})
    module = importlib.import_module(f"pellucid.lab.experiments.{key.replace('-', '_').lower()}")
    return next(value for value in vars(module).values() if isinstance(value, Experiment))


def catalogue() -> tuple[Experiment, ...]:
    """All experiments, by topic and name.

    Examples
    --------
    >>> "xor" in [each.name for each in catalogue()]
    True
    """
    order = list(TOPICS)
    return tuple(sorted(map(find, names()), key=lambda each: (order.index(each.topic), each.name)))
