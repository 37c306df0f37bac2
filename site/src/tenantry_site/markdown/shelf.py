"""Shelf: what all pages of a site are read with - components, snippets, and code that was highlighted before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import dirname, normpath

from tenantry_site.markdown.front import front_matter
from tenantry_site.markdown.highlighting import Highlighter
from tenantry_site.markdown.modules import Module, exported
from tenantry_site.nodes import AttributeValue, Component

FOLDERS = ("", "snippets/", "_snippets/")
SUFFIXES = ("", ".mdx", ".md")


class Shelf:
    """``snippets``: texts by their paths from the site's root."""

    __slots__ = ("_constants", "components", "highlighter", "known", "snippets")

    def __init__(self, components: Mapping[str, Component], snippets: Mapping[str, str]) -> None:
        self.components = components
        self.known = frozenset(components)
        self.snippets = snippets
        self.highlighter = Highlighter()
        self._constants: dict[str, Mapping[str, AttributeValue]] = {}

    def find(self, path: str, page: str) -> str | None:
        """The snippet that a page means by ``path``, as the key of its text."""
        return next((each for each in _candidates(path, page) if each in self.snippets), None)

    def text(self, key: str) -> tuple[str, int]:
        """The text of a snippet below its front matter, and how many lines that has."""
        whole = self.snippets[key]
        body = front_matter(key, whole)[1]
        return body, whole.count("\n", 0, len(whole) - len(body))

    def module(self, page: str) -> Module:
        """An empty module for a text that stands at ``page``."""
        return Module(set(self.known), lambda path: self._exports(path, page))

    def _exports(self, path: str, page: str) -> Mapping[str, AttributeValue]:
        key = self.find(path, page)
        if key is None:
            return {}
        if key not in self._constants:
            self._constants[key] = exported(self.snippets[key])
        return self._constants[key]


def _candidates(path: str, page: str) -> Iterator[str]:
    bare = path.replace("\\", "/").strip()
    folders = (f"{dirname(page)}/",) if bare.startswith(".") else FOLDERS
    for folder in folders:
        whole = normpath(f"{folder}{bare.lstrip('/')}").lstrip("/")
        for suffix in SUFFIXES:
            yield whole + suffix
