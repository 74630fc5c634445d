"""Draw the pictures of the documentation anew: python docs/make_images.py"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

import pellucid as pel
from pellucid import lab, nn, optim, train
from pellucid.graph.show.drawing import Box, Drawing
from pellucid.graph.show.svg import svg
from pellucid.lab import generalization, housing, normalization, preprocessing
from pellucid.lab import generalization_plots as drawn
from pellucid.lab import normalization_plots as shown
from pellucid.lab.plots import save_all

IMAGES = Path(__file__).parent / "images"


def lecture_graph() -> str:
    f = lambda x1, x2: np.log(x1) + x1 * x2 - np.sin(x2)
    return pel.record(f, 2.0, 5.0, name="f").svg("reverse")


def network_graph() -> str:
    def loss(W1, b1, W2, b2, X, y):  # type: ignore[no-untyped-def]
        with pel.scope("hidden"):
            h = np.tanh(X @ W1 + b1)
        with pel.scope("output"):
            scores = h @ W2 + b2
        with pel.scope("loss"):
            return np.mean(np.square(scores - y))

    shapes = [(3, 8), (8,), (8, 1), (1,), ("n", 3), ("n", 1)]
    return pel.record(pel.grad(loss, (0, 1, 2, 3)), *map(pel.Spec, shapes)).simplify().svg()


def data_flow() -> str:
    """The way of data through one recorded and differentiated function."""
    boxes = [
        ("f, x", "input", ("plain NumPy, arrays",), ""),
        ("Traced", "operation", ("f runs once on tracers",), "autodiff"),
        ("Tracer", "operation", ("operators, __array_ufunc__,", "__array_function__"), "graph/core"),
        ("Primitive", "operation", ("value, shape, jvp, vjp",), "graph/primitives"),
        ("tape", "operation", ("what happened, in order",), "graph/core"),
        ("pull / push", "operation", ("the rules, backwards / forwards",), "graph/core"),
        ("gradient", "output", ("arrays, or tracers of an", "outer recording"), ""),
    ]
    made = tuple(Box(i, (name, *lines), kind, scope) for i, (name, kind, lines, scope) in enumerate(boxes))
    arrows = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 6))
    return svg(Drawing("pel.grad(f)(x)", made, arrows))


def rooms() -> str:
    boxes = [
        ("cli", "what people start"),
        ("demo · serve", "pictures and traces for the demo · the prediction service"),
        ("lab · loading · importing", "the lectures' experiments · one door for files · networks from elsewhere"),
        ("report · export · dask", "what happened, on one page · ONNX, C, JSON, NumPy · estimators on Dask"),
        ("estimators", "the scikit-learn face: MLPs, tables, ensembles, search"),
        ("inspect", "taps, statistics, findings, a step written out"),
        (
            "train · datasets · distributed",
            "model, loop, callbacks, checkpoints · shipped tables · processes that join",
        ),
        ("data", "rows, splits, weights, batches, streams, tables in files"),
        ("nn · optim", "layers, activations, losses · rules, schedules"),
        ("autodiff", "grad, jvp, vjp, jacobian, hessian, checks"),
        ("engine", "numpy, native, jax: run a graph"),
        ("graph", "recording, primitives, walks, show"),
        ("lookup · notices · figures · ...", "small things that every room may use"),
        ("errors", "what can go wrong, in words"),
    ]
    drawn_boxes = tuple(Box(i, lines, "operation") for i, lines in enumerate(boxes))
    arrows = tuple((i, i + 1) for i in range(len(boxes) - 1))
    return svg(Drawing("Each room imports only from the rooms below it", drawn_boxes, arrows))


def way(title: str, stations: list[tuple[str, str, str, str]], arrows: tuple[tuple[int, int], ...]) -> str:
    """The way of a call.   stations: (function, file, what it does, group), in the order in which they are reached"""
    kinds = {0: "input", len(stations) - 1: "output"}
    boxes = tuple(
        Box(i, (f"{i + 1} {function}", file, words), kinds.get(i, "operation"), group)
        for i, (function, file, words, group) in enumerate(stations)
    )
    return svg(Drawing(title, boxes, arrows))


def fit_way() -> str:
    """The way of `MLPClassifier.fit`."""
    values, training = "values, made once each", "training"
    stations = [
        ("BaseMLP.fit", "estimators/base.py", "the shell: parameters are checked", ""),
        ("checked", "estimators/inputs.py", "X as floats, y as an array", values),
        ("class_target", "estimators/class_target.py", "y → Target: classes, loss, outputs", values),
        ("plain_recipe", "estimators/recipe.py", "parameters, Target → Recipe", values),
        ("begin", "estimators/fitted.py", "Recipe → Fitted, with first weights", values),
        ("fit", "estimators/training.py", "Recipe, rows, Fitted → Fitted", training),
        ("Model.fit", "train/model.py", "arrays → rows, plan and run", training),
        ("train", "train/loop/loop.py", "epochs of steps, with callbacks", training),
    ]
    arrows = ((0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (3, 5), (4, 5), (5, 6), (6, 7))
    return way("MLPClassifier.fit(X, y)", stations, arrows)


def predict_proba_way() -> str:
    """The way of `MLPClassifier.predict_proba`."""
    scores, link = "scores", "probabilities"
    stations = [
        ("ClassShell.predict_proba", "estimators/classifier.py", "scores first, then probabilities", ""),
        ("Shell.logits", "estimators/shell.py", "the network's scores", scores),
        ("checked_rows", "estimators/inputs.py", "X as numbers, with the columns of fit", scores),
        ("Fitted.scores", "estimators/fitted.py", "all that was learned, in one value", scores),
        ("Model.scores", "train/model.py", "in chunks of bounded memory", scores),
        ("Layer.predict", "nn/layers/layer.py", "the network; or compiled code of it", scores),
        ("ClassTarget.probabilities", "estimators/class_target.py", "scores, divided by the temperature", link),
        ("Link.probabilities", "nn/losses/link.py", "the loss's own link", link),
    ]
    arrows = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7))
    return way("MLPClassifier.predict_proba(X)", stations, arrows)


def native_engine() -> str:
    """The passes, and what a compiled loop does with their result."""
    boxes = [
        ("Graph", "input", ("a training step, recorded",), ""),
        ("lower", "operation", ("few kinds of operations,", "simplified"), "once for a graph"),
        ("fuse", "operation", ("loops, and what is kept",), "once for a graph"),
        ("schedule", "operation", ("order and barriers",), "once for a graph"),
        ("loops", "operation", ("each as LLVM IR",), "once for a kernel"),
        ("LLVM, cache", "operation", ("machine code on disk",), "once for a kernel"),
        ("plan, bind", "operation", ("places in the arena,", "tables of addresses"), "once for sizes"),
        ("run", "operation", ("gather, call, note:", "all steps of an epoch"), "every step"),
        ("losses, parameters", "output", ("read when asked for",), ""),
    ]
    made = tuple(Box(i, (name, *lines), kind, scope) for i, (name, kind, lines, scope) in enumerate(boxes))
    arrows = ((0, 1), (1, 2), (2, 3), (2, 4), (4, 5), (3, 6), (5, 6), (6, 7), (7, 8))
    return svg(Drawing("engine: native", made, arrows))


def training_curves() -> None:
    """Early stopping and the rate finder, on a small noisy problem."""
    rng = np.random.default_rng(0)
    X, held = rng.normal(size=(80, 4)), rng.normal(size=(200, 4))
    y, held_y = (np.sin(2 * x[:, 0]) + 0.4 * rng.normal(size=len(x)) for x in (X, held))
    make = lambda: pel.Model(nn.mlp((64,), 1, activation="tanh"), "squared_error", optim.Adam(0.01))
    options = {"epochs": 150, "batch_size": 16, "verbose": False, "callbacks": [train.EarlyStopping(60)]}
    history = make().fit(X, y, validation=(held, held_y), **options)
    ax = history.plot(best="val_loss")
    ax.set_title("Early stopping: the best epoch is kept")
    ax.figure.savefig(IMAGES / "early-stopping.svg", metadata={"Date": None})
    curve = train.find_rate(make(), X, y, steps=150, batch_size=16)
    curve.plot().figure.savefig(IMAGES / "rate-finder.svg", metadata={"Date": None})


def normalization_pictures() -> None:
    axes = plt.subplots(1, 5, figsize=(17, 3.2), layout="constrained")[1]
    for ax, hidden in zip(axes, ((), (16,)), strict=False):
        learned = normalization.boundary(hidden)
        lab.plot_boundary(learned.model, learned.X, learned.y, ax, points=60)
        ax.set(title=f"hidden units: {sum(hidden)}, accuracy {learned.accuracy:.0%}", aspect="equal")
    shown.plot_batch_sizes(normalization.batch_size_sweep(), axes[2])
    shown.plot_drift(normalization.drift(None, lr=0.5), normalization.drift("batch", lr=0.5), axes[3:])
    axes[0].figure.savefig(IMAGES / "normalization.svg", metadata={"Date": None})


def generalization_pictures() -> None:
    figure, axes = plt.subplot_mosaic(
        "ABEF;CDEF", figsize=(13, 4.2), width_ratios=(1, 1, 1.7, 1.7), layout="constrained"
    )
    fits = generalization.curve_fits()
    for place, degree in zip("ABCD", (0, 1, 3, 9), strict=True):
        drawn.plot_fit(fits, degree, axes[place])
    drawn.plot_degrees(fits, axes["E"])
    drawn.plot_more_data(generalization.more_data(), axes["F"])
    figure.savefig(IMAGES / "curve-fitting.svg", metadata={"Date": None})

    figure, axes = plt.subplots(1, 2, figsize=(13, 4.2), layout="constrained")
    drawn.plot_by_size(generalization.bias_variance_by_size(), axes[0])
    drawn.plot_stopping(housing.early_stopping(), axes[1])
    figure.savefig(IMAGES / "generalization.svg", metadata={"Date": None})

    figure, axes = plt.subplots(1, 2, figsize=(12, 3.8), layout="constrained")
    drawn.plot_averaging(housing.averaging(), axes[0])
    drawn.plot_ablation(housing.ablation(), axes[1])
    figure.savefig(IMAGES / "regularising.svg", metadata={"Date": None})


def reliability_picture() -> None:
    """Probabilities of the defaults, and of smoothed labels, against how often they come true."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 6))
    score = 2 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3]
    y = rng.random(len(X)) < 1 / (1 + np.exp(-1.5 * score))
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
    settings = {"defaults": {}, "label_smoothing=0.1, calibrated=False": {"label_smoothing": 0.1, "calibrated": False}}
    for ax, (title, more) in zip(axes, settings.items(), strict=True):
        model = pel.TabularMLPClassifier(random_state=0, **more).fit(X[:4000], y[:4000])
        likely, truth = model.predict_proba(X[4000:])[:, 1], y[4000:]
        bins = np.minimum((likely * 12).astype(int), 11)
        used = np.unique(bins)
        said, came = (np.array([values[bins == one].mean() for one in used]) for values in (likely, truth))
        counts = np.array([np.sum(bins == one) for one in used])
        errors = 2 * np.sqrt(said * (1 - said) / counts)
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        ax.errorbar(said, came, yerr=errors, fmt="o-", markersize=4, linewidth=1.2, capsize=2)
        loss = -np.mean(np.log(np.where(truth, likely, 1 - likely)))
        ax.set(title=f"{title}\nlog loss {loss:.3f}", xlabel="predicted probability", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("share that came true")
    figure.savefig(IMAGES / "reliability.svg", metadata={"Date": None})


def preprocessing_pictures() -> None:
    figure, axes = plt.subplots(2, 4, figsize=(13, 6), layout="constrained")
    drawn.plot_decorrelation(preprocessing.decorrelation(150), axes[0])
    raw, centred = (preprocessing.gradient_signs(2, 120, centred=centred) for centred in (False, True))
    drawn.plot_signs(raw, centred, axes[1, :2])
    drawn.plot_polar(preprocessing.polar_rings(), axes[1, 2:])
    figure.savefig(IMAGES / "preprocessing.svg", metadata={"Date": None})


if __name__ == "__main__":
    pictures = {"lecture-graph": lecture_graph, "network-graph": network_graph, "data-flow": data_flow, "rooms": rooms}
    pictures |= {"native-engine": native_engine, "way-of-fit": fit_way, "way-of-predict-proba": predict_proba_way}
    save_all(IMAGES)
    with matplotlib.rc_context({"svg.hashsalt": "pellucid"}):
        training_curves()
        normalization_pictures()
        generalization_pictures()
        preprocessing_pictures()
        reliability_picture()
        optim.plot_schedules()[0].figure.savefig(IMAGES / "schedules.svg", metadata={"Date": None})
        optim.plot_trajectories()[0].figure.savefig(IMAGES / "trajectories.svg", metadata={"Date": None})
        nn.plot_activations()[0].figure.savefig(IMAGES / "activations.svg", metadata={"Date": None})
    for name, draw in pictures.items():
        (IMAGES / f"{name}.svg").write_text(draw() + "\n")
        print(IMAGES / f"{name}.svg")
