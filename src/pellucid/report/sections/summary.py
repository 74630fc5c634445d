"""The first line of a report: a few large numbers."""

from __future__ import annotations

from collections.abc import Iterable

from pellucid.markup import short
from pellucid.report.elements import Markup, element
from pellucid.report.numbers.scores import Score
from pellucid.report.predictor import Predictor
from pellucid.report.rows import Sample
from pellucid.train import History


def tiles(scores: Iterable[Score]) -> Markup:
    """Numbers with their names above and what they are to be compared with below."""
    return element("div", *(_tile(score.name, text(score), score.beside) for score in scores), class_="summary")


def summary(asked: Predictor, story: History | None, scores: tuple[Score, ...], rows: Sample | None) -> Markup:
    """Quality first; then how large it is, and how long it was trained."""
    name = "" if rows is None else rows.counted
    large = [_tile(score.name, text(score), f"{name}; {score.beside}") for score in scores if score.first]
    size = sum(model.summary().count for model in asked.crew)
    networks = f"{len(asked.crew)} networks" if len(asked.crew) > 1 else str(asked.model.loss.name)
    large.append(_tile("parameters", f"{size:,}", networks))
    if story is not None and len(story):
        large.append(_tile("epochs", f"{len(story):,}", story.stopped))
    return element("div", *large, class_="summary")


def text(score: Score) -> str:
    """Shares and the like in three decimals, errors in the digits that count."""
    return f"{score.value:.3f}" if score.share else short(score.value)


def _tile(name: str, value: str, beside: str) -> Markup:
    return element("div", element("span", name), element("strong", value), element("small", beside), class_="tile")
