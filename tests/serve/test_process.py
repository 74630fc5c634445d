"""The real thing: a process on loopback, many clients, an end by SIGTERM."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from urllib.parse import urlsplit

import pytest

from pellucid.serve import application
from pellucid.serve.process import AddressError, ServiceError, address_of, listening, serve_on
from pellucid.serve.rows import Wanted
from tests.processes import environment
from tests.serve.served import saved

REQUESTS, CLIENTS = 1000, 8


@contextmanager
def running(path, *words):
    """Its temporary files lie in a folder beside the model."""
    command = [sys.executable, "-m", "pellucid", "serve", str(path), "--port", "0", *words]
    own = path.parent / "temporary"
    own.mkdir()
    variables = environment(TMPDIR=str(own))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables, text=True)
    try:
        first = process.stdout.readline()
        yield process, urlsplit(first.split(" at ")[1].split()[0]).netloc
    finally:
        process.kill()
        process.communicate()


def fetch(connection, method, path, body=None):
    connection.request(method, path, body)
    answer = connection.getresponse()
    return answer.status, answer.read()


def connected(address):
    return closing(http.client.HTTPConnection(address, timeout=60))


def ask(address, row, count, failures):
    with connected(address) as connection:
        for _ in range(count):
            try:
                status, body = fetch(connection, "POST", "/predict", row)
                if status != 200 or "prediction" not in json.loads(body):
                    failures.append((status, body))
            except (OSError, http.client.HTTPException) as error:
                failures.append(error)
                connection.close()


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM of POSIX")
def test_many_requests_and_a_soft_end(tmp_path):
    failures: list = []
    with running(saved("table numbers", tmp_path)) as (process, address), connected(address) as connection:
        status, schema = fetch(connection, "GET", "/schema")  # waits until it is ready
        assert status == 200
        assert json.loads(schema)["model"]["path"] == "model.pel"
        row = json.dumps(json.loads(schema)["example"])
        clients = [
            threading.Thread(target=ask, args=(address, row, REQUESTS // CLIENTS, failures)) for _ in range(CLIENTS)
        ]
        for one in clients:
            one.start()
        for one in clients:
            one.join(120)
        assert not failures
        host, port = address.split(":")
        with socket.create_connection((host, int(port))) as gone:  # leaves in the middle of its body
            gone.sendall(b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
        _, metrics = fetch(connection, "GET", "/metrics")
        assert b'pellucid_rows_total{path="/predict"} 1000.0' in metrics
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        assert process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
        assert "Traceback" not in errors
        assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM of POSIX")
def test_several_processes_count_together(tmp_path):
    failures: list = []
    with running(saved("classes", tmp_path), "--workers", "2") as (process, address):
        for _ in range(6):
            ask(address, json.dumps({"x0": 0.1, "x1": 0.2}), 5, failures)
        assert not failures
        with connected(address) as connection:
            _, metrics = fetch(connection, "GET", "/metrics")
        assert b'pellucid_rows_total{path="/predict"} 30.0' in metrics
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        assert process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
        assert "Traceback" not in errors
        assert not list((tmp_path / "temporary").iterdir())


def test_a_model_that_fails_at_once_is_not_served():
    with listening("127.0.0.1", 0) as listener, pytest.raises(ServiceError, match="has not started"):
        serve_on(failing, False, listener)


class Fails:
    """A model whose examples cannot be predicted."""

    wanted = Wanted(())

    def __init__(self):
        self.says: dict = {}

    def warm(self):
        raise ValueError("no")


def failing():
    return application(Fails())


def test_addresses():
    with listening("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        assert address_of(first) == f"http://127.0.0.1:{port}"
        with pytest.raises(AddressError, match=f"cannot listen at 127.0.0.1, port {port} .*--port"):
            listening("127.0.0.1", port)
    with pytest.raises(AddressError, match="--host"):
        listening("no.such.host.invalid", 0)


def test_small_answers_are_sent_at_once():
    """Else each waits for 40 ms: asyncio asks for that only where the protocol is named."""
    with listening("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as there:
        here, _ = listener.accept()
        with here:
            assert here.proto == socket.IPPROTO_TCP
            assert there.getpeername() == listener.getsockname()
