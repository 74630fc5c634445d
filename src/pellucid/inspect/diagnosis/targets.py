"""Checks of the target: its domain, its size, and whether output and loss go with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid import nn
from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.evidence import Evidence
from pellucid.inspect.diagnosis.finding import Finding
from pellucid.inspect.diagnosis.remedies import Standardised, afresh, variant, without_last_activation
from pellucid.inspect.diagnosis.trials import gain
from pellucid.nn import LinkKind
from pellucid.nn.losses.classes import CrossEntropy, YesNo
from pellucid.train import Model


def domain(e: Evidence) -> list[Finding]:
    """Targets that the loss refuses, and those that it takes although they are hardly meant so."""
    if e.misfit:
        y = np.asarray(e.it.y)
        labelled = e.classifies and y.ndim == 1
        recode = (
            "y = np.unique(y, return_inverse=True)[1]" if labelled else "y = y[np.isfinite(y)]   # and the rows of X"
        )
        if not e.classifies and y.dtype.kind in "fiu" and not np.isnan(y.astype(float)).any():
            recode = 'Model(net, "squared_error")   # takes any numbers'
        return [Finding("target-domain", "error", {"refused": e.misfit, **_summary(y)}, remedy=recode)]
    y = np.asarray(e.it.y)
    if e.classifies and e.labels is not None and isinstance(e.loss, CrossEntropy) and e.sample.y.ndim == 1:
        return _unused_outputs(e)
    if isinstance(e.loss, YesNo) and y.dtype.kind == "f":
        values = np.unique(y)
        if len(values) == 2 and not np.isin(values, (0.0, 1.0, -1.0)).all() and len(y) >= 8:
            return [
                Finding(
                    "target-domain",
                    "warning",
                    {"values": f"{values[0]:g} and {values[1]:g}", "expected": "0 and 1"},
                    remedy="y = (y == y.max()).astype(int)",
                )
            ]
    return []


def _summary(y: Any) -> dict[str, float | int | str]:
    if y.dtype.kind not in "fiub" or not y.size:
        return {"dtype": str(y.dtype)}
    values = y[np.isfinite(y)] if y.dtype.kind == "f" else y
    missing = int(y.size - values.size)
    found: dict[str, float | int | str] = {"not finite": missing} if missing else {}
    return found | ({"smallest": float(values.min()), "largest": float(values.max())} if values.size else {})


def _unused_outputs(e: Evidence) -> list[Finding]:
    """Classes that never occur: numbers that begin at 1, or gaps between them, leave outputs without a task."""
    outputs = e.scores_wanted
    assert e.rows is not None
    present = np.unique(e.rows.y)
    idle = sorted(set(range(outputs)) - set(present.tolist()))
    if not idle:
        return []
    shifted = 0 in idle and present.size and present.max() == outputs - 1
    gaps = bool(present.size) and any(i < present.max() for i in idle)
    return [
        Finding(
            "target-domain",
            "warning" if shifted or gaps else "note",
            {"outputs": outputs, "classes": int(present.size), "never seen": ", ".join(map(str, idle[:6]))},
            remedy="y = np.unique(y, return_inverse=True)[1]   # 0 ... K-1, and K outputs",
        )
    ]


def scale(e: Evidence) -> list[Finding]:
    """A target of numbers that is far from what a new network puts out. A trial says what standardising is worth."""
    if (
        e.classifies
        or e.misfit
        or e.model.loss.link.kind is not LinkKind.NUMBERS
        or isinstance(e.model.loss, Standardised)
    ):
        return []
    y = np.asarray(e.sample.y, np.float64)
    if y.ndim != 2 or len(y) < 4:
        return []
    mean, deviation = float(y.mean()), float(y.std())
    if deviation == 0:
        return []
    size = float(np.sqrt(np.mean(np.square(y))))
    if 0.1 <= deviation <= 5.0 and abs(mean) <= 3.0 * deviation + 1.0:
        return []
    measured: dict[str, float | int | str] = {"mean": mean, "deviation": deviation}
    extreme = size > 50.0 or size < 0.01
    severity, weight = ("warning", 0.3) if extreme and not e.trained else ("", 0.0)
    if e.trained:
        severity, weight = _trial(e, mean, deviation, measured, extreme)
    if not severity:
        return []
    return [
        Finding(
            "target-scale",
            severity,
            measured,
            remedy="TransformedTargetRegressor(regressor, transformer=StandardScaler())\n"
            f"y = (y - {mean:.4g}) / {deviation:.4g}   # and back: prediction * {deviation:.4g} + {mean:.4g}",
            repair=lambda: scaled_target(e, mean, deviation),
            figure=views.bars(
                {"mean": abs(mean), "deviation": deviation, "expected": 1.0}, "Size of the target", "", log=True
            ),
            weight=weight,
        )
    ]


def scaled_target(e: Evidence, mean: float, deviation: float) -> Model:
    """A new model that standardises its target itself."""
    return afresh(variant(e.model, loss=Standardised(e.model.loss, mean, deviation)), e.it.X)


def _trial(
    e: Evidence, mean: float, deviation: float, measured: dict[str, float | int | str], extreme: bool
) -> tuple[str, float]:
    laboratory = e.laboratory
    inside = laboratory.inside
    target = e.coded(inside.y)

    def errors(model: Model) -> Any:
        return np.mean(np.square(e.said(model, inside.X) - target), axis=1) / e.target_spread

    scaled = laboratory.begin(
        "scaled target", lambda model: variant(model, loss=Standardised(model.loss, mean, deviation))
    )
    as_is = laboratory.begin("as it is")
    if scaled.diverged:
        return ("note", 0.0) if extreme else ("", 0.0)
    better_start = gain(errors(as_is.model) if not as_is.diverged else np.full(2, np.inf), errors(scaled.model), 1.0)
    better_end = gain(errors(e.model), errors(scaled.model), 1.0)
    measured["gain of scaling"] = round(min(max(better_start.size, -9.0), 9.0), 4)
    failed = e.curve.diverged or not e.finite
    if better_start.beyond(0.05) and (failed or better_end.beyond(0.02, 2.0)):
        return "warning", max(better_end.size if not failed else 1.0, 0.0)
    if extreme and (failed or e.behind.beyond(0.05, 2.0)):
        return "warning", max(e.behind.size, 0.1)
    return ("note", 0.0) if extreme or better_start.beyond(0.05) else ("", 0.0)


def pairing(e: Evidence) -> list[Finding]:
    """The last activation against the loss and the target."""
    last = e.layers[-1][1]
    words = None
    if isinstance(last, nn.Activate):
        words = nn.check_pairing(last.activation.name, e.loss)
    if words:
        twice = "applies" in words  # the link contains the activation already
        reach = last.activation.range if isinstance(last, nn.Activate) else None
        missed = 0.0
        if not twice and e.rows is not None and reach is not None and not e.classifies:
            y = np.asarray(e.rows.y, np.float64)
            missed = float(np.mean((y < reach.low - 1e-6) | (y > reach.high + 1e-6)))
            if missed < 0.005:
                return []  # every target can be said: it may be meant
        return [
            Finding(
                "loss-output-mismatch",
                "error" if missed > 0.3 else "warning",
                {"last": _name(last), "loss": e.loss.name, **({"out of reach": missed} if missed else {})},
                means=f"{words[0].upper()}{words[1:]}. The lectures: a linear output for regression, softmax or "
                "sigmoid for classes; here the loss contains them.",
                remedy="nn.Sequential(*net.children[:-1])   # leave the last activation out",
                repair=lambda: afresh(variant(e.model, net=without_last_activation(e.model.net)), e.it.X),
                weight=0.5,
            )
        ]
    return [] if e.misfit else _numbers_for_classes(e)


def _name(layer: nn.Layer) -> str:
    return layer.activation.name if isinstance(layer, nn.Activate) else type(layer).__name__


def _numbers_for_classes(e: Evidence) -> list[Finding]:
    """Class numbers learned as if they were amounts: is one of K better told by K scores than by one number?"""
    if e.classifies or e.rows is None or e.model.loss.link.kind is not LinkKind.NUMBERS:
        return []
    y = np.asarray(e.rows.y)
    if y.shape[1] != 1 or len(y) < 30:
        return []
    values, codes = np.unique(e.sample.y[:, 0], return_inverse=True)
    if not 2 <= len(values) <= 20 or np.min(np.bincount(codes)) < 3:
        return []
    if not np.array_equal(values, np.round(values)) and len(values) > 2:
        return []
    if len(values) == 2:
        return [
            Finding(
                "loss-output-mismatch",
                "note",
                {"values": 2, "loss": e.loss.name},
                remedy='Model(nn.mlp(hidden, 1), "binary_cross_entropy")   # y in 0, 1',
            )
        ]
    from pellucid.inspect.diagnosis.reference import best_reference

    X = np.asarray(e.sample.X, np.float64).reshape(len(e.sample.X), -1)
    as_classes = best_reference(X, np.eye(len(values))[codes])[0].loo.argmax(axis=1) == codes
    number = e.references[0].loo[:, 0]
    as_numbers = np.abs(number[:, None] - values).argmin(axis=1) == codes
    better = gain(1.0 - as_classes, 1.0 - as_numbers, 1.0)
    if -better.size < 0.1 or -better.sigmas < 3.0:
        return []
    return [
        Finding(
            "loss-output-mismatch",
            "warning",
            {
                "values": len(values),
                "right as classes": float(as_classes.mean()),
                "right as numbers": float(as_numbers.mean()),
            },
            means="The target counts classes, but the loss takes their numbers for amounts, as if class 2 were between "
            "1 and 3. The lectures: one output and one score for each class, with cross-entropy.",
            remedy=f'Model(nn.mlp(hidden, {len(values)}), "cross_entropy")',
            weight=float(-better.size),
        )
    ]
