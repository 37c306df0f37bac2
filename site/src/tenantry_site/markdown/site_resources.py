"""The components, snippets and cache of highlighted code that the pages of a site share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from posixpath import dirname, normpath

from tenantry_site.markdown.code_blocks import Highlighter
from tenantry_site.markdown.front_matter import front_matter
from tenantry_site.markdown.jsx_components import SUFFIXES as SUFFIXES_OF_CODE
from tenantry_site.markdown.jsx_components import JsxComponent, components
from tenantry_site.markdown.modules import Module, exported
from tenantry_site.page import AttributeValue, Component

FOLDERS = ("", "snippets/", "_snippets/")
SUFFIXES = ("", ".mdx", ".md", *SUFFIXES_OF_CODE)


class SiteResources:
    """What the pages of a site share: components, snippets, and the cache of highlighted code.

    ``snippets``: path from the site's root -> text.
    """

    __slots__ = ("_constants", "_jsx", "components", "highlighter", "known", "snippets")

    def __init__(self, components: Mapping[str, Component], snippets: Mapping[str, str]) -> None:
        self.components: Mapping[str, Component] = components
        self.known: frozenset[str] = frozenset(components)
        self.snippets: Mapping[str, str] = snippets
        self.highlighter: Highlighter = Highlighter()
        self._constants: dict[str, Mapping[str, AttributeValue]] = {}
        self._jsx: dict[str, Mapping[str, JsxComponent]] = {}

    def find(self, path: str, page: str) -> str | None:
        """The key in ``snippets`` for the snippet that a page names ``path``; None if there is no such snippet."""
        return next((each for each in _candidates(path, page) if each in self.snippets), None)

    def text(self, key: str) -> tuple[str, int]:
        """The text of a snippet without its front matter, and the number of lines of the front matter."""
        whole = self.snippets[key]
        body = front_matter(key, whole)[1]
        return body, whole.count("\n", 0, len(whole) - len(body))

    def module(self, page: str) -> Module:
        return Module(set(self.known), _ImportedSnippets(self, page), page)

    def constants(self, key: str) -> Mapping[str, AttributeValue]:
        """The constants that a snippet exports, by name."""
        if key not in self._constants:
            self._constants[key] = exported(self.snippets[key])
        return self._constants[key]

    def jsx(self, key: str) -> Mapping[str, JsxComponent]:
        """The components in JSX that a snippet defines, by name."""
        if key not in self._jsx:
            self._jsx[key] = components(self.snippets[key], key)
        return self._jsx[key]


class _ImportedSnippets:
    """The snippets that one page imports."""

    def __init__(self, resources: SiteResources, page: str) -> None:
        self._resources = resources
        self._page = page

    def constants(self, path: str) -> Mapping[str, AttributeValue]:
        key = self._resources.find(path, self._page)
        return {} if key is None else self._resources.constants(key)

    def components(self, path: str) -> Mapping[str, JsxComponent]:
        key = self._resources.find(path, self._page)
        return {} if key is None else self._resources.jsx(key)

    def is_text(self, path: str) -> bool:
        key = self._resources.find(path, self._page)
        return key is not None and not key.endswith(SUFFIXES_OF_CODE)


def _candidates(path: str, page: str) -> Iterator[str]:
    bare = path.replace("\\", "/").strip()
    folders = (f"{dirname(page)}/",) if bare.startswith(".") else FOLDERS
    for folder in folders:
        whole = normpath(f"{folder}{bare.lstrip('/')}").lstrip("/")
        for suffix in SUFFIXES:
            yield whole + suffix
