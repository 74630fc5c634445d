"""The table of update rules by name."""

from __future__ import annotations

from pellucid.optim.rules import adam, adaptive, descent, momentum, muon, schedule_free, sklearn
from pellucid.optim.rules.rule import Rule

RULES: dict[str, type[Rule]] = {
    "sgd": descent.SGD,
    "momentum": momentum.Momentum,
    "heavy_ball": momentum.Momentum,
    "velocity_momentum": momentum.VelocityMomentum,
    "average_momentum": momentum.AverageMomentum,
    "nesterov": momentum.Nesterov,
    "velocity_nesterov": momentum.VelocityNesterov,
    "adagrad": adaptive.Adagrad,
    "rmsprop": adaptive.RMSprop,
    "adadelta": adaptive.Adadelta,
    "lion": adaptive.Lion,
    "adam": adam.Adam,
    "adamw": adam.AdamW,
    "amsgrad": adam.AMSGrad,
    "nadam": adam.NAdam,
    "radam": adam.RAdam,
    "schedule_free_adamw": schedule_free.ScheduleFreeAdamW,
    "muon": muon.Muon,
    "sklearn_sgd": sklearn.SklearnSGD,
    "sklearn_adam": sklearn.SklearnAdam,
}
