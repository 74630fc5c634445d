"""Training: the model, the loop and its callbacks, checkpoints."""

from pellucid.errors import DataWarning as DataWarning
from pellucid.train.callbacks import Callback as Callback
from pellucid.train.callbacks import CallbackError as CallbackError
from pellucid.train.checkpoint import Checkpoint as Checkpoint
from pellucid.train.divergence import Diverged as Diverged
from pellucid.train.files import CheckpointError as CheckpointError
from pellucid.train.finder import RateCurve as RateCurve
from pellucid.train.finder import find_rate as find_rate
from pellucid.train.history import History as History
from pellucid.train.lbfgs import fit_lbfgs as fit_lbfgs
from pellucid.train.logging import CSVLogger as CSVLogger
from pellucid.train.logging import LearningRateLogger as LearningRateLogger
from pellucid.train.logging import ProgressBar as ProgressBar
from pellucid.train.logging import TensorBoard as TensorBoard
from pellucid.train.loop import Run as Run
from pellucid.train.many import fit_many as fit_many
from pellucid.train.metrics import METRICS as METRICS
from pellucid.train.metrics import Metric as Metric
from pellucid.train.model import Model as Model
from pellucid.train.stopping import EarlyStopping as EarlyStopping
from pellucid.train.stopping import Plateau as Plateau
from pellucid.train.stopping import StopOnNaN as StopOnNaN
from pellucid.train.storage import load as load
from pellucid.train.validation import Folds as Folds
from pellucid.train.validation import cross_validate as cross_validate
from pellucid.train.validation import split as split
