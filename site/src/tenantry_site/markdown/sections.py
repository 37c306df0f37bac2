"""Sections: the headings of a page, and the plain text under each, for the table of contents and the search."""

from __future__ import annotations

from tenantry_site.nodes import Heading, Section


class Sections:
    """Gathers words while a page is built. ``words`` takes text as it comes; ``gap`` keeps blocks apart."""

    __slots__ = ("_done", "_id", "_title", "headings", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.headings: list[Heading] = []
        self._done: list[Section] = []
        self._id = self._title = ""

    def heading(self, level: int, identifier: str, text: str) -> None:
        """The words from here on belong to this heading."""
        self._finish()
        self._id, self._title = identifier, text
        self.headings.append(Heading(level, identifier, text))

    def since(self, mark: int) -> str:
        """The words since ``len(words)`` was ``mark``, taken back."""
        text = " ".join("".join(self.words[mark:]).split())
        del self.words[mark:]
        return text

    def all(self) -> tuple[Section, ...]:
        self._finish()
        return tuple(self._done)

    def _finish(self) -> None:
        text = " ".join("".join(self.words).split())
        self.words.clear()
        if text or self._id:
            self._done.append(Section(self._id, self._title, text))
