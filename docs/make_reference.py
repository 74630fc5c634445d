"""Write docs/parameters.md anew, from the declarations: python docs/make_reference.py"""

from __future__ import annotations

import textwrap
from pathlib import Path

from pellucid.estimators import (
    BaggedMLPClassifier,
    BaggedMLPRegressor,
    MLPClassifier,
    MLPRegressor,
    NetworkSettings,
    TabularMLPClassifier,
    TabularMLPRegressor,
    TrainingSettings,
)
from pellucid.estimators.parameters import ANYTHING, Parameter, Parameters

PAGE = Path(__file__).parent / "parameters.md"

BEGINNING = """\
# Parameters

<!-- Written by docs/make_reference.py: change the declarations, not this page. -->

All parameters of the estimators and of their two groups of settings, in the order of the
constructors. What stands above the line "by name only" may be given by position, too. "May be"
is what `fit` checks first, in the words of its error; — is looked at by the part that uses it.
`help(MLPClassifier)` has the same list. The page [estimators](estimators.md) shows how they are
used, [extending](extending.md) how one is added.
"""

INTRODUCTIONS: dict[type[Parameters], str] = {
    MLPClassifier: "scikit-learn's parameters have its names, defaults and meaning.",
    MLPRegressor: "The loss comes first, as in scikit-learn; without what is for classes.",
    TabularMLPClassifier: '"auto" chooses by the number of rows, or by what suits the target.',
    TabularMLPRegressor: "As for classes, with a target that is standardised for training.",
    BaggedMLPClassifier: "Several classifiers whose probabilities are averaged: see [ensembles](ensembles.md).",
    BaggedMLPRegressor: "Several regressors whose predictions are averaged.",
    NetworkSettings: "Details of the network: `network=NetworkSettings(...)`.",
    TrainingSettings: "Details of training: `training=TrainingSettings(...)`.",
}


def page() -> str:
    """The whole page."""
    return "\n".join([BEGINNING, *(section(kind) for kind in INTRODUCTIONS)])


def section(kind: type[Parameters]) -> str:
    """Heading, introduction and table of a class."""
    rows = [row(name, one) for name, one in kind.declared.items()]
    by_position = sum(not one.kw_only for one in kind.declared.values())
    if by_position:
        rows.insert(by_position, "| | | | *by name only* |")
    head = ["| name | default | may be | what it is |", "| --- | --- | --- | --- |"]
    introduction = textwrap.fill(INTRODUCTIONS[kind], 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"## {kind.__name__}", "", introduction, "", *head, *rows, ""])


def row(name: str, one: Parameter) -> str:
    """A line of a table."""
    words = "—" if one.condition is ANYTHING else one.condition.words
    return f"| `{name}` | `{one.default!r}` | {cell(words)} | {cell(one.doc)} |"


def cell(text: str) -> str:
    """Text that a table can hold."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
