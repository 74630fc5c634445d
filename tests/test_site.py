"""The book builds without a network, and every link in it leads somewhere."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("material")
pytest.importorskip("mkdocstrings_handlers.python")

ROOT = Path(__file__).parents[1]
LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}


class Page(HTMLParser):
    """Ids, links, what is loaded, and names of meta tags."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.metas = set(), [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if given.get(LOADS.get(tag)):
            self.loads.append(given[LOADS[tag]])
        if tag == "meta":
            self.metas.add(given.get("name"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The book, built strictly: a warning of MkDocs is an error."""
    folder = tmp_path_factory.mktemp("site")
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "http_proxy": "http://127.0.0.1:9", "https_proxy": ""}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in site.rglob("*.html")}


def test_pages_are_there(site, pages):
    names = {path.relative_to(site).as_posix() for path in pages}
    written = {
        path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")
    }
    assert written <= names
    assert {"api/pellucid-nn-layers.html", "project/changelog.html", "lab/xor.html"} <= names


def test_the_search_index_knows_pages_names_and_experiments(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"] for entry in index["docs"]}
    assert {"tutorial.html", "lab/xor.html"} <= places
    assert "api/pellucid-nn-layers.html#pellucid.nn.Dense" in places
    assert not any(place.startswith("source/") for place in places)
    assert (site / "search" / "search_index.js").exists(), "search from a folder, without a server"


def test_nothing_is_loaded_from_elsewhere(site, pages):
    loaded = {(path.name, what) for path, page in pages.items() for what in page.loads}
    assert not {(page, what) for page, what in loaded if re.match(r"(https?:)?//", what)}
    styles = list(site.rglob("*.css"))
    assert not [path.name for path in styles if re.search(r"url\([\"']?(https?:)?//", path.read_text(encoding="utf-8"))]


def test_pages_fit_a_phone(pages):
    assert all("viewport" in page.metas for page in pages.values())


def test_links_and_anchors_lead_somewhere(site, pages):
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links begin at the root of a server
            continue
        for link in (*page.links, *page.loads):
            target, anchor = urldefrag(unquote(link))
            if re.match(r"[a-z]+:", target):
                continue
            there = (path.parent / target).resolve() if target else path
            there = there / "index.html" if there.is_dir() else there
            if not there.exists() or (anchor and there in pages and anchor not in pages[there].ids | {"__"}):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert not broken


def test_every_public_name_has_its_place(pages):
    spec = importlib.util.spec_from_file_location("site_hook", ROOT / "docs" / "site_hook.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    ids = set().union(*(page.ids for page in pages.values()))
    names = {name for name, _ in hook._public_names()}
    assert len(names) > 200
    assert not sorted(names - ids)
