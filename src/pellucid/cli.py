"""What people start from the shell: `pellucid demo`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pellucid import __version__


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="pellucid", description="Multilayer perceptrons that you can see through.")
    parser.add_argument("--version", action="version", version=f"pellucid {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="train, compare, save, load and use a model of a real table")
    demo.add_argument("--out", type=Path, metavar="FOLDER", help="keep the model's file here")
    demo.add_argument("--lecture", action="store_true", help="trace tables, and XOR by gradient descent, instead")
    given = parser.parse_args(arguments)

    from rich.console import Console

    from pellucid.demo import show_lecture, show_table_model

    if given.lecture:
        show_lecture(Console())
    else:
        show_table_model(Console(), given.out)
