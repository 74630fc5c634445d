"""The service as an ASGI application: schema, predictions, batches, health, metrics."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pellucid.processors import usable
from pellucid.serve.batches import media_of, predict_batch
from pellucid.serve.bodies import Room, spooled_body, whole_body
from pellucid.serve.faults import BAD_REQUEST, WRONG_VALUES, RequestFault
from pellucid.serve.metrics import Metrics
from pellucid.serve.predictor import Predictor
from pellucid.serve.rows import read_rows
from pellucid.serve.schema import schema

T = TypeVar("T")
log = logging.getLogger("pellucid.serve")

PIECE = 2**16
"""Bytes of an answer that are sent at once."""

BODIES, BATCHES = 32, 4
"""Whole bodies of /predict and of /predict/batch that there is room for at once."""


@dataclass(frozen=True)
class Limits:
    """What a request may ask for.

    Parameters
    ----------
    body : int
        bytes of a body of /predict
    batch : int
        bytes of a body of /predict/batch
    threads : int | None
        predictions that run at once; None is the processors that the process may use
    """

    body: int = 8_000_000
    batch: int = 1_000_000_000
    threads: int | None = None


def application(predictor: Predictor, about: dict[str, Any] | None = None, limits: Limits | None = None) -> Starlette:
    """A model as an ASGI application, for `uvicorn`, for tests, or to be mounted in another one.

    Parameters
    ----------
    predictor : Predictor
        what is asked: `ModelPredictor(pellucid.load(path))`
    about : dict[str, Any] | None
        what GET /schema says of the model: `pellucid.describe(path).to_dict()`
    limits : Limits | None
        of bodies and threads

    Returns
    -------
    Starlette
        the application

    Examples
    --------
    >>> import numpy as np, pellucid
    >>> from pellucid.serve import ModelPredictor
    >>> regressor = pellucid.MLPRegressor(hidden_layer_sizes=(2,), tol=1.0, n_iter_no_change=1)
    >>> predictor = ModelPredictor(regressor.fit(np.eye(2), [0.0, 1.0]))
    >>> [route.path for route in application(predictor).routes]
    ['/predict', '/predict/batch', '/schema', '/health', '/metrics']
    """
    service = Service(predictor, about or {}, limits or Limits())
    routes = [
        Route("/predict", service.predict, methods=["POST"]),
        Route("/predict/batch", service.batch, methods=["POST"]),
        Route("/schema", service.schema),
        Route("/health", service.health),
        Route("/metrics", service.counted),
    ]
    app = Starlette(
        routes=routes,
        lifespan=service.lifespan,
        exception_handlers={RequestFault: refused, HTTPException: not_there, Exception: failed},
    )
    app.add_middleware(Watched, metrics=service.metrics, paths=frozenset(route.path for route in routes))
    return app


class Service:
    """The answers. Predictions run in threads, so that the loop stays free for others."""

    def __init__(self, predictor: Predictor, about: dict[str, Any], limits: Limits) -> None:
        self.predictor, self.about, self.limits = predictor, about, limits
        made_by = about.get("summary", {}).get("made_by") or type(predictor).__name__
        self.metrics = Metrics({"file": str(about.get("path", "")), "made_by": made_by})
        self.ready = False
        self.limiter: CapacityLimiter | None = None
        self.bodies, self.batches = Room(limits.body, BODIES), Room(limits.batch, BATCHES)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Ready when the model has predicted once: what is loaded or compiled at first use is there then."""
        self.limiter = CapacityLimiter(self.limits.threads or usable())
        warm = getattr(self.predictor, "warm", None)
        if warm is not None:
            await to_thread.run_sync(warm)
        self.ready = True
        yield
        self.ready = False

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run it in a thread. What the model says to values is the request's fault."""
        try:
            return await to_thread.run_sync(work, limiter=self.limiter)
        except RequestFault:
            raise
        except (ValueError, TypeError) as error:
            raise RequestFault(WRONG_VALUES, " ".join(str(error).split())) from error

    async def predict(self, request: Request) -> Response:
        """A row, rows, or columns."""
        interval = _interval(request, self.predictor)
        with self.bodies.share() as share:
            body = await whole_body(request, share)

            def work() -> tuple[Any, int]:
                rows = read_rows(body, self.predictor.wanted)
                return self.predictor.answers(rows.columns, interval).checked().plain(rows.form), rows.number

            answer, count = await self._in_thread(work)
        self.metrics.rows.labels("/predict").inc(count)
        return JSONResponse(answer)

    async def batch(self, request: Request) -> Response:
        """A CSV or JSON lines of any length."""
        interval = _interval(request, self.predictor)
        media = media_of(request.headers.get("content-type", ""))
        with self.batches.share() as share:
            body = await spooled_body(request, share)
            try:
                answers, count = await self._in_thread(partial(predict_batch, body, media, self.predictor, interval))
            finally:
                body.close()
        self.metrics.rows.labels("/predict/batch").inc(count)
        return StreamingResponse(_pieces(answers), media_type=media)

    async def schema(self, request: Request) -> Response:
        """Columns with their types, and an example."""
        return JSONResponse(schema(self.predictor.wanted, self.predictor.says, self.about))

    async def health(self, request: Request) -> Response:
        """Ready, or not yet."""
        return JSONResponse({"status": "ready" if self.ready else "starting"}, 200 if self.ready else 503)

    async def counted(self, request: Request) -> Response:
        """For Prometheus."""
        text, media = self.metrics.text()
        return Response(text, media_type=media)


def _interval(request: Request, predictor: Predictor) -> float | None:
    """?interval=0.9: the ends beside a number."""
    text = request.query_params.get("interval")
    if text is None:
        return None
    if not predictor.says.get("interval"):
        raise RequestFault(BAD_REQUEST, "?interval= is for models of numbers that have intervals: leave it out")
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise RequestFault(
            BAD_REQUEST, f"?interval= is a share between 0 and 1, such as 0.9, got {text[:40]!r}", got=text[:40]
        )
    return share


def _pieces(file: Any) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece


# errors, all as JSON


async def refused(request: Request, fault: Exception) -> Response:
    """A fault of the request."""
    assert isinstance(fault, RequestFault)
    return JSONResponse(fault.plain(), fault.status)


async def not_there(request: Request, error: Exception) -> Response:
    """Another path, or another method."""
    assert isinstance(error, HTTPException)
    text = f"{error.detail}: there are POST /predict, POST /predict/batch, GET /schema, GET /health, GET /metrics"
    return JSONResponse({"error": {"message": text}}, error.status_code, headers=error.headers)


async def failed(request: Request, error: Exception) -> Response:
    """A fault of ours: the log has it, the client need not see it."""
    return JSONResponse({"error": {"message": "the service failed; its log says why"}}, 500)


class Watched:
    """Counts requests and the time that they take."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: frozenset[str]) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status, start = 500, time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        path = scope["path"] if scope["path"] in self.paths else "other"
        method = scope["method"] if scope["method"] in ("GET", "POST", "HEAD") else "other"
        try:
            await self.app(scope, receive, noting)
        except ClientDisconnect:  # it has gone in the middle of its body
            status = 499
        finally:
            self.metrics.note(path, method, status, time.perf_counter() - start)
