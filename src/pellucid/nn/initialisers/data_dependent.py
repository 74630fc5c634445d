"""What needs data: starting values that give every layer unit variance, edges of bins, and batch statistics."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from pellucid.errors import ShapeError
from pellucid.nn.initialisers.initializer import orthogonal
from pellucid.nn.layers.layer import Layer, Variables
from pellucid.nn.layers.piecewise import PiecewiseLinear


def data_dependent(net: Layer, variables: Variables, X: Any) -> Variables:
    """Every unit's pre-activation gets mean 0 and variance 1 on this data (Krähenbühl et al., 2015).

    Layer by layer from the input: the columns of each weight matrix are divided by the deviation of what comes out,
    and the bias takes the mean away.

    Parameters
    ----------
    net : Layer
        a network
    variables : Variables
        what `net.initialize` gives
    X : array of shape (n, features)
        rows

    Returns
    -------
    Variables
        new ones

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(3.0, 5.0, (100, 4))
    >>> net = nn.Sequential(nn.Dense(6))
    >>> z = net.predict(nn.data_dependent(net, net.initialize(4), X).params, X)
    >>> bool(np.allclose(z.mean(0), 0) and np.allclose(z.std(0), 1))
    True
    """
    params = dict(variables.params)
    for name in _weighted(variables):
        z = _affine_output(net, Variables(params, variables.state), X, name)
        params[_key(name, "weight")] = params[_key(name, "weight")] / _positive(z.std(axis=0), name)
        if _key(name, "bias") in params:
            z = _affine_output(net, Variables(params, variables.state), X, name)
            params[_key(name, "bias")] = params[_key(name, "bias")] - z.mean(axis=0)
    return Variables(params, variables.state)


def lsuv(
    net: Layer, variables: Variables, X: Any, *, tolerance: float = 0.01, rounds: int = 20, seed: int = 0
) -> Variables:
    """Layer-sequential unit variance (Mishkin and Matas, 2015).

    Orthogonal weights, then each layer scaled until its output has variance 1 on this data.

    Parameters
    ----------
    net : Layer
        a network
    variables : Variables
        what `net.initialize` gives
    X : array of shape (n, features)
        rows
    tolerance : float
        how far a variance may be from 1
    rounds : int
        scalings of a layer, at most
    seed : int
        of the orthogonal weights

    Returns
    -------
    Variables
        new ones

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> net = nn.mlp((16, 16), 2)
    >>> started = nn.lsuv(net, net.initialize(4), X)
    >>> taps = {}
    >>> _ = net.apply(started.params, X, started.state, taps=taps)
    >>> bool(abs(taps["hidden2"].var() - 1) < 0.01)
    True
    """
    params = dict(variables.params)
    for name in _weighted(variables):
        weight = params[_key(name, "weight")]
        rng = np.random.default_rng([seed, len(name), *name.encode()])
        params[_key(name, "weight")] = orthogonal(rng, weight.shape, weight.shape[0], weight.shape[1], 1.0).astype(
            weight.dtype
        )
        for _ in range(rounds):
            variance = float(_affine_output(net, Variables(params, variables.state), X, name).var())
            if abs(variance - 1.0) < tolerance:
                break
            deviation = _positive(np.sqrt(np.array([variance])), name)[0]
            params[_key(name, "weight")] = (params[_key(name, "weight")] / deviation).astype(weight.dtype)
        else:
            warnings.warn(
                f"lsuv: {name or 'the layer'} has variance {variance:.3g} after {rounds} rounds: do its biases differ?",
                stacklevel=2,
            )
    return Variables(params, variables.state)


def quantile_edges(net: Layer, variables: Variables, X: Any, weights: Any = None) -> Variables:
    """Bins of every `PiecewiseLinear` that hold equally many of these rows. A network without one stays as it is.

    Equal edges are one edge, and bins of a tiny width are joined to their neighbours: a column of few values has few
    bins, a constant one none.

    Parameters
    ----------
    net : Layer
        a network
    variables : Variables
        what `net.initialize` gives
    X : array of shape (n, features)
        rows
    weights : array of shape (n,)
        how much each row counts

    Returns
    -------
    Variables
        new ones

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> net = nn.Sequential(("bins", nn.PiecewiseLinear(1, bins=4)), nn.Dense(1))
    >>> X = np.arange(9.0)[:, None] ** 2
    >>> nn.quantile_edges(net, net.initialize(1), X).state["bins.start"].tolist()
    [[0.0, 4.0, 16.0, 36.0]]
    """
    state = dict(variables.state)
    for name, layer in piecewise_layers(net):
        taps: dict[str, Any] = {}
        net.apply(variables.params, X, state, taps=taps)
        for key, value in layer.quantile_bins(taps[_key(name, "input")], weights).items():
            state[_key(name, key)] = value.astype(state[_key(name, key)].dtype)
    return Variables(variables.params, state)


def piecewise_layers(net: Layer, path: str = "") -> list[tuple[str, PiecewiseLinear]]:
    """Those of a network, by name, from the input on."""
    if isinstance(net, PiecewiseLinear):
        return [(path, net)]
    return [one for name, child in net.children for one in piecewise_layers(child, f"{path}.{name}" if path else name)]


def population_statistics(net: Layer, variables: Variables, batches: Iterable[Any]) -> Variables:
    """Batch statistics for prediction with the weights as they are now: one training-mode pass over these batches.

    mean = average of the batches' means; var = average of B/(B-1) times their variances (batches weigh by their
    size). With equal batches that cover the data once, the mean is the population's.

    Parameters
    ----------
    net : Layer
        a network
    variables : Variables
        its arrays
    batches : Iterable[Any]
        arrays, (rows, features) each

    Returns
    -------
    Variables
        with new statistics

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(2.0, 3.0, (60, 2))
    >>> net = nn.Sequential(("norm", nn.BatchNorm()))
    >>> exact = nn.population_statistics(net, net.initialize(2), np.split(X, 6))
    >>> bool(np.allclose(exact.state["norm.mean"], X.mean(0)))
    True
    """
    names = [
        key.removesuffix("batches").removesuffix(".") for key in variables.state if key.split(".")[-1] == "batches"
    ]
    if not names:
        return variables
    totals: dict[str, Any] = {}
    rows = count = 0
    for X in batches:
        n = len(X)
        if np.ndim(X) < 2:
            raise ShapeError(
                f"population_statistics takes batches, arrays of rows, got one of shape {np.shape(X)}: [X, ...]"
            )
        if n < 2:
            continue  # a batch of one has no variance
        taps: dict[str, Any] = {}
        net.apply(variables.params, X, variables.state, training=True, noise=False, taps=taps)
        for name in names:
            for kind, factor in (("mean", 1.0), ("var", n / (n - 1))):
                key = _key(name, kind)
                totals[key] = totals.get(key, 0.0) + n * factor * taps[_key(name, f"batch_{kind}")]
        rows, count = rows + n, count + 1
    if not rows:
        raise ShapeError("population_statistics needs batches of at least two rows, got none")
    state = dict(variables.state)
    for key, total in totals.items():
        state[key] = np.asarray(total / rows, state[key].dtype)
    for name in names:
        state[_key(name, "batches")] = np.asarray(count, state[_key(name, "batches")].dtype)
    return Variables(variables.params, state)


def statistics_gap(stored: Variables, exact: Variables) -> dict[str, tuple[float, float]]:
    """How far stored batch statistics are from exact ones. Small data and few steps make it large.

    Parameters
    ----------
    stored : Variables
        of a trained network
    exact : Variables
        of `population_statistics`

    Returns
    -------
    dict
        for each normalisation the largest shift of a mean in deviations, and the largest factor between deviations

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import nn
    >>> X = np.random.default_rng(0).normal(5.0, 1.0, (64, 2))
    >>> net = nn.Sequential(("norm", nn.BatchNorm()))
    >>> fresh = net.initialize(2)
    >>> shift, factor = nn.statistics_gap(fresh, nn.population_statistics(net, fresh, [X]))["norm"]
    >>> 4 < shift < 6
    True
    """
    gaps = {}
    for key in stored.state:
        if key.split(".")[-1] == "batches":
            name = key.removesuffix("batches").removesuffix(".")
            (m0, v0), (m1, v1) = ((v.state[_key(name, "mean")], v.state[_key(name, "var")]) for v in (stored, exact))
            deviation = np.sqrt(np.maximum(v1, 1e-30))
            ratio = np.abs(np.log(np.maximum(v0, 1e-30) / np.maximum(v1, 1e-30))) / 2
            gaps[name] = (float(np.max(np.abs(m0 - m1) / deviation)), float(np.exp(np.max(ratio))))
    return gaps


def _weighted(variables: Variables) -> list[str]:
    """The layers with weights, from the input on ("" for a layer by itself)."""
    return [key.removesuffix("weight").removesuffix(".") for key in variables.params if key.split(".")[-1] == "weight"]


def _key(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part


def _affine_output(net: Layer, variables: Variables, X: Any, name: str) -> Any:
    taps: dict[str, Any] = {}
    net.apply(variables.params, X, variables.state, training=_has_norm(variables), noise=False, taps=taps)
    return taps[_key(name, "affine")]


def _has_norm(variables: Variables) -> bool:
    """A fresh BatchNorm has no statistics yet, so the batch's own are used."""
    return any(key.split(".")[-1] == "batches" for key in variables.state)


def _positive(deviation: Any, name: str) -> Any:
    if not np.all(deviation > 0):
        raise ShapeError(
            f"{name}: an output is the same for all rows of the data (deviation 0): more or other data are needed"
        )
    return deviation
