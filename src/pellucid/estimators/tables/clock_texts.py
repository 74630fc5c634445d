"""Times of the day and spans of time that are written as texts: "13:45", "1:05 pm", "27:15:09.5"."""

from __future__ import annotations

import re

import numpy as np

from pellucid.data.types import Array

PATTERN = re.compile(
    r"(?P<hour>\d{1,3}):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:[.,]\d+)?))?(?:\s*(?P<half>[ap])\.?m\.?)?",
    re.ASCII | re.IGNORECASE,
)


def parse_clock(texts: list[str]) -> Array:
    """Seconds since midnight, or of the span; NaN where it is neither.   -> (n,)

    >>> parse_clock(["13:45", "1:45 pm", "13:45 pm", "noon"]).tolist()
    [49500.0, 49500.0, nan, nan]
    """
    seconds = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        match = PATTERN.fullmatch(text)
        if match is None:
            continue
        hour, half = int(match["hour"]), (match["half"] or "").lower()
        if half and not 1 <= hour <= 12:
            continue
        if half:
            hour = hour % 12 + 12 * (half == "p")
        seconds[place] = 3600 * hour + 60 * int(match["minute"]) + float((match["second"] or "0").replace(",", "."))
    return seconds
