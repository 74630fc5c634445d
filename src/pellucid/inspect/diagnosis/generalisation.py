"""Checks of what holds beyond the training rows: capacity, overfitting, regularisation, batch statistics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid import nn
from pellucid.data.splits import evenly
from pellucid.inspect.diagnosis import views
from pellucid.inspect.diagnosis.chance import blind_losses
from pellucid.inspect.diagnosis.evidence import Evidence
from pellucid.inspect.diagnosis.finding import Finding
from pellucid.inspect.diagnosis.remedies import (
    UNCHANGED,
    afresh,
    decays,
    is_weighted,
    variant,
    wider,
    with_dropout,
    without_decay,
    without_noise,
)
from pellucid.inspect.diagnosis.trials import gain
from pellucid.train import Model

WORTH = 0.05
"""Gains in units of what can be learned that are worth a word."""

Change = Callable[[Model], Model]


def capacity(e: Evidence) -> list[Finding]:
    """High error on the training rows, though more can be said of new ones: a wider network goes to trial."""
    if e.misfit or not e.trained or not e.finite or not e.behind.beyond(0.08):
        return []
    if float(np.mean(e.reference_errors)) > 0.9:  # nobody finds much in these rows
        return []
    widths = [layer.output(())[-1] for name, layer in e.layers if is_weighted(layer)][:-1]
    if e.references[0].kind == "linear" and not widths:
        return []
    wide = e.laboratory.begin("wide", lambda model: variant(model, net=wider(model.net, int(e.model.outputs or 1))))
    better = gain(e.laboratory.now.inside, wide.losses.inside, e.unit)
    narrow = min(widths, default=0) <= 8
    if not narrow and not better.beyond(WORTH):
        return []
    again = gain(e.laboratory.now.inside, e.laboratory.begin("as it is").losses.inside, e.unit)
    if not narrow and again.size > 0.6 * better.size:
        return []  # a new network of the same width gets as far: it is not the width
    beside = gain(e.laboratory.go_on("go on").losses.inside, wide.losses.inside, e.unit)
    root = beside.beyond(WORTH) and better.beyond(WORTH)  # it begins anew, and overtakes one that goes on
    return [
        Finding(
            "capacity-too-small",
            "warning",
            {
                "hidden": ", ".join(map(str, widths)) or "none",
                "behind": e.behind.size,
                "gain of a wider network": float(np.clip(better.size, -9.0, 9.0)),
            },
            remedy=f"nn.mlp({tuple(max(4 * width, 32) for width in widths) or (32,)}, {e.scores_wanted})",
            repair=lambda: afresh(variant(e.model, net=wider(e.model.net, int(e.model.outputs or 1))), e.it.X),
            figure=views.bars(
                {"this network": float(np.mean(e.errors)), "reference": float(np.mean(e.reference_errors))},
                "Squared error on the training rows, reference on new ones",
                "share of chance",
            ),
            weight=e.behind.size,
            explains=(("too-few-epochs", "rate-too-low", "plateau") if root and narrow else ())
            + (("saturated-units",) if narrow and _open_at_start(e) else ()),
        )
    ]


def _open_at_start(e: Evidence) -> bool:
    """Units that were open when training began and saturate in it strive for what so few of them cannot say."""
    return e.start is not None and all((layer.saturated or 0.0) < 0.3 for layer in e.start.layers)


def overfitting(e: Evidence) -> list[Finding]:
    """Validation rows much worse than training rows, and than they were, or than a simple learner is on them."""
    if e.misfit or not e.trained or not e.finite:
        return []
    if e.held_losses is None:
        return _by_heart(e)
    if len(e.held_losses) < 20:
        return []
    held, own = e.held_losses, e.losses
    if not np.isfinite(held).all():
        return []
    gap = float(np.mean(held) - np.mean(own)) / e.unit
    error = float(np.sqrt(np.var(held) / len(held) + np.var(own) / len(own))) / e.unit
    risen, epoch = 0.0, 0
    curve = e.curve.validation
    if len(curve) >= 3 and np.isfinite(curve).all():
        epoch = int(np.argmin(curve)) + 1
        risen = float(np.mean(held) - curve.min()) / e.unit
    behind = e.held_behind
    simpler = behind is not None and behind.beyond(0.05, 2.0)
    if gap < 0.1 or gap < 3.0 * error:
        return []
    blur = float(np.std(np.diff(curve))) / e.unit if len(curve) >= 3 else 0.0  # from epoch to epoch
    limits = (0.15, 3.0 * blur, 0.4 * float(np.min(curve)) / e.unit if len(curve) else 0.0)
    assert e.held is not None
    blind = float(np.mean(blind_losses(e.model.loss.single, e.sample.y, e.held.y, e.scores_wanted)))
    worse_than_none = float(np.mean(held)) > blind and gap > 0.3  # a constant would have done better
    serious = risen > max(limits) or (simpler and gap > 0.2) or worse_than_none
    measured: dict[str, float | int | str] = {
        "training loss": float(np.mean(own)),
        "validation loss": float(np.mean(held)),
        "standard error": error * e.unit,
    }
    if epoch:
        measured |= {"best epoch": epoch, "of": len(curve), "risen since": risen * e.unit}
    if behind is not None:
        measured["behind a simple learner"] = behind.size
    curves = {name: list(e.curve.values(name)) for name in ("loss", "val_loss") if len(e.curve.values(name))}
    return [
        Finding(
            "overfitting",
            "warning" if serious else "note",
            measured,
            remedy="model.fit(X, y, validation=(Xv, yv), callbacks=[train.EarlyStopping(10)])\n"
            "Model(net, loss, optimizer, penalty=nn.L2(1e-3))   # or nn.mlp(..., dropout=0.2), or more rows",
            repair=lambda: regularised(e),
            figure=views.curves(
                curves, "Training and validation", mark=(epoch, f"best: epoch {epoch}") if epoch else None
            ),
            weight=max(risen, behind.size if behind is not None else 0.0),
        )
    ]


def _by_heart(e: Evidence) -> list[Finding]:
    """Without validation rows: a new network learns from some of the rows, as long; what does it say of the others?

    Only where the network says more of its own rows than a reference does of rows that are new to it.
    """
    inside, outside = e.divided
    count = int(e.curve.steps * len(inside) / max(len(e.sample), 1))
    if e.curve.whole_batches or len(outside) < 20 or len(inside) == len(outside) or e.behind.size > -0.2:
        return []
    if not 0 < count <= e.laboratory.longest or len(e.sample) < e.fit_rows:
        return []
    again = e.laboratory.begin("as long", steps=count)
    if again.diverged:
        return []
    target = e.coded(e.laboratory.outside.y)
    errors = np.mean(np.square(e.said(again.model, e.laboratory.outside.X) - target), axis=1) / e.target_spread
    behind = gain(errors, e.reference_errors[outside], 1.0)
    blind = gain(errors, np.mean(np.square(target - e.target.mean(axis=0)), axis=1) / e.target_spread, 1.0)
    if not (behind.beyond(0.2, 2.0) or blind.beyond(0.05, 1.0)):
        return []
    return [
        Finding(
            "overfitting",
            "warning",
            {
                "squared error on its own rows": float(np.mean(e.errors)),
                "of a new one on rows that it was not given": float(np.mean(errors)),
                "of a simple learner there": float(np.mean(e.reference_errors[outside])),
            },
            means="The network has learned its rows by heart: trained anew on 70 % of them, it predicts the others "
            "worse than a simple learner does. All errors are in units of what a constant makes.",
            remedy="model.fit(X, y, validation=0.2, callbacks=[train.EarlyStopping(10)])\n"
            "Model(net, loss, optimizer, penalty=nn.L2(1e-3))   # or nn.mlp(..., dropout=0.2), or more rows",
            repair=lambda: regularised(e),
            weight=max(behind.size, blind.size),
        )
    ]


def regularised(e: Evidence) -> Model:
    """A new model with a penalty on its weights, or one ten times as strong."""
    return afresh(
        variant(e.model, penalty=nn.L2(0.01) if e.model.penalty is None else e.model.penalty + nn.L2(0.02)), e.it.X
    )


def regularisers(e: Evidence) -> list[Finding]:
    """Dropout and penalties that hold the network back: without them other rows are predicted better, too."""
    if e.misfit or not e.trained or not e.finite or not len(e.curve.loss) or (e.well and e.laboratory.costly):
        return []
    found: list[Finding] = []
    rates = [layer.rate for _, layer in e.layers if isinstance(layer, nn.Dropout | nn.AlphaDropout) and layer.rate > 0]
    if rates:
        found += _held_back(
            e,
            "dropout-too-high",
            {"rate": max(rates)},
            lambda model: variant(model, net=without_noise(model.net)),
            "nn.mlp(hidden, outputs, dropout=0.2)",
            lambda model: variant(model, net=with_dropout(model.net, 0.2)),
        )
    if e.model.penalty is not None or decays(e.model.optimizer):
        share = _penalty_share(e)
        found += _held_back(
            e,
            "penalty-too-strong",
            {
                "penalty": str(e.model.penalty) if e.model.penalty is not None else "weight decay",
                "penalty over loss": share,
            },
            lambda model: variant(model, penalty=None, optimizer=without_decay(model.optimizer)),
            "Model(net, loss, optimizer, penalty=nn.L2(1e-4))   # a hundredth of it",
            lambda model: variant(
                model,
                penalty=nn.L2(1e-4) if model.penalty is not None else UNCHANGED,
                optimizer=without_decay(model.optimizer),
            ),
        )
    return found


def _penalty_share(e: Evidence) -> float:
    if e.model.penalty is None:
        return 0.0
    with np.errstate(all="ignore"):
        value = float(e.model.penalty(e.model.params))
    return value / max(abs(float(np.mean(e.losses))), 1e-30)


def _held_back(
    e: Evidence, code: str, measured: dict[str, float | int | str], free: Change, remedy: str, mended: Change
) -> list[Finding]:
    """Trained on without the regulariser; or, where it has left nothing to train on, begun anew without it."""
    laboratory = e.laboratory
    now = laboratory.now
    freed, same = laboratory.go_on(code, change=free), laboratory.go_on("go on")
    inside, outside = gain(now.inside, freed.losses.inside, e.unit), gain(now.outside, freed.losses.outside, e.unit)
    beside = gain(same.losses.outside, freed.losses.outside, e.unit)
    symptoms: tuple[str, ...] = ()
    if not (inside.beyond(WORTH) and outside.beyond(WORTH, 2.0) and beside.beyond(WORTH, 2.0)):
        if e.learned.beyond(0.2) and not e.behind.beyond(0.05, 2.0):
            return []
        freed, same = laboratory.begin(code, free), laboratory.begin("as it is")
        inside, outside = gain(now.inside, freed.losses.inside, e.unit), gain(now.outside, freed.losses.outside, e.unit)
        beside = gain(same.losses.outside, freed.losses.outside, e.unit)
        if not (inside.beyond(WORTH) and outside.beyond(WORTH, 2.0) and beside.beyond(WORTH, 2.0)):
            return []
        symptoms = ("dead-units", "vanishing-gradient", "rate-too-high", "plateau", "capacity-too-small")
    return [
        Finding(
            code,
            "warning",
            {**measured, "gain without": inside.size, "on other rows": outside.size},
            remedy=remedy,
            repair=lambda: afresh(mended(e.model), e.it.X),
            weight=outside.size,
            explains=symptoms,
        )
    ]


def stale(e: Evidence) -> list[Finding]:
    """Stored statistics of batch normalisation against those of the rows: what do exact ones change?"""
    if (
        e.misfit
        or not e.trained
        or not any(key.split(".")[-1] == "batches" for key in e.model.state)
        or len(e.sample) < 8
    ):
        return []
    exact = mended_statistics(e)
    with np.errstate(all="ignore"):
        losses = e.row_losses(exact, e.sample)
        gaps = nn.statistics_gap(nn.Variables(e.model.params, e.model.state), nn.Variables(exact.params, exact.state))
    better = gain(e.losses, losses, e.unit)
    if not better.beyond(WORTH):
        return []
    cured = better.size > 0.5 * max(e.behind.size, 0.0)  # most of what it lacks
    name, (shift, factor) = max(gaps.items(), key=lambda gap: gap[1][0] + gap[1][1])
    return [
        Finding(
            "stale-statistics",
            "warning",
            {
                "means off by deviations": shift,
                "factor between deviations": factor,
                "gain of exact ones": float(np.clip(better.size, -9, 99)),
            },
            remedy="now = nn.Variables(model.params, model.state)\n"
            "model.params, model.state = nn.population_statistics(model.net, now, [X])",
            layer=name,
            repair=lambda: mended_statistics(e),
            weight=better.size,
            explains=("rate-too-high", "rate-too-low", "plateau", "too-few-epochs", "capacity-too-small")
            if cured
            else (),
        )
    ]


def mended_statistics(e: Evidence) -> Model:
    """The same model with the statistics of these rows."""
    mended = variant(e.model)
    index = evenly(len(e.it.X), 20_000)
    with np.errstate(all="ignore"):
        mended.params, mended.state = nn.population_statistics(
            e.model.net, nn.Variables(dict(e.model.params), dict(e.model.state)), [e.it.X[index]]
        )
    mended.features, mended.history = e.model.features, e.model.history
    return mended
