"""A run, from settings to a folder: read, train, score, write; what a killed run has finished is not done again."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.text import Text
from sklearn.exceptions import ConvergenceWarning

from pellucid.cli import run_folder, scores
from pellucid.cli.early_kernels import kernels_meanwhile
from pellucid.cli.failures import Failure, Interrupted, is_full
from pellucid.cli.interrupts import Stop
from pellucid.cli.live import LiveTraining
from pellucid.cli.prepared_table import PreparedTable, prepared_table, say_table
from pellucid.cli.processes import is_one_of_several
from pellucid.cli.run_folder import RunFolder, fingerprint_of
from pellucid.cli.screen import Screen
from pellucid.cli.settings import TrainSettings
from pellucid.cli.unfitted_estimator import unfitted
from pellucid.errors import CheckpointError, ColumnWarning
from pellucid.markup import plural

REPORTED = 5000
"""Rows of each part that the report is made with, at most."""

LOOKS = 30
"""Looks at the layers of a network during its training, about."""


def run(settings: TrainSettings, screen: Screen, stop: Stop, resumed: RunFolder | None = None) -> dict[str, Any]:
    """Train and write a run folder; what was found, as plain data. `resumed`: a folder that is to be completed."""
    begin = time.perf_counter()
    trained = resumed is not None and resumed.state()["stage"] in (run_folder.TRAINED, run_folder.DONE)
    with _status(screen, "reading"), contextlib.nullcontext() if trained else kernels_meanwhile(settings):
        table = prepared_table(settings)
        fingerprint = fingerprint_of(table.files)
    if resumed is not None and resumed.state().get("data") != fingerprint:
        raise Failure(f"the data of {resumed.path} have changed since it began: train anew, without --resume")
    estimator = unfitted(settings, table.target)
    estimator.check_parameters(table.target.take(table.some(table.training, REPORTED)))
    folder = resumed if resumed is not None else RunFolder.new(settings.out, table.files)
    say_table(screen, table, settings)
    try:
        if trained:
            from pellucid.loading import load

            screen.say(f"\nthe training of {folder.path} is done: its model is taken")
            estimator, notes = load(folder[run_folder.MODEL]), list(folder.state().get("notes", ()))
        else:
            if resumed is None:
                folder.begin(settings, fingerprint, together=is_one_of_several())
            notes = train(estimator, table, folder[run_folder.NETWORKS], screen)
            _save(estimator, folder)
            stage = run_folder.TRAINED if stop.signal is None else run_folder.INTERRUPTED
            folder.reach(stage, notes=notes, seconds=time.perf_counter() - begin)
        outcome = written(estimator, table, folder, screen, notes)
        if stop.signal is not None:
            raise KeyboardInterrupt
        if settings.report:
            with _status(screen, "writing the report"):
                write_report(estimator, table, settings, folder)
    except KeyboardInterrupt:
        there = "the best model so far is in" if folder[run_folder.MODEL].exists() else "there is no model yet in"
        words = f"{there} {folder.path}; pellucid train --resume {folder.path} completes it"
        raise Interrupted(stop.signal or signal.SIGINT, words) from None
    shutil.rmtree(folder[run_folder.NETWORKS], ignore_errors=True)
    folder.reach(run_folder.DONE)
    _say_end(screen, folder, settings)
    return outcome


def train(estimator: Any, table: PreparedTable, networks_folder: Path, screen: Screen) -> list[str]:
    """Fit, with a display where there is a terminal; what was noticed on the way.

    networks_folder: of those that are trained, or were before the run was killed
    """
    recipe = estimator.get_recipe(table.training_rows)
    steps = max(table.training_rows // recipe["batch_size"], 1) * recipe["max_iter"]
    live = LiveTraining(screen.console, max(steps // LOOKS, 1), silent=screen.silent)
    estimator.set_params(callbacks=[live], checkpoint=networks_folder)
    with live, _noted(live):
        if table.stream is not None:
            estimator.fit(table.stream.data, **table.stream.fit_parameters)
        else:
            X, y = table.part(table.training)
            estimator.fit(X, y, **table.fit_parameters)
    estimator.set_params(callbacks=(), checkpoint=None)
    for other in estimator.fitted.networks[1:]:  # the report shows the layers of the first, and the file stays small
        other.model.history.looks = None
    failed = [attempt for attempt in estimator.attempts_ if attempt["failure"]]
    notes = [*live.notes, *(f"a training with a rate of {one['rate']:g} failed: {one['failure']}" for one in failed)]
    for note in notes:
        screen.note(note)
    return notes


@contextlib.contextmanager
def _noted(live: LiveTraining) -> Iterator[None]:
    """Warnings become notes of the display, but for those of columns and of convergence: others tell of these."""

    def hear(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, ColumnWarning | ConvergenceWarning | DeprecationWarning):
            live.note(" ".join(str(message).split()))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = hear
        yield


def _save(estimator: Any, folder: RunFolder) -> None:
    """Write the model; where the folder is full, elsewhere, so that the training is not lost."""
    try:
        estimator.save(folder[run_folder.MODEL])
    except (OSError, CheckpointError) as error:
        if not is_full(error):
            raise
        spare = Path(tempfile.gettempdir()) / f"{folder.path.name}-{run_folder.MODEL}"
        try:
            estimator.save(spare)
        except (OSError, CheckpointError):
            raise Failure(
                f"there is no room for {folder[run_folder.MODEL]}: free some, then --resume {folder.path} makes the "
                "same model again"
            ) from None
        raise Failure(
            f"there is no room for {folder[run_folder.MODEL]}: the model is in {spare}. Free some, move it, or train "
            "again with --out"
        ) from None


def written(
    estimator: Any, table: PreparedTable, folder: RunFolder, screen: Screen, notes: list[str]
) -> dict[str, Any]:
    """Scores on the test rows beside simple models, findings, curves: shown, written, returned."""
    X, y = table.part(table.testing)
    with _status(screen, "testing"):
        by_model = {"network": scores.scores_of(estimator, X, y, several=table.target.several)}
        for name, model in scores.simple_models(*table.part(table.training), table.target).items():
            by_model[name] = scores.scores_of(model, X, y, several=table.target.several)
        findings = [] if table.target.several else _findings(estimator, table)
    screen.heading("The test", f"{plural(len(y), 'row')} that nothing was learned from")
    screen.say(scores.shown(by_model), Text(scores.verdict(by_model), "bold"))
    for finding in findings:
        screen.note(f"{finding.code}{f' ({finding.where})' if finding.where else ''}: {finding.means}")
    histories = [each.model.history for each in estimator.fitted.networks]
    folder.write_histories(histories)
    state = folder.state()
    outcome = {
        "run": str(folder.path),
        "target": list(table.target.names),
        "task": table.target.task,
        "rows": {"training": table.training_rows, "test": len(table.testing), "without_target": table.without_target},
        "columns": {note.name: note.kind for note in table.notes},
        "streamed": table.stream is not None,
        "left_out": table.left_out,
        "suspected_leaks": table.leaks,
        "test": by_model,
        "findings": [{"code": f.code, "severity": f.severity, "where": f.where, "remedy": f.remedy} for f in findings],
        "notes": notes,
        "networks": len(histories),
        "best_epoch": estimator.fitted.curves.best_iter,
        "seconds": state.get("seconds"),
        "stage": state["stage"],
    }
    folder.write_metrics(outcome)
    return outcome


def _findings(estimator: Any, table: PreparedTable) -> list[Any]:
    """What is wrong with the network: warnings and errors of a diagnosis."""
    rows, tested = table.some(table.training, REPORTED), table.some(table.testing, REPORTED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(estimator.diagnose(*table.part(rows), validation=table.part(tested)).worse_than("note"))
        except (ValueError, TypeError):  # a loss of one's own, rows of one class
            return []


def write_report(
    estimator: Any, table: PreparedTable, settings: TrainSettings, folder: RunFolder, path: Path | None = None
) -> Path:
    """The page about the model."""
    from pellucid.report import report

    rows, tested = table.some(table.training, REPORTED), table.some(table.testing, REPORTED)
    path = folder[run_folder.REPORT] if path is None else path
    words = " ".join(f"--target {shlex.quote(name)}" for name in table.target.names)
    files = " ".join(shlex.quote(str(file)) for file in table.files)
    code = f"pellucid train {files} {words}\n# or: pellucid train --config {folder[run_folder.CONFIG]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report(
            estimator,
            path,
            *table.named_part(rows),
            test=table.named_part(tested),
            title=f"{', '.join(table.target.names)}: {folder.path.name}",
            code=code,
            seed=settings.seed,
            totals=(table.training_rows, len(table.testing)),
        )
    return path


def _status(screen: Screen, words: str) -> Any:
    shown = not screen.silent and screen.console.is_interactive
    return screen.console.status(words) if shown else contextlib.nullcontext()


def _say_end(screen: Screen, folder: RunFolder, settings: TrainSettings) -> None:
    screen.heading(str(folder.path))
    names = {
        run_folder.MODEL: "the model, with its preprocessing",
        run_folder.REPORT: "open it in a browser",
        run_folder.METRICS: "the scores above",
        run_folder.HISTORY: "every epoch",
        run_folder.CONFIG: "pellucid train --config does it again",
    }
    for name, words in names.items():
        if name != run_folder.REPORT or settings.report:
            screen.say(Text.assemble(f"  {name:<14}", (words, "dim")))
    screen.say(
        Text.assemble(("\nnext: ", "bold"), (f"pellucid predict {folder.path} NEW.csv -o predicted.csv", "cyan")),
        wrap=False,
    )
