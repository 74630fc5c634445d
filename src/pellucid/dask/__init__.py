"""The estimators for Dask's frames and arrays, trained by the workers of a cluster together (the extra `dask`)."""

from pellucid.dask.estimators import MLPClassifier as MLPClassifier
from pellucid.dask.estimators import MLPRegressor as MLPRegressor
from pellucid.dask.estimators import TabularMLPClassifier as TabularMLPClassifier
from pellucid.dask.estimators import TabularMLPRegressor as TabularMLPRegressor
