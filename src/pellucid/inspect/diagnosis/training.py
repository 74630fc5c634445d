"""Checks of the training: rate, batches, epochs. The model is trained on for a few steps, with one thing changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.evidence import Evidence
from pellucid.inspect.diagnosis.finding import Finding
from pellucid.inspect.diagnosis.remedies import afresh, scaled_rate, variant
from pellucid.inspect.diagnosis.trials import Gain, gain
from pellucid.optim import Schedule
from pellucid.train import Model

WORTH = 0.05
"""Gains in units of what can be learned: what a few steps bring beyond this was left lying there."""

LADDER = (10.0, 100.0, 1e3, 1e4, 1e5)
"""Factors on a rate that is suspected to be too low."""


@dataclass(frozen=True)
class Ways:
    """What a few steps from here bring: at the same rate, at a lower one, at higher ones (the best, and its factor)."""

    same: Gain
    low: Gain
    high: Gain
    factor: float
    outside: Gain  # of the same rate, on rows that are not trained on
    calmer: Gain  # of the lower rate beside the same one


def count(e: Evidence) -> int:
    """Steps of a trial: as many as the run had at most, so that it asks for twice the training and no more."""
    return int(np.clip(e.curve.steps, 16, e.laboratory.steps))


def ways(e: Evidence) -> Ways:
    """Trials from where the model stands."""
    laboratory, steps = e.laboratory, count(e)
    now = laboratory.now
    same = laboratory.go_on("go on", steps=steps)
    low = laboratory.go_on("go on", rate=0.1, steps=steps)
    best, factor = Gain(-np.inf, -np.inf), LADDER[0]
    for each in LADDER:
        trial = gain(now.inside, laboratory.go_on("go on", rate=each, steps=steps).losses.inside, e.unit)
        if trial.size > best.size:
            best, factor = trial, each
        if (trial.size < best.size and best.size > WORTH) or not trial.size > -0.02:
            break  # beyond the best, or over the edge
    return Ways(
        gain(now.inside, same.losses.inside, e.unit),
        gain(now.inside, low.losses.inside, e.unit),
        best,
        factor,
        gain(now.outside, same.losses.outside, e.unit),
        gain(same.losses.inside, low.losses.inside, e.unit),
    )


def falling(e: Evidence) -> float:
    """How much the loss fell in the last third of the epochs (validation loss, where there is one), in units."""
    curve = e.curve.validation if len(e.curve.validation) == e.curve.epochs and e.curve.epochs else e.curve.loss
    if len(curve) < 2 or not np.isfinite(curve).all():
        return 0.0
    window = max(len(curve) // 10, 1)
    place = len(curve) - 1 - max(len(curve) // 3, 1)
    before, end = np.mean(curve[max(place - window + 1, 0) : place + 1]), np.mean(curve[-window:])
    return float((before - end) / e.unit)


def steps(e: Evidence) -> list[Finding]:
    """Rate, batches, epochs: the change that helps most from here."""
    if e.curve.whole_batches or e.misfit or not e.trained:
        return []
    if e.curve.diverged or not e.finite:
        return _diverged(e)
    if not len(e.curve.loss) or (e.well and e.laboratory.costly):
        return []
    way = ways(e)
    numbers = {"same": way.same.size, "a tenth": way.low.size, f"{way.factor:g} times": way.high.size}
    measured: dict[str, float | int | str] = {"rate": e.rate}
    measured |= {f"gain at {name}": float(np.clip(value, -9.0, 9.0)) for name, value in numbers.items()}
    figure = views.bars(
        {name: float(np.clip(value, -2.0, 2.0)) for name, value in numbers.items()},
        f"What {count(e)} more steps bring, by the rate",
        "share of what can be learned",
    )
    return (
        _too_high(e, way, measured, figure)
        or _decayed(e, way, measured, figure)
        or _still_falling(e, way, measured, figure)
        or _too_low(e, way, measured, figure)
        or _flat(e, way, measured)
    )


def _remedy(e: Evidence, factor: float) -> str:
    rule = type(e.model.optimizer.rule).__name__
    return f"optim.{rule}({e.rate * factor:.3g})   # instead of {e.rate:.3g}"


def other_rate(e: Evidence, factor: float) -> Model:
    """A new model with that many times the rate."""
    return afresh(variant(e.model, optimizer=scaled_rate(e.model.optimizer, factor, e.rate)), e.it.X)


def _rate(
    e: Evidence,
    code: str,
    severity: str,
    measured: dict[str, float | int | str],
    factor: float,
    figure: views.Figure,
    weight: float,
) -> list[Finding]:
    return [
        Finding(
            code,
            severity,
            measured,
            remedy=_remedy(e, factor),
            repair=lambda: other_rate(e, factor),
            figure=figure,
            weight=weight,
        )
    ]


def _diverged(e: Evidence) -> list[Finding]:
    """Numbers broke. From new parameters: does a lower rate learn?"""
    laboratory = e.laboratory
    measured: dict[str, float | int | str] = {"rate": e.rate, "epochs before": e.curve.epochs}
    if e.curve.history is not None and e.curve.history.ending is not None:
        measured["ending"] = e.curve.history.ending.text[:80]
    chance = np.full(len(laboratory.now.inside), float(np.mean(e.chance)))
    best, factor = Gain(-np.inf, -np.inf), 0.1
    for each in (0.1, 0.01, 0.001):
        trial = gain(chance, laboratory.begin("as it is", rate=each).losses.inside, e.unit)
        if trial.size > best.size + 0.02:
            best, factor = trial, each
    measured[f"learned at {factor:g} times the rate"] = float(np.clip(best.size, -9.0, 1.0))
    figure = views.curves({"loss": list(e.curve.loss)}, "The loss, until it broke")
    return _rate(e, "rate-too-high", "error", measured, factor, figure, 1.0)


def _too_high(e: Evidence, way: Ways, measured: dict[str, float | int | str], figure: views.Figure) -> list[Finding]:
    """A tenth of the rate goes down from here, the rate itself does not; or it has ruined the network."""
    laboratory = e.laboratory
    if e.batch <= 8 and len(laboratory.inside) > 4 * e.batch:
        large = laboratory.go_on("large batches", batch=16 * e.batch, steps=count(e))
        by_batch = gain(laboratory.now.inside, large.losses.inside, e.unit)
        beside = gain(laboratory.go_on("go on", steps=count(e)).losses.inside, large.losses.inside, e.unit)
        if by_batch.beyond(WORTH) and beside.beyond(0.5 * WORTH) and by_batch.size > 0.6 * way.low.size:
            return _batch_too_small(e, measured, by_batch)
    trembles = way.low.beyond(0.4 * WORTH) and way.calmer.beyond(0.8 * WORTH) and e.behind.beyond(0.02)
    if trembles or (way.low.beyond(WORTH) and way.low.size > 2.0 * max(way.same.size, 0.0) + 0.02):
        return _rate(e, "rate-too-high", "warning", measured, 0.1, figure, way.low.size)
    ruined = not e.learned.beyond(0.1) or e.behind.beyond(0.1)
    if ruined and max(way.same.size, way.low.size, way.high.size) < WORTH:
        for factor in (0.1, 0.01):
            slower = laboratory.begin("as it is", rate=factor)
            better = gain(laboratory.now.inside, slower.losses.inside, e.unit)
            as_is = laboratory.begin("as it is")
            beside = gain(as_is.losses.inside, slower.losses.inside, e.unit)
            if better.beyond(WORTH) and beside.beyond(WORTH):
                measured["gain of a new start at a lower rate"] = better.size
                return _rate(e, "rate-too-high", "warning", measured, factor, figure, better.size)
    return []


def _batch_too_small(e: Evidence, measured: dict[str, float | int | str], by_batch: Gain) -> list[Finding]:
    return [
        Finding(
            "batch-too-small",
            "warning",
            {"batch_size": e.batch, **measured, "gain of 16 times the batch": by_batch.size},
            remedy=f"model.fit(X, y, batch_size={max(16 * e.batch, 32)}, ...)",
            weight=by_batch.size,
        )
    ]


def _decayed(e: Evidence, way: Ways, measured: dict[str, float | int | str], figure: views.Figure) -> list[Finding]:
    """A schedule has ended the training: at the rate that it began with, the loss goes on falling from here."""
    rates = e.curve.rates
    if not isinstance(e.model.optimizer.rule.lr, Schedule) or not len(rates) or rates[-1] > 0.1 * e.rate:
        return []
    if not way.same.beyond(WORTH) or way.outside.size < (0.5 * WORTH if e.behind.beyond(0.03, 2.0) else 3.0 * WORTH):
        return []
    measured = {**measured, "rate at the end": float(rates[-1]), "behind": e.behind.size}
    return [
        Finding(
            "rate-too-low",
            "warning",
            measured,
            means="The schedule made the rate too small before the network had learned what there is to be learned: at "
            "the rate that it began with, it learns on from here.",
            remedy=f"optim.{type(e.model.optimizer.rule).__name__}(optim.Cosine({e.rate:.3g}))   # over all epochs",
            repair=lambda: other_rate(e, 1.0),
            figure=figure,
            weight=way.same.size,
        )
    ]


def _still_falling(
    e: Evidence, way: Ways, measured: dict[str, float | int | str], figure: views.Figure
) -> list[Finding]:
    """More steps at the same rate help, on other rows, too: too few; or batches too large, or the rate too low."""
    fell = falling(e)
    behind = e.behind.beyond(0.03, 2.0)
    more = way.same.beyond(1.5 * WORTH) and way.outside.size > (WORTH if behind else 3.0 * WORTH)
    if not more and not (behind and fell > 0.1 and way.same.beyond(0.02) and way.outside.size > 0.0):
        return []
    measured = {"epochs": e.curve.epochs, "steps": e.curve.steps, **measured, "fell in the last third": fell}
    large = _batch_too_large(e, way, measured)
    if large:
        return large
    faster = way.high.beyond(WORTH) and way.high.size > 3.0 * max(way.same.size, 0.0)
    if faster:
        return _rate(e, "rate-too-low", "warning", measured, way.factor, figure, way.high.size)
    curves = {name: list(e.curve.values(name)) for name in ("loss", "val_loss") if len(e.curve.values(name))}
    return [
        Finding(
            "too-few-epochs",
            "warning",
            measured,
            remedy=f"model.fit(X, y, epochs={4 * max(e.curve.epochs, 1)}, ...)   # with train.EarlyStopping(10)",
            figure=views.curves(curves, "Still falling when it ended"),
            weight=max(way.same.size, fell),
        )
    ]


def _batch_too_large(e: Evidence, way: Ways, measured: dict[str, float | int | str]) -> list[Finding]:
    """An epoch of a few steps: do small batches get further with the same rows?"""
    laboratory = e.laboratory
    per_epoch = max(-(-e.fit_rows // e.batch), 1)
    if per_epoch > 4 or e.batch < 64:
        return []
    small = max(e.batch // 16, 16)
    epochs = max(count(e) // per_epoch, 1)
    steps_of_small = min(max(len(laboratory.inside) * epochs // small, 8), laboratory.steps)
    trial = laboratory.go_on("small batches", batch=small, steps=steps_of_small)
    by_batch = gain(laboratory.now.inside, trial.losses.inside, e.unit)
    per_row = by_batch.size / (steps_of_small * small)
    if not by_batch.beyond(WORTH) or per_row < 3.0 * max(way.same.size, 0.0) / (count(e) * e.batch):
        return []
    return [
        Finding(
            "batch-too-large",
            "warning",
            {"batch_size": e.batch, "steps an epoch": per_epoch, **measured, "gain of small batches": by_batch.size},
            remedy=f"model.fit(X, y, batch_size={small}, ...)",
            weight=by_batch.size,
        )
    ]


def _too_low(e: Evidence, way: Ways, measured: dict[str, float | int | str], figure: views.Figure) -> list[Finding]:
    """A larger rate goes much further from here."""
    if not way.high.beyond(WORTH) or way.high.size < 3.0 * max(way.same.size, 0.0):
        return []
    outside = gain(
        e.laboratory.now.outside, e.laboratory.go_on("go on", rate=way.factor, steps=count(e)).losses.outside, e.unit
    )
    if outside.size < (0.5 * WORTH if e.behind.beyond(0.03, 2.0) else 3.0 * WORTH):
        return []
    large = _batch_too_large(e, way, measured)
    if large:
        return large
    if isinstance(e.model.optimizer.rule.lr, Schedule) and len(e.curve.rates):
        measured["rate at the end"] = float(e.curve.rates[-1])
    return _rate(e, "rate-too-low", "warning", measured, way.factor, figure, way.high.size)


def _flat(e: Evidence, way: Ways, measured: dict[str, float | int | str]) -> list[Finding]:
    """The loss stands still far above what a learner in closed form reaches, and no rate gets it on."""
    if not e.behind.beyond(0.1) or len(e.curve.loss) < 3 or float(np.mean(e.reference_errors)) > 0.9:
        return []
    if falling(e) > 0.05:
        return []
    return [
        Finding(
            "plateau",
            "warning",
            {**measured, "behind": e.behind.size, "fell in the last third": falling(e)},
            remedy="optim.chain(optim.ClipNorm(1.0), optim.Adam(optim.OneCycle(0.01)))   # and another seed",
            figure=views.curves({"loss": list(e.curve.loss)}, "A plateau"),
            weight=0.5 * e.behind.size,
        )
    ]
