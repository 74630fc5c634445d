"""`pellucid info` and `pellucid warmup`: for people, for machines, and errors in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pellucid import __version__
from pellucid.cli import main
from pellucid.engine.kernel_folder import empty, kernel_folder
from tests.processes import environment

FILES = Path(__file__).parents[1] / "fixtures" / "summaries"


def said(words, capsys):
    main(words)
    return capsys.readouterr().out


def test_this_installation(capsys):
    text = said(["info"], capsys)
    for word in (__version__, "numpy", "processor", "threads", "PELLUCID_CACHE_DIR", "--empty-cache", "warmup"):
        assert word in text
    assert os.environ["PELLUCID_CACHE_DIR"] in text


def test_for_machines(capsys):
    facts = json.loads(said(["info", "--json"], capsys))
    assert facts["pellucid"] == __version__
    assert facts["threads"] >= 1
    assert facts["kernels"]["path"] == os.environ["PELLUCID_CACHE_DIR"]
    assert set(facts["packages"]) >= {"numpy", "scikit-learn", "llvmlite"}


def test_a_model(capsys):
    text = said(["info", str(FILES / "table_classes.pel")], capsys)
    for word in ("TabularMLPClassifier", "high, low, mid", "72 rows", "2 numeric, 2 category", "checksum right"):
        assert word in text
    data = json.loads(said(["info", str(FILES / "table_classes.pel"), "--json"], capsys))
    assert data["summary"]["classes"] == ["high", "low", "mid"]


@pytest.mark.parametrize("command", ["info", "warmup", "serve"])
@pytest.mark.parametrize("damage", ["missing", "flipped", "empty", "text"])
def test_a_damaged_model(command, damage, tmp_path, capsys):
    path = tmp_path / "a.pel"
    raw = bytearray((FILES / "model.pel").read_bytes())
    raw[-1] ^= 1
    if damage != "missing":
        path.write_bytes({"flipped": raw, "empty": b"", "text": b"age,town\n1,Bern\n"}[damage])
    with pytest.raises(SystemExit) as end:
        main([command, str(path)])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith(f"pellucid: {path}")
    assert error.count("\n") == 1
    words = {"missing": "does not exist", "flipped": "damaged", "empty": "is empty", "text": "not written by pellucid"}
    assert words[damage] in error


def test_the_folder_of_kernels(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PELLUCID_CACHE_DIR", str(tmp_path))
    now = kernel_folder()
    assert (now.path, now.kernels, now.size) == (tmp_path, 0, 0)
    for name, size in (("0123456789abcdef", 10), (now.present.name, 100), ("blas", 1000), ("lab", 5)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k1.o").write_bytes(bytes(size))
    now = kernel_folder()
    assert (now.kernels, now.size, now.older) == (1, 100, 1010)
    assert "freed" in said(["info", "--empty-cache"], capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["lab"]  # what is not the engine's stays
    assert empty() == 0
    monkeypatch.setenv("PELLUCID_CACHE_DIR", "relative")
    assert kernel_folder().path is None
    assert "cannot be kept" in said(["info"], capsys)


def test_warmup_of_a_model(capsys):
    done = json.loads(said(["warmup", str(FILES / "table_numbers.pel"), "--json"], capsys))
    assert done["seconds"] > 0
    assert said(["warmup", str(FILES / "table_numbers.pel"), "--quiet"], capsys) == ""


@pytest.mark.skipif(os.name == "nt", reason="file modes of POSIX")
def test_warmup_where_nothing_can_be_kept(tmp_path):
    """It says so; a model's predictions work all the same."""
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "pellucid", "warmup", str(FILES / "table_numbers.pel")]
    env = environment(PELLUCID_CACHE_DIR=str(tmp_path / "file" / "below"))
    child = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "for this process alone" in child.stdout


def test_serve_asks_for_its_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "starlette", None)  # as if it were not installed
    with pytest.raises(SystemExit) as end:
        main(["serve", str(FILES / "model.pel")])
    assert end.value.code == 2
    assert "pip install 'pellucid[serve]'" in capsys.readouterr().err


def test_a_port_that_is_taken(capsys):
    from pellucid.serve.process import listening

    with listening("127.0.0.1", 0) as taken, pytest.raises(SystemExit) as end:
        main(["serve", str(FILES / "model.pel"), "--port", str(taken.getsockname()[1])])
    assert end.value.code == 2
    assert "choose another with --port" in capsys.readouterr().err


def test_bench(capsys, monkeypatch):
    from pellucid.cli import bench

    case = bench.BenchCase("one", 4, (8,), 2, 32, 20)
    monkeypatch.setattr(bench, "CASES", (case,))
    measured = json.loads(said(["bench", "--rounds", "1", "--json"], capsys))["one"]
    assert measured["ratio"] == pytest.approx(measured["scikit_learn_seconds"] / measured["seconds"])
    assert "4-8-2" in said(["bench", "--rounds", "1"], capsys)
