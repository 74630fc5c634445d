"""Nodes, primitives, recording, and how a graph is shown."""

from pellucid.graph import numpy_api as numpy_api
from pellucid.graph.core.dims import Dim as Dim
from pellucid.graph.core.spec import Spec as Spec
from pellucid.graph.core.tracer import named as named
from pellucid.graph.core.tracer import scope as scope
from pellucid.graph.graph import Graph as Graph
from pellucid.graph.node import Node as Node
from pellucid.graph.record import record as record
