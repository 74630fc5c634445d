"""Bodies of requests, up to a limit for each and for all together: in memory, or in a file that goes away."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import Any

from starlette.requests import Request

from pellucid.serve.faults import BUSY, TOO_LARGE, RequestFault

IN_MEMORY = 2**24
"""Bytes from which on a body lies in a file."""

DRAINED = 2**27
"""Bytes of a refused body that are read all the same: many clients listen only when they have sent it all."""


class Room:
    """What all bodies of a kind may take together, in bytes, while they are read and worked off.

    Parameters
    ----------
    limit : int
        bytes of one body
    bodies : int
        so many whole ones have room
    """

    def __init__(self, limit: int, bodies: int) -> None:
        self.limit, self.whole, self.taken = limit, limit * bodies, 0

    @contextmanager
    def share(self) -> Iterator[Share]:
        """A body's part of the room: free again when it is over."""
        share = Share(self)
        try:
            yield share
        finally:
            self.taken -= share.size


class Share:
    """The bytes that one body takes of a room."""

    def __init__(self, room: Room) -> None:
        self.room, self.size = room, 0

    def grow(self, size: int) -> None:
        """Take so many more; a RequestFault where there is no room left."""
        if self.room.taken + size > self.room.whole:
            raise RequestFault(BUSY, "the service holds as many requests as it has room for: try again in a moment")
        self.size += size
        self.room.taken += size


async def whole_body(request: Request, share: Share) -> bytes:
    """The body of a request; a RequestFault where it has more bytes than the limit."""
    return b"".join([part async for part in _parts(request, share)])


async def spooled_body(request: Request, share: Share) -> Any:
    """The body as a file, at its beginning; on disk where it is large."""
    file = temporary_file()
    try:
        async for part in _parts(request, share):
            file.write(part)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def temporary_file() -> Any:
    """Goes away when it is closed."""
    return SpooledTemporaryFile(max_size=IN_MEMORY)


async def _parts(request: Request, share: Share) -> AsyncIterator[bytes]:
    limit = share.room.limit
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > DRAINED + limit:
        raise _too_large(limit)
    total = 0
    async for part in request.stream():
        total += len(part)
        if total <= limit:
            share.grow(len(part))
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
