"""The progress view: a bar in a terminal, a table elsewhere, nothing when silent; never wider than the terminal."""

import io
import math
import re
import time

import pytest
from rich.console import Console

from pellucid.train.callbacks import progress
from pellucid.train.callbacks.progress import ProgressView, clock, columns, shown

LOGS = {"loss": 0.5, "accuracy": 0.75, "val_loss": 0.625, "val_accuracy": 0.7}
MANY = LOGS | {f"{part}metric_number_{i}": i / 7 for part in ("", "val_") for i in range(12)}


def screen(terminal=False, width=80):
    return Console(file=io.StringIO(), force_terminal=terminal, width=width, color_system=None, legacy_windows=False)


def text(console):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())


def run(console, total=3, logs=LOGS, reason="all epochs done", epochs=None, mode="auto", steps=4):
    view = ProgressView(total, steps, mode=mode, console=console)
    view.start()
    for epoch in range(1, (epochs or total) + 1):
        for step in range(1, 5):
            view.batch(step, 1.0 / step)
        view.epoch(epoch, logs, lr=0.001, seconds=2.0)
    view.finish(reason)
    return view


def test_lines():
    console = screen()
    run(console)
    assert "\x1b" not in console.file.getvalue()
    *table, end = console.file.getvalue().splitlines()
    assert table == [
        "epoch  loss       accuracy   val_loss   val_accuracy  rate       time",
        "  1/3  0.5000     0.7500     0.6250     0.7000        0.001      2.0 s",
        "  2/3  0.5000     0.7500     0.6250     0.7000        0.001      2.0 s",
        "  3/3  0.5000     0.7500     0.6250     0.7000        0.001      2.0 s",
    ]
    assert re.fullmatch(r"3 epochs in \S+ s, \S+ s each: all epochs done", end)


@pytest.mark.parametrize("total", [1, 2, 19, 20, 21, 39, 40, 41, 99, 100, 1000, 12345])
def test_about_twenty_lines(total):
    epochs = [epoch for epoch in range(1, total + 1) if shown(epoch, total)]
    assert epochs[0] == 1
    assert epochs[-1] == total
    assert len(epochs) == total if total <= 20 else 11 <= len(epochs) <= 22


def test_lines_of_an_open_end_become_rarer():
    epochs = [epoch for epoch in range(1, 100_001) if shown(epoch, None)]
    assert epochs[:21] == [*range(1, 21), 30]
    assert len(epochs) < 100


def test_the_last_epoch_is_always_shown():
    console = screen()
    run(console, total=1000, epochs=77, reason="early stopping")
    lines = console.file.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["epoch", "1/1000", "50/1000", "77/1000", "77"]


def test_names_that_come_and_go():
    console = screen()
    view = ProgressView(3, None, console=console)
    view.start()
    view.epoch(1, {"loss": 0.5}, lr=0.1, seconds=1.0)
    view.epoch(2, {"loss": 0.5, "val_loss": 0.25}, lr=0.1, seconds=1.0)
    view.epoch(3, {"loss": 0.5}, lr=0.1, seconds=1.0)
    lines = console.file.getvalue().splitlines()
    assert [line.split() for line in lines] == [
        ["epoch", "loss", "rate", "time"],
        ["1/3", "0.5000", "0.1", "1.0", "s"],
        ["epoch", "loss", "rate", "val_loss", "time"],
        ["2/3", "0.5000", "0.1", "0.2500", "1.0", "s"],
        ["3/3", "0.5000", "0.1", "1.0", "s"],
    ]
    assert lines[4].index("1.0 s") == lines[3].index("1.0 s")


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("terminal", [True, False])
def test_long_lists_keep_to_the_width(terminal, width):
    logs = {"a" * 100: 1e-300, **MANY, "loss": math.nan}
    console = screen(terminal, width)
    run(console, logs=logs, mode="bar" if terminal else "lines")
    lines = text(console).splitlines()
    assert max(map(len, lines)) <= width
    assert any("nan" in line for line in lines)
    assert "more" in text(console)
    assert len(lines) < 50


def test_what_matters_comes_first_where_room_is_short():
    assert columns(["accuracy", "loss", "rate", "val_loss"], 80) == [["accuracy", "loss", "rate", "val_loss"]]
    assert columns(["accuracy", "loss", "val_loss", "rate"], 36) == [["loss", "rate", "val_loss"], ["accuracy"]]
    assert columns(["x" * 200], 10) == [["x" * 200]]


def test_silent_means_nothing_at_all():
    console = screen(terminal=True)
    run(console, mode="silent")
    assert console.file.getvalue() == ""


def test_bar_in_a_terminal():
    console = screen(terminal=True)
    view = run(console, reason="all epochs done")
    out = text(console)
    assert "3/3 epochs" in out
    assert "━━━━" in out
    assert "val_accuracy" in out
    assert out.rstrip().endswith("all epochs done")
    assert (
        console.file.getvalue().count("\x1b[?25l") == console.file.getvalue().count("\x1b[?25h") == 1
    )  # the cursor is back
    view.finish("again")
    assert "again" not in text(console)


def frame(view):
    console = screen(terminal=True)
    console.print(view._render())
    return text(console).splitlines()


def test_frames(monkeypatch):
    now = 100.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    view = ProgressView(50, 10, mode="bar", console=screen(terminal=True))
    view.start()
    assert frame(view)[0].startswith(" 0/50 epochs  ")
    assert frame(view)[0].endswith("  0:00")  # nothing to judge by yet
    now = 102.0
    view.batch(5, 0.25)
    first, heads, numbers = frame(view)
    assert first.endswith("  3:18 left")  # half an epoch took 2 s, 49.5 to go
    assert (heads.split(), numbers.split()) == (["loss"], ["0.2500"])
    now = 104.0
    view.epoch(1, LOGS, lr=3e-4, seconds=4.0)
    first, heads, numbers = frame(view)
    assert first.startswith(" 1/50 epochs  ━")
    assert first.endswith("  3:16 left")
    assert heads.split() == [*LOGS, "rate"]
    assert numbers.split() == ["0.5000", "0.7500", "0.6250", "0.7000", "0.0003"]
    now = 106.0
    assert frame(view)[0].endswith("  3:14 left")  # the clock goes on between the epochs
    view.finish("stopped")
    assert frame(view)[0].endswith("  0:06")


def test_batches_are_looked_at_rarely(monkeypatch):
    now = 0.0
    monkeypatch.setattr("time.perf_counter", lambda: now)
    view = ProgressView(1, 1000, mode="bar", console=screen(terminal=True))
    view.start()
    seen = []
    for step in range(1, 1001):
        now = step / 1000
        view.batch(step, float(step))
        seen.append(view.step)
    view.finish()
    assert len(set(seen)) <= 12
    assert seen[-1] > 850


@pytest.mark.parametrize("steps", [None, 4])
def test_open_end(steps):
    view = ProgressView(None, steps, mode="bar", console=screen(terminal=True))
    view.start()
    view.batch(2, 0.5)
    assert frame(view)[0].startswith("epoch 0  ━")
    view.epoch(1, LOGS, lr=0.1, seconds=1.0)
    assert "left" not in frame(view)[0]
    view.finish("max_time")
    assert "1 epoch in " in text(view.console)


def test_a_resumed_run_starts_where_it_was():
    view = ProgressView(10, None, mode="bar", console=screen(terminal=True))
    view.start(done=7)
    assert frame(view)[0].startswith(" 7/10 epochs")
    view.finish()


def test_names_are_text_not_markup():
    console = screen()
    run(console, total=1, logs={"[red]loss[/]": 0.5}, reason="[bold]why[/bold] :smile:")
    assert "[red]loss[/]" in console.file.getvalue()
    assert "[bold]why[/bold] :smile:" in console.file.getvalue()


def test_finish_without_start_and_without_epochs():
    console = screen()
    ProgressView(3, None, console=console).finish("an error in the first batch")
    assert "0 epochs in" in console.file.getvalue()


def test_wrong_mode():
    with pytest.raises(ValueError, match="got 'loud'"):
        ProgressView(1, 1, mode="loud")


def test_clock_rounds_over():
    assert [clock(seconds) for seconds in (0, 59.6, 3599.7)] == ["0:00", "1:00", "1:00:00"]
    assert progress.duration(time.perf_counter() * 0) == "0.0 s"
