"""The scikit-learn face: MLPClassifier and MLPRegressor, supersets of scikit-learn's; tables, ensembles, search."""

from pellucid.errors import ColumnWarning as ColumnWarning
from pellucid.errors import DataWarning as DataWarning
from pellucid.estimators.classifier import MLPClassifier as MLPClassifier
from pellucid.estimators.ensembles.bagged import BaggedMLPClassifier as BaggedMLPClassifier
from pellucid.estimators.ensembles.bagged import BaggedMLPRegressor as BaggedMLPRegressor
from pellucid.estimators.ensembles.spread import BiasVariance as BiasVariance
from pellucid.estimators.ensembles.spread import MemberReport as MemberReport
from pellucid.estimators.ensembles.spread import bias_variance as bias_variance
from pellucid.estimators.ensembles.spread import variance_of_average as variance_of_average
from pellucid.estimators.importances import Importances as Importances
from pellucid.estimators.regressor import MLPRegressor as MLPRegressor
from pellucid.estimators.settings import NetworkSettings as NetworkSettings
from pellucid.estimators.settings import TrainingSettings as TrainingSettings
from pellucid.estimators.tables.preprocessor import TablePreprocessor as TablePreprocessor
from pellucid.estimators.tables.scaling import SmoothRobustScaler as SmoothRobustScaler
from pellucid.estimators.tables.tabular import TabularMLPClassifier as TabularMLPClassifier
from pellucid.estimators.tables.tabular import TabularMLPRegressor as TabularMLPRegressor
from pellucid.estimators.tuning.result import Tuned as Tuned
from pellucid.estimators.tuning.space import default_space as default_space
from pellucid.estimators.tuning.tune import tune as tune
