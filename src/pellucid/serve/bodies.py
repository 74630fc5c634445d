"""Bodies of requests, up to a limit: in memory, or in a file that goes away."""

from __future__ import annotations

from collections.abc import AsyncIterator
from tempfile import SpooledTemporaryFile
from typing import Any

from starlette.requests import Request

from pellucid.serve.faults import TOO_LARGE, RequestFault

IN_MEMORY = 2**24
"""Bytes from which on a body lies in a file."""

DRAINED = 2**27
"""Bytes of a refused body that are read all the same: many clients listen only when they have sent it all."""


async def whole_body(request: Request, limit: int) -> bytes:
    """The body of a request; a RequestFault where it has more bytes than the limit."""
    return b"".join([part async for part in _parts(request, limit)])


async def spooled_body(request: Request, limit: int) -> Any:
    """The body as a file, at its beginning; on disk where it is large."""
    file = temporary_file()
    try:
        async for part in _parts(request, limit):
            file.write(part)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def temporary_file() -> Any:
    """Goes away when it is closed."""
    return SpooledTemporaryFile(max_size=IN_MEMORY)


async def _parts(request: Request, limit: int) -> AsyncIterator[bytes]:
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > DRAINED + limit:
        raise _too_large(limit)
    total = 0
    async for part in request.stream():
        total += len(part)
        if total <= limit:
            yield part
        elif total > DRAINED + limit:
            break
    if total > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> RequestFault:
    return RequestFault(
        TOO_LARGE,
        f"the body has more than the {limit / 1e6:g} MB that are taken: send fewer rows at a time, or many rows to "
        "/predict/batch; whoever runs the service may raise the limit (--limit, --batch-limit)",
        expected=f"at most {limit} bytes",
    )
