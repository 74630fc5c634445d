"""The command line: words, pages, errors in one line."""

import pytest

from pellucid import __version__
from pellucid.cli import main
from pellucid.cli.command import app

ASKED_FOR = (
    *("--target", "--drop", "--split", "--stream", "--layers", "--activation", "--dropout", "--norm", "--folds"),
    *("--quality", "--rule", "--schedule", "--rate", "--epochs", "--patience", "--metric", "--time-limit"),
    *("--out", "--seed", "--threads", "--config", "--resume", "--json", "--quiet", "--debug"),
)


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
    [
        (["lab", "xro"], "did you mean"),
        (["lab", "xor", "--set", "speed"], "NAME=VALUE"),
        (["nothing"], "No such command 'nothing'"),
        (["train", "--epochs", "many"], "Invalid value for '--epochs'"),
        (["train", "--epoch", "3"], "No such option"),
        (["predict"], "Missing argument"),
        (["export", "run", "--to", "cobol"], "'cobol' is not one of"),
    ],
)
def test_wrong_words_are_one_line(words, said, refused):
    assert said in refused(*words)


def test_without_words_there_is_help(capsys):
    main([])
    text = capsys.readouterr().out
    for panel in ("Make and use models", "Look at them", "Learn", "This machine"):
        assert panel in text


@pytest.mark.parametrize("word", [command.name for command in app.registered_commands])
def test_every_word_has_help_with_an_example(word, capsys):
    main([word, "--help"])
    text = capsys.readouterr().out
    assert "Example" in text
    assert f"pellucid {word}" in text


def test_options_of_train_are_in_groups(capsys):
    main(["train", "--help"])
    text = capsys.readouterr().out
    for panel in ("Data", "Network", "Training", "Run", "Output"):
        assert f"─ {panel} ─" in text
    for option in ASKED_FOR:
        assert f"{option} " in text


def test_the_shell_completes_columns_and_names(houses, capsys, monkeypatch):
    """As a shell asks: words so far in a variable, completions on lines."""
    for words, wanted in (
        (f"pellucid train {houses} --target ", {"price", "sold", "district"}),
        ("pellucid train --activation se", {"selu"}),
        ("pellucid train --rule ada", {"adam", "adamw", "adagrad"}),
        ("pellucid train --schedule co", {"cosine", "coslog", "constant"}),
    ):
        monkeypatch.setenv("_PELLUCID_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - (not words.endswith(" "))))
        with pytest.raises(SystemExit):
            main([])
        assert wanted <= set(capsys.readouterr().out.split())
