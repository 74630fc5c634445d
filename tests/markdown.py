"""What tests of markdown pages share: their headings as anchors, and their links."""

import re
from pathlib import Path


def without_code(text: str) -> str:
    """The page without its blocks of code."""
    return re.sub(r"^([ ]*)(`{3,}).*?^\1\2", "", text, flags=re.S | re.M)


def anchor(heading: str) -> str:
    """A heading as GitHub links to it: small letters, no punctuation, hyphens for spaces."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> list[str]:
    """Those of all headings of a page, in order."""
    return [anchor(line) for line in re.findall(r"^#{1,6} (.*)$", without_code(page.read_text("utf-8")), flags=re.M)]


def links(text: str) -> list[tuple[str, str]]:
    """Words and target of every link."""
    text = re.sub(r"`[^`\n]*\]\([^`\n]*`", "", without_code(text))  # z[1](1) in code is none
    return re.findall(r"\[([^\]]+)\]\(([^)]+)\)", text)


def sections(text: str) -> dict[str, str]:
    """What stands under each heading of the third level."""
    parts = re.split(r"^(#{2,3}) (.*)$", without_code(text), flags=re.M)[1:]
    return {title: body for level, title, body in zip(*[iter(parts)] * 3, strict=True) if level == "###"}


def rows(text: str) -> list[list[str]]:
    """The cells of all rows of tables, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    heads = {i - 1 for i, row in enumerate(cells) if set("".join(row)) <= set("- :")}
    return [row for i, row in enumerate(cells) if i not in heads and i - 1 not in heads]
