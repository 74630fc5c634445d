"""What a model says all over the plane: classes and their boundary, or values, for anything that predicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.figures import BLUE, COLOURS, INK, MARKERS, ORANGE, axes, legend
from pellucid.markup import Brief
from pellucid.train import Model
from pellucid.train.metrics import classes, is_classifier

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Surface(Brief):
    """A model on a grid.   x, y: (points,), values: (points, points), rows are y.

    `classes` are the labels; `values` then are their numbers 0, 1, ..., or for two classes the probability of the
    second one (with `level` 0.5), or its score (`level` 0). Without classes they are what the model predicts.
    """

    x: Any
    y: Any
    values: Any
    classes: tuple[Any, ...] = ()
    level: float | None = None


def surface(model: Any, X: Any, *, points: int = 200, margin: float = 0.08) -> Surface:
    """A fitted `Model` or estimator all over the plane of two features X, (n, 2), and a margin around them.

    Estimators are asked for probabilities, else for scores, else for classes; regressors for values.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    >>> found = surface(LogisticRegression().fit(X, [0, 0, 1, 1]), X, points=5)
    >>> found.values.shape, found.classes, found.level
    ((5, 5), (0, 1), 0.5)
    """
    plain = plane(X)
    low, high = plain.min(axis=0), plain.max(axis=0)
    edge = margin * np.where(high > low, high - low, 1.0)
    x, y = (np.linspace(low[i] - edge[i], high[i] + edge[i], points) for i in (0, 1))
    corners = np.column_stack([part.ravel() for part in np.meshgrid(x, y)])
    rows = _like(X, corners)
    values, classes, level = _of_model(model, rows) if isinstance(model, Model) else _of_estimator(model, rows)
    return Surface(x, y, np.asarray(values, float).reshape(points, points), classes, level)


def plot_boundary(model: Any, X: Any, y: Any = None, ax: Axes | None = None, *, points: int = 200) -> Axes:
    """Two features, and what a fitted model says all over their plane.

    Two classes are drawn by their probability, with a line where it is 1/2; more by their regions; regression by
    its values.

    Parameters
    ----------
    model : Model | estimator
        anything with `predict`: pipelines and searches, too
    X : array of shape (n, 2)
        rows
    y : array of shape (n,)
        their targets, labels or numbers, as they were given to `fit`; None draws no rows
    ax : Axes | None
        axes to draw on; None makes new ones
    points : int
        steps each way

    Returns
    -------
    matplotlib axes
        those drawn on

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> ax = plot_boundary(LogisticRegression().fit(X, y), X, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['left', 'right']
    """
    landscape, rows = surface(model, X, points=points), plane(X)
    targets = None if y is None else _targets(model.loss.prepare(y) if isinstance(model, Model) else y, len(rows))
    ax = axes(ax, (5.2, 4.2))
    ax.grid(False)
    if landscape.classes:
        _draw_classes(ax, landscape, rows, targets)
    else:
        _draw_values(ax, landscape, rows, targets)
    names = getattr(X, "columns", ("$x_1$", "$x_2$"))
    ax.set(xlabel=str(names[0]), ylabel=str(names[1]))
    return ax


def plane(X: Any) -> Any:
    """Rows of two numbers.   (n, 2)"""
    shape = np.shape(X)
    if len(shape) != 2 or shape[1] != 2 or not shape[0]:
        raise ValueError(
            f"a boundary is drawn in the plane of two features, got X of shape {shape}: fit the model on two columns, "
            "X[:, [i, j]]"
        )
    try:
        return np.asarray(X, float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"a boundary needs two columns of numbers: {error}") from error


def _like(X: Any, corners: Any) -> Any:
    """The corners of the grid in the shape of the data: a frame with its columns, or an array."""
    if not hasattr(X, "columns"):
        return corners
    columns = {name: corners[:, i] for i, name in enumerate(X.columns)}
    return type(X)(columns)


def _of_model(model: Model, rows: Any) -> tuple[Any, tuple[Any, ...], float | None]:
    rows = np.asarray(rows)
    scores, loss = model.loss.joined(model.scores(rows)), model.loss.single
    if not is_classifier(model.loss):
        return _one_column(model.predict(rows), "the model"), (), None
    labels = classes(loss, scores)
    if labels.ndim == 2:
        raise ValueError(f"plot_boundary draws one class for each point, {loss.name} gives {labels.shape[1]}")
    if scores.shape[1] > 2:
        return labels, tuple(range(scores.shape[1])), None
    if scores.shape[1] == 2:
        return model.predict(rows)[:, 1], (0, 1), 0.5
    names = tuple(classes(loss, np.array([[-1.0], [1.0]])).tolist())
    even = float(loss.link(np.zeros((1, 1)))[0, 0])
    return (model.predict(rows)[:, 0], names, even) if 0 < even < 1 else (scores[:, 0], names, 0.0)


def _of_estimator(model: Any, rows: Any) -> tuple[Any, tuple[Any, ...], float | None]:
    name = type(model).__name__
    if not hasattr(model, "predict"):
        raise TypeError(f"plot_boundary takes a Model, or an estimator with predict, got {name}")
    if getattr(model, "classes_", None) is None:
        predictions = np.asarray(model.predict(rows))
        if predictions.dtype.kind in "fc":
            return _one_column(predictions, name), (), None
        names, numbers = np.unique(predictions, return_inverse=True)  # of a cluster, or of who hides its classes
        return numbers, tuple(names.tolist()), None
    labels = tuple(np.asarray(model.classes_).tolist())
    if hasattr(model, "predict_proba"):
        probability = np.asarray(model.predict_proba(rows))
        return (probability[:, -1], labels, 0.5) if len(labels) == 2 else (probability.argmax(axis=1), labels, None)
    if hasattr(model, "decision_function") and len(labels) == 2:
        return np.asarray(model.decision_function(rows)), labels, 0.0
    predictions = np.asarray(model.predict(rows))
    return np.array([labels.index(label) for label in predictions.tolist()]), labels, None


def _one_column(values: Any, name: str) -> Any:
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(f"plot_boundary draws one value for each point, {name} predicts {values.shape[1]}")
    return values.reshape(-1)


def _targets(y: Any, rows: int) -> Any:
    targets = np.asarray(y)
    if targets.ndim == 2:
        targets = targets[:, 0] if targets.shape[1] == 1 else targets.argmax(axis=1)  # classes as unit vectors
    if targets.shape != (rows,):
        raise ValueError(f"plot_boundary: y has one target for each of the {rows} rows of X, got {np.shape(y)}")
    return targets


def _draw_classes(ax: Axes, landscape: Surface, rows: Any, targets: Any) -> None:
    grid = (landscape.x, landscape.y)
    if landscape.level is not None:
        from matplotlib.colors import LinearSegmentedColormap

        reach = 0.5 if landscape.level else float(np.abs(landscape.values).max()) or 1.0
        levels = np.linspace(landscape.level - reach, landscape.level + reach, 21)
        shades = LinearSegmentedColormap.from_list("classes", [BLUE, "white", ORANGE])
        ax.contourf(*grid, landscape.values, levels=levels, cmap=shades, alpha=0.45, extend="both")
        if landscape.values.min() < landscape.level < landscape.values.max():
            ax.contour(*grid, landscape.values, levels=[landscape.level], colors=INK, linewidths=1.5)
    else:
        _tint(ax, landscape)
    if targets is None:
        return
    strangers = sorted(set(targets.tolist()) - set(landscape.classes), key=str)
    if strangers:
        raise ValueError(
            f"plot_boundary: the model knows the classes {landscape.classes}, y has {strangers[:5]} as well"
        )
    for number, label in enumerate(landscape.classes):
        members = targets == label
        colour, mark = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        ax.plot(*rows[members].T, mark, color=colour, ms=4.5, mec="white", mew=0.5, ls="none", label=str(label))
    longest = max(len(str(label)) for label in landscape.classes)
    legend(ax, max(min(len(landscape.classes), 40 // (longest + 4)), 1))


def _tint(ax: Axes, landscape: Surface) -> None:
    """The regions of classes. Each point has the colour of its class: nothing lies between numbers of classes."""
    from matplotlib.colors import to_rgba

    tints = np.array([to_rgba(COLOURS[i % len(COLOURS)], 0.3) for i in range(len(landscape.classes))])
    half = [(axis[1] - axis[0]) / 2 for axis in (landscape.x, landscape.y)]
    extent = (landscape.x[0] - half[0], landscape.x[-1] + half[0], landscape.y[0] - half[1], landscape.y[-1] + half[1])
    numbers = landscape.values.astype(int)
    ax.imshow(tints[numbers], extent=extent, origin="lower", aspect="auto", interpolation="nearest")
    for number in range(len(landscape.classes)):
        inside = (numbers == number).astype(float)
        if 0 < inside.mean() < 1:
            ax.contour(landscape.x, landscape.y, inside, levels=[0.5], colors=INK, linewidths=0.8)


def _draw_values(ax: Axes, landscape: Surface, rows: Any, targets: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    everything = landscape.values.ravel() if targets is None else np.concatenate([landscape.values.ravel(), targets])
    low, high = float(everything.min()), float(everything.max())
    levels = MaxNLocator(20).tick_values(low, high if high > low else low + 1.0)
    shades = ax.contourf(landscape.x, landscape.y, landscape.values, levels=levels, cmap="viridis", alpha=0.8)
    if targets is not None:
        ax.scatter(
            rows[:, 0], rows[:, 1], c=targets, cmap="viridis", vmin=levels[0], vmax=levels[-1], s=18, ec="white", lw=0.6
        )
    ax.figure.colorbar(shades, ax=ax)
