"""The page: what is on it, for every kind of model; nothing of it is taken for HTML; the file is whole."""

import importlib
import json
import re
import warnings
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid as pel
from pellucid import nn, optim
from pellucid.report import report
from pellucid.report.page import asset
from pellucid.report.predictor import predictor
from pellucid.report.rows import sample
from pellucid.report.sections.findings import findings_section
from pellucid.report.sections.reproduce import fingerprint, program
from pellucid.train import History
from tests.report.cases import EVIL, evil_table, quiet, two_moons

SECTIONS = ["findings", "data", "network", "training", "layers", "quality", "influence", "timings", "reproduce"]


class Tags(HTMLParser):
    """The elements of a page, with what is in the script of data taken apart."""

    def __init__(self, text):
        super().__init__()
        self.names, self.attributes, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)
        self.attributes += attributes
        self.ids += [value for name, value in attributes if name == "id"]


def records(page):
    return json.loads(re.search(r'id="records">(.*?)</script>', page.html, re.S).group(1))


def finding(code="dead-units", severity="error", **fields):
    usual = {
        "layer": "hidden1",
        "column": None,
        "measured": {"share": 0.5},
        "means": "Units are dead.",
        "remedy": "x = 1",
    }
    return SimpleNamespace(**({"code": code, "severity": severity, "repair": None, "figure": None} | usual | fields))


@pytest.fixture(scope="module")
def moons():
    return two_moons()


@pytest.fixture(scope="module")
def page(moons):
    return report(moons.model, X=moons.X, y=moons.y, watch=moons.watch, findings=[finding()])


def test_every_section_is_there_in_its_order(page):
    ids = Tags(page.html).ids
    assert [name for name in ids if name in SECTIONS] == SECTIONS
    assert len(ids) == len(set(ids))


def test_the_page_asks_nobody_for_anything(page):
    tags = Tags(page.html.replace(asset("d3.min.js"), "").replace(asset("plot.umd.min.js"), ""))
    assert not [value for name, value in tags.attributes if name in ("src", "href") and "//" in (value or "")]
    assert "link" not in tags.names
    assert "default-src 'none'" in page.html


def test_every_chart_has_its_data(page):
    known = {*records(page), "dead", "saturated", "spread", "gradient", "update", "rank"}
    keys = {value for name, value in Tags(page.html).attributes if name == "data-key"}
    kinds = {value for name, value in Tags(page.html).attributes if name == "data-chart"}
    assert keys <= known
    assert {"learning", "norm", "confusion", "reliability", "roc", "importance", "regions", "units", "series"} <= kinds
    script = asset("charts.js")
    assert all(re.search(rf"^  {kind}[(:]", script, re.M) for kind in kinds)


def test_a_network_alone_says_how_to_get_the_rest():
    bare = report(pel.Model(nn.mlp((4,), 1)).initialize(3))
    ids = Tags(bare.html).ids
    assert [name for name in ids if name in SECTIONS] == SECTIONS
    assert bare.html.count('class="absent"') >= 7
    assert "history=history" in bare.html
    assert "Watch(every=100)" in bare.html
    assert records(bare) == {}


def test_one_moment_without_a_watch(moons):
    now = report(moons.model, X=moons.X, y=moons.y, history=History(), findings=[])
    assert "no epochs" in now.html.lower()
    assert "Nothing wrong was found" in now.html


def test_a_network_that_diverged_is_reported_all_the_same(moons):
    model = pel.Model(moons.model.net, moons.model.loss).initialize(2)
    model.params["output.bias"][:] = np.nan
    page = report(model, X=moons.X, y=moons.y, findings=[])
    assert "predictions of 160 of 160 rows are not finite" in page.html
    assert "confusion" not in records(page)


def test_findings_come_first_and_are_escaped():
    section = findings_section([finding(means=EVIL, column=EVIL, remedy=EVIL), finding("plateau", "note")])
    text = section.html()
    assert section.mark == "1"
    assert "<img" not in text
    assert text.index("Dead units") < text.index("Plateau")
    assert "1 error and 1 note" in text
    assert findings_section([finding("plateau", "note")]).mark == ""
    assert "could not be made" in findings_section(None, "no rows").html()


def test_figures_of_findings_are_drawn(closed_pictures):
    drawn = findings_section([finding(figure=lambda ax: ax.plot([1, 2]))]).html()
    assert 'src="data:image/png;base64,' in drawn


def test_names_of_columns_and_classes_are_never_markup():
    X, y = evil_table()
    model = make_pipeline(_OneHot(), pel.MLPClassifier((4,), max_iter=2, random_state=0))
    quiet(model, X, y)
    page = report(model, X=X, y=y, title=EVIL, code=EVIL, findings=[])
    visible = page.html.replace(asset("d3.min.js"), "").replace(asset("plot.umd.min.js"), "")
    assert "onerror=alert" in visible  # it is there,
    assert not [name for name, _ in Tags(visible).attributes if name == "onerror"]  # as text
    assert "img" not in Tags(visible).names
    assert EVIL in records(page)["confusion"]["labels"]
    assert Tags(page.html).names.count("script") == 5


class _OneHot(StandardScaler):
    """Columns as numbers, whatever they are; names go through unchanged."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def transform(self, X):
        return np.stack([X.iloc[:, 0], X["colour"] == "red", X["holes"].fillna(0.0)], axis=1).astype(float)


def test_several_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = (X[:, :2] + X[:, 2:] > 0).astype(int)
    page = report(quiet(pel.MLPClassifier((6,), max_iter=3, random_state=0), X, Y), X=X, y=Y, findings=[])
    assert {"ranking", "importance"} <= set(records(page))
    assert "confusion" not in records(page)


def test_several_numbers_through_a_search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    inner = make_pipeline(StandardScaler(), pel.MLPRegressor(hidden_layer_sizes=(4,), max_iter=3, random_state=0))
    search = quiet(GridSearchCV(inner, {"mlpregressor__alpha": [0.0, 1.0]}, cv=2), X, X[:, :2])
    page = report(search, X=X, y=X[:, :2], validation=(X[:20], X[:20, :2]), influence=False, findings=[])
    assert {"residuals0", "residuals1"} <= set(records(page))
    assert "Measured on 20 validation rows" in page.html
    assert "influence=True" in page.html


def test_texts_that_a_model_reads_as_dates_are_called_dates():
    days = pd.date_range("2024-01-01", periods=60).strftime("%d.%m.%Y")
    X = pd.DataFrame({"day": days, "x": np.arange(60.0)})
    estimator = pel.TabularMLPRegressor(quality="fast", max_iter=1, folds=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, np.arange(60.0))
        page = report(estimator, X=X, y=np.arange(60.0), influence=False, findings=[])
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page.html)
    assert "date" in cells
    assert "category" not in cells


def test_a_sample_is_called_one(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    estimator = quiet(pel.MLPRegressor(hidden_layer_sizes=(4,), max_iter=2, random_state=0), X, X[:, 0])
    given = {"X": X[:40], "y": X[:40, 0], "test": (X[40:], X[40:, 0]), "influence": False, "findings": []}
    text = report(estimator, **given, totals=(2000, 1000)).html
    assert "A sample of 40 of 2,000 rows of 3 columns" in text
    assert "Measured on a sample of 40 of 1,000 test rows." in text
    assert "a sample of" not in report(estimator, **given, totals=(40, 40)).html
    monkeypatch.setattr(importlib.import_module("pellucid.report.page"), "ROWS", 10)
    assert "Measured on a sample of 10 of 40 test rows." in report(estimator, **given).html


@pytest.mark.parametrize("classes", [False, True])
def test_several_targets_have_their_names_and_test_rows_are_called_so(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    numbers = X[:, :2] + X[:, 2:]
    Y = pd.DataFrame((numbers > 0).astype(int) if classes else numbers, columns=["width cm", "heightMax"])
    kind = pel.MLPClassifier if classes else pel.MLPRegressor
    estimator = quiet(kind(hidden_layer_sizes=(6,), max_iter=3, random_state=0), X, Y.to_numpy())
    page = report(estimator, X=X, y=Y, test=(X[:20], Y[:20]), findings=[])
    assert "Measured on 20 test rows." in page.html
    assert "validation rows" not in page.html
    assert "width cm" in page.html
    assert "heightMax" in str(page.numbers)
    assert not re.search(r"\b(output|target|label) [01]\b", page.html + str(page.numbers))


def test_an_ensemble_shows_its_first_member():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    bag = pel.BaggedMLPRegressor(pel.MLPRegressor(hidden_layer_sizes=(4,), max_iter=2), n_estimators=3, random_state=0)
    page = report(quiet(bag, X, X[:, 0]), X=X, y=X[:, 0])
    assert "The first of 3 members" in page.html
    assert "3 networks" in page.html
    assert "residuals0" in records(page)


def test_the_file_is_whole_or_not_there(tmp_path, moons, monkeypatch):
    path = tmp_path / "run.html"
    page = report(moons.model, path, title="First")
    assert path.read_text() == page.html
    assert "First" in repr(page)
    assert str(path) in repr(page)
    assert "srcdoc" in page._repr_html_()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        report(moons.model, path, title="Second")
    assert path.read_text() == page.html
    assert [file.name for file in tmp_path.iterdir()] == ["run.html"]


def test_the_program_on_the_page_makes_the_same_model(moons):
    rich = pel.Model(
        nn.mlp((6, 5), 1, norm="batch", dropout=0.2),
        "binary_cross_entropy",
        optim.chain(optim.ClipNorm(1.0), optim.Adam(0.01)),
        penalty=nn.L2(1e-4),
    ).initialize(2)
    for model in (moons.model, rich):
        namespace: dict[str, Any] = {"X": None, "y": None}
        code = program(predictor(model), None).rpartition("history =")[0]
        exec(code, namespace)
        made = namespace["model"]
        assert (made.net, made.loss, made.optimizer, made.penalty) == (
            model.net,
            model.loss,
            model.optimizer,
            model.penalty,
        )
    clf = pel.MLPClassifier((3,), max_iter=2, random_state=0)
    quiet(clf, moons.X, moons.y)
    assert "from pellucid import MLPClassifier" in program(predictor(clf), None)


def test_fingerprints_tell_data_apart(moons):
    first = fingerprint(sample(moons.X, moons.y))
    assert first == fingerprint(sample(moons.X.copy(), moons.y))
    assert first != fingerprint(sample(moons.X + 1e-9, moons.y))
    X, y = evil_table()
    assert fingerprint(sample(X, y)) != fingerprint(sample(X.rename(columns={"holes": "gaps"}), y))


def test_validation_rows_are_a_pair(moons):
    with pytest.raises(TypeError, match=r"validation is \(X, y\)"):
        report(moons.model, validation=0.2)


def test_the_room_is_called_as_a_function(moons):
    room: Any = importlib.import_module("pellucid.report")
    assert room is report
    assert room is pel.report
    assert room(moons.model).title == "Model"
    for name in ("d3.min.js", "plot.umd.min.js"):
        assert "Copyright" in asset(name)[:120]
        assert name in asset("LICENCES.md")
