"""The service as a process: a socket, uvicorn, one or several workers, an end without haste."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from pellucid.errors import PellucidError
from pellucid.loading import describe, load
from pellucid.serve.application import Limits, application
from pellucid.serve.metrics import SHARED
from pellucid.serve.predictor import ModelPredictor
from pellucid.serve.workers import run_workers

PATIENCE = 10
"""Seconds that requests have to end after SIGTERM."""

IDLE = 75
"""Seconds that a connection may be silent: more than the minute after which proxies let go of theirs."""

BACKLOG = 2048
"""Connections that wait to be taken."""


class ServiceError(PellucidError):
    """The service cannot start."""


class AddressError(PellucidError, OSError):
    """There is no listening at this address."""


def service_of(path: str, limits: Limits) -> Starlette:
    """The application for a model's file."""
    about = describe(path).to_dict() | {"path": Path(path).name}  # where it lies here is nobody's affair
    return application(ModelPredictor(load(path)), about, limits)


def run(
    path: str | os.PathLike[str],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    workers: int = 1,
    limits: Limits | None = None,
    tell: Callable[[str], None] | None = None,
    verbose: bool = False,
) -> None:
    """Serve a model's file until SIGINT or SIGTERM; requests that are under way have ten seconds to end.

    Parameters
    ----------
    path : str | PathLike
        of the model's file
    host : str
        an address of this machine; by default one that only this machine reaches
    port : int
        0 takes a free one
    workers : int
        processes, each with the model
    limits : Limits | None
        of bodies and threads
    tell : Callable[[str], None] | None
        is called with the address, before the first request
    verbose : bool
        a line on standard output for each request
    """
    describe(path)  # a damaged file is told here, and not by each worker
    build = partial(service_of, os.fspath(path), limits or Limits())
    run_service(build, host, port, workers=workers, tell=tell, verbose=verbose)


def run_service(
    build: Callable[[], Starlette],
    host: str,
    port: int,
    *,
    workers: int = 1,
    tell: Callable[[str], None] | None = None,
    verbose: bool = False,
) -> None:
    """Serve the application that `build` makes, in each worker anew."""
    with listening(host, port) as listener:
        if tell is not None:
            tell(address_of(listener))
        if workers == 1:
            serve_on(build, verbose, listener)
            return
        with tempfile.TemporaryDirectory(prefix="pellucid-metrics-") as folder:
            os.environ[SHARED] = folder  # the processes count together
            received = run_workers(partial(serve_on, build, verbose), listener, workers, PATIENCE + 5)
    signal.raise_signal(received)  # the end of a process that was told to end; nothing of it is left on disk


def serve_on(build: Callable[[], Starlette], verbose: bool, listener: socket.socket) -> None:
    """Serve at this socket until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        build,
        factory=True,
        lifespan="on",
        log_level="info" if verbose else "warning",
        access_log=verbose,
        timeout_graceful_shutdown=PATIENCE,
        timeout_keep_alive=IDLE,
    )
    server = uvicorn.Server(config)
    try:
        server.run(sockets=[listener])
    except SystemExit:  # of some versions, where it cannot start
        if server.started:
            raise
    if not server.started:
        raise ServiceError("the service has not started: the model fails on a row of examples, as said above")


def listening(host: str, port: int) -> socket.socket:
    """A socket at this address.

    With its protocol by name: only then does asyncio send small answers at once (TCP_NODELAY), and not 40 ms later.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise AddressError(
            f"cannot listen at {host}, port {port} ({error}): choose another with --port (0 takes a free one) or --host"
        ) from None
    listener.set_inheritable(True)
    return listener


def address_of(listener: socket.socket) -> str:
    """Where it can be reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
