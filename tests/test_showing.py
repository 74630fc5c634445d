"""How results show themselves: in few words at a prompt, as small clean HTML in a notebook, in full when printed."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import pellucid as pel
from pellucid import lab, markup, nn, optim, train
from pellucid.estimators.ensembles.spread import compare
from pellucid.estimators.tuning.result import Trial, Tuned
from pellucid.lab import generalization, housing, normalization, preprocessing

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 8))
y = (X[:, 0] * X[:, 1] > 0).astype(int)


def fitted(epochs=3, **options):
    net = nn.mlp((64, 32), 1, norm="batch", dropout=0.2)
    model = pel.Model(net, "binary_cross_entropy", optim.Adam(0.01), ["accuracy"], engine="numpy", **options)
    model.fit(X, y, epochs=epochs, validation=0.2, verbose=False)
    return model


MODEL = fitted(penalty=nn.L2(0.001))
GRAPH = pel.record(lambda a, b: a * b + np.sin(a), 2.0, 3.0)


def long_graph():
    def f(x):
        for _ in range(200):
            x = np.sin(x) * 1.5
        return x

    return pel.record(f, 1.0)


def tuned(trials=300):
    made = [
        Trial(i, {f"setting_{j}": i / (j + 1) for j in range(12)}, "complete", 0.9, 5, 1.0, (0.5,) * 100)
        for i in range(trials)
    ]
    return Tuned(None, made[0].params, 0.91234, 5, "accuracy", "max", made, 12.3, "the time is over", None)


RICH = {  # with HTML
    "model": lambda: MODEL,
    "model, fresh": lambda: pel.Model(nn.mlp((8,), 1)),
    "history": lambda: MODEL.history,
    "history, empty": lambda: train.History(),
    "history, long": lambda: train.History(
        [
            {"epoch": i, "step": i, "loss": 1 / i, "lr": 0.1, **{f"val_{k}": k for k in "abcdefgh"}}
            for i in range(1, 999)
        ]
    ),
    "summary": lambda: MODEL.summary(),
    "signals": lambda: nn.signals(MODEL, X),
    "program": lambda: MODEL.program(X, y),
    "explanation": lambda: MODEL.program(X, y).explain(n=32),
    "graph": lambda: GRAPH,
    "graph, long": long_graph,
    "table": lambda: GRAPH.table("reverse"),
    "table, long": lambda: long_graph().table("forward"),
    "tuned": tuned,
    "trial": lambda: tuned(1).trials[0],
    "folds": lambda: train.Folds(tuple({"loss": i / 3, "accuracy": 0.9} for i in range(30))),
    "members": lambda: compare(X[:6]),
    "differences": lambda: lab.difference_errors(np.exp, 1.0),
    "swell": lambda: lab.expression_swell(4),
    "costs": lambda: lab.speelpenning_costs((4, 8)),
    "xor": lambda: lab.train_xor(steps=20, starts=3),
    "fits": generalization.curve_fits,
    "points": lambda: preprocessing.decorrelation(30),
    "averaging": lambda: housing.Averaging((0.7, 0.6), (0.7, 0.6), "x" * 300),
    "drift": lambda: normalization.Drift((0.1,) * 500, (0.1,) * 500),
}
PLAIN = {  # arrays and curves that are no tables
    "variables": lambda: MODEL.net.initialize(8),
    "network": lambda: nn.collapse(MODEL.net, MODEL.params, MODEL.state),
    "rates": lambda: train.RateCurve(tuple(np.geomspace(1e-6, 1, 90)), tuple(np.linspace(1, 0, 90))),
}


@pytest.mark.parametrize("name", [*RICH, *PLAIN])
def test_the_prompt_shows_few_words(name):
    text = repr((RICH | PLAIN)[name]())
    assert len(text) < 500
    assert text.count("\n") < 3
    assert not re.search(r"0x[0-9a-f]{6}|array\(|np\.float", text)


@pytest.mark.parametrize("name", RICH)
def test_notebooks_show_clean_html(name):
    html = RICH[name]()._repr_html_()
    ET.fromstring(f"<div>{html}</div>")  # every tag is closed, every sign escaped
    assert "<script" not in html
    if not html.startswith("<svg"):
        assert not re.search(r"color|background", html)  # the page's own, be it light or dark


def test_a_model_says_what_it_is():
    assert repr(MODEL) == (
        "Model(8-64-32-1 relu, BatchNorm, Dropout(rate=0.2), binary_cross_entropy, Adam 0.01, 2,881 parameters, "
        f"trained 3 epochs: val_loss {MODEL.history['val_loss'][-1]:.4g})"
    )
    fresh = pel.Model(nn.mlp((512, 512), 10), "cross_entropy", optim.chain(optim.ClipNorm(1.0), optim.SGD(0.1)))
    assert repr(fresh) == "Model(512-512-10 relu, cross_entropy, ClipNorm + SGD 0.1, not initialised)"
    fresh.initialize(784)
    assert repr(fresh) == (
        "Model(784-512-512-10 relu, cross_entropy, ClipNorm + SGD 0.1, 669,706 parameters, not trained)"
    )
    scheduled = pel.Model(nn.mlp((4,), 1), "squared_error", optim.Adam(optim.Cosine(0.1)))
    assert "Adam Cosine" in repr(scheduled)
    html = MODEL._repr_html_()
    for word in ("8-64-32-1 relu", "2,881 parameters, float32", "L2(", "accuracy", "Adam 0.01", "3 epochs", "numpy"):
        assert word in html


def test_models_of_all_shapes_of_networks():
    branches = nn.Concat(nn.Dense(4), nn.Dense(5))
    nets = {
        nn.Sequential(branches, nn.Dense(1)): "Sequential of 3 layers for 8",
        nn.Residual(nn.Dense(8)): "Residual of 1 layer for 8",
        nn.Sequential("tanh"): "Sequential of 1 layer for 8",
        nn.Sequential(nn.Sequential(nn.Dense(3), "tanh"), nn.GLU(2)): "8-3-2 tanh, GLU(2)",
    }
    for net, words in nets.items():
        assert f"Model({words}, " in repr(pel.Model(net, dtype="float64").initialize(8))
    images = pel.Model(nn.Sequential(nn.Flatten(), nn.Dense(3))).initialize((28, 28))
    assert repr(images).startswith("Model(28×28-3 Flatten, ")


def test_a_history_says_how_it_went():
    history = train.History(
        [{"epoch": 1, "step": 5, "loss": 0.7, "lr": 0.1}, {"epoch": 2, "step": 9, "loss": 0.5, "lr": 0.1, "acc": 0.9}],
        "all 2 epochs done",
        {"acc": "max"},
    )
    assert repr(history) == "History(2 epochs: loss 0.7 → 0.5, acc 0.9 → 0.9; all 2 epochs done)"
    rows = [["".join(c.itertext()) for c in row] for row in ET.fromstring(history._repr_html_()).iter("tr")]
    assert rows == [
        ["", "first", "last", "best"],
        ["loss", "0.7", "0.5", "0.5 (epoch 2)"],
        ["lr", "0.1", "0.1", ""],
        ["acc", "0.9", "0.9", "0.9 (epoch 2)"],
    ]
    assert repr(train.History()) == "History(no epochs)"
    broken = train.History([{"epoch": 1, "loss": float("nan"), "val_loss": None}, {"epoch": 2, "loss": 0.5}])
    assert repr(broken) == "History(2 epochs: loss nan → 0.5)"
    assert "0.5 (epoch 2)" in broken._repr_html_()


def test_printed_they_are_as_long_as_before():
    program = MODEL.program(X, y)
    assert str(program).startswith("program step: ")
    assert len(str(program).splitlines()) > 50
    assert str(program).splitlines()[0] in f"program {repr(program).removeprefix('<Program ')}"
    assert len(str(long_graph()).splitlines()) > 400
    assert str(MODEL.summary()).splitlines()[-1] == "3 layers, 2,881 parameters"
    assert "setting_3" in str(tuned())


def test_long_results_make_small_notebooks():
    for name in ("history, long", "tuned", "model", "graph, long"):
        assert len(RICH[name]()._repr_html_()) < 10_000


def test_long_graphs_show_their_beginning():
    html = long_graph()._repr_html_()
    assert html.startswith("<pre>def f(x: float64):")
    assert "more lines: print it to see all" in html
    assert len(html.splitlines()) < 70


def test_text_is_escaped():
    evil = "<img src=x onerror=alert(1)>"
    metric = train.Metric(evil, lambda a, b: 0.0)
    model = pel.Model(nn.mlp((2,), 1), metrics=[metric])
    history = train.History([{"epoch": 1, evil: 0.5}], evil)
    graph = pel.record(lambda x: x * 2, 1.0, name=evil)
    for thing in (model, history, graph.table("primal"), train.Folds(({evil: 0.5},))):
        assert "<img" not in thing._repr_html_()
    assert "<img" not in markup.table([[evil]], [evil], caption=evil)
    assert "<img" not in markup.folded(evil, evil)


def test_brief_counts_what_is_long():
    record = train.Folds(tuple({"loss": float(i)} for i in range(30)))
    assert repr(record) == "Folds(rows: 30 items)"
    assert repr(train.Folds(({"loss": 1.0},))) == "Folds(rows=({'loss': 1.0},))"
