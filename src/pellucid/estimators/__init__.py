"""The scikit-learn face: MLPClassifier and MLPRegressor, drop-in supersets of scikit-learn's; tables, ensembles."""

from pellucid.estimators.classifier import DataWarning as DataWarning
from pellucid.estimators.classifier import MLPClassifier as MLPClassifier
from pellucid.estimators.regressor import MLPRegressor as MLPRegressor
from pellucid.estimators.settings import NetworkSettings as NetworkSettings
from pellucid.estimators.settings import TrainingSettings as TrainingSettings
