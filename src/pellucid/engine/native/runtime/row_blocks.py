"""Many rows through a small program, a block at a time: what is made on the way stays in the cache.

Each thread has a program and memory of its own and takes every row of its part from where it lies: threads neither wait
for each other nor write what another has read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.engine.native.code.builtin_kernels import APPEND, COPY_WORDS, FINITE_WORDS, check_finite
from pellucid.engine.native.code.run_loop import Job
from pellucid.engine.native.runtime import cache
from pellucid.engine.native.runtime.binding import Binding

BLOCK = 256
"""Rows of a block."""


class Lane:
    """One thread's program, bound to a block of rows: X and Y are where it finds and leaves one."""

    def __init__(self, binding: Binding, X: Any, Y: Any) -> None:
        self.binding, self.X, self.Y = binding, X, Y
        finite, append = cache.addresses([check_finite(X.dtype.name), APPEND])
        self.looking = np.array(FINITE_WORDS(count=X.size, values=X.ctypes.data), np.int64)
        self.copying = np.array(COPY_WORDS(bytes=Y.nbytes, source=Y.ctypes.data, target=0), np.int64)
        first, last = [[finite, self.looking.ctypes.data]], [[append, self.copying.ctypes.data]]
        self.entries = np.concatenate([first, binding.entries[0], last])
        self.gathers = np.zeros(3, np.int64)

    def job(self, X: Any, Y: Any, order: Any, first: int, last: int, look: bool) -> Job:
        """Blocks first ... last - 1 of the rows of X; their results go into Y. `look`: for what is not finite."""
        entries = self.entries if look else self.entries[1:]
        self.gathers[:] = X.ctypes.data, self.X.ctypes.data, X.nbytes // len(X)
        self.copying[COPY_WORDS.names.index("target")] = Y.ctypes.data + first * self.Y.nbytes
        return Job(
            first=first,
            last=last,
            batch=BLOCK,
            per_epoch=1 << 40,
            short=-1,
            entries=entries.ctypes.data,
            entry_count=len(entries),
            last_row=BLOCK,
            order=order.ctypes.data,
            gathers=self.gathers.ctypes.data,
            gather_count=1,
        )
