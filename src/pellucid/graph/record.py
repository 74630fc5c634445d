"""record: run a function once on tracers and keep what it did."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pellucid.graph.core.tracer import Recording
from pellucid.graph.core.tree import flatten, paths, unflatten
from pellucid.graph.graph import Graph, from_recording, snapshot
from pellucid.graph.show.names import FUNCTIONS, distinct, free_letter


def record(f: Callable[..., Any], *args: Any, name: str | None = None) -> Graph:
    """Record `f` at `args` as a graph.

    With arrays values are known, Python's `if` and `while` work, and the graph is what happened for these values.
    With `Spec` only shapes are known, sizes given by name stay open, and the graph holds for every value and size.

    Parameters
    ----------
    f : Callable
        a function in plain NumPy
    *args
        arrays, numbers, nested dicts, lists and tuples of them; or `Spec(shape, dtype)` in their place
    name : str | None
        of the graph; by default that of the function

    Returns
    -------
    Graph
        what the function did

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Spec
    >>> print(record(lambda x, W: np.tanh(x @ W), Spec(("n", 3)), Spec((3, 2))))
    def f(x: float64[n, 3], W: float64[3, 2]):
        v1 = x @ W           # [n, 2]
        v2 = tanh(v1)        # [n, 2]
        return v2
    """
    leaves, in_tree = flatten(args)
    names = argument_names(f, args)
    with Recording() as recording:
        inputs = [recording.input(snapshot(leaf), label) for leaf, label in zip(leaves, names, strict=True)]
        result = f(*unflatten(in_tree, inputs))
    label = str(name or getattr(f, "__name__", ""))
    if not label.isidentifier():
        label = free_letter(FUNCTIONS, lambda letter: [letter], {*names})
    graph = from_recording(recording, label, inputs, in_tree, result, names)
    recording.close()
    return graph


def argument_names(f: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    """A name of its own for every leaf of the arguments: `x`, `params['W']`."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][: len(args)]
    others = range(len(positional), len(args))  # of a function that takes any number, or tells no names
    x = free_letter(["x", "arg"], lambda letter: [f"{letter}{i + 1}" for i in others], {*positional})
    names = []
    for prefix, arg in zip([*positional, *(f"{x}{i + 1}" for i in others)], args, strict=True):
        names += paths(flatten(arg)[1], prefix)
    return distinct(names)
