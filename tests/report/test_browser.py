"""Pages in a browser, at two sizes: no complaint, every chart drawn, slider and theme at work, nothing loaded."""

import numpy as np
import pytest

from pellucid import Model, nn
from pellucid.report import Stopwatch, report
from tests.report.browser import CHROMIUM, Browser
from tests.report.cases import EVIL, evil_table, look_of, quiet, two_moons

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")

SIZES = [(1280, 900), (420, 900)]
EMPTY = "[...document.querySelectorAll('[data-chart], .histogram')].filter(e => !e.querySelector('svg')).length"
COLOUR = "getComputedStyle(document.body).backgroundColor"
WORDS = "document.getElementById('step-words').textContent"
SHAPE = "document.querySelector('.histogram').innerHTML"


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    import pellucid as pel

    folder = tmp_path_factory.mktemp("pages")
    moons = two_moons()
    report(moons.model, folder / "classes.html", moons.X, moons.y, watch=moons.watch, stopwatch=_clock())
    X = np.random.default_rng(0).normal(size=(60, 2))
    numbers = pel.MLPRegressor(hidden_layer_sizes=(4,), max_iter=4, random_state=0)
    report(quiet(numbers, X, X[:, 0]), folder / "numbers.html", X, X[:, 0], findings=[])
    table, y = evil_table()
    evil = quiet(pel.MLPClassifier((4,), max_iter=2), table[[EVIL]].to_numpy(), y)
    report(evil, folder / "evil.html", table[[EVIL]].to_numpy(), y, title=EVIL, findings=[])
    report(Model(nn.mlp((4,), 1)).initialize(3), folder / "bare.html")
    looks = [look_of(step, units=1000, layers=5) for step in range(0, 500, 10)]
    report(Model(nn.mlp((1000,) * 5, 3)).initialize(3), folder / "wide.html", watch=looks)
    return folder


def _clock():
    clock = Stopwatch()
    clock.seconds = [0.3, 0.1, 0.1]
    return clock


@pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
@pytest.mark.parametrize("name", ["classes", "numbers", "evil", "bare", "wide"])
def test_pages_draw_themselves(browser, pages, name, size):
    browser.problems.clear()
    browser.requests.clear()
    browser.open(pages / f"{name}.html", *size)
    browser.settle()
    assert browser.problems == []
    assert browser.run(EMPTY) == 0
    assert browser.run("document.documentElement.scrollWidth") <= size[0]
    assert all(url.startswith(("file:", "data:", "about:")) for url in browser.requests)


def test_a_large_network_stays_small(pages):
    assert (pages / "wide.html").stat().st_size < 3_000_000


def test_the_slider_moves_with_the_keyboard(browser, pages):
    browser.open(pages / "classes.html")
    browser.run("document.getElementById('step').focus()")
    words, shape = browser.run(WORDS), browser.run(SHAPE)
    browser.press("Home", 36)
    browser.settle()
    assert browser.run("document.getElementById('step').value") == "0"
    assert browser.run(WORDS) != words
    assert browser.run(WORDS).startswith("0 · epoch")
    assert browser.run(SHAPE) != shape
    browser.press("ArrowRight", 39)
    browser.settle()
    assert browser.run("document.getElementById('step').value") == "1"
    assert "epoch" in browser.run("document.getElementById('step').getAttribute('aria-valuetext')")


def test_quantities_and_scales_can_be_chosen(browser, pages):
    browser.open(pages / "classes.html")
    for control, change in (
        ("forward", "value = 'weight'"),
        ("backward", "value = 'update'"),
        ("backward-scale", "checked = true"),
    ):
        before = browser.run("document.getElementById('histograms').innerHTML")
        browser.run(f"c = document.getElementById('{control}'); c.{change}; c.dispatchEvent(new Event('change'))")
        browser.settle()
        assert browser.run("document.getElementById('histograms').innerHTML") != before


def test_the_training_passes_by(browser, pages):
    browser.open(pages / "classes.html")
    browser.run("document.getElementById('play').click()")
    assert browser.run("document.getElementById('play').getAttribute('aria-pressed')") == "true"
    browser.until("document.getElementById('step').value > 1")
    browser.run("document.getElementById('play').click()")
    assert browser.run("document.getElementById('play').getAttribute('aria-pressed')") == "false"


def test_the_theme_follows_the_system_and_the_button(browser, pages):
    browser.open(pages / "classes.html", dark=True)
    dark = browser.run(COLOUR)
    browser.open(pages / "classes.html")
    light = browser.run(COLOUR)
    assert dark != light
    browser.run("document.getElementById('theme').focus()")
    browser.press("Enter", 13, "\r")
    assert browser.run(COLOUR) == dark
    assert browser.run("document.getElementById('theme').textContent").endswith("Light")
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert browser.run(COLOUR) == "rgb(255, 255, 255)"  # paper is white
    browser.send("Emulation.setEmulatedMedia", media="")
    browser.run("document.getElementById('theme').click(); localStorage.clear()")


def test_the_keyboard_finds_its_way_and_is_seen(browser, pages):
    browser.open(pages / "classes.html")
    stops = []
    for _ in range(5):
        browser.press("Tab", 9)
        stops.append(browser.run("document.activeElement.id || document.activeElement.getAttribute('href')"))
    assert stops == ["#findings", "theme", "#findings", "#data", "#network"]
    assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_words_can_be_read_on_their_grounds(browser, pages):
    """Contrast of at least 4.5 for words and 3 for lines, light and dark (WCAG 2)."""
    for dark in (False, True):
        browser.open(pages / "classes.html", dark=dark)
        value = lambda name: browser.run(
            f"getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()"
        )
        for ground in ("page", "card"):
            for words in ("ink", "quiet", "error", "warning", "note", "good"):
                assert contrast(value(words), value(ground)) >= 4.5, (words, ground, dark)
            for line in ("c1", "c2", "c3", "c4", "c5", "c6"):
                assert contrast(value(line), value(ground)) >= 3.0, (line, ground, dark)
        assert contrast(value("quiet"), value("faint")) >= 4.5


def contrast(first, second):
    bright, dim = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def luminance(colour):
    channels = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])
