"""Fitted models for where there is no Pellucid, preprocessing inside: ONNX, C99, JSON, a NumPy script.

All four are readers of one recorded graph, from the columns of a table to the answers (`program`).
"""

from pellucid.export.door import c as c
from pellucid.export.door import inputs as inputs
from pellucid.export.door import json as json
from pellucid.export.door import numpy as numpy
from pellucid.export.door import onnx as onnx
from pellucid.export.door import write as write
from pellucid.export.json_file import schema as schema
