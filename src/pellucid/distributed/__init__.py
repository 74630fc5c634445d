"""Several processes that train one model together, on one machine or many."""

from pellucid.distributed.processes import CoordinatorError as CoordinatorError
from pellucid.distributed.processes import join as join
from pellucid.distributed.processes import share as share
from pellucid.engine.jax.lost import ProcessLost as ProcessLost
