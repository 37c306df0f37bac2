"""Reads the lines ``import … from "…"`` and ``export const … = …`` of a page, without running code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from tenantry_site.diagnostic import Severity
from tenantry_site.markdown.jsx_components import DEFINITION, JsxComponent, components, definition_end
from tenantry_site.markdown.literals import NotLiteral, closing_brace, literal
from tenantry_site.markdown.page_context import PageDiagnostics
from tenantry_site.page import AttributeValue

LONGEST = 200_000
"""Maximum number of characters of a block of import and export lines."""

SCAN_BUDGET = 20_000
"""Maximum number of characters of one page that are scanned beyond the ends of import and export blocks, so that the
time stays linear."""

BLOCK_START = re.compile(
    r"""import\s*(?: ["'{*] | [\w$]+\s*(?:,|from\s*["']) )
    | export\s+(?: const | let | var | default | function | async | class | type | interface | [{*] )""",
    re.VERBOSE,
)
"""Matches the beginning of an import or export line, but not prose that begins with these words."""

_IMPORT = re.compile(r"""import\s+(?:([A-Za-z_$][\w$]*)\s*,?\s*)?(?:\{([^{}]*)\}\s*)?from\s*["']([^"'\n]+)["']\s*;?""")
_EXPORT = re.compile(r"export\s+(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::\s*\w+\s*)?=\s*")
_OPEN = re.compile(r"[([{]")
_SHUT = re.compile(r"[)\]}]")


class Snippets(Protocol):
    """Looks up the snippets that a page imports by path."""

    def constants(self, path: str) -> Mapping[str, AttributeValue]:
        """The constants that a snippet exports, by name."""

    def components(self, path: str) -> Mapping[str, JsxComponent]:
        """The components that a snippet defines, by name."""

    def is_text(self, path: str) -> bool:
        """Whether there is a snippet of Markdown at a path."""


@dataclass(slots=True)
class Module:
    """The imports and exports of a page or snippet.

    ``known``: names of the components, to which those of this module are added. ``imports``: imported snippet -> path.
    ``jsx``: the components in JSX, imported or exported. ``names``: imported and exported constants. ``lines``: for
    each block, its first line and the line after its last, counted from 0.
    """

    known: set[str]
    snippets: Snippets
    source: str
    jsx: dict[str, JsxComponent] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    names: dict[str, AttributeValue] = field(default_factory=dict)
    lines: list[tuple[int, int]] = field(default_factory=list)
    _scan_budget: int = SCAN_BUDGET

    def block_end(self, text: str, at: int) -> int:
        """The offset after the block of import and export lines at ``at``. Scanning beyond the block uses up the page's
        budget."""
        blank = text.find("\n\n", at)
        limit = min(len(text), at + LONGEST) if self._scan_budget > 0 or blank < 0 else blank + 1
        end, reached = _block_end(text, at, limit)
        self._scan_budget -= reached - end
        return end

    def read(self, text: str, line: int, diagnostics: PageDiagnostics) -> None:
        """Read a block of import and export lines. ``line``: number of its first line, from 1."""
        at = 0
        while at < len(text):
            end = self._import(text, at) or self._component(text, at) or self._export(text, at)
            if end is None:
                end = _statement_end(text, at)
                self._report_ignored(text[at:end], line + text.count("\n", 0, at), diagnostics)
            at = end
            while at < len(text) and text[at] in " \t\n;":
                at += 1

    def _import(self, text: str, at: int) -> int | None:
        found = _IMPORT.match(text, at)
        if found is None:
            return None
        if found[1]:
            defined = self.snippets.components(found[3])
            self._add_component(found[1], found[3], defined.get("default", defined.get(found[1])))
        for part in (found[2] or "").split(","):
            name, _, alias = part.partition(" as ")
            if name.strip():
                self._add_named(name.strip(), alias.strip() or name.strip(), found[3])
        return found.end()

    def _component(self, text: str, at: int) -> int | None:
        found = DEFINITION.match(text, at)
        if found is None:
            return None
        end = definition_end(text, at)
        for name, component in components(text[at:end], self.source).items():
            self._add_component(name, "", component)
        return end

    def _add_component(self, name: str, path: str, component: JsxComponent | None) -> None:
        """Add a component. One that comes from other code than a snippet stays unknown."""
        if not name[:1].isupper():
            return
        if component is not None:
            self.jsx[name] = component
        elif path.endswith((".mdx", ".md")) or self.snippets.is_text(path):
            self.imports[name] = path
        else:
            return
        self.known.add(name)

    def _add_named(self, name: str, alias: str, path: str) -> None:
        """Import a name: a constant if the snippet exports one of that name, else a component."""
        constants = self.snippets.constants(path)
        if name in constants:
            self.names[alias] = constants[name]
        else:
            self._add_component(alias, path, self.snippets.components(path).get(name))

    def _export(self, text: str, at: int) -> int | None:
        found = _EXPORT.match(text, at)
        if found is None:
            return None
        end = _statement_end(text, at)
        try:
            self.names[found[1]] = literal(
                text[found.end() : end].rstrip().rstrip(";"), self.names, skip_expressions=True
            )
        except NotLiteral:
            return None
        return end

    def _report_ignored(self, statement: str, line: int, diagnostics: PageDiagnostics) -> None:
        first = statement.strip().partition("\n")[0][:60]
        if first and not first.startswith(("import ", "export type", "export interface", "//", "/*")):
            message = f"{first} … is code, which is not run: it was left out"
            diagnostics.add(
                Severity.INFO, "PAGE009", message, "export a string or a number, or move the text to a snippet", line
            )


def _statement_end(text: str, at: int) -> int:
    """The end of the statement at ``at``. Outside braces, a blank line or another import or export ends it."""
    while True:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        brace = text.find("{", at, end)
        close = closing_brace(text, brace, len(text)) if brace >= 0 else 0
        if close < 0:
            return len(text)
        if close > end:
            at = close
            continue
        following = text[end + 1 : end + 8]
        if end < len(text) and following and not following.startswith(("import ", "export ")):
            at = end + 1
            continue
        return end


def _block_end(text: str, at: int, limit: int) -> tuple[int, int]:
    """The end of the block of import and export lines at ``at``, and the offset up to which the text was scanned.

    The block ends at the first blank line outside brackets. If a bracket is still open at ``limit``, the block ends at
    the first blank line inside brackets instead.
    """
    end, open_brackets, first_blank = at, 0, -1
    while end < limit:
        stop = text.find("\n", end)
        stop = len(text) if stop < 0 else stop
        line = text[end:stop]
        if not line.strip():
            first_blank = end if first_blank < 0 else first_blank
            if open_brackets <= 0:
                return end, end
        open_brackets += len(_OPEN.findall(line)) - len(_SHUT.findall(line))
        end = stop + 1
    end = min(end, len(text))
    return (first_blank if open_brackets > 0 and first_blank >= 0 else end), end


class _NoSnippets:
    def constants(self, _path: str) -> Mapping[str, AttributeValue]:
        return {}

    def components(self, _path: str) -> Mapping[str, JsxComponent]:
        return {}

    def is_text(self, _path: str) -> bool:
        return False


def exported(text: str) -> dict[str, AttributeValue]:
    module = Module(set(), _NoSnippets(), "")
    for found in islice(re.finditer(r"^export\s", text, re.MULTILINE), 500):
        module._export(text, found.start())
    return module.names
