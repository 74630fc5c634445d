"""step: one training step of a network, written out as a numbered derivation with real numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pellucid.amounts import check_whole
from pellucid.inspect.derivation import html, latex, text
from pellucid.inspect.derivation.backward import write_backward
from pellucid.inspect.derivation.content import Step
from pellucid.inspect.derivation.forward import write_forward
from pellucid.inspect.derivation.loss import write_loss
from pellucid.inspect.derivation.notation import Notation, notation_named
from pellucid.inspect.derivation.page import Page
from pellucid.inspect.derivation.trace import Trace, one_batch, traced
from pellucid.inspect.derivation.update import write_update
from pellucid.inspect.subject import subject
from pellucid.markup import plural
from pellucid.nn.dimensions import outline

if TYPE_CHECKING:
    from rich.text import Text

LAYERS = 6
"""Layers with weights that are written out; of more, the first ones and the last."""

STYLES = {"title": "bold", "phase": "bold cyan", "step": "bold", "entry": "green", "words": "dim", "formula": ""}


@dataclass(frozen=True, eq=False, repr=False)
class Derivation:
    """A training step, written out. Print it, show it in a notebook, or take `html()` and `latex()` with you.

    `z`, `a` and `delta` are arrays by the names of the layers with weights: what goes out of the affine map, what
    comes out of its activation, and the derivative of each sample's loss by z (not divided by the number of rows).
    `gradient` and `update` are by the names of the parameters: the gradient of the objective, and what the step
    adds. All are as the library holds them, rows are samples, whatever the notation: it only changes what is
    written.

    Parameters
    ----------
    trace : Trace
        everything that the step computed
    notation : Notation
        how it is written
    digits : int
        of the numbers
    limit : int
        rows and columns of a matrix that are shown
    """

    trace: Trace
    notation: Notation
    digits: int = 4
    limit: int = 6

    # the arrays

    @property
    def z(self) -> dict[str, Any]:
        """Pre-activations, x W + b.   (n, units) for each layer"""
        return {part.name: self.trace.values[part.z] for part in self.trace.parts if part.weighted}

    @property
    def a(self) -> dict[str, Any]:
        """Activations; of a layer without one, z.   (n, units) for each layer"""
        return {name: self.trace.values[behind] for name, behind in self._behind().items()}

    @property
    def delta(self) -> dict[str, Any]:
        """The derivative of the sum of losses by z.   (n, units) for each layer"""
        return {part.name: self.trace.adjoints[part.z] for part in self.trace.parts if part.weighted}

    @property
    def gradient(self) -> dict[str, Any]:
        """The gradient of the objective: mean loss plus penalty, by the names of the parameters."""
        return dict(self.trace.gradients)

    @property
    def update(self) -> dict[str, Any]:
        """New parameters minus old ones."""
        new, old = self.trace.after.params, self.trace.before.params
        return {name: new[name] - old[name] for name in new}

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters after the step."""
        return dict(self.trace.after.params)

    @property
    def loss(self) -> float:
        """The mean loss before the step, without the penalty."""
        return self.trace.loss

    @property
    def objective(self) -> float:
        """What is minimised: the mean loss plus the penalty."""
        return self.trace.objective

    def _behind(self) -> dict[str, str]:
        """Where the activation of each layer flows by."""
        names: dict[str, str] = {}
        current = ""
        for part in self.trace.parts:
            if part.weighted:
                current = part.name
                names[current] = part.name
            elif current and type(part.layer).__name__ in ("Activate", "Mixed") and names[current] == current:
                names[current] = part.name
        return names

    # the page

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The numbered steps."""
        page = Page(self.trace, self.notation, self.digits)
        write_forward(page)
        write_loss(page)
        write_backward(page)
        write_update(page)
        return tuple(page.steps)

    @property
    def shown(self) -> tuple[Step, ...]:
        """The steps that are written; those of layers in the middle of a deep network are left out."""
        layers = max((part.number for part in self.trace.parts), default=0)
        if layers <= LAYERS:
            return self.steps
        first, last = LAYERS - 2, layers
        return tuple(step for step in self.steps if not first < step.layer < last)

    @property
    def title(self) -> str:
        """The network, its loss and its rule in one line."""
        trainer = self.trace.trainer
        net = outline(trainer.net, tuple(self.trace.batch.X.shape[1:]))
        rule = type(trainer.optimizer.rule).__name__
        return f"A training step of {net}: {trainer.loss.name}, {rule}, {plural(self.trace.rows, 'row')}"

    @property
    def convention(self) -> str:
        """How samples lie, in words."""
        sample = "a sample is" if self.trace.rows == 1 else "samples are"
        if self.notation.rows:
            return f"{sample} {'a row' if self.trace.rows == 1 else 'rows'}: x W + b"
        return f"{sample} {'a column' if self.trace.rows == 1 else 'columns'}: W x + b"

    def in_notation(self, notation: Any) -> Derivation:
        """The same step in another notation.

        Parameters
        ----------
        notation : str | Notation
            "rows", "columns", "kth", "waterloo", or one of your own

        Returns
        -------
        Derivation
            a new one
        """
        return replace(self, notation=notation_named(notation).for_rows(self.trace.rows))

    def _lines(self) -> Any:
        spared = "steps {first} to {last}: the layers between, in the same way"
        title = f"{self.title}\n{self.convention[:1].upper()}{self.convention[1:]}"
        return text.text_lines(title, self.shown, self.digits, self.limit, spared)

    def __str__(self) -> str:
        return "\n".join(line for _, line in self._lines())

    def __repr__(self) -> str:
        return f"<Derivation: {self.title}; {plural(len(self.steps), 'step')}; print it>"

    def __rich__(self) -> Text:
        """The same in colours, for `rich.print`."""
        from rich.text import Text

        page = Text(no_wrap=True, overflow="ignore")
        for style, line in self._lines():
            page.append(line + "\n", style=STYLES.get(style, ""))
        return page

    def html(self) -> str:
        """A page of its own, with everything in it."""
        return html.page(self.title, self.convention, self.shown, self.digits, self.limit)

    def _repr_html_(self) -> str:
        return html.fragment(self.title, self.convention, self.shown, self.digits, self.limit)

    def latex(self, document: bool = True) -> str:
        """A LaTeX document, or what stands inside one (it needs amsmath).

        Parameters
        ----------
        document : bool
            a whole document; False gives what stands inside one

        Returns
        -------
        str
            LaTeX
        """
        return latex.written(self.title, self.convention, self.shown, self.digits, self.limit, document)


def step(
    model: Any,
    x: Any,
    y: Any,
    *,
    notation: Any = "rows",
    sample_weight: Any = None,
    seed: int = 0,
    digits: int = 4,
    limit: int = 6,
) -> Derivation:
    """One training step on these rows, written out: every z, a, delta, gradient and update, with real numbers.

    It is the step that `fit` would make next on them as one batch; the model is left as it is.

    Parameters
    ----------
    model : Model | estimator | pipeline
        fitted or not
    x : array of shape (n, features) or (features,)
        the rows of the step, or one sample
    y : array | number
        their target
    notation : str | Notation
        "rows" (x W + b), "columns" (W x + b), one of the lectures' own, "kth" or "waterloo", or an
        `inspect.Notation`
    sample_weight : array of shape (n,)
        how much each row counts
    seed : int
        draws dropout, and the weights of a model that has none
    digits : int
        of the numbers
    limit : int
        matrices of more rows or columns are shown in part

    Returns
    -------
    Derivation
        to be printed, or shown in a notebook

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Model, inspect, nn, optim
    >>> model = Model(nn.mlp((2,), 1), "half_squared_error", optim.SGD(0.1), dtype="float64")
    >>> d = inspect.step(model, [1.0, -2.0], 1.0)
    >>> d.delta["output"] == d.z["output"] - 1.0
    array([[ True]])
    """
    check_whole(1, digits=digits)
    check_whole(3, limit=limit)
    check_whole(0, seed=seed)
    chosen = notation_named(notation)
    rows, targets = one_batch(x, y)
    inside = subject(model, rows, targets)
    trace = traced(inside.model, inside.X, inside.y, sample_weight, seed)
    return Derivation(trace, chosen.for_rows(trace.rows), digits, limit)
