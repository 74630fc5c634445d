"""run: a network at this moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.amounts import check_whole
from pellucid.data.chunks import CHUNK
from pellucid.data.rows import Rows, prepared_rows
from pellucid.data.splits import evenly
from pellucid.inspect.blocks import Block, blocks
from pellucid.inspect.look import LayerLook, Look, Sight
from pellucid.inspect.subject import Subject, must_have_parameters, subject
from pellucid.inspect.taps import SATURATED, looked, tapped
from pellucid.train.loop.run import Plan, Run
from pellucid.train.loop.step import float64s


def run(model: Any, X: Any, y: Any = None, *, rows: int = 4096) -> Look:
    """Look at a network as it is now: every layer in numbers, forward and, with y, backward.

    With y the network is looked at as it is trained (batch statistics, dropout), with gradients and the update that
    the first step of a next `fit` would make on these rows; without y as it predicts.

    Parameters
    ----------
    model : Model | estimator | pipeline
        fitted, or with first parameters
    X : array or data frame of shape (n, features)
        rows as its `fit` takes them
    y : array of shape (n,) or (n, outputs)
        their target, or None
    rows : int
        statistics are those of at most so many rows, evenly taken from X; which units are dead or saturated is
        found on all of them

    Returns
    -------
    Look
        print it for a table

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Model, inspect, nn
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = Model(nn.mlp((8, 8), 1, activation="tanh")).initialize(X)
    >>> look = inspect.run(model, X, X[:, 0])
    >>> [layer.name for layer in look.layers]
    ['hidden1', 'hidden2', 'output']
    >>> look["hidden1"].dead, 0.0 < look["hidden1"].a.std < 1.0
    ((), True)
    """
    check_whole(rows=rows)
    return look_at(subject(model, X, y), rows)


def look_at(it: Subject, rows: int = 4096) -> Look:
    """The same, of what `subject` made."""
    must_have_parameters(it.model, "inspect.run")
    watched = blocks(it.model.net, it.model.features)
    sight = Sight.of(watched, it.columns)
    places = evenly(len(it.X), rows)
    with np.errstate(all="ignore"):  # what is not finite is shown as such
        if it.y is None:
            task = next_step(it, Rows(it.X[:1], None))
            raw = looked(task.trainer, watched)(it.model.params, it.model.state, it.X[places])
        else:
            prepared = prepared_rows(it.X, it.y, None, it.loss, it.model.outputs, it.model.dtype)
            batch = prepared.take(places)
            task = next_step(it, batch)
            state, t = task.now, task.step
            numbers = float64s(task.rule_numbers(t)), task.settings(t)
            now = (state.params, state.state, state.rule)
            raw = tapped(task.trainer, watched)(now, batch.arrays, np.int64(t), *numbers)
        look = sight.read(raw, task.step, task.epoch, len(places))
        return look if len(places) == len(it.X) else replace(look, layers=_over_all_rows(it, watched, look))


def next_step(it: Subject, rows: Rows) -> Run:
    """A run of the model that is about to make the first step of its next fit, on these rows."""
    return it.model.new_run(Plan(rows, epochs=1, batch_size=len(rows)), (), it.model.progress)


def _over_all_rows(it: Subject, watched: tuple[Block, ...], look: Look) -> tuple[LayerLook, ...]:
    """The layers, with the slopes of all rows in the place of those of some."""
    active = [block for block in watched if block.elementwise]
    opened: dict[str, Any] = {block.name: 0.0 for block in active}
    largest: dict[str, Any] = {block.name: 0.0 for block in active}
    for first in range(0, len(it.X), CHUNK):
        part = it.X[first : first + CHUNK]
        taps: dict[str, Any] = {}
        it.model.net.apply(it.model.params, part, it.model.state, taps=taps)
        for block in active:
            slope = block.steepness(it.model.params, taps[block.z])
            opened[block.name] = opened[block.name] + np.mean(slope >= SATURATED, axis=0) * len(part) / len(it.X)
            largest[block.name] = np.maximum(largest[block.name], np.max(slope, axis=0))
    return tuple(
        replace(layer, unit_open=opened[layer.name], unit_slope=largest[layer.name]) if layer.name in opened else layer
        for layer in look.layers
    )
