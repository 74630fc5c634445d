"""A real kernel, as a notebook has it: one display for a fit, HTML for results, no warning that asks for widgets."""

import textwrap

import pytest
from jupyter_client.manager import start_new_kernel


@pytest.fixture(scope="module")
def notebook():
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=120)
    try:
        run(
            client,
            """
            import numpy as np, pellucid as pel
            from pellucid import nn, train
            X = np.random.default_rng(0).normal(size=(400, 8))
            y = (X[:, 0] * X[:, 1] > 0).astype(int)
            model = pel.Model(nn.mlp((16,), 1), "binary_cross_entropy", metrics=["accuracy"], engine="numpy")
            """,
        )
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client, code):
    """The messages of a cell: (kind, content)."""
    messages = []

    def note(message):
        if message["msg_type"] not in ("status", "execute_input"):
            messages.append((message["msg_type"], message["content"]))

    reply = client.execute_interactive(textwrap.dedent(code), timeout=300, output_hook=note)
    assert reply["content"]["status"] == "ok", "\n".join(reply["content"].get("traceback", []))
    return messages


def check_one_display(messages, words):
    kinds = [kind for kind, _ in messages]
    assert kinds.count("display_data") == 1, kinds
    assert set(kinds) <= {"display_data", "update_display_data"}, messages
    assert len({content["transient"]["display_id"] for _, content in messages}) == 1
    assert words in messages[-1][1]["data"]["text/html"]
    assert words in messages[-1][1]["data"]["text/plain"]
    assert len(messages) < 60


def test_a_fit_is_one_display_that_is_written_over(notebook):
    messages = run(notebook, "history = model.fit(X, y, epochs=40, validation=0.2)")
    check_one_display(messages, "all 40 epochs done")
    assert len(messages) > 1
    check_one_display(run(notebook, "model.fit(X, y, epochs=2, verbose='bar');"), "all 2 epochs done")


def test_several_models_and_a_search(notebook):
    messages = run(
        notebook,
        """
        models = [pel.Model(nn.mlp((4,), 1), "binary_cross_entropy", engine="numpy") for _ in range(3)]
        histories = pel.fit_many(models, X, y, epochs=2, verbose=True)
        """,
    )
    check_one_display(messages, "training: 3 of 3")
    messages = run(
        notebook,
        """
        space = lambda trial: {"learning_rate_init": trial.suggest_float("learning_rate_init", 0.001, 0.01)}
        small = pel.MLPClassifier((4,), max_iter=3)
        found = pel.tune(X, y, estimator=small, space=space, trials=2, n_jobs=1)
        """,
    )
    check_one_display(messages, "2 trials, best accuracy")


def test_silence_and_lines(notebook):
    assert run(notebook, "model.fit(X, y, epochs=2, verbose=False);") == []
    messages = run(notebook, "model.fit(X, y, epochs=2, verbose='lines');")
    assert {kind for kind, _ in messages} == {"stream"}
    assert "".join(content["text"] for _, content in messages).count("\n") == 4


@pytest.mark.parametrize("what", ["model", "model.history", "model.summary()", "nn.signals(model, X)"])
def test_results_show_themselves(notebook, what):
    (kind, content), *more = run(notebook, what)
    assert not more
    assert kind == "execute_result"
    assert len(content["data"]["text/plain"]) < 300
    assert content["data"]["text/html"].startswith("<table>")
