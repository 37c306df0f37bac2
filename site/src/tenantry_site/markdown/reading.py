"""Reading: one text, of a page or of a snippet, on its way to nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.building import Builder
from tenantry_site.markdown.constructs import Constructs
from tenantry_site.markdown.notes import Notes
from tenantry_site.markdown.page_context import PageContext
from tenantry_site.markdown.pieces import Pieces
from tenantry_site.markdown.sections import Sections
from tenantry_site.markdown.shelf import Shelf
from tenantry_site.markdown.syntax import parser
from tenantry_site.markdown.tags import Tag
from tenantry_site.nodes import AttributeValue, Node

DEEPEST = 8
"""Snippets within snippets."""

MOST = 500
"""Snippets on one page; so many that only a page meant to be endless has more."""

_NONE: Mapping[str, AttributeValue] = {}
_COMPONENTS = re.compile(r"</?[A-Z]|^(?:import|export)\s", re.MULTILINE)


class Reading:
    """One text being read. ``within``: the snippets that it is a part of, from the outermost."""

    __slots__ = ("_context", "_module", "_notes", "_sections", "_shelf", "_source", "_within", "builder")

    def __init__(
        self,
        source: str,
        text: str,
        shelf: Shelf,
        context: PageContext,
        sections: Sections,
        notes: Notes,
        *,
        names: Mapping[str, AttributeValue] | None = None,
        within: tuple[str, ...] = (),
    ) -> None:
        self._source = source
        self._shelf = shelf
        self._context = context
        self._sections = sections
        self._notes = notes
        self._within = within
        self._module = shelf.module(source)
        if names:
            self._module.names.update(names)
        expressive = not source.endswith(".md")
        module = self._module
        constructs = Constructs(text, module.known, module.names, notes, expressive=expressive)
        env: dict[str, Any] = {"constructs": constructs, "module": module}
        markdown = parser(indented_code=not expressive and _COMPONENTS.search(text) is None)
        pieces = Pieces(context, sections, notes, placed=not within)
        self.builder = Builder(markdown, env, pieces, shelf.highlighter, self.resolve)

    @property
    def imports(self) -> list[tuple[int, int]]:
        """The lines of imports and exports, from 0, the second not included."""
        return self._module.lines

    def resolve(self, tag: Tag, line: int, within: bool) -> bool:
        """Draws a tag that means a snippet; False if it means a component."""
        if tag.name in self._module.imports:
            path = self._module.imports[tag.name]
        elif tag.name == "Snippet" and isinstance(tag.attributes.get("file"), str):
            path = str(tag.attributes["file"])
        else:
            return False
        pieces = self.builder.pieces
        pieces.splice(self.snippet(path, line, tag.attributes), within=within)
        pieces.open_nothing(tag, line)
        return True

    def snippet(self, path: str, line: int, attributes: Mapping[str, AttributeValue] = _NONE) -> tuple[Node, ...]:
        """The nodes of a snippet, drawn for this page with the attributes of its tag."""
        key = self._shelf.find(path, self._source)
        if key is None:
            self._missing(path, line)
            return ()
        self._context.snippets += 1
        if key in self._within or len(self._within) >= DEEPEST or self._context.snippets > MOST:
            self._notes.add(Severity.WARNING, "PAGE011", f"{key} contains itself", "leave one of them out", line)
            return ()
        text, offset = self._shelf.text(key)
        notes = Notes(key, offset)
        names = {**attributes, **{f"props.{name}": value for name, value in attributes.items()}}
        reading = Reading(
            key, text, self._shelf, self._context, self._sections, notes, names=names, within=(*self._within, key)
        )
        builder = reading.builder
        builder.build(builder.tokens(text))
        nodes = builder.pieces.nodes()
        self._notes.extend(notes.all())
        return nodes

    def _missing(self, path: str, line: int) -> None:
        if path.endswith((".mdx", ".md")) or path not in self._module.imports.values():
            message, code = f"there is no snippet {path[:120]}", "PAGE010"
            self._notes.add(Severity.WARNING, code, message, "write its path from the site's root", line)
        else:
            message, code = f"{path[:120]} is code, which is not run: what it would show is left out", "PAGE009"
            self._notes.add(Severity.INFO, code, message, "import a page of Markdown instead", line)
