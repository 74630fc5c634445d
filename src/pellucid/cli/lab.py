"""`pellucid lab`: the experiments of the lectures, in the terminal and as pages."""

from __future__ import annotations

import ast
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from pellucid.cli.failures import one_line_errors
from pellucid.cli.screen import Debug


@one_line_errors
def lab(
    name: Annotated[str | None, typer.Argument(help="An experiment; without one, all are listed.")] = None,
    full: Annotated[bool, typer.Option("--full", help="As in the lecture, where that is larger.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Run all of them.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Write pages here: NAME.html, index.html.")
    ] = None,
    data: Annotated[Path | None, typer.Option(metavar="PATH", help="Data of your own, such as CIFAR-10.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Turn a parameter of the experiment.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Train all models on this engine: numpy, native or jax.")
    ] = None,
    look: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    debug: Debug = False,
) -> None:
    """List the experiments of the lectures, or run one.

    Examples:

    pellucid lab

    pellucid lab xor --open

    pellucid lab initialisation --set sigma=0.05

    pellucid lab --all -o site/
    """
    from pellucid import lab as experiments
    from pellucid.lab.terminal import listing

    console = Console()
    if every:
        _run_all(console, out or _folder(), full, data, engine)
    elif name is None:
        listing(experiments.catalogue(), console)
    else:
        parameters = _parameters(settings or []) | experiments.find(name).given(data)
        with console.status(f"running {name}"):
            result = experiments.run(name, full=full, engine=engine, **parameters)
        result.show(console)
        path = result.save(out or _folder())
        console.print(f"[dim]page:[/] {path}", soft_wrap=True)
        if look:
            webbrowser.open(path.resolve().as_uri())
        if not result.passed:
            raise typer.Exit(1)


def _run_all(console: Console, out: Path, full: bool, data: Path | None, engine: str | None) -> None:
    from pellucid import lab as experiments
    from pellucid.lab.page import index
    from pellucid.whole_files import write_atomically

    shown: dict[str, bool] = {}
    everything = experiments.catalogue()
    for it in track(everything, "experiments", console=console):
        result = experiments.run(it.name, full=full, engine=engine, **it.given(data))
        result.save(out)
        shown[it.name] = result.passed
        mark = "[green]✓[/]" if result.passed else "[red]✗[/]"
        console.print(f"{mark} {it.name} [dim]{result.seconds:.1f} s[/]  {result.verdict}", highlight=False)
    write_atomically(out / "index.html", index(everything, shown).encode())
    console.print(f"{sum(shown.values())} of {len(shown)} shown; pages in {out / 'index.html'}", soft_wrap=True)
    if not all(shown.values()):
        raise typer.Exit(1)


def _parameters(settings: list[str]) -> dict[str, Any]:
    """NAME=VALUE as numbers, lists and words.

    >>> _parameters(["sigma=0.05", "activation=tanh", "sizes=(3, 20)"])
    {'sigma': 0.05, 'activation': 'tanh', 'sizes': (3, 20)}
    """
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, such as --set sigma=0.05, got {setting!r}")
        try:
            parameters[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            parameters[name.strip()] = value.strip()
    return parameters


def _folder() -> Path:
    """Where pages go that nobody has named a place for."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("pellucid")) / "lab"
