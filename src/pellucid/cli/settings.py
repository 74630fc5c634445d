"""What `pellucid train` can be told: declared once, for the command line, for `config.toml` and for the estimator."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from pellucid.cli.failures import Failure
from pellucid.lookup import look_up

DATA, NETWORK, TRAINING, RUN = "Data", "Network", "Training", "Run"


class Task(enum.StrEnum):
    """What is predicted."""

    AUTO = "auto"
    CLASSES = "classification"
    NUMBERS = "regression"


class Quality(enum.StrEnum):
    """How much work a training is worth."""

    FAST = "fast"
    DEFAULT = "default"
    BEST = "best"


def _option(*names: str, panel: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel, **more)


def _columns_of_data(context: typer.Context, incomplete: str) -> list[str]:
    """Names of columns, for the shell to complete."""
    from pellucid.data.table_files import read_tables

    # behind an option that waits for its value the words before it are not parsed: the shell's own line has them
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    try:
        files = context.params.get("data") or [word for word in shlex.split(line) if Path(word).is_file()]
        names: list[str] = read_tables(files).columns
    except Exception:  # a shell that completes is no place for errors
        return []
    return [name for name in names if name.startswith(incomplete)]


def _activations(incomplete: str) -> list[str]:
    from pellucid.nn import ACTIVATIONS

    return [name for name in ACTIVATIONS if name.startswith(incomplete)]


def _rules(incomplete: str) -> list[str]:
    from pellucid.optim import RULES

    return [name for name in RULES if name.startswith(incomplete)]


def _schedules(incomplete: str) -> list[str]:
    from pellucid.estimators.tables.step_rule import SCHEDULES

    return [name for name in SCHEDULES if name.startswith(incomplete)]


Column = list[str] | None


@dataclass(frozen=True)
class TrainSettings:
    """Data, network, training and run. None is what is best for the table."""

    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, or a pattern in quotes: 'data/*.csv'. CSV, TSV, Parquet, Feather, JSON lines; packed or not."
        ),
    ] = None
    target: Annotated[
        Column,
        _option(
            "--target",
            "-t",
            panel=DATA,
            metavar="COLUMN",
            help="What is to be predicted; may be repeated.",
            autocompletion=_columns_of_data,
        ),
    ] = None
    drop: Annotated[
        Column,
        _option(
            "--drop",
            "-d",
            panel=DATA,
            metavar="COLUMN",
            help="Leave a column out; may be repeated.",
            autocompletion=_columns_of_data,
        ),
    ] = None
    categorical: Annotated[
        Column,
        _option(
            "--categorical",
            panel=DATA,
            metavar="COLUMN",
            help="Take numbers for categories; may be repeated.",
            autocompletion=_columns_of_data,
        ),
    ] = None
    task: Annotated[Task, _option("--task", panel=DATA, help="Classes or numbers; auto tells by the target.")] = (
        Task.AUTO
    )
    split: Annotated[
        str,
        _option(
            "--split",
            panel=DATA,
            metavar="HOW",
            help="Which rows test: random, time:COLUMN (the latest) or group:COLUMN (whole groups).",
        ),
    ] = "random"
    test: Annotated[float, _option("--test", panel=DATA, metavar="SHARE", help="Share of the rows that test.")] = 0.2
    stream: Annotated[
        bool | None,
        _option(
            "--stream/--no-stream",
            panel=DATA,
            help="Read the table again and again and hold little of it in memory; by default where it is too large.",
        ),
    ] = None

    layers: Annotated[
        str | None, _option("--layers", "-l", panel=NETWORK, metavar="256,256", help="Units of the hidden layers.")
    ] = None
    activation: Annotated[
        str | None,
        _option(
            "--activation",
            "-a",
            panel=NETWORK,
            metavar="NAME",
            help="relu, selu, mish, tanh, ...",
            autocompletion=_activations,
        ),
    ] = None
    dropout: Annotated[
        float | None, _option("--dropout", panel=NETWORK, metavar="SHARE", help="Share of units left out in a step.")
    ] = None
    norm: Annotated[
        str | None, _option("--norm", panel=NETWORK, metavar="batch|layer", help="Normalise inside the network.")
    ] = None
    folds: Annotated[
        int | None,
        _option(
            "--folds",
            panel=NETWORK,
            metavar="N",
            help="An ensemble: networks of each kind, each with another part of the rows held out.",
        ),
    ] = None

    quality: Annotated[
        Quality,
        _option(
            "--quality",
            panel=TRAINING,
            help="fast: one small network. default: several that see numbers differently. best: many more.",
        ),
    ] = Quality.DEFAULT
    rule: Annotated[
        str | None,
        _option(
            "--rule",
            panel=TRAINING,
            metavar="NAME",
            help="Update rule: adam, sgd, momentum, lion, ...",
            autocompletion=_rules,
        ),
    ] = None
    schedule: Annotated[
        str | None,
        _option(
            "--schedule",
            panel=TRAINING,
            metavar="NAME",
            help="Of the rate: coslog, cosine, one_cycle, constant, ...",
            autocompletion=_schedules,
        ),
    ] = None
    rate: Annotated[
        float | None, _option("--rate", "-r", panel=TRAINING, metavar="RATE", help="Peak of the learning rate.")
    ] = None
    epochs: Annotated[
        int | None, _option("--epochs", "-e", panel=TRAINING, metavar="N", help="Passes over the rows.")
    ] = None
    batch: Annotated[int | None, _option("--batch", panel=TRAINING, metavar="ROWS", help="Rows of a step.")] = None
    patience: Annotated[
        int | None,
        _option("--patience", panel=TRAINING, metavar="N", help="End after so many epochs without improvement."),
    ] = None
    metric: Annotated[
        str | None,
        _option(
            "--metric",
            "-m",
            panel=TRAINING,
            metavar="NAME",
            help="What chooses the epoch: accuracy, roc_auc, rmse, ...",
        ),
    ] = None
    loss: Annotated[
        str | None,
        _option("--loss", panel=TRAINING, metavar="NAME", help="What is minimised: huber, poisson, gaussian, ..."),
    ] = None
    balanced: Annotated[
        bool, _option("--balanced", panel=TRAINING, help="Rare classes count as much as common ones.")
    ] = False
    time_limit: Annotated[
        float | None, _option("--time-limit", panel=TRAINING, metavar="SECONDS", help="For the training.")
    ] = None

    out: Annotated[
        str | None,
        _option(
            "--out", "-o", panel=RUN, metavar="FOLDER", help="Folder of the run; by default runs/NAME-N, a new one."
        ),
    ] = None
    seed: Annotated[
        int, _option("--seed", "-s", panel=RUN, help="Of everything that is drawn: same seed, same model.")
    ] = 0
    threads: Annotated[int | None, _option("--threads", panel=RUN, metavar="N", help="Threads that train.")] = None
    report: Annotated[bool, _option("--report/--no-report", panel=RUN, help="Write report.html.")] = True

    def estimator_parameters(self, *, classes: bool) -> dict[str, Any]:
        """Parameters of `TabularMLPClassifier` or `TabularMLPRegressor`; what was not said is left out."""
        given = {
            "hidden_layer_sizes": None if self.layers is None else layer_sizes(self.layers),
            "activation": self.activation,
            "dropout": self.dropout,
            "norm": self.norm,
            "folds": self.folds,
            "optimizer": self.rule,
            "schedule": self.schedule,
            "learning_rate_init": self.rate,
            "max_iter": self.epochs,
            "batch_size": self.batch,
            "patience": self.patience,
            "monitor": self.metric,
            "loss": self.loss,
            "max_time": self.time_limit,
            "threads": self.threads,
            "class_weight": "balanced" if self.balanced and classes else None,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        return chosen | {
            "quality": str(self.quality),
            "categorical": tuple(self.categorical or ()),
            "random_state": self.seed,
        }

    @property
    def column_of_split(self) -> tuple[str, str | None]:
        """("random", None), ("time", column) or ("group", column)."""
        kind, colon, column = self.split.partition(":")
        if kind == "random" and not colon:
            return "random", None
        if kind in ("time", "group") and column:
            return kind, column
        raise Failure(f"--split takes random, time:COLUMN or group:COLUMN, got {self.split!r}")

    # config.toml

    def toml(self) -> str:
        """As a file of settings that `--config` takes; what was not said is not in it."""
        lines = ["# pellucid train --config THIS_FILE does the same run again"]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                lines.append(f"{field.name} = {json.dumps(value, ensure_ascii=False)}")
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, path: Path) -> dict[str, Any]:
        """The settings of a file, by name."""
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise Failure(f"{path}: there is no such file of settings") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Failure(f"{path} is no TOML: {error}") from None
        fields = {field.name: field for field in dataclasses.fields(cls)}
        hints = get_type_hints(cls)
        for name, value in values.items():
            try:
                look_up("setting", name, fields)
            except (ValueError, KeyError) as error:
                raise Failure(f"{path}: {error}") from None
            _check_kind(path, name, value, hints[name])
        return values

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> TrainSettings:
        """From values by name, words of kinds as such."""
        kinds = {"task": Task, "quality": Quality}
        try:
            words = {name: kind(values[name]) for name, kind in kinds.items() if name in values}
        except ValueError as error:
            raise Failure(f"{error}: expected one of {', '.join(k for kind in kinds.values() for k in kind)}") from None
        return cls(**{**values, **words})


KINDS: dict[Any, tuple[type | tuple[type, ...], str]] = {
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    str: (str, "a text"),
}


def _check_kind(path: Path, name: str, value: object, hint: Any) -> None:
    """Raise for a value of a file that is not of the kind that its setting declares."""
    kind = next(one for one in (*get_args(hint), hint) if one is not type(None))
    if get_origin(kind) is list:
        sound = isinstance(value, list) and all(isinstance(item, str) for item in value)
        wanted = "a list of texts"
    else:
        classes, wanted = KINDS.get(kind, KINDS[str])
        sound = isinstance(value, classes) and isinstance(value, bool) == (kind is bool)
    if not sound:
        raise Failure(f"{path}: {name} = {value!r}: expected {wanted}, as `pellucid train --help` says")


def layer_sizes(text: str) -> tuple[int, ...]:
    """
    >>> layer_sizes("256,128"), layer_sizes("64 x 64"), layer_sizes("32")
    ((256, 128), (64, 64), (32,))
    """
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError:
        raise Failure(f"--layers takes units of each hidden layer such as 256,256, got {text!r}") from None


def known(names: Iterable[str], columns: Iterable[str], option: str) -> list[str]:
    """These names, if all are columns; else an error that has the nearest."""
    places = dict.fromkeys(columns)
    asked = list(names)
    for name in asked:
        if name not in places:
            import difflib

            alike = [place for place in places if place.casefold() == name.casefold()]
            near = alike or difflib.get_close_matches(name, list(places), 1, 0.5)
            hint = (
                f"did you mean {near[0]!r}?" if near else f"the columns are {', '.join(map(repr, list(places)[:20]))}"
            )
            raise Failure(f"{option} {name!r} is no column of the table: {hint}")
    return asked
