"""The fenced code blocks of a Markdown file, and the checks that stand in its HTML comments, unseen by a reader."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^```(?P<language>\w+)(?P<info>[^\n]*)\n(?P<text>.*?)^```$|^<!-- (?P<hidden>python|bash)\n(?P<check>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One block: its language, the words after it, its text, the line where the text begins, and whether no reader sees
    it."""

    language: str
    info: str
    text: str
    line: int
    hidden: bool = False


def blocks(document: Path) -> list[Block]:
    """All blocks of a document in their order."""
    source = document.read_text("utf-8")
    found = []
    for match in _BLOCK.finditer(source):
        hidden = match["hidden"] is not None
        found.append(
            Block(
                match["hidden"] or match["language"],
                (match["info"] or "").strip(),
                match["check"] if hidden else match["text"],
                source.count("\n", 0, match.start("check" if hidden else "text")) + 1,
                hidden,
            )
        )
    return found
