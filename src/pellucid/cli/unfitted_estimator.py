"""The estimator that suits a target."""

from __future__ import annotations

from typing import Any

from pellucid.cli.settings import TrainSettings
from pellucid.cli.target import Target


def unfitted(settings: TrainSettings, target: Target) -> Any:
    """The estimator that suits the target, with the parameters that were asked for."""
    from pellucid.estimators import TabularMLPClassifier, TabularMLPRegressor

    kind = TabularMLPClassifier if target.classes else TabularMLPRegressor
    parameters = settings.estimator_parameters(classes=target.classes)
    if target.several and settings.metric is None:
        parameters["monitor"] = "loss"
    return kind(**parameters)
