"""Training: the model, the loop and its callbacks, checkpoints."""

from pellucid.data.splits import split as split
from pellucid.errors import DataWarning as DataWarning
from pellucid.train.callbacks.callback import Callback as Callback
from pellucid.train.callbacks.callback import CallbackError as CallbackError
from pellucid.train.callbacks.checkpoint import Checkpoint as Checkpoint
from pellucid.train.callbacks.loggers import CSVLogger as CSVLogger
from pellucid.train.callbacks.loggers import LearningRateLogger as LearningRateLogger
from pellucid.train.callbacks.loggers import ProgressBar as ProgressBar
from pellucid.train.callbacks.loggers import TensorBoard as TensorBoard
from pellucid.train.callbacks.stopping import EarlyStopping as EarlyStopping
from pellucid.train.callbacks.stopping import Plateau as Plateau
from pellucid.train.callbacks.stopping import StopOnNaN as StopOnNaN
from pellucid.train.cross_validation import Folds as Folds
from pellucid.train.cross_validation import cross_validate as cross_validate
from pellucid.train.files.container import CheckpointError as CheckpointError
from pellucid.train.files.models import load as load
from pellucid.train.history import History as History
from pellucid.train.lbfgs import fit_lbfgs as fit_lbfgs
from pellucid.train.loop.divergence import Diverged as Diverged
from pellucid.train.loop.loop import Run as Run
from pellucid.train.many import fit_many as fit_many
from pellucid.train.metrics import METRICS as METRICS
from pellucid.train.metrics import Metric as Metric
from pellucid.train.model import Model as Model
from pellucid.train.rate_finder import RateCurve as RateCurve
from pellucid.train.rate_finder import find_rate as find_rate
