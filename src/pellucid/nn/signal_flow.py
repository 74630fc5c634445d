"""How a signal fares on its way through a network, and the gradient on its way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.autodiff import grad
from pellucid.errors import ShapeError
from pellucid.graph.primitives import random
from pellucid.markup import plural, short, table
from pellucid.nn.dimensions import summary
from pellucid.nn.layers.layer import Layer, Variables

BINS = 30


@dataclass(frozen=True)
class Signal:
    """What flows through one place, in a few numbers.

    Parameters
    ----------
    name : str
        of the place
    mean : float
        of the numbers
    std : float
        their deviation
    rms : float
        their root mean square
    zeros : float
        share that is exactly 0
    large : float
        share whose size is above 0.99
    histogram : tuple[tuple[int, ...], tuple[float, ...]]
        counts, and edges
    """

    name: str
    mean: float
    std: float
    rms: float
    zeros: float  # the share that is exactly 0
    large: float  # the share beyond 0.99 in size (saturated, for tanh)
    histogram: tuple[tuple[int, ...], tuple[float, ...]]  # counts, edges

    @staticmethod
    def of(name: str, x: Any, bounds: tuple[float, float] | None = None) -> Signal:
        """The numbers of an array.

        Parameters
        ----------
        name : str
            of the place
        x : array
            any shape
        bounds : tuple[float, float] | None
            ends of the histogram; None is those of the data
        """
        counts, edges = np.histogram(x[np.isfinite(x)], BINS, range=bounds)  # what overflowed has no bin
        return Signal(
            name,
            float(np.mean(x)),
            float(np.std(x)),
            float(np.sqrt(np.mean(np.square(x)))),
            float(np.mean(x == 0)),
            float(np.mean(np.abs(x) > 0.99)),
            (tuple(map(int, counts)), tuple(map(float, edges))),
        )


@dataclass(frozen=True)
class Signals:
    """What `signals` found, layers in the order of the network. Print it for a table.

    Parameters
    ----------
    input : Signal
        what goes in
    activations : tuple[Signal, ...]
        what comes out of every layer, behind its activation
    adjoints : tuple[Signal, ...]
        of every pre-activation (for one sample, not divided by their number)
    weight_gradients : tuple[Signal, ...]
        the mean gradient of every weight matrix
    """

    input: Signal
    activations: tuple[Signal, ...]
    adjoints: tuple[Signal, ...]
    weight_gradients: tuple[Signal, ...]

    def __str__(self) -> str:
        head = f"{'layer':<12} {'mean':>11} {'std':>11} {'zeros':>7} {'rms adjoint':>12} {'rms dW':>12}"
        lines = [head, "─" * len(head), _line(self.input)]
        for forward, back, dW in zip(self.activations, self.adjoints, self.weight_gradients, strict=True):
            lines.append(f"{_line(forward)} {back.rms:12.3e} {dW.rms:12.3e}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        ends = f"{short(self.activations[0].std)} → {short(self.activations[-1].std)}" if self.activations else "none"
        layers = plural(len(self.activations), "layer")
        return f"<Signals of {layers}: deviation of activations {ends}; print it for the table>"

    def _repr_html_(self) -> str:
        head = ["layer", "mean", "std", "zeros", "rms adjoint", "rms dW"]
        rows = [[*_line(self.input).split(), "", ""]]
        for forward, back, dW in zip(self.activations, self.adjoints, self.weight_gradients, strict=True):
            rows.append([*_line(forward).split(), f"{back.rms:.3e}", f"{dW.rms:.3e}"])
        return table(rows, head, numbers=range(1, 6))


def _line(s: Signal) -> str:
    return f"{s.name:<12} {_number(s.mean)} {_number(s.std)} {s.zeros:7.1%}"


def _number(x: float) -> str:
    return f"{x:11.6f}" if abs(x) < 1e4 else f"{x:11.3e}"


def signals(
    net: Any,
    variables: Any = None,
    X: Any = None,
    *,
    adjoint: Any = None,
    training: bool = True,
    seed: int = 0,
    bounds: Any = None,
) -> Signals:
    """Statistics of activations and gradients, layer by layer, for a network made of weights and activations.

    For every layer with weights: the activation that follows it, the adjoint of what comes out of it, the gradient
    of its weights.

    Parameters
    ----------
    net : Layer | Model
        `signals(net, variables, X)`, or `signals(model, X)`
    variables : Variables
        what `net.initialize` gives, or any pair (params, state)
    X : array of shape (n, features)
        rows
    adjoint : array of shape (n, outputs)
        the gradient at the output, as if it were that of a loss; by default standard normal numbers divided by the
        number of outputs
    training : bool
        as it is trained: batch normalisation by the statistics of X, dropout with masks drawn by `seed`; False as
        it predicts: stored statistics, no dropout
    seed : int
        of dropout and of the default adjoint
    bounds : tuple
        ends of the histograms of activations (30 bins); by default those of the data

    Returns
    -------
    Signals
        print it for a table

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> net = nn.mlp((50, 50), 50, activation="tanh", init="lecun", output_init="lecun")
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> [round(a.std, 1) for a in nn.signals(net, net.initialize(50), X).activations]
    [0.6, 0.5, 0.5]
    """
    net, params, state, X = _arguments(net, variables, X)
    if not net.children:
        raise ShapeError("signals needs a network of named parts: wrap a single layer in nn.Sequential")
    order = [row.name for row in summary(net, X).rows]
    weighted = [row.name for row in summary(net, X).rows if "weight" in row.shapes]
    behind = {name: _behind(name, order, weighted) for name in weighted}
    taps: dict[str, Any] = {}
    y, _ = net.apply(params, X, state, training=training, key=seed, taps=taps)
    if adjoint is None:
        adjoint = random.normal(seed, 0, y.shape, y.dtype) / y.shape[-1]

    def objective(params: Any, probes: Any) -> Any:
        out, _ = net.apply(params, X, state, training=training, key=seed, probes=probes)
        return np.sum(out * adjoint) / len(X)

    probes = {name: np.zeros_like(taps[name]) for name in weighted}
    dW, deltas = grad(objective, (0, 1))(dict(params), probes)
    return Signals(
        Signal.of("input", X),
        tuple(Signal.of(name, taps[behind[name]], bounds) for name in weighted),
        tuple(Signal.of(name, deltas[name] * len(X)) for name in weighted),
        tuple(Signal.of(name, dW[f"{name}.weight"]) for name in weighted),
    )


def _arguments(net: Any, variables: Any, X: Any) -> tuple[Layer, Any, Any, Any]:
    """Network, parameters, state and data out of what `signals` takes."""
    own = not isinstance(net, Layer)  # a Model, which is in a room above: known by what it has
    if own and not all(hasattr(net, name) for name in ("net", "params", "state", "dtype")):
        raise TypeError(f"signals(net, variables, X) takes a network or a Model first, got {type(net).__name__}")
    if own and X is None:  # signals(model, X)
        variables, X = None, variables
    if variables is None and own:
        if not net.params:
            raise ShapeError("signals: the model has no parameters yet: call fit(X, y), or initialize(features)")
        variables = net.params, net.state
    if isinstance(variables, Mapping):
        variables = variables, {}
    if not isinstance(variables, tuple) or len(variables) != 2:
        raise TypeError(
            "signals(net, variables, X): variables is what net.initialize(features) gives, or a pair (params, state), "
            f"got {type(variables).__name__}"
        )
    if X is None:
        raise TypeError("signals needs data: signals(net, variables, X), or signals(model, X)")
    X = np.asarray(X, net.dtype if own else None if hasattr(X, "shape") else float)
    return net.net if own else net, *Variables(*variables), X


def _behind(name: str, order: list[str], weighted: list[str]) -> str:
    """The last layer before the next one with weights: where the activation comes out."""
    last = name
    for other in order[order.index(name) + 1 :]:
        if other in weighted:
            break
        last = other
    return last
