"""What the book has beyond the pages of docs/: pages of the repository, sources that pages link to, the API, the lab.

MkDocs calls the functions `on_...`. The Markdown is written for the repository, where a link to ../CHANGELOG.md leads
somewhere; in the book that page stands under project/, and a program that a page links to is a page of its own.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).parents[1]
RECORDS = "benchmarks/results"

PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "examples/README.md": "project/examples.md",
    RECORDS: "project/benchmarks.md",
    "docs": "index.md",
    "README.md": "index.md",
}
"""Files of the repository, and where they stand in the book."""

LINK = re.compile(r"(?<!\\)\]\(([^)#\s]+)(#[^)\s]*)?\)")

API = {
    "pellucid": "Derivatives and graphs",
    "pellucid.train.model": "Model",
    "pellucid.estimators": "Estimators",
    "pellucid.nn.layers": "Layers",
    "pellucid.nn.activations": "Activations",
    "pellucid.nn.losses": "Losses",
    "pellucid.nn.initialisers": "Initialisers",
    "pellucid.nn": "Networks, the rest",
    "pellucid.optim.rules": "Update rules",
    "pellucid.optim.schedules": "Schedules",
    "pellucid.optim": "Chains and groups",
    "pellucid.train.callbacks": "Callbacks",
    "pellucid.train": "Training",
    "pellucid.inspect": "Seeing through",
    "pellucid.report": "Reports",
    "pellucid.importing": "From elsewhere",
    "pellucid.export": "Export",
    "pellucid.lab": "The lab",
    "pellucid.datasets": "Tables that come along",
    "pellucid.distributed": "Several processes",
    "pellucid.dask": "On Dask",
}
"""Pages of the API: a module whose public names they show (those of a part below it that has a page stand there)."""

ROOMS = (
    *("nn", "optim", "train", "inspect", "report", "export", "lab", "datasets", "estimators", "importing"),
    *("distributed", "dask"),
)
HIDDEN = ("plots", "random")
"""Modules."""

HOMES = {"pellucid.loading": "pellucid.train"}
"""Pages of what stands in a file of no room."""

INHERITING = ("pellucid.estimators", "pellucid.dask")
"""Pages that show what classes have from their bases: `fit` and `predict` stand there."""

FIRST = (
    *("grad", "value_and_grad", "record", "compile", "mlp", "Dense", "Sequential", "activation", "loss", "initializer"),
    *("MLPClassifier", "MLPRegressor", "TabularMLPClassifier", "TabularMLPRegressor", "tune"),
    *("Adam", "AdamW", "SGD", "Momentum", "Cosine", "Warmup", "chain", "EarlyStopping", "Checkpoint", "Callback"),
    *("load", "History", "run", "Watch", "diagnose", "preflight", "step", "report", "names", "find", "catalogue"),
)
"""Names that come first on their pages; the others follow by the alphabet."""

WHOLE_WIDTH = {"index.md": ["navigation", "toc"], "from-keras-pytorch.md": ["toc"], "parameters.md": ["toc"]}
"""Pages that need the room beside them, and what gives way."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that docs/ does not have, and complete the table of contents."""
    for source, target in PAGES.items():
        if (ROOT / source).is_file() and target.startswith("project/"):
            _add(files, config, target, (ROOT / source).read_text(encoding="utf-8"))
    records = sorted((ROOT / RECORDS).glob("20*.md"), reverse=True)
    for record in records:
        _add(files, config, f"project/records/{record.name}", record.read_text(encoding="utf-8"), listed=False)
    _add(files, config, PAGES[RECORDS], _history(records))
    for module, title in API.items():
        _add(files, config, _api_page(module), _api(module, title))
    for path in sorted(set(_programs(files))):
        text = (ROOT / path).read_text(encoding="utf-8")
        page = f"---\nsearch:\n  exclude: true\n---\n# {Path(path).name}\n\n`{path}`\n\n````python\n{text}````\n"
        _add(files, config, f"source/{path}.md", page, listed=False)
    _fill(config.nav, "The lab", _lab_contents(files))
    _fill(config.nav, "Reference", [{title: _api_page(module)} for module, title in API.items()])
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to files of the repository lead to their pages in the book."""
    here = page.file.src_uri
    page.meta.setdefault("hide", WHOLE_WIDTH.get(here, []))
    linked = LINK.sub(lambda match: f"]({_in_book(match[1], here)}{match[2] or ''})", markdown)
    return re.sub(r"^\|.*$", lambda row: _bars_of_code(row[0]), linked, flags=re.M)


def _bars_of_code(row: str) -> str:
    """GitHub wants a bar inside of code escaped, in a table; Python's Markdown shows the backslash."""
    return re.sub(r"`[^`]*`", lambda code: code[0].replace("\\|", "|"), row)


def _in_book(target: str, here: str) -> str:
    path = _repository_path(target, here)
    if path is None:
        return target
    if path in PAGES:
        wanted = PAGES[path]
    elif path.startswith(RECORDS):
        wanted = f"project/records/{posixpath.basename(path)}"
    elif path.startswith("docs/lab/") and path.endswith(".md") and not (ROOT / path).exists():
        wanted = "lab/index.md"  # docs/make_lab.py has not run yet for this one; a test asks for its page
    elif path.startswith("docs/"):
        wanted = path.removeprefix("docs/")
    elif path.endswith(".py"):
        wanted = f"source/{path}.md"
    else:
        return target
    return posixpath.relpath(wanted, posixpath.dirname(here) or ".")


def _repository_path(target: str, here: str) -> str | None:
    """What a link of a page means, as a path of the repository; None for addresses of the web."""
    if re.match(r"[a-z]+:", target):
        return None
    origin = next((source for source, page in PAGES.items() if page == here), f"docs/{here}")
    if here.startswith("project/records/"):
        origin = f"{RECORDS}/{posixpath.basename(here)}"
    folder = origin if origin == RECORDS else posixpath.dirname(origin)
    return posixpath.normpath(posixpath.join(folder, target))


def _programs(files: Files) -> Iterator[str]:
    """Programs of the repository that pages link to."""
    for file in files.documentation_pages():
        for match in LINK.finditer(file.content_string):
            path = _repository_path(match[1], file.src_uri)
            if path is not None and path.endswith(".py") and (ROOT / path).is_file():
                yield path


def _history(records: list[Path]) -> str:
    rows = [f"| [{path.stem[:10]}]({path.name}) | {path.stem[11:].replace('-', ' ')} |" for path in records]
    head = "# Benchmark records\n\nOne for each run that was kept, the newest first. How it is measured, and what the\n"
    head += "figures of the newest mean: [benchmarks](../../docs/benchmarks.md).\n\n| date | machine |\n| --- | --- |\n"
    return head + "\n".join(rows) + "\n"


def _lab_contents(files: Files) -> list[Any]:
    """The experiments under their topics, as lab/index.md lists them; then what else is in the folder."""
    index = files.get_file_from_path("lab/index.md")
    contents: list[Any] = []
    listed = {"lab/index.md"}
    topic: list[Any] = []
    for line in index.content_string.splitlines() if index else ():
        if line.startswith("## "):
            topic = []
            contents.append({line[3:].strip(): topic})
        for title, target in re.findall(r"^\| \[([^\]]+)\]\(([\w-]+\.md)\)", line):
            topic.append({title: f"lab/{target}"})
            listed.add(f"lab/{target}")
    others = [file.src_uri for file in files.documentation_pages() if file.src_uri.startswith("lab/")]
    return [each for each in contents if all(each.values())] + [page for page in others if page not in listed]


def _fill(nav: list[Any], title: str, more: list[Any]) -> None:
    """Put more pages at the end of a part of the contents, once (a server builds many times)."""
    part = next(each[title] for each in nav if title in each)
    part += [page for page in more if page not in part]


def _api_page(module: str) -> str:
    return f"api/{module.replace('.', '-')}.md"


def _api(module: str, title: str) -> str:
    """A page with all public names whose home is this module, or a part of it that has no page."""
    lines = [f"# {title}", ""]
    options = "    options:\n      inherited_members: true\n" if module in INHERITING else ""
    names = [name for name, page in _public_names() if page == module]
    lines += [f"::: {name}\n{options}" for name in sorted(names, key=_place)]
    return "\n".join(lines)


def _place(name: str) -> tuple[int, str]:
    last = name.rsplit(".", 1)[-1]
    return (FIRST.index(last) if last in FIRST else len(FIRST)), last.lower()


def _public_names() -> Iterator[tuple[str, str]]:
    """Each public name as users write it, and the page that it stands on: that of its home, or of its room.

    What `pellucid` takes over from a room (`pellucid.Model`) stands with the room.
    """
    rooms = {f"pellucid.{room}" for room in ROOMS}
    for package in (*sorted(rooms), "pellucid"):
        tree = ast.parse((ROOT / "src" / package.replace(".", "/") / "__init__.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not node.module or not node.module.startswith("pellucid"):
                continue
            homes = [page for page in API if page != "pellucid" and f"{node.module}.".startswith(f"{page}.")]
            for alias in node.names:
                if not alias.asname or alias.name in HIDDEN or (package == "pellucid" and node.module in rooms):
                    continue
                page = max(homes, key=len, default=HOMES.get(node.module, package))
                if alias.asname == alias.name:
                    callable_room = package == f"pellucid.{alias.name}"
                    yield f"{node.module if callable_room else package}.{alias.name}", page


def _add(files: Files, config: Any, path: str, content: str, *, listed: bool = True) -> None:
    file = File.generated(config, path, content=content)
    if not listed:
        file.inclusion = InclusionLevel.NOT_IN_NAV
    files.append(file)
