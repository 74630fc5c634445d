"""The table of update rules by name."""

from __future__ import annotations

from pellucid.optim import adam, descent, scaled, sklearn_rules
from pellucid.optim.rule import Rule

RULES: dict[str, type[Rule]] = {
    "sgd": descent.SGD,
    "momentum": descent.Momentum,
    "heavy_ball": descent.Momentum,
    "nesterov": descent.Nesterov,
    "adagrad": scaled.Adagrad,
    "rmsprop": scaled.RMSprop,
    "adadelta": scaled.Adadelta,
    "lion": scaled.Lion,
    "adam": adam.Adam,
    "adamw": adam.AdamW,
    "amsgrad": adam.AMSGrad,
    "nadam": adam.NAdam,
    "radam": adam.RAdam,
    "sklearn_sgd": sklearn_rules.SklearnSGD,
    "sklearn_adam": sklearn_rules.SklearnAdam,
}
