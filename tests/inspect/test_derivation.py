"""inspect.step: the numbers are those of training, the formulas are right, and three ways of writing it hold."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid as pel
from pellucid import Model, inspect, nn, optim
from pellucid.errors import ShapeError
from pellucid.inspect.derivation import NOTATIONS, Notation
from pellucid.inspect.derivation.formulas import Writer, as_html, as_latex, as_text, written
from pellucid.inspect.derivation.numbers import Numbers, aligned, number
from pellucid.inspect.derivation.update import rule_formulas, state_symbol
from pellucid.optim.rules.table import RULES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 3))
LABELS = np.array([0, 1, 1, 0])
REAL = np.array([0.5, 1.5, 2.0, 0.25])
KEEP = {"dtype": "float64", "engine": "numpy"}


def target(name):
    """A target that suits a loss, and the number of outputs."""
    for y in (LABELS, REAL, np.eye(2)[LABELS]):
        for outputs in (1, 2, 3):
            try:
                nn.loss(name).prepare(y, outputs)
            except ValueError:
                continue
            return y, outputs
    raise AssertionError(name)


# every kind of part, of loss and of rule

NETS = {
    "linear": nn.Sequential(nn.Dense(1)),
    "no bias": nn.mlp((3,), 1, bias=None),
    "ntk": nn.mlp((3,), 1, scaling="ntk"),
    "maxout": nn.mlp((3,), 1, activation="maxout"),
    "swiglu": nn.mlp((3,), 1, activation="swiglu"),
    "batch norm": nn.mlp((3,), 1, norm="batch", dropout=0.3),
    "batch norm behind": nn.mlp((3, 4), 1, norm="batch", norm_place="after", dropout=0.3, input_dropout=0.2),
    "layer norm": nn.mlp((3,), 1, norm="layer"),
    "rms norm": nn.mlp((3,), 1, norm="rms", norm_place="after"),
    "residual": nn.Sequential(nn.Dense(3), nn.Residual(nn.Sequential(nn.Dense(3), "relu", nn.Dense(3))), nn.Dense(1)),
    "concat": nn.Sequential(nn.Concat(nn.Dense(2), nn.Sequential(nn.Dense(3), "tanh")), nn.Dense(1)),
    "compute": nn.Sequential(nn.Compute(nn.Sequential(nn.Dense(3), "relu"), dtype="float64"), nn.Dense(1)),
    "mixed": nn.Sequential(nn.Dense(4), nn.Mixed("relu", "tanh"), nn.Dense(1)),
    "noise": nn.Sequential(nn.GaussianNoise(0.1), nn.Dense(4), "selu", nn.AlphaDropout(0.2), nn.Dense(1)),
    "activation last": nn.Sequential(nn.Dense(4), "relu", nn.Dense(1), "identity"),
    "two activations": nn.Sequential(nn.Dense(4), "relu", "tanh", nn.Dense(1)),
    "scale": nn.Sequential(nn.Scale(), nn.Dense(1)),
    "own function": nn.mlp((3,), 1, activation=lambda x: x * np.tanh(x) + 1.0),
}
LINKS = optim.chain(optim.ClipValue(0.1), optim.ClipNorm(1.0), optim.Adam(0.1), optim.WeightDecay(0.1))
CASES = {
    **{f"net: {name}": (net, "squared_error", "adam", None, REAL) for name, net in NETS.items()},
    **{
        f"activation: {name}": (nn.mlp((3,), 2, activation=name), "cross_entropy", "sgd", None, LABELS)
        for name in nn.ACTIVATIONS
    },
    **{
        f"loss: {name}": (nn.mlp((3,), target(name)[1]), name, "sgd", None, target(name)[0])
        for name in nn.LOSSES
    },
    **{f"rule: {name}": (nn.mlp((3,), 1), "squared_error", name, None, REAL) for name in RULES},
    "penalty: L1": (nn.mlp((3,), 1), "squared_error", "sgd", nn.L1(0.1), REAL),
    "penalty: elastic net": (nn.mlp((3,), 1), "squared_error", "sgd", nn.ElasticNet(0.1, 0.2), REAL),
    "penalty: sum": (nn.mlp((3,), 1), "squared_error", LINKS, nn.L1(0.1) + nn.L2(0.2, on="*"), REAL),
    "penalty: per row": (nn.mlp((3,), 1), "squared_error", "sgd", nn.PerRow(nn.L2(0.1)), REAL),
    "accumulated": (nn.mlp((3,), 1), "squared_error", optim.chain(optim.Accumulate(2), optim.SGD(0.1)), None, REAL),
    "own loss": (nn.mlp((3,), 1), lambda s, y: np.abs(s - y) ** 1.5, "sgd", None, REAL),
    "summed": (nn.mlp((3,), 2), nn.Summed(nn.loss("squared_error")), "sgd", None, X[:, :2]),
    "smoothed": (nn.mlp((3,), 2), nn.loss("cross_entropy", smoothing=0.1), "sgd", None, LABELS),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:the network ends with")
def test_it_is_the_step_that_training_makes(name):
    net, loss, optimizer, penalty, y = CASES[name]
    model = Model(net, loss, optimizer, penalty=penalty, **KEEP)
    d = inspect.step(model, X, y)
    assert not model.params  # left as it is
    model.fit(X, y, steps=1, batch_size=len(X), shuffle=False, verbose=False)
    for key, new in model.params.items():
        assert_allclose(d.params[key], new, rtol=1e-12, atol=1e-14)
    notation = list(NOTATIONS)[len(name) % len(NOTATIONS)]
    for page in (d, d.in_notation(notation)):
        assert "nan" not in str(page)
        check_latex(page.latex())
        check_html(page.html())


def check_latex(page):
    """Braces and environments are closed, no sign is left that LaTeX does not know."""
    assert page.isascii()
    bare = re.sub(r"\\[\\{}%#&_$^~]", "", page)
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    open_ones = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", page):
        if kind == "begin":
            open_ones.append(name)
        else:
            assert open_ones.pop() == name
    assert not open_ones
    assert not re.search(r"\^\{[^{}]*\}\s*\^", page)  # a double superscript stops LaTeX
    assert not re.search(r"_\{[^{}]*\}\s*_\{", page)


def check_html(page):
    stack: list[str] = []
    for closing, tag in re.findall(r"<(/?)([a-z0-9]+)(?:\s[^>]*)?>", page):
        if tag in ("meta",):
            continue
        if closing:
            assert stack.pop() == tag
        else:
            stack.append(tag)
    assert not stack
    assert "http" not in page  # nothing from elsewhere


def test_the_fragment_is_part_of_the_document():
    d = inspect.step(Model(nn.mlp((2,), 1), **KEEP), X, REAL)
    assert d.latex(document=False) in d.latex()
    assert d.latex().startswith(r"\documentclass")
    assert d._repr_html_() in d.html()


# the arrays


@pytest.mark.parametrize("depth", range(2, 11))
def test_arrays_are_those_of_the_delta_recursion(depth):
    rng = np.random.default_rng(depth)
    model = Model(nn.mlp((5,) * (depth - 1), 2, bias=0.1), "half_squared_error", optim.SGD(0.1), **KEEP)
    Y = rng.normal(size=(4, 2))
    d = inspect.step(model, X, Y)
    params = model.initialize(3).params
    names = [f"hidden{k}" for k in range(1, depth)] + ["output"]
    a, delta = X, {}
    for name in names:
        z = a @ params[f"{name}.weight"] + params[f"{name}.bias"]
        assert_allclose(d.z[name], z, atol=1e-12)
        a = z if name == "output" else np.maximum(z, 0)
        assert_allclose(d.a[name], a, atol=1e-12)
    delta["output"] = (d.z["output"] - Y) / 2  # half squared error, averaged over two outputs
    for name, behind in zip(names[-2::-1], names[:0:-1], strict=True):
        delta[name] = (delta[behind] @ params[f"{behind}.weight"].T) * (d.z[name] > 0)
    before = dict(zip(names, [X, *(d.a[name] for name in names)], strict=False))
    for name in names:
        assert_allclose(d.delta[name], delta[name], atol=1e-12)
        assert_allclose(d.gradient[f"{name}.weight"], before[name].T @ delta[name] / 4, atol=1e-12)
        assert_allclose(d.gradient[f"{name}.bias"], delta[name].mean(0), atol=1e-12)
        assert_allclose(d.update[f"{name}.weight"], -0.1 * d.gradient[f"{name}.weight"], atol=1e-12)


SLOPES = {
    "squared_error": lambda s, y: 2 * (s - y) / s.shape[1],
    "half_squared_error": lambda s, y: (s - y) / s.shape[1],
    "absolute_error": lambda s, y: np.sign(s - y) / s.shape[1],
    "poisson": lambda s, y: (np.exp(s) - y) / s.shape[1],
    "cross_entropy": lambda s, y: pel.softmax(s) - np.eye(s.shape[1])[y],
    "binary_cross_entropy": lambda s, y: 1 / (1 + np.exp(-s)) - y,
    "multilabel": lambda s, y: (1 / (1 + np.exp(-s)) - y) / s.shape[1],
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_of_losses_are_as_written(name):
    y, outputs = target(name)
    if name in ("squared_error", "half_squared_error", "absolute_error", "poisson", "multilabel"):
        y, outputs = np.abs(np.eye(2)[LABELS]), 2
    d = inspect.step(Model(nn.mlp((3,), outputs), name, **KEEP), X, y)
    prepared = nn.loss(name).prepare(y, outputs)
    assert_allclose(d.delta["output"], SLOPES[name](d.z["output"], prepared), atol=1e-12)
    weights = np.array([1.0, 3.0, 0.5, 2.0])
    weighted = inspect.step(Model(nn.mlp((3,), outputs), name, **KEEP), X, y, sample_weight=weights)
    assert_allclose(
        weighted.delta["output"], SLOPES[name](d.z["output"], prepared) * (4 * weights / weights.sum())[:, None],
        atol=1e-12,
    )  # fmt: skip
    slope = {"squared_error": "(2/2) (Ŷ − Y)", "cross_entropy": "= P − Y", "multilabel": "(1/2) (P − Y)"}
    assert slope.get(name, "∂ℓ/∂Z[2] = ") in str(d)
    assert "By the rules of the recorded graph." not in str(d)


def test_penalty_terms_are_shown_with_their_numbers():
    model = Model(nn.mlp((2,), 1), "half_squared_error", optim.SGD(0.1), penalty=nn.L2(0.02), **KEEP)
    d = inspect.step(model, X, REAL)
    weights = model.initialize(3).params["output.weight"]
    assert_allclose(d.trace.penalty_gradients["output.weight"], 0.02 * weights, atol=1e-15)
    assert "+ 0.02 W[2]" in str(d)
    assert "λ = 0.01, whose slope is 2λW" in str(d)
    assert "output.bias" not in d.trace.penalty_gradients
    assert d.objective == pytest.approx(d.loss + 0.01 * sum(np.sum(w**2) for k, w in model.params.items() if "w" in k))


def test_entries_that_are_written_out_add_up():
    """Every line such as Z[1]₁₁ = 1 · 0.5 + 2 · (−0.25) + 0.1 = 0.1 is right, to the digits that are shown."""
    lines = []
    for notation in NOTATIONS:
        model = Model(nn.mlp((3, 2), 1, activation="tanh"), "half_squared_error", optim.SGD(0.1), **KEEP)
        d = inspect.step(model, X, REAL, notation=notation, digits=6)
        entries = [as_text(equation.entry) for step in d.steps for equation in step.equations if equation.entry]
        lines += [line for line in entries if "tanh(" not in line]
    assert len(lines) > 20
    for line in lines:
        _, middle, result = line.split(" = ")
        expression = middle.replace("−", "-").replace("·", "*").replace(") (", ") * (")
        assert eval(expression) == pytest.approx(float(result.replace("−", "-")), abs=2e-5), line


# words and signs


def test_the_text_of_a_small_network():
    net = nn.Sequential(("hidden", nn.Dense(2, init=nn.given([[1.0, -1.0]]))), "relu", ("out", nn.Dense(1, init=1.0)))
    d = inspect.step(Model(net, "half_squared_error", optim.SGD(0.5), **KEEP), [2.0], 3.0)
    text = str(d)
    for line in (
        "A training step of 1-2-1 relu: half_squared_error, SGD, 1 row",
        "A sample is a row: x W + b",
        "z[1] = x W[1] + b[1] = 2 [1  −1] + [0  0] = [2  −2]",
        "a[1] = relu(z[1]) = [2  0]",
        "ℓ = (1/2) (ŷ − y)² = 0.5",
        "δ[2] = ∂ℓ/∂z[2] = ŷ − y = 2 − 3 = −1",
        "∂ℓ/∂a[1] = δ[2] W[2]ᵀ = −1 [1  1] = [−1  −1]",
        "δ[1] = ∂ℓ/∂a[1] ⊙ relu′(z[1]) = [−1  −1] ⊙ [1  0] = [−1  0]",
        "∂J/∂W[1] = xᵀ δ[1] = 2 [−1  0] = [−2  0]",
        "W[1] ← W[1] − η · ∂J/∂W[1] = [1  −1] − 0.5 · [−2  0] = [2  −1]",
        "J = 0.5 → ",
    ):
        assert line in text, line
    columns = str(d.in_notation("columns"))
    assert "z[1] = W[1] x + b[1]" in columns
    assert "∂J/∂W[1] = δ[1] xᵀ" in columns
    assert "∂ℓ/∂a[1] = W[2]ᵀ δ[2]" in columns
    assert "s⁽¹⁾ = W₁ x + b₁" in str(d.in_notation("kth"))
    assert "h₁ = relu(z₁)" in str(d.in_notation("waterloo"))
    own = Notation("mine", rows=True, z="N", a="O", index="(k)")
    assert "o⁽¹⁾ = relu(n⁽¹⁾)" in str(d.in_notation(own))


def test_steps_are_numbered_through():
    d = inspect.step(Model(nn.mlp((3, 2), 1), **KEEP), X, REAL)
    assert [step.number for step in d.steps] == list(range(1, len(d.steps) + 1))
    assert repr(d).startswith("<Derivation: A training step of 3-3-2-1 relu")


def test_large_matrices_are_shown_in_part_and_deep_networks_too():
    model = Model(nn.mlp((100,) * 12, 5), "cross_entropy", "adam")
    X, y = np.random.default_rng(0).normal(size=(64, 40)), np.arange(64) % 5
    d = inspect.step(model, X, y)
    text = str(d)
    assert "(64 × 100)" in text
    assert "…" in text
    assert "the layers between, in the same way" in text
    assert max(len(line) for line in text.splitlines()) < 170
    assert len(text) < 60_000
    assert len(d.html()) < 400_000
    assert len(d.shown) < len(d.steps)
    assert len(d.z) == 13
    assert d.gradient["hidden2.weight"].shape == (100, 100)
    check_latex(d.latex())


def test_more_of_a_matrix_and_more_digits():
    model = Model(nn.mlp((3,), 1), **KEEP)
    X = np.random.default_rng(0).normal(size=(9, 3))
    assert "(9 × 3)" in str(inspect.step(model, X, X[:, 0]))  # the size stands where something is left out
    assert "(9 × 3)" not in str(inspect.step(model, X, X[:, 0], limit=9))
    assert f"{X[0, 0]:.7f}" in str(inspect.step(model, X, X[:, 0], digits=7))


def test_dropout_shows_the_mask_of_training():
    model = Model(nn.mlp((8,), 1, dropout=0.5), "squared_error", optim.SGD(0.1), **KEEP)
    d = inspect.step(model, X, REAL, seed=3)
    mask = d.trace.values["hidden1.dropout"] / np.where(d.a["hidden1"] == 0, np.nan, d.a["hidden1"])
    assert set(np.unique(mask[~np.isnan(mask)])) == {0.0, 2.0}
    through = next(step for step in d.steps if step.part == "hidden1.dropout")
    shown = through.equations[0].sides[1][0]
    assert isinstance(shown, Numbers)
    assert_allclose(np.where(np.isnan(mask), shown.value, mask), shown.value)


def test_batch_normalisation_shows_its_statistics_and_sums_over_the_batch():
    d = inspect.step(Model(nn.mlp((3,), 1, norm="batch"), "squared_error", optim.SGD(0.1), **KEEP), X, REAL)
    z = d.z["hidden1"]
    u = (z - z.mean(0)) / np.sqrt(z.var(0) + 1e-5)
    D = d.trace.adjoints["hidden1.norm"]
    assert_allclose(d.gradient["hidden1.norm.scale"], (u * D).mean(0), atol=1e-12)  # summed over the batch
    assert_allclose(d.gradient["hidden1.norm.shift"], D.mean(0), atol=1e-12)
    formula = (D - D.mean(0) - u * (D * u).mean(0)) / np.sqrt(z.var(0) + 1e-5)
    assert_allclose(d.delta["hidden1"], formula, atol=1e-12)
    assert "μ[1] = (1/n) Σᵢ Z[1]ᵢ" in str(d)
    assert "mean ← " in str(d)
    assert "this bias has no effect" in str(d)


def test_rules_are_written_as_they_are():
    adam = rule_formulas(optim.Adam(0.1, beta1=0.5, beta2=0.75, eps=0.01), "w", "g")
    assert {as_text(symbol): as_text(formula) for symbol, formula in adam} == {
        "m": "0.5 · m + 0.5 · g",
        "s": "0.75 · s + 0.25 · g²",
        "c₁": "0.5 · c₁ + 0.5",
        "c₂": "0.75 · c₂ + 0.25",
        "w": "w − (η/c₁ · m)/(√(s/c₂) + 0.01)",
    }

    class Signs(optim.Rule):
        def init(self, w):
            return {}

        def step(self, w, g, s, lr, t):
            return w - lr * np.sign(g), {}

    assert rule_formulas(Signs(0.1), "w", "g") == [("w", r"w - \eta  \cdot \operatorname{sign}(g)")]


PYTHON = Writer(
    plain=lambda c: {"·": "*", "−": "-", "≥": ">=", "≤": "<="}.get(c, c),
    word=lambda word: word,
    accent=lambda text, name: text,
    raised=lambda text: f"**({text})",
    lowered=lambda text: text,
    fraction=lambda above, below: f"(({above})/({below}))",
    root=lambda text: f"np.sqrt({text})",
)


@pytest.mark.parametrize("name", [name for name in RULES if rule_formulas(RULES[name](), "w", "g") is not None])
def test_formulas_of_rules_compute_what_the_rules_do(name):
    """Line by line, as they are printed: a line uses what those above it have changed."""
    rule = RULES[name]()
    w, g, lr, t = np.array([0.5, -1.0]), np.array([0.3, -0.2]), 0.25, 3
    first = rule.init(w)
    state = {key: np.full_like(start, 0.5) if np.ndim(start) else 0.5 for key, start in first.items()}
    new, after = rule.step(w, g, state, lr, t)
    values = {written(state_symbol(key), PYTHON).strip(): value for key, value in state.items()}
    values |= {"w": w, "g": g, "η": lr, "t": t, "np": np, "sign": np.sign, "max": np.maximum}
    for symbol, formula in rule_formulas(rule, "w", "g"):
        values[written(symbol, PYTHON).strip()] = eval(written(formula, PYTHON), values)
    assert_allclose(values["w"], new, rtol=1e-7)
    for key in state:
        assert_allclose(values[written(state_symbol(key), PYTHON).strip()], after[key], rtol=1e-7)


def test_it_goes_on_where_a_continued_fit_ended():
    model = Model(nn.mlp((3,), 1), "squared_error", optim.Adam(0.1), **KEEP)
    model.fit(X, REAL, steps=3, batch_size=4, shuffle=False, verbose=False, continued=True)
    d = inspect.step(model, X, REAL)
    assert d.trace.step == 3
    model.fit(X, REAL, steps=1, batch_size=4, shuffle=False, verbose=False, continued=True)
    assert_allclose(d.params["hidden1.weight"], model.params["hidden1.weight"], atol=1e-13)


def test_estimators_and_pipelines():
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    pipeline = make_pipeline(StandardScaler(), pel.MLPClassifier((4,), max_iter=3, validation_fraction=0.2))
    with pytest.warns(ConvergenceWarning):
        pipeline.fit(X, y)
    d = inspect.step(pipeline, X[:3], y[:3])
    assert d.z["hidden1"].shape == (3, 4)
    assert_allclose(d.trace.batch.X, pipeline[:1].transform(X[:3]), rtol=1e-6)


def test_names_with_signs_of_html_and_latex():
    twist = nn.Activation("50%_{twist}", lambda x: x + np.sin(x))
    net = nn.Sequential(("<b>&_%", nn.Dense(2)), nn.Activate(twist), ("{out}\\", nn.LayerNorm()), nn.Dense(1))
    d = inspect.step(Model(net, **KEEP), X, REAL)
    check_latex(d.latex())
    assert "<b>&" not in d.html()
    assert "&lt;b&gt;&amp;_%" in d.html()
    assert "50%_twist(Z[1])" in str(d)


def test_colours_in_a_terminal():
    page = inspect.step(Model(nn.mlp((2,), 1), **KEEP), X, REAL).__rich__()
    assert page.plain.rstrip() == str(inspect.step(Model(nn.mlp((2,), 1), **KEEP), X, REAL)).rstrip()
    assert any("cyan" in str(span.style) for span in page.spans)


# formulas


def test_formulas_in_three_ways():
    formula = r"\frac{\partial J}{\partial W^{[1]}} = \tilde{A}^{[0]\top} \Delta^{[1]} + \text{a_b}"
    assert as_text(formula) == "∂J/∂W[1] = Ã[0]ᵀ Δ[1] + a_b"
    assert as_latex(formula).endswith(r"\text{a\_b}")
    assert "<sup>" in as_html(formula)
    assert "<i>Ã</i>" in as_html(formula)
    for wrong in (r"\frac{1}", "{x", "x}", r"\nonsense", "x^2", "\\"):
        with pytest.raises(ValueError, match=r"brace|argument|not among|backslash"):
            as_latex(wrong)


def test_numbers_are_aligned_and_no_longer_than_needed():
    assert aligned(np.array([0.5, -1.25, 0.0]), 4) == ["0.50", "−1.25", "0.00"]
    assert aligned(np.array([1.0, 2.0]), 4) == ["1", "2"]
    assert aligned(np.array([1e-7, 0.0]), 4) == ["1.00e−7", "0"]
    assert aligned(np.array([np.nan, np.inf, 1.0]), 4) == ["nan", "∞", "1"]
    assert [number(v) for v in (1e-8, -0.00001, 2e7)] == ["10^{-8}", r"-1 \cdot 10^{-5}", r"2 \cdot 10^{7}"]


def test_a_network_that_overflows_is_shown_as_it_is():
    model = Model(nn.mlp((2,), 1), "squared_error", optim.SGD(0.1), **KEEP)
    d = inspect.step(model, np.full((2, 2), 1e200), np.zeros(2))
    assert "∞" in str(d)
    check_latex(d.latex())


# what is refused


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: inspect.step(m, X, None), TypeError, "needs the targets y"),
        (lambda m: inspect.step("model", X, REAL), TypeError, "looks at a Model, an estimator"),
        (lambda m: inspect.step(m, X, REAL[:2]), ShapeError, "X has 4 rows and y has 2"),
        (lambda m: inspect.step(m, X[:, :2], REAL), ShapeError, "3 features|other columns"),
        (lambda m: inspect.step(m, X * np.nan, REAL), ValueError, "NaN or infinity"),
        (lambda m: inspect.step(m, X[:0], REAL[:0]), ShapeError, "no rows"),
        (lambda m: inspect.step(m, X, REAL, notation="rowz"), ValueError, "did you mean 'rows'"),
        (lambda m: inspect.step(m, X, REAL, notation=3), TypeError, "a notation is a name"),
        (lambda m: inspect.step(m, X, REAL, limit=2), ValueError, "limit is a whole number from 3"),
        (lambda m: inspect.step(m, X, REAL, digits=0), ValueError, "digits is a whole number from 1"),
        (lambda m: inspect.step(m, X, REAL, sample_weight=[1.0]), ShapeError, "one for each row"),
        (lambda m: inspect.step(Model(nn.Dense(1)), X, REAL), ShapeError, "wrap it in nn.Sequential"),
        (lambda m: Notation("mine", rows=True, index="k"), ValueError, "an index is"),
    ],
)  # fmt: skip
def test_refused(call, error, message):
    model = Model(nn.mlp((3,), 1), **KEEP).initialize(3)
    with pytest.raises(error, match=message):
        call(model)
