"""The tables of a Markdown file, under their headings, and the code in their cells."""

from __future__ import annotations

import re
from pathlib import Path

_CELL_END = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`([^`]+)`")


def rows(document: Path, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, row by row, without its head."""
    below = document.read_text("utf-8").partition(f"# {heading}\n")[2]
    section = re.split(r"^#+ ", below, maxsplit=1, flags=re.MULTILINE)[0]
    table = re.search(r"^\|.*\n\|-.*\n((?:\|.*\n)+)", section, re.MULTILINE)
    assert table is not None, f"{document.name} has no table under {heading}"
    return [[cell.strip() for cell in _CELL_END.split(line)[1:-1]] for line in table[1].splitlines()]


def codes(cell: str) -> list[str]:
    """The texts in backticks. In a table ``|`` is written ``\\|``."""
    return [text.replace("\\|", "|") for text in _CODE.findall(cell)]
