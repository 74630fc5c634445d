"""The command line: words, pages, errors in one line."""

import pytest

from pellucid import __version__
from pellucid.cli import main


def test_version(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"pellucid {__version__}\n"


def test_the_list(capsys):
    main(["lab"])
    assert "xor" in capsys.readouterr().out


def test_an_experiment_writes_its_page(tmp_path, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    main(["lab", "xor", "--out", str(tmp_path), "--set", "steps=300"])
    assert "✓ shown" in capsys.readouterr().out
    assert "steps=300" in (tmp_path / "xor.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [(["lab", "xro"], "did you mean"), (["lab", "xor", "--set", "speed"], "NAME=VALUE"), (["nothing"], "No such")],
)
def test_errors(words, said, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert said in shown
    assert "Traceback" not in shown
