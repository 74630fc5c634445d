"""Take the pictures of reports anew, in Chromium: python docs/make_report_images.py (from the repository)"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parents[1]))

from pellucid import MLPClassifier, inspect
from pellucid.report import Stopwatch, report
from tests.report.browser import Browser

IMAGES = Path(__file__).parent / "images"


def pages(folder: Path) -> tuple[Path, Path]:
    """A network that does not learn, and the same on columns of one scale."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, X_val, y, y_val = train_test_split(X, np.where(y == 1, "benign", "malignant"), random_state=0)
    scaler = StandardScaler().set_output(transform="pandas").fit(X)
    paths: list[Path] = []
    for title, rows, held in (
        ("Breast cancer, columns as they came", X, X_val),
        ("Breast cancer, scaled", scaler.transform(X), scaler.transform(X_val)),
    ):
        watch, clock = inspect.Watch(every=7), Stopwatch()
        rate = 0.05 if rows is X else 0.002
        model = MLPClassifier(
            (32, 16, 8), learning_rate_init=rate, max_iter=40, batch_size=32, random_state=0, callbacks=[watch, clock]
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows, y, X_val=held, y_val=y_val)
        paths.append(folder / f"{len(paths)}.html")
        report(model, paths[-1], rows, y, validation=(held, y_val), stopwatch=clock, title=title)
    return paths[0], paths[1]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        broken, healthy = pages(Path(folder))
        browser = Browser()
        try:
            take(browser, broken, "report-findings")
            take(browser, broken, "report-dead-units", at="#layers h3")
            take(browser, healthy, "report-layers", at="#layers", look=12)
            take(browser, healthy, "report-quality", at="#quality")
            take(browser, healthy, "report-dark", at="#training", dark=True)
            take(browser, broken, "report-narrow", width=420)
        finally:
            browser.close()


def take(
    browser: Browser,
    page: Path,
    name: str,
    *,
    at: str = "",
    look: int | None = None,
    dark: bool = False,
    width: int = 1280,
) -> None:
    """What is seen from one place of a page on, at one look of its slider."""
    browser.open(page, width, 900, dark=dark)
    if look is not None:
        browser.run(f"s = document.getElementById('step'); s.value = {look}; s.dispatchEvent(new Event('input'))")
    browser.settle()
    if at:
        browser.run(
            f"document.documentElement.style.scrollBehavior = 'auto'; document.querySelector('{at}').scrollIntoView()"
        )
    browser.settle()
    browser.picture(IMAGES / f"{name}.png", whole=False)


if __name__ == "__main__":
    main()
