"""What a layer is: a frozen description. Its arrays live outside, in flat dicts of named arrays."""

from __future__ import annotations

import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pellucid.amounts import check_whole, is_whole
from pellucid.errors import ShapeError
from pellucid.graph.core.tracer import scope
from pellucid.markup import counted
from pellucid.nn.initialisers.initializer import Initializer
from pellucid.nn.layers.context import Context
from pellucid.records import Record

if TYPE_CHECKING:
    from pellucid.nn.activations.activation import Activation

Features = tuple[int, ...]
"""The shape of one sample: (784,) for rows of 784 numbers, (28, 28) for images."""

Params = Mapping[str, Any]
"""Named arrays: "hidden1.weight", "hidden1.bias", ..."""


class Variables(NamedTuple):
    """The arrays of a network.

    Parameters
    ----------
    params : dict[str, Any]
        what is learned, by name
    state : dict[str, Any]
        what is kept besides (batch statistics), by name
    """

    params: dict[str, Any]
    state: dict[str, Any]

    def __repr__(self) -> str:
        return f"Variables(params: {counted(self.params)}; state: {counted(self.state)})"


@dataclass(frozen=True)
class Parameter:
    """A learned array before it exists.

    Parameters
    ----------
    shape : tuple[int, ...]
        of the array
    init : Initializer
        how it starts
    fan_in : int
        numbers that flow into a unit, as its initialiser reckons
    fan_out : int
        numbers that flow out of it
    gain : float
        of the activation that follows
    """

    shape: tuple[int, ...]
    init: Initializer
    fan_in: int = 1
    fan_out: int = 1
    gain: float = 1.0

    def make(self, name: str, seed: int, dtype: Any) -> Any:
        """The array. Its numbers depend on the seed and its own name, not on the layers around it.

        Parameters
        ----------
        name : str
            of the parameter
        seed : int
            of the network
        dtype : dtype
            of the array

        Returns
        -------
        array
            of this shape
        """
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        array = self.init(rng, self.shape, self.fan_in, self.fan_out, self.gain)
        return np.asarray(array, dtype)


class Layer(Record, ABC):
    """A frozen description of a step of the network.

    A layer of one's own is a frozen dataclass with `__call__`, and where it learns something, `parameters` (a class
    that is no dataclass is refused when a layer is made of it):

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> from pellucid import nn
    >>> @dataclass(frozen=True)
    ... class Shift(nn.Layer):
    ...     def parameters(self, features, activation=None):
    ...         return {"shift": nn.Parameter(features, nn.constant(1.0))}
    ...     def __call__(self, p, x, ctx):
    ...         return x + p["shift"]
    >>> net = nn.Sequential(Shift())
    >>> net.predict(net.initialize(2).params, np.zeros((1, 2)))
    array([[1., 1.]])
    """

    @property
    def takes_sparse(self) -> bool:
        """Is the input only multiplied by a weight (`x @ weight`), so that it may be a sparse matrix?"""
        return False

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        """What is learned, for samples of this shape.

        Parameters
        ----------
        features : Features
            the shape of a sample
        activation : Activation | None
            the one that follows, if it is known

        Returns
        -------
        dict
            records of parameters, by name
        """
        return {}

    def state(self, features: Features) -> dict[str, Any]:
        """What is kept besides, at the start.

        Parameters
        ----------
        features : Features
            the shape of a sample

        Returns
        -------
        dict of arrays
            by name
        """
        return {}

    def output(self, features: Features) -> Features:
        """The shape of a sample behind this layer.

        Parameters
        ----------
        features : Features
            the shape of a sample ahead of it

        Returns
        -------
        tuple of int
            the shape behind it
        """
        return features

    @property
    def children(self) -> tuple[tuple[str, Layer], ...]:
        """The named parts of a layer that is made of layers."""
        return ()

    @abstractmethod
    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        """The step itself, in plain NumPy.

        Parameters
        ----------
        p : dict of arrays
            its parameters
        x : array of shape (n, *features)
            a batch
        ctx : Context
            training or not, statistics, random numbers

        Returns
        -------
        array of shape (n, *output)
            the batch behind it
        """

    # what every layer can do by these

    def initialize(self, features: Any, *, seed: int = 0, dtype: Any = np.float64) -> Variables:
        """Parameters and state for samples of this shape.

        Parameters
        ----------
        features : int | tuple | array
            the number of features, the shape of a sample, or data to take it from
        seed : int
            of the random numbers
        dtype : dtype
            of the parameters

        Returns
        -------
        Variables
            `params` and `state`
        """
        shape = sample_shape(features)
        if np.dtype(dtype).kind != "f":
            raise ValueError(f"initialize: dtype is float32 or float64, got {dtype!r}")
        check_whole(0, seed=seed)
        params = {name: parameter.make(name, seed, dtype) for name, parameter in self.parameters(shape).items()}
        state = {name: np.array(value, dtype, order="C") for name, value in self.state(shape).items()}
        return Variables(params, state)

    def apply(
        self,
        params: Params,
        x: Any,
        state: Params | None = None,
        *,
        training: bool = False,
        noise: bool | None = None,
        key: int = 0,
        counter: Any = 0,
        settings: Mapping[str, Any] | None = None,
        taps: dict[str, Any] | None = None,
        probes: Params | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """The output for a batch, and the state after it. A pure function.

        Parameters
        ----------
        params : Params
            arrays by name
        x : array of shape (n, *features)
            a batch
        state : Params | None
            stored statistics by name
        training : bool
            normalise by batch statistics
        noise : bool | None
            dropout at work; None is as `training`
        key : int
            the seed of random numbers
        counter : int
            the number of the step: other random numbers for each
        settings : Mapping[str, Any] | None
            numbers in the place of those of layers, by name
        taps : dict[str, Any] | None
            a dict that values are noted in, by the names of layers
        probes : Params | None
            arrays added to values, by the names of layers

        Returns
        -------
        tuple
            the output (n, *output), and the state after it
        """
        if isinstance(params, Variables) or not isinstance(params, Mapping):
            raise TypeError(
                f"params is a dict of named arrays, got {type(params).__name__}: write params, state = "
                "net.initialize(...), then net.predict(params, X, state)"
            )
        if not hasattr(x, "shape"):
            x = np.asarray(x, dtype=float)
        ctx = Context(
            training=training,
            noise=training if noise is None else noise,
            state=state or {},
            key=key,
            counter=counter,
            settings=settings or {},
            taps=taps,
            probes=probes or {},
        )
        y = self(params, x, ctx)
        return y, {**(state or {}), **ctx.updates}

    def predict(self, params: Params, x: Any, state: Params | None = None) -> Any:
        """The output outside training: stored statistics, no dropout.

        Parameters
        ----------
        params : Params
            arrays by name
        x : array of shape (n, *features)
            a batch
        state : Params | None
            stored statistics by name

        Returns
        -------
        array of shape (n, *output)
            the output
        """
        return self.apply(params, x, state)[0]

    def with_(self, **changes: Any) -> Any:
        """The same layer with some fields changed.

        Parameters
        ----------
        **changes
            fields by name

        Returns
        -------
        Layer
            a new one
        """
        return replace(self, **changes)  # type: ignore[type-var]


def sample_shape(features: Any) -> Features:
    """The shape of one sample: from a number, a shape, or data (n, ...)."""
    if is_whole(features, -math.inf):
        features = (int(features),)
    shape = features if isinstance(features, tuple) else np.shape(features)[1:]
    if not shape or any(not isinstance(s, int) or s < 1 for s in shape):
        got = features if isinstance(features, tuple) else f"data of shape {np.shape(features)}"
        raise ShapeError(
            "a network needs the number of features (784), the shape of a sample ((28, 28)) or data of shape (n, ...), "
            f"got {got}"
        )
    return tuple(shape)


def rows_of(layer: Layer, features: Features) -> int:
    """The number of features, for layers that take rows."""
    if len(features) != 1:
        raise ShapeError(
            f"{layer} expects rows of features, got samples of shape {features}: put nn.Flatten() in front"
        )
    return features[0]


def check_features(layer: Layer, x: Any, expected: Features, path: str) -> None:
    """Does a sample have the shape that the parameters were made for? (A layer norm looks at the last sizes only.)"""
    if tuple(x.shape[len(x.shape) - len(expected) :]) != tuple(expected) or len(x.shape) <= len(expected):
        raise ShapeError(
            f"{path or 'layer'}: {layer} was made for samples of shape {tuple(expected)}, got an array of shape "
            f"{tuple(x.shape)}: was it initialised for other columns?"
        )


def check_columns(layer: Layer, x: Any, expected: int, path: str) -> None:
    """Does the batch have the columns that the parameters were made for?"""
    if len(x.shape) != 2 or x.shape[-1] != expected:
        raise ShapeError(
            f"{path or 'layer'}: {layer} expects {expected} features, got an array of shape {tuple(x.shape)}: "
            "was it initialised for other columns?"
        )


class Named(dict[str, Any]):
    """Parameters of one part; asked for one that is missing, it says whose."""

    name = ""

    def __missing__(self, key: str) -> Any:
        raise ShapeError(
            f"{self.name}: the parameter {key!r} is missing: were these parameters made for another network?"
        )


def within(params: Params, name: str) -> dict[str, Any]:
    """The parameters of the part called `name`, without the prefix."""
    start = f"{name}."
    inside = Named((key[len(start) :], value) for key, value in params.items() if key.startswith(start))
    inside.name = name
    return inside


def call(layer: Layer, name: str, params: Params, x: Any, ctx: Context) -> Any:
    """A part of a layer at work, under its name."""
    inside = ctx.at(name)
    with scope(name):
        return inside.tap(layer(within(params, name), x, inside))
