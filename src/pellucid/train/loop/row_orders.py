"""Orders of rows, epoch by epoch: drawn on a thread of their own, while the epochs before them are run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np


class RowOrders:
    """`order(epoch)` for some epochs at a time."""

    def __init__(self, order: Callable[[int], Any]) -> None:
        self.order = order
        self.drawing: Drawing | None = None

    def take(self, epochs: range, following: range) -> Any:
        """(epochs, rows), one order in each row. Those of the following epochs are drawn until they are asked for."""
        drawing, self.drawing = self.drawing, None
        if drawing is None or drawing.epochs != epochs:
            drawing = Drawing(self.order, epochs)
        else:
            drawing.join()
        if drawing.orders is None:  # nobody has drawn them, or in vain: an error shows here
            drawing.run()
        if following:
            self.drawing = Drawing(self.order, following)
            self.drawing.start()
        return drawing.orders


class Drawing(threading.Thread):
    """The orders of some epochs in the making."""

    def __init__(self, order: Callable[[int], Any], epochs: range) -> None:
        super().__init__(daemon=True)
        self.order, self.epochs = order, epochs
        self.orders: Any = None

    def run(self) -> None:
        self.orders = np.stack([self.order(epoch) for epoch in self.epochs])
