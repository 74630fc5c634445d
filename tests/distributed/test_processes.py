"""Several processes train one model: the numbers of one, a process that is killed, another number, no coordinator."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import distributed
from pellucid.distributed.processes import described
from tests.distributed import shares, training
from tests.processes import environment

pytest.importorskip("jax")
pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="processes on loopback are tried on Linux")]

PROGRAM = Path(training.__file__)
LONGEST = 100
"""Seconds after which a process that should have ended is killed, and the test fails."""


def address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def quick(**settings: str) -> dict[str, str]:
    cache = os.path.join(tempfile.gettempdir(), f"pellucid-test-xla-{os.getuid()}")
    return environment(
        JAX_DISABLE_MOST_OPTIMIZATIONS="1",
        JAX_COMPILATION_CACHE_DIR=cache,
        JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0.05",
        OPENBLAS_NUM_THREADS="1",
        **settings,
    )


def started(count: int, folder: Path, *words: str, program: Path = PROGRAM) -> list[subprocess.Popen[str]]:
    where = address()
    return [
        subprocess.Popen(
            [sys.executable, str(program), str(folder), *words],
            env=quick(PELLUCID_COORDINATOR=where, PELLUCID_PROCESSES=str(count), PELLUCID_INDEX=str(index)),
            stderr=subprocess.PIPE,
            text=True,
        )
        for index in range(count)
    ]


def ended(processes: list[subprocess.Popen[str]], longest: float = LONGEST) -> list[tuple[int, str]]:
    """Exit code and words of each; none outlives the test."""
    try:
        return [(p.returncode, words) for p in processes for words in [p.communicate(timeout=longest)[1]]]
    finally:
        for process in processes:
            process.kill()


def alone(epochs: int) -> tuple[list[list[float]], dict[str, np.ndarray]]:
    """The same training by NumPy in this process."""
    X, y, weights = training.table()
    model = training.model()
    model.engine, model.compiled = "numpy", False
    model.fit(
        X,
        y,
        sample_weight=weights,
        validation=(X[:20], y[:20]),
        epochs=epochs,
        batch_size=training.BATCH,
        verbose=False,
    )
    return [[row["loss"], row["val_loss"]] for row in model.history.epochs], {**model.params, **model.state}


def same_as_alone(folder: Path, epochs: int = 3) -> None:
    losses, arrays = alone(epochs)
    with np.load(folder / "result.npz") as result:
        assert_allclose(result["losses"], losses, rtol=1e-7)
        for name, array in arrays.items():
            assert_allclose(result[name], array, rtol=1e-6, atol=1e-8, err_msg=name)


def test_two_processes_are_as_good_as_one(tmp_path):
    results = ended(started(2, tmp_path))
    assert [code for code, _ in results] == [0, 0], results
    same_as_alone(tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_process_reads_its_share(tmp_path):
    """Splits, weights, classes, preprocessing and the clock are those of one process; rows are held by one each."""
    shares.write(tmp_path)
    ends = ended(started(2, tmp_path, program=Path(shares.__file__)))
    assert [code for code, _ in ends] == [0, 0], ends
    alone = shares.results(tmp_path)
    assert alone.pop("plain_classes") == ["no", "rare", "yes"]  # one of them is in the rows of the last process alone
    for index in range(2):
        with np.load(tmp_path / f"result-{index}.npz") as results:
            assert results["plain_classes"].tolist() == ["no", "rare", "yes"]
            for name, value in alone.items():
                assert_allclose(results[name], value, rtol=1e-5 if name == "table" else 1e-7, err_msg=name)


def test_a_killed_process_ends_the_other_and_four_or_one_go_on(tmp_path):
    processes = started(2, tmp_path, "--kill-at", "7")
    processes[1].wait(LONGEST)
    (code, words), _ = ended(processes, longest=30)
    assert code not in (0, None)
    assert "pellucid: another process of this run has ended" in words, words
    assert "Traceback" not in words, words
    other = shutil.copytree(tmp_path, tmp_path / "one")
    results = ended([*started(4, tmp_path, "--resume"), *started(1, other, "--resume")])
    assert [code for code, _ in results] == [0] * 5, results
    same_as_alone(tmp_path)
    same_as_alone(other)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_signal_to_one_process_ends_all(tmp_path, number, code):
    processes = started(2, tmp_path, "--epochs", "1000000")
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and not (tmp_path / "run.ckpt").exists():
        time.sleep(0.05)
    processes[1].send_signal(number)
    (first, words), (second, _) = ended(processes, longest=30)
    assert (first, second) == (1, code), words
    assert "pellucid: another process of this run has ended" in words, words


@pytest.mark.skipif(not Path(sysconfig.get_path("scripts"), "mpirun").exists(), reason="mpirun is not installed")
def test_mpirun(tmp_path):
    mpirun = Path(sysconfig.get_path("scripts"), "mpirun")
    words = ["--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, str(PROGRAM), str(tmp_path)]
    env = quick(PELLUCID_COORDINATOR=address())
    done = subprocess.run([str(mpirun), *words], env=env, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert done.returncode == 0, done.stderr
    same_as_alone(tmp_path)


def command(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pellucid", "train", *words, "--json"],
        env=quick(),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(process: subprocess.Popen[str]) -> dict:
    words, errors = process.communicate(timeout=LONGEST)
    assert process.returncode == 0, errors
    return json.loads(words)


def killed_when(folder: Path, launcher: subprocess.Popen[str]) -> None:
    """SIGKILL for the second process that the command has started, once the run has begun."""
    children = Path(f"/proc/{launcher.pid}/task/{launcher.pid}/children")
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and not (folder / "state.json").exists():
        time.sleep(0.05)
    os.kill(int(children.read_text().split()[1]), signal.SIGKILL)


def test_the_command_and_a_process_of_it_that_is_killed(tmp_path):
    """`pellucid train --processes 2` writes one run; a killed one is completed by one process, and is the same."""
    shares.table().drop(columns="weight").to_csv(tmp_path / "table.csv", index=False)
    words = ["table.csv", "-t", "target", "--quality", "fast", "--processes", "2", "--no-report", "--epochs", "3"]
    whole = outcome(command(tmp_path, *words, "--out", "whole"))
    assert (tmp_path / "whole" / "model.pel").exists()
    assert whole["streamed"]  # each process reads its share
    launcher = command(tmp_path, *words, "--out", "killed")
    killed_when(tmp_path / "killed", launcher)
    _, errors = launcher.communicate(timeout=30)  # the others are ended, too
    assert launcher.returncode == 2
    assert "process 1 of 2 ended with exit code -9" in errors, errors
    resumed = outcome(command(tmp_path, "--resume", "killed"))
    assert resumed["stage"] == "trained"
    for name, value in whole["test"]["network"].items():
        assert_allclose(resumed["test"]["network"][name], value, rtol=1e-4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "table.csv", "whole"]


def test_a_coordinator_that_never_comes():
    program = "import sys; from pellucid import distributed; distributed.join(sys.argv[1], 2, 1, timeout=0.5)"
    words = [sys.executable, "-c", program, address()]
    done = subprocess.run(words, env=quick(), capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "CoordinatorError: nobody answers at 127" in done.stderr, done.stderr


def test_who_is_who():
    by_mpi = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "PELLUCID_COORDINATOR": "node0:7077"}
    assert described(None, None, None, by_mpi) == ("node0:7077", 4, 3)
    assert described("a:1", 2, 0, by_mpi) == ("a:1", 2, 0)
    with pytest.raises(distributed.CoordinatorError, match="which one is this"):
        described("a:1", None, None, {})
    with pytest.raises(distributed.CoordinatorError, match="at which address"):
        described(None, 2, 0, {})
    with pytest.raises(distributed.CoordinatorError, match="'host:port', got 'a'"):
        described("a", 2, 0, {})
    with pytest.raises(distributed.CoordinatorError, match=r"0 \.\.\. 1, got 2"):
        described("a:1", 2, 2, {})


DEVICES = """
import numpy as np
from tests.distributed import shares, training
X, y, weights = training.table()
model = training.model()
model.fit(X, y, sample_weight=weights, validation=(X[:20], y[:20]), epochs=3, batch_size=16, devices="all", verbose=0)
streamed = training.model()
batches = [(X[first:first + 16], y[first:first + 16]) for first in range(0, len(X), 16)]
streamed.fit(batches, epochs=2, devices="all", verbose=0)
beside = training.model()
beside.engine = "numpy"
beside.fit(batches, epochs=2, verbose=0)
np.testing.assert_allclose(*[[row["loss"] for row in each.history.epochs] for each in (streamed, beside)], rtol=1e-9)
import jax
assert len(jax.devices()) == 4
losses = [[row["loss"], row["val_loss"]] for row in model.history.epochs]
np.savez({path!r}, losses=losses, **model.params, **model.state)
"""


def test_four_devices_are_as_good_as_one(tmp_path):
    program = DEVICES.format(path=str(tmp_path / "result.npz"))
    env = quick(XLA_FLAGS="--xla_force_host_platform_device_count=4", PYTHONWARNINGS="error::UserWarning")
    env["PYTHONPATH"] += os.pathsep + str(Path(__file__).parents[2])
    subprocess.run([sys.executable, "-c", program], env=env, check=True, timeout=LONGEST)
    same_as_alone(tmp_path)


def test_devices_are_for_jax():
    X, y, _ = training.table()
    model = training.model()
    model.engine = "numpy"
    with pytest.raises(ValueError, match="devices='all' is for engine='jax'"):
        model.fit(X, y, devices="all", verbose=0)
