"""Signals and kills: the best model is saved, and a run that was killed ends with the same model as any other."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import pellucid
from pellucid.cli import main, training
from tests.cli.test_train import params

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

LONG = ("-t", "price", "--quality", "fast", "--epochs", "100000", "--no-report", "--out", "run")
SHORT = ("-t", "price", "--quality", "fast", "--folds", "3", "--epochs", "6", "-l", "16", "--no-report", "-q")


def started(here, houses, *words):
    program = "import sys; from pellucid.cli import main; main(sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", program, "train", str(houses), *words],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_the_best_model(number, code, houses, here):
    for seconds in (3, 20, 60):  # a busy machine has no epoch behind it so soon
        process = started(here, houses, *LONG, "-q")
        wait_for(here / "run/state.json", process)
        time.sleep(seconds)
        process.send_signal(number)
        _, said = process.communicate(timeout=120)
        assert process.returncode == code, said
        assert said.count("\n") == 1
        if "there is no model yet" not in said:
            break
        shutil.rmtree(here / "run")
    assert "the best model so far is in run" in said
    model = pellucid.load(here / "run/model.pel")
    assert model.n_iter_ < 100_000
    assert json.loads((here / "run/state.json").read_text())["stage"] == "interrupted"


def test_a_second_signal_ends_at_once(here):
    """The first is heard as the wish to end; then the system's own handling is back."""
    program = (
        "import os, signal, time\n"
        "from pellucid.cli.interrupts import stoppable\n"
        "with stoppable():\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        time.sleep(60)\n"
        "    except KeyboardInterrupt:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        time.sleep(60)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGINT


@pytest.mark.parametrize("reached", ["state.json", "networks", "model.pel"])
def test_a_killed_run_is_completed(reached, houses, here):
    """Killed when this file or folder is there."""
    main(["train", str(houses), *SHORT, "--out", "whole"])
    process = started(here, houses, *SHORT, "--out", "killed")
    wait_for(here / "killed" / reached, process)
    process.kill()
    process.communicate()
    main(["train", "--resume", "killed", "-q"])
    assert all(np.array_equal(a, b) for a, b in zip(params(here / "whole"), params(here / "killed"), strict=True))
    assert json.loads((here / "killed/state.json").read_text())["stage"] == "done"
    assert not (here / "killed/networks").exists()


def test_what_is_done_is_not_done_again(houses, here, monkeypatch, capsys):
    main(["train", str(houses), *SHORT, "--out", "run"])
    state = here / "run/state.json"
    state.write_text(state.read_text().replace('"done"', '"trained"'))
    before = (here / "run/model.pel").stat().st_mtime_ns
    (here / "run/metrics.json").unlink()
    monkeypatch.setattr(training, "kernels_meanwhile", lambda settings: pytest.fail("there is nothing to train"))
    main(["train", "--resume", "run"])
    assert (here / "run/model.pel").stat().st_mtime_ns == before
    assert (here / "run/metrics.json").exists()
    main(["train", "--resume", "run"])
    assert "is complete" in capsys.readouterr().out


def test_changed_data_are_not_gone_on_with(houses, here, refused):
    table = here / "t.csv"
    table.write_bytes(houses.read_bytes())
    main(["train", "t.csv", *SHORT, "--out", "run"])
    state = here / "run/state.json"
    state.write_text(state.read_text().replace('"done"', '"begun"'))
    table.write_bytes(houses.read_bytes()[:-30] + b"\n")
    said = refused("train", "--resume", "run")
    assert "have changed" in said or "cells" in said
    assert "no such run folder" in refused("train", "--resume", "nothing")
