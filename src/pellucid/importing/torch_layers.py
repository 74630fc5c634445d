"""PyTorch's layers and ours: which layer is which, and which of their arrays. Torch itself is not imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pellucid import nn
from pellucid.data.types import Array
from pellucid.nn.activations.layers import Activate


def _batch_norm(module: Any) -> nn.Layer:
    if not module.track_running_stats:
        raise ValueError(
            "BatchNorm1d(track_running_stats=False) has no statistics to predict with: train it with "
            "track_running_stats=True"
        )
    affine, eps = bool(module.affine), float(module.eps)
    if module.momentum is None:
        return nn.BatchNorm(eps, average="cumulative", affine=affine)
    return nn.BatchNorm(eps, float(module.momentum), affine=affine)


def _layer_norm(module: Any) -> nn.Layer:
    _only(module, "normalized_shape", len(module.normalized_shape) == 1)
    return nn.LayerNorm(float(module.eps), affine=bool(module.elementwise_affine))


def _rms_norm(module: Any) -> nn.Layer:
    _only(module, "normalized_shape", len(module.normalized_shape) == 1)
    dtype = np.float32 if module.weight is None else plain(module.weight).dtype
    eps = np.finfo(dtype).eps if module.eps is None else module.eps
    return nn.RMSNorm(float(eps), affine=bool(module.elementwise_affine))


def _over_features(make: Callable[[], nn.Layer]) -> Callable[[Any], nn.Layer]:
    def checked(module: Any) -> nn.Layer:
        _only(module, "dim", module.dim in (None, 1, -1))
        return make()

    return checked


def _gelu(module: Any) -> nn.Layer:
    return Activate(nn.activation("gelu_tanh" if module.approximate == "tanh" else "gelu"))


def _softplus(module: Any) -> nn.Layer:
    _only(module, "beta", module.beta == 1)
    return nn.Softplus()


def _hard_tanh(module: Any) -> nn.Layer:
    _only(module, "min_val", module.min_val == -1)
    _only(module, "max_val", module.max_val == 1)
    return nn.HardTanh()


def _flatten(module: Any) -> nn.Layer:
    _only(module, "start_dim", module.start_dim == 1 and module.end_dim == -1)
    return nn.Flatten()


def _only(module: Any, setting: str, fits: bool) -> None:
    if not fits:
        raise ValueError(
            f"{type(module).__name__}({setting}={getattr(module, setting)!r}) has no counterpart in pellucid.nn: "
            "write the network as nn.Sequential of ours, with a function of your own in its place, and give the "
            "state_dict beside it"
        )


LAYERS: dict[str, Callable[[Any], nn.Layer | None]] = {
    "Linear": lambda module: nn.Dense(module.out_features, bias=None if module.bias is None else 0.0),
    "BatchNorm1d": _batch_norm,
    "LayerNorm": _layer_norm,
    "RMSNorm": _rms_norm,
    "Dropout": lambda module: nn.Dropout(float(module.p)),
    "AlphaDropout": lambda module: nn.AlphaDropout(float(module.p)),
    "Flatten": _flatten,
    "Identity": lambda module: None,
    "ReLU": lambda module: nn.ReLU(),
    "ReLU6": lambda module: nn.ReLU6(),
    "LeakyReLU": lambda module: nn.LeakyReLU(float(module.negative_slope)),
    "PReLU": lambda module: nn.PReLU(shared=module.num_parameters == 1),
    "ELU": lambda module: nn.ELU(float(module.alpha)),
    "SELU": lambda module: nn.SELU(),
    "CELU": lambda module: nn.CELU(float(module.alpha)),
    "GELU": _gelu,
    "SiLU": lambda module: nn.SiLU(),
    "Mish": lambda module: nn.Mish(),
    "Sigmoid": lambda module: nn.Sigmoid(),
    "LogSigmoid": lambda module: nn.LogSigmoid(),
    "Tanh": lambda module: nn.Tanh(),
    "Softplus": _softplus,
    "Softsign": lambda module: nn.Softsign(),
    "Hardtanh": _hard_tanh,
    "Hardsigmoid": lambda module: nn.HardSigmoid(),
    "Hardswish": lambda module: nn.HardSwish(),
    "Softmax": _over_features(nn.Softmax),
    "LogSoftmax": _over_features(nn.LogSoftmax),
}
"""By the name of its class: the layer of ours that does the same; None is no layer at all."""


def layer_of(module: Any, where: str) -> nn.Layer | None:
    """The layer of ours that does what a layer of PyTorch's does."""
    kind = type(module).__name__
    if kind not in LAYERS:
        raise TypeError(
            f"from_torch: layer {where} is a {kind}, which is not supported: a Sequential may hold "
            f"{', '.join(LAYERS)}, and Sequentials of them"
        )
    return LAYERS[kind](module)


# arrays

STATISTICS = {"running_mean": "mean", "running_var": "var", "num_batches_tracked": "batches"}
AFFINE = {"weight": "scale", "bias": "shift"}


def arrays_of(layer: nn.Layer, theirs: Mapping[str, Array], where: str) -> tuple[dict[str, Array], dict[str, Array]]:
    """PyTorch's arrays of a layer as our parameters and state: named, and turned where the two differ."""
    match layer:
        case nn.Dense():
            if layer.scaling != "standard":
                raise ValueError(f"from_torch: {where} is {layer}, but PyTorch's weights are not scaled: drop scaling")
            names: dict[str, str] = {"weight": "weight", "bias": "bias"}
        case nn.BatchNorm():
            names = AFFINE | STATISTICS
        case nn.LayerNorm() | nn.RMSNorm():
            names = AFFINE
        case Activate() if layer.activation.learned:
            names = dict(zip(["weight"], layer.activation.learned, strict=False))
        case _:
            names = {}
    unknown = sorted(set(theirs) - set(names))
    if unknown:
        raise ValueError(
            f"from_torch: {where} is {layer}, which has no array {unknown[0]!r}: its arrays are "
            f"{', '.join(names) or 'none'}"
        )
    renamed = {names[name]: array for name, array in theirs.items()}
    if isinstance(layer, nn.Dense) and "weight" in renamed:
        renamed["weight"] = renamed["weight"].T  # (out, in) there, (in, out) here
    if isinstance(layer, Activate) and layer.shared:
        renamed = {name: array.reshape(()) for name, array in renamed.items()}
    if isinstance(layer, nn.LayerNorm) and layer.affine and "scale" in renamed:
        renamed.setdefault("shift", np.zeros_like(renamed["scale"]))  # LayerNorm(bias=False)
    if isinstance(layer, nn.BatchNorm) and "mean" in renamed:
        renamed.setdefault("batches", np.zeros(()))  # files of PyTorch before 0.4.1
    statistics = {name: array for name, array in renamed.items() if name in STATISTICS.values()}
    return {name: array for name, array in renamed.items() if name not in statistics}, statistics


def plain(array: Any) -> Array:
    """A tensor, or whatever holds numbers, as an array."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        if "float16" in str(array.dtype):  # half precision, bfloat16 too, which NumPy does not know
            array = array.float()
        array = array.numpy()
    return np.asarray(array)
