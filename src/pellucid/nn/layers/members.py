"""Members and Heads: many networks in one, that share all hidden layers.

TabM-mini of Gorishniy, Kotelnikov and Babenko, 2025; after BatchEnsemble of Wen, Tran and Ba, 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.errors import AbstractValueError, ShapeError
from pellucid.nn.activations.activation import Activation
from pellucid.nn.initialisers.initializer import initializer
from pellucid.nn.layers.context import Context
from pellucid.nn.layers.dense import effective_weight, known_scaling, positive, start_of
from pellucid.nn.layers.layer import Features, Layer, Parameter, Params, check_columns, rows_of


@dataclass(frozen=True)
class Members(Layer):
    """Every row once for each member, times the member's own factors.   (n, d) -> (members n, d)

    The rows of the first member come first, then those of the second, and so on. Layers behind it see more rows and
    are shared; `Heads` brings each member's rows to its own outputs.

    Parameters
    ----------
    members : int
        how many
    init : str | number | array | Initializer
        how the factors start, (members, d): they have to differ, or all members learn the same

    Examples
    --------
    >>> import numpy as np
    >>> layer = Members(2)
    >>> layer.predict({"scale": np.array([[1.0], [-1.0]])}, np.array([[3.0], [4.0]])).tolist()
    [[3.0], [4.0], [-3.0], [-4.0]]
    """

    members: int
    init: Any = "random_signs"

    def __post_init__(self) -> None:
        positive(self, "members", self.members)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        return {"scale": Parameter((self.members, rows_of(self, features)), initializer(self.init))}

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        check_columns(self, x, p["scale"].shape[1], ctx.path)
        n, d = x.shape
        return np.reshape(p["scale"][:, None, :] * x, (self.members * n, d))


@dataclass(frozen=True)
class Heads(Layer):
    """An affine map for each member, outputs side by side.   (members n, n_in) -> (n, members outputs)

    The columns of the first member come first. `EachMember` is the loss of such scores.

    Parameters
    ----------
    outputs : int
        scores of each member
    members : int
        as in `Members`
    init : str | number | array | Initializer
        how weights start, (members, n_in, outputs)
    bias : str | number | array | Initializer
        how biases start, (members, outputs); None is no bias
    scaling : str
        "standard" or "ntk", as for `Dense`

    Examples
    --------
    >>> from pellucid import nn
    >>> net = nn.Sequential(nn.Members(3), nn.Dense(8), "relu", nn.Heads(2, 3))
    >>> net.predict(net.initialize(5).params, np.ones((7, 5))).shape
    (7, 6)
    """

    outputs: int
    members: int
    init: Any = "auto"
    bias: Any = 0.0
    scaling: str = "standard"

    def __post_init__(self) -> None:
        positive(self, "outputs", self.outputs)
        positive(self, "members", self.members)
        known_scaling(self)

    def parameters(self, features: Features, activation: Activation | None = None) -> dict[str, Parameter]:
        n_in, k, outputs = rows_of(self, features), self.members, self.outputs
        gain = 1.0 if activation is None else activation.gain
        parameters = {"weight": Parameter((k, n_in, outputs), initializer(start_of(self)), n_in, outputs, gain)}
        if self.bias is not None:
            parameters["bias"] = Parameter((k, outputs), initializer(self.bias), n_in, outputs)
        return parameters

    def output(self, features: Features) -> Features:
        return (self.members * self.outputs,)

    def __call__(self, p: Params, x: Any, ctx: Context) -> Any:
        check_columns(self, x, p["weight"].shape[1], ctx.path)
        n = self._rows(x.shape[0], ctx)
        each, weight = np.reshape(x, (self.members, n, x.shape[1])), effective_weight(self, p["weight"])
        if self.outputs == 1:  # products with one column are outer products on the way back, which cost more
            y = np.sum(each * weight[:, None, :, 0], axis=-1, keepdims=True)
        else:
            y = np.matmul(each, weight)
        y = y + p["bias"][:, None, :] if self.bias is not None else y  # (members, n, outputs)
        return ctx.tap(np.reshape(np.transpose(y, (1, 0, 2)), (n, self.members * self.outputs)), "affine")

    def _rows(self, total: Any, ctx: Context) -> Any:
        """Rows of one member; `total` may be open."""
        try:
            exact = not isinstance(total, int) or total % self.members == 0
            if exact:
                return total // self.members
        except AbstractValueError:
            pass
        raise ShapeError(
            f"{ctx.path or 'layer'}: {self} expects rows for {self.members} members, got {total} rows: put "
            f"nn.Members({self.members}) ahead"
        )
