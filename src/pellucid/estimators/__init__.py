"""The scikit-learn face: MLPClassifier and MLPRegressor, drop-in supersets of scikit-learn's; tables, ensembles."""

from pellucid.estimators.bias import BiasVariance as BiasVariance
from pellucid.estimators.bias import bias_variance as bias_variance
from pellucid.estimators.classifier import DataWarning as DataWarning
from pellucid.estimators.classifier import MLPClassifier as MLPClassifier
from pellucid.estimators.ensembles import BaggedMLPClassifier as BaggedMLPClassifier
from pellucid.estimators.ensembles import BaggedMLPRegressor as BaggedMLPRegressor
from pellucid.estimators.regressor import MLPRegressor as MLPRegressor
from pellucid.estimators.scaling import SmoothRobustScaler as SmoothRobustScaler
from pellucid.estimators.settings import NetworkSettings as NetworkSettings
from pellucid.estimators.settings import TrainingSettings as TrainingSettings
from pellucid.estimators.spread import MemberReport as MemberReport
from pellucid.estimators.spread import variance_of_average as variance_of_average
from pellucid.estimators.tables import TablePreprocessor as TablePreprocessor
from pellucid.estimators.tabular import TabularMLPClassifier as TabularMLPClassifier
from pellucid.estimators.tabular import TabularMLPRegressor as TabularMLPRegressor
