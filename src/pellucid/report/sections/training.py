"""The training: curves, rates, gradient norms."""

from __future__ import annotations

import numpy as np

from pellucid.markup import plural, short
from pellucid.report.elements import absent, chart, joined, paragraph
from pellucid.report.numbers.layers import Inside
from pellucid.report.numbers.training import LearningCurves
from pellucid.report.sections.section import Section, figures
from pellucid.train import History


def training_section(
    history: History | None, curves: LearningCurves | None, seen: Inside | None, members: int = 1
) -> Section:
    """What happened, epoch by epoch."""
    if history is None or curves is None:
        how = "history = model.fit(X, y); pellucid.report(model, 'run.html', X, y, history=history)"
        return Section("training", "Training", absent("No epochs are known of this network. With a history:", how))
    facts = [plural(len(history), "epoch")]
    if history.rows is not None:
        facts.append(f"{plural(history.rows, 'training row')} in batches of {history.batch_size}")
    if history.epochs[-1].get("step"):
        facts.append(plural(int(history.epochs[-1]["step"]), "step"))
    if curves.rates is not None and len(set(curves.rates.y)) == 1:
        facts.append(f"learning rate always {short(curves.rates.y[0])}")
    ended = f". It ended: {history.stopped.rstrip('.')}." if history.stopped else "."
    lead = paragraph("; ".join(facts), ended, f" The first of {members} members is shown." if members > 1 else None)
    rate = curves.rates
    varied = rate is not None and len(set(rate.y)) > 1
    parts = [chart("learning", "learning", "Learning curves", curves.caption, wide=not curves.scores and not varied)]
    if curves.scores:
        parts.append(chart("scores", "learning", "Scores", _about_scores(curves)))
    if rate is not None and varied:
        words = f"At the end of each epoch: from {short(rate.y[0])} to {short(rate.y[-1])}."
        parts.append(chart("rate", "learning", "Learning rate", words))
    records: dict[str, object] = {"learning": curves}
    missing = None
    norms = None if seen is None or not seen.moving else seen.gradient_norm
    if norms is not None and np.isfinite(norms).any():
        words = f"Of all parameters together, at every look. {_about(norms)}"
        parts.append(chart("norm", "inside", "Norm of the gradient", words))
    else:
        missing = absent(
            "The norm of the gradient over time needs a watch:",
            "watch = pellucid.inspect.Watch(every=100); model.fit(X, y, callbacks=[watch])",
        )
    return Section("training", "Training", joined([lead, figures(*parts), missing]), records)


def _about(norms: np.ndarray) -> str:
    fine = norms[np.isfinite(norms)]
    usual, largest = float(np.median(fine)), float(fine[len(fine) // 4 :].max())  # the first steps may be large
    if usual > 0 and largest > 20 * usual:
        return (
            f"At its largest {short(largest)}, {largest / usual:.0f} times the usual: jumps; clipping would tame them."
        )
    return f"Usually {short(usual)}; a calm curve is a healthy one."


def _about_scores(curves: LearningCurves) -> str:
    words = [
        f"{line.name.replace('val_', 'validation ').replace('_', ' ')} {short(line.y[-1])}" for line in curves.scores
    ]
    return f"Measured after each epoch; at the end {', '.join(words)}."
