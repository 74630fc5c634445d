"""Networks from elsewhere: fitted ones of scikit-learn, PyTorch's Sequential, ONNX files; with their weights."""

from pellucid.importing.onnx_networks import from_onnx as from_onnx
from pellucid.importing.sklearn_networks import from_sklearn as from_sklearn
from pellucid.importing.torch_networks import from_torch as from_torch
