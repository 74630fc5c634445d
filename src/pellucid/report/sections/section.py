"""What a section is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pellucid.report.elements import Markup, element, joined


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page with a place in its table of contents; `data` are the records that its charts draw."""

    key: str
    title: str
    body: Markup
    data: dict[str, Any] = field(default_factory=dict)
    mark: str = ""  # beside the title in the table of contents

    def html(self) -> Markup:
        return element("section", element("h2", self.title), self.body, id=self.key, aria_label=self.title)


def figures(*charts: Markup | None) -> Markup:
    """Charts side by side where there is room."""
    return element("div", joined(charts), class_="figures") if any(charts) else Markup("")
