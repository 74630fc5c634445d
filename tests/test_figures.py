"""Every picture: words do not lie over each other, over a curve, or outside; axes begin where the data do."""

import itertools
import pickle
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.text import Text
from sklearn.linear_model import LogisticRegression

from pellucid import Model, figures, lab, nn, optim, train
from pellucid.lab import generalization as general
from pellucid.lab import generalization_plots as general_plots
from pellucid.lab import housing, normalization, preprocessing
from pellucid.lab import normalization_plots as normal_plots

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
KINDS = np.where(X[:, 0] > 0.5, "north", np.where(X[:, 1] > 0, "east", "south"))


pytestmark = pytest.mark.usefixtures("closed_pictures")


def history(values, stopped="", **more):
    rows = [{"epoch": i, "loss": v, **{k: m[i - 1] for k, m in more.items()}} for i, v in enumerate(values, 1)]
    return train.History(rows, stopped, {"accuracy": "max"})


FALLING = np.geomspace(1.0, 0.05, 40)
RISING = np.concatenate([np.geomspace(1.0, 0.4, 12), np.linspace(0.4, 1.1, 28)])


def deep(**settings):
    net = nn.mlp((30,) * 10, 30, activation="tanh", **settings)
    return nn.signals(net, net.initialize(2), X)


def fitted(y, loss, outputs):
    model = Model(nn.mlp((8,), outputs), loss)
    model.fit(X, y, epochs=3, verbose=False)
    return model


def boundary(model, y):
    return lambda ax: lab.plot_boundary(model, X, y, ax, points=40)


NEARLY = history(FALLING, "early", val_loss=FALLING * 1.001)
ONE = {  # pictures in one axes
    "history": lambda ax: history(FALLING, val_loss=RISING).plot(best="val_loss", ax=ax),
    "history, curves that meet": lambda ax: NEARLY.plot(best="val_loss", ax=ax),
    "history, stopped beside the curve": lambda ax: history(RISING[::-1], "early", val_loss=RISING).plot(ax=ax),
    "history, best at the end": lambda ax: history(FALLING, "early").plot(best="loss", ax=ax),
    "history, best at the start": lambda ax: history(RISING[::-1] + 1, "early").plot(best="loss", ax=ax),
    "history, one epoch": lambda ax: history([0.5], "early", val_loss=[0.5]).plot(best="loss", ax=ax),
    "history, many": lambda ax: history(FALLING, **{f"val_{i}": FALLING + i / 100 for i in range(8)}).plot(
        ["loss", *(f"val_{i}" for i in range(8))], ax=ax
    ),
    "history, late and missing values": lambda ax: history(
        FALLING, val_loss=[None] * 10 + list(FALLING[10:39]) + [None]
    ).plot(ax=ax),
    "history, negative losses": lambda ax: history(FALLING - 3, "early", val_loss=FALLING - 2.9).plot(ax=ax),
    "rates": lambda ax: train.RateCurve(tuple(np.geomspace(1e-6, 1, 40)), (*FALLING[:-1], 50.0)).plot(ax),
    "rates, negative losses": lambda ax: train.RateCurve(tuple(np.geomspace(1e-6, 1, 40)), tuple(FALLING - 3)).plot(ax),
    "rates, lowest first": lambda ax: train.RateCurve(tuple(np.geomspace(1e-6, 1, 40)), tuple(FALLING[::-1])).plot(ax),
    "differences": lambda ax: lab.plot_difference_errors(lab.difference_errors(lambda x: 1 / (1 + x * x), 0.7), ax),
    "differences of a line": lambda ax: lab.plot_difference_errors(lab.difference_errors(np.exp, 1.0), ax),
    "swell": lambda ax: lab.plot_swell(lab.expression_swell(6), ax),
    "costs": lambda ax: lab.plot_costs(lab.speelpenning_costs((4, 8, 16)), ax),
    "fit": lambda ax: general_plots.plot_fit(general.curve_fits(), 3, ax),
    "degrees": lambda ax: general_plots.plot_degrees(general.curve_fits(), ax),
    "more data": lambda ax: general_plots.plot_more_data(
        general.MoreData(9, (10, 30, 100), (0.0, 0.2, 0.29), (0.6, 0.4, 0.31)), ax
    ),
    "by size": lambda ax: general_plots.plot_by_size(general.bias_variance_by_size((0, 1, 3), repetitions=5), ax),
    "stopping": lambda ax: general_plots.plot_stopping(stopping(), ax),
    "averaging": lambda ax: general_plots.plot_averaging(housing.Averaging((0.7, 0.6), (0.7, 0.65), ""), ax),
    "ablation": lambda ax: general_plots.plot_ablation(
        housing.Ablation(("plain", "dropout"), np.array([[0.2, 0.3], [0.4, 0.5]]), np.ones((2, 2))), ax
    ),
    "batch sizes": lambda ax: normal_plots.plot_batch_sizes(
        normalization.BatchSizes((2, 4, 64), (0.7, 0.4, 0.02), (0.06, 0.08, 0.02)), ax
    ),
    "two classes": boundary(LogisticRegression().fit(X, KINDS == "north"), KINDS == "north"),
    "three classes": boundary(LogisticRegression().fit(X, KINDS), KINDS),
    "values": boundary(fitted(X[:, 0], "squared_error", 1), X[:, 0]),
}
SEVERAL = {  # in several, with how many
    "layers": (2, lambda axes: nn.plot_layer_stats(deep(), axes)),
    "layers that die out": (2, lambda axes: nn.plot_layer_stats(deep(init=nn.normal(0.01)), axes)),
    "histograms": (11, lambda axes: nn.plot_layer_histograms(deep(), "adjoints", axes)),
    "activations": (3, lambda axes: nn.plot_activations(["relu", "gelu", "step"], axes)),
    "schedules": (16, lambda axes: optim.plot_schedules(axes=axes)),
    "paths": (8, lambda axes: optim.plot_trajectories(axes=axes)),
    "xor": (2, lambda axes: lab.plot_xor(lab.train_xor(steps=100), axes)),
    "xor, stuck": (2, lambda axes: lab.plot_xor(lab.train_xor(0, steps=50, starts=1), axes)),
    "decorrelation": (4, lambda axes: general_plots.plot_decorrelation(preprocessing.decorrelation(50), axes)),
    "signs": (
        2,
        lambda axes: general_plots.plot_signs(
            preprocessing.gradient_signs(2, 50), preprocessing.gradient_signs(2, 50, centred=True), axes
        ),
    ),
    "polar": (2, lambda axes: general_plots.plot_polar(preprocessing.polar_rings(), axes)),
    "drift": (
        2,
        lambda axes: normal_plots.plot_drift(
            normalization.Drift(tuple(FALLING), tuple(RISING)), normalization.Drift(tuple(FALLING), tuple(RISING)), axes
        ),
    ),
}


def stopping():
    curve = history([81.0, 16.0, *FALLING], val_loss=[81.0, 16.0, *RISING])
    return housing.Stopping(curve, 30, 14, 30, 0.5, 0.6)


def words(figure):
    """All words that a figure draws, with the boxes they take, in pixels."""
    drawn, draw = [], Text.draw

    def note(self, renderer, *args, **kwargs):
        drawn.append(self)
        return draw(self, renderer, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", note)
        figure.canvas.draw()
    seen = [text for text in dict.fromkeys(drawn) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent(), text) for text in seen]


def overlap(a, b):
    """Do two boxes share more than a hair?"""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1


def curves(figure):
    """Points along all curves (reference lines across the axes are none), in pixels."""
    for ax in figure.axes:
        for line in ax.lines:
            points = line.get_transform().transform(np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float))
            points = points[np.isfinite(points).all(axis=1)]
            if line.get_transform() != ax.transData or not len(points):
                continue
            if line.get_linestyle() not in ("None", "none"):
                steps = np.linspace(0, 1, 20)[:, None, None]
                points = (points[:-1] * (1 - steps) + points[1:] * steps).reshape(-1, 2)
            yield ax, points[ax.patch.contains_points(points)]


def check(figure):
    found = words(figure)
    assert found
    for (a, box, _), (b, other, _) in itertools.combinations(found, 2):
        assert not overlap(box, other), f"{a!r} lies over {b!r}"
    for text, box, _ in found:
        sides = (box.x0, box.y0, figure.bbox.width - box.x1, figure.bbox.height - box.y1)
        assert min(sides) >= -1, f"{text!r} sticks out of the figure"
    for ax, points in curves(figure):
        for text, box, artist in found:
            if artist.axes is ax:
                inside = (points > (box.x0 + 1, box.y0 + 1)) & (points < (box.x1 - 1, box.y1 - 1))
                assert not inside.all(axis=1).any(), f"{text!r} lies over a curve"


def check_limits(axes):
    """Over epochs, steps and the like, an axis begins where the data do."""
    for ax in axes:
        if not re.search("epoch|step|layer|networks|degree|points", ax.get_xlabel()) or ax.patches:
            continue
        lines = [line for line in ax.lines if line.get_transform() == ax.transData and len(line.get_xdata())]
        if ax.get_xscale() == "linear" and lines:
            x = np.concatenate([np.asarray(line.get_xdata(), float) for line in lines])
            span = (x.max() - x.min()) or 1.0
            assert ax.get_xlim()[0] >= x.min() - 0.1 * span - 1e-9, "the axis begins far ahead of the data"


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("given", [False, True])
def test_one(name, given):
    own = plt.subplots()[1] if given else None
    ax = ONE[name](own)
    assert own is None or ax is own
    check(ax.figure)
    check_limits([ax])


@pytest.mark.parametrize("name", SEVERAL)
def test_several(name):
    count, draw = SEVERAL[name]
    axes = np.ravel(draw(None))
    assert len(axes) == count
    check(axes[0].figure)
    check_limits(axes)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_given(name):
    count, draw = SEVERAL[name]
    given = plt.subplots(1, count + 1, figsize=(3.2 * count + 3.2, 3.2), layout="constrained")[1]
    axes = np.ravel(draw(given[:count]))
    assert list(axes) == list(given[:count])
    check(axes[0].figure)
    with pytest.raises(ValueError, match=f"for {count - 1} axes: give one for each"):
        draw(given[: count - 1])


def test_all_pictures_are_here():
    """A new plot function without a case fails."""
    covered = set(re.findall(r"plot_\w+", Path(__file__).read_text()))
    modules = [lab, nn, optim, general_plots, normal_plots]
    names = {name for module in modules for name in vars(module) if name.startswith("plot_")}
    assert len(names) >= 18
    assert names <= covered


def test_several_runs_share_axes():
    ax = history(FALLING, "early").plot(ax=None)
    history(FALLING[:20] + 0.001, "early").plot(["loss"], ax=ax)
    history(np.tile(FALLING, 2) + 0.002).plot(["loss"], ax=ax)
    assert ax.get_xlim()[1] > 80
    check(ax.figure)


def test_words_stay_apart_when_the_figure_changes():
    ax = history(FALLING, "early", val_loss=FALLING * 1.01).plot(best="loss")
    for size in ((9.0, 6.0), (4.5, 2.6)):
        ax.figure.set_size_inches(*size)
        check(ax.figure)
    check(pickle.loads(pickle.dumps(ax.figure)))


def test_apart():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 8))
        wanted, heights = rng.uniform(0, 100, n), rng.uniform(2, 12, n)
        centres: np.ndarray = np.array(figures.apart(wanted, heights, 0.0, 100.0))
        low, high = centres - heights / 2, centres + heights / 2
        order = np.argsort(centres)
        assert np.all(low[order][1:] >= high[order][:-1] - 1e-9)
        assert low.min() > -1e-9
        assert high.max() < 100 + 1e-9
        assert np.array_equal(order, np.argsort(wanted))
    assert figures.apart([5.0, 50.0], [4.0, 4.0], 0.0, 100.0) == [5.0, 50.0]  # no reason to move


def test_small_rates_fill_their_picture():
    ax = optim.plot_schedules({"small": optim.Cosine(1e-3)})[0]
    assert ax.get_ylim()[1] < 2e-3


def test_nothing_to_draw_says_so():
    with pytest.raises(ValueError, match="no epochs yet: there is nothing to draw"):
        train.History().plot()
    with pytest.raises(ValueError, match="of is one of 'activations'"):
        nn.plot_layer_histograms(deep(), "weights")
