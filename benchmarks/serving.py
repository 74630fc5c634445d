"""`python -m benchmarks.serving`: requests for single rows from several clients on loopback, ours beside ONNX Runtime.

Both stand behind the same server, `pellucid serve`: what differs is who predicts. Without `--model` a small classifier
is trained, and its ONNX file is built from its weights; `--model FILE.pel --onnx FILE.onnx` takes others. Rounds take
turns, so that a busy machine is busy for both.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

OURS, THEIRS = "pellucid", "onnxruntime"


# what is served


def make_files(folder: Path) -> tuple[Path, Path]:
    """A classifier of the digits, and the same network as ONNX."""
    import warnings

    from sklearn.datasets import load_digits

    from pellucid import MLPClassifier

    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = MLPClassifier((100,), max_iter=20, random_state=0).fit(X, y)
    classifier.save(folder / "digits.pel")
    (folder / "digits.onnx").write_bytes(as_onnx(classifier))
    return folder / "digits.pel", folder / "digits.onnx"


def as_onnx(classifier: Any) -> bytes:
    """Gemm, Relu, ..., Gemm, Softmax of a fitted MLPClassifier of several classes."""
    from onnx import TensorProto, checker, helper, numpy_helper

    nodes, weights, last = [], [], "X"
    for place, (W, b) in enumerate(zip(classifier.coefs_, classifier.intercepts_, strict=True)):
        pair = {f"W{place}": W, f"b{place}": b}
        weights += [numpy_helper.from_array(np.asarray(array, np.float32), name) for name, array in pair.items()]
        nodes.append(helper.make_node("Gemm", [last, *pair], [f"z{place}"]))
        hidden = place < len(classifier.coefs_) - 1
        last = f"h{place}" if hidden else "probabilities"
        nodes.append(
            helper.make_node("Relu", [f"z{place}"], [last])
            if hidden
            else helper.make_node("Softmax", [f"z{place}"], [last], axis=1)
        )
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, classifier.n_features_in_])
    out = helper.make_tensor_value_info(last, TensorProto.FLOAT, [None, len(classifier.classes_)])
    graph = helper.make_graph(nodes, "mlp", [x], [out], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    checker.check_model(model)
    return bytes(model.SerializeToString())


class OnnxPredictor:
    """An ONNX file behind our server: one input of all columns, or an input for each column by its name."""

    def __init__(self, path: str, model: str) -> None:
        import onnxruntime

        from pellucid import load
        from pellucid.serve import ModelPredictor

        ours = ModelPredictor(load(model))
        self.wanted, self.says = ours.wanted, ours.says
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs = self.session.get_inputs()

    def answers(self, columns: Mapping[str, Any], interval: float | None = None) -> Any:
        from pellucid.serve import Answers

        outputs = self.session.run(None, self._feed(columns))
        scores = next((out for out in outputs if np.ndim(out) == 2 and out.dtype.kind == "f"), outputs[0])
        if "classes" not in self.says:
            return Answers(np.ravel(scores))
        named = {name: scores[:, place] for place, name in enumerate(self.says["probabilities"])}
        return Answers(np.asarray(self.says["classes"])[np.argmax(scores, axis=1)], {"probabilities": named})

    def _feed(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        if len(self.inputs) == 1 and len(columns) > 1:
            return {self.inputs[0].name: np.column_stack(list(columns.values())).astype(np.float32)}
        feed = {}
        for one in self.inputs:
            values = np.asarray(columns[one.name])
            kinds = {"tensor(string)": object, "tensor(double)": np.float64, "tensor(bool)": bool}
            values = values.astype(kinds.get(one.type, np.float32))
            feed[one.name] = values[:, None] if len(one.shape) == 2 else values
        return feed


def onnx_service(path: str, model: str) -> Any:
    """The application of an ONNX file."""
    from pellucid.serve import application

    return application(OnnxPredictor(path, model))


@contextmanager
def served(which: str, model: Path, onnx: Path) -> Iterator[tuple[str, int]]:
    """A server in a process of its own; its address, and the number of the process."""
    command = [sys.executable, "-m", "benchmarks.serving", "--serve", which, "--model", model, "--onnx", onnx]
    server = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip(), server.pid
    finally:
        server.terminate()
        server.wait(20)


def serve(which: str, model: Path, onnx: Path) -> None:
    """In the child: tell the address, and serve."""
    from pellucid.serve.process import run, run_service

    tell = partial(print, flush=True)
    if which == OURS:
        run(model, port=0, tell=tell)
    else:
        run_service(partial(onnx_service, str(onnx), str(model)), "127.0.0.1", 0, tell=tell)


def processor_seconds(process: int) -> float:
    """What a process has used of processors so far; NaN where nobody says so (not on Linux)."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


# who asks


def ask(address: str, body: bytes, requests: int, clients: int) -> tuple[np.ndarray, int, float]:
    """Seconds of each request, how many failed, and seconds in all. Each client has one connection."""
    share = [requests // clients + (place < requests % clients) for place in range(clients)]
    seconds: list[list[float]] = [[] for _ in range(clients)]
    failures = [0] * clients

    def client(place: int) -> None:
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        for _ in range(share[place]):
            start = time.perf_counter()
            try:
                connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                answer.read()
                failures[place] += answer.status != 200
            except (OSError, http.client.HTTPException):
                failures[place] += 1
                connection.close()
            seconds[place].append(time.perf_counter() - start)
        connection.close()

    threads = [threading.Thread(target=client, args=(place,)) for place in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return np.concatenate(seconds), sum(failures), time.perf_counter() - start


def fetched(address: str, path: str) -> Any:
    """JSON from the server, once it is ready."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    connection.request("GET", path)
    return json.loads(connection.getresponse().read())


def measure(model: Path, onnx: Path, requests: int, clients: int, rounds: int = 5) -> dict[str, dict[str, float]]:
    """Milliseconds at the median and the 99th percentile, requests in a second, and failures, of each."""
    seconds: dict[str, list[np.ndarray]] = {OURS: [], THEIRS: []}
    failures, total = dict.fromkeys(seconds, 0), dict.fromkeys(seconds, 0.0)
    with served(OURS, model, onnx) as ours, served(THEIRS, model, onnx) as theirs:
        addresses = {OURS: ours[0], THEIRS: theirs[0]}
        processes = {OURS: ours[1], THEIRS: theirs[1]}
        body = json.dumps(fetched(ours[0], "/schema")["example"]).encode()
        for address in addresses.values():
            ask(address, body, 10 * clients, clients)  # what is made at first use is there
        before = {name: processor_seconds(process) for name, process in processes.items()}
        for _ in range(rounds):
            for name, address in addresses.items():
                times, failed, whole = ask(address, body, requests // rounds, clients)
                seconds[name].append(times)
                failures[name] += failed
                total[name] += whole
        used = {name: processor_seconds(process) - before[name] for name, process in processes.items()}
    figures = {}
    for name, parts in seconds.items():
        times = np.concatenate(parts) * 1e3
        figures[name] = {
            "requests": len(times),
            "failures": failures[name],
            "p50_ms": float(np.percentile(times, 50)),
            "p99_ms": float(np.percentile(times, 99)),
            "per_second": len(times) / total[name],
            "processor_ms": used[name] / len(times) * 1e3,
        }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--model", type=Path, help="a model's file; without one, digits are learned")
    parser.add_argument("--onnx", type=Path, help="the same model as ONNX")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--serve", choices=(OURS, THEIRS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if (options.model is None) != (options.onnx is None):
        parser.error("--model and --onnx go together: the same model in both forms")
    if options.serve:
        serve(options.serve, options.model, options.onnx)
        return
    with tempfile.TemporaryDirectory() as folder:
        files = (options.model, options.onnx) if options.model else make_files(Path(folder))
        figures = measure(*files, options.requests, options.clients)
    for name, one in figures.items():
        print(
            f"{name:<12} {one['requests']:.0f} requests from {options.clients} clients, {one['failures']:.0f} failed; "
            f"p50 {one['p50_ms']:.2f} ms, p99 {one['p99_ms']:.2f} ms, {one['per_second']:.0f} a second, "
            f"{one['processor_ms']:.2f} ms of a processor each"
        )


if __name__ == "__main__":
    main()
