"""NumPy's functions and array methods on traced arrays, in terms of the primitives.

A function here brings NumPy's arguments to the primitives' normal form, or composes primitives in plain
NumPy. Options that make no sense in a graph (`out=`, `where=`, `order=`) are refused by name.
"""

from pellucid.graph.numpy_api import cumulative as cumulative
from pellucid.graph.numpy_api import functions as functions
from pellucid.graph.numpy_api import indexing as indexing
from pellucid.graph.numpy_api import linalg as linalg
from pellucid.graph.numpy_api import norms as norms
from pellucid.graph.numpy_api import products as products
from pellucid.graph.numpy_api import reductions as reductions
from pellucid.graph.numpy_api import shapes as shapes
from pellucid.graph.numpy_api import sorting as sorting
from pellucid.graph.numpy_api.reductions import log_softmax as log_softmax
from pellucid.graph.numpy_api.reductions import logsumexp as logsumexp
from pellucid.graph.numpy_api.reductions import softmax as softmax
