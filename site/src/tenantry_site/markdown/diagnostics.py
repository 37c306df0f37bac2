"""PageDiagnostics: what is wrong with one page, collected while it is read, and what each code means."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry_site.diagnostic import Diagnostic, Severity

MOST = 200
"""Diagnostics of one page; a page that deserves more is hostile or not a page."""


class PageDiagnostics:
    """Diagnostics in the order in which they were found, each once. ``offset``: the lines above the text."""

    __slots__ = ("_found", "offset", "path")

    def __init__(self, path: str, offset: int = 0) -> None:
        self.path: str = path
        self.offset: int = offset
        self._found: dict[Diagnostic, None] = {}

    def add(self, severity: Severity, code: str, message: str, fix: str = "", line: int = 0) -> None:
        """``line`` counts from 1 in the text below the front matter, 0: the page as a whole."""
        if len(self._found) < MOST:
            line += self.offset if line else 0
            self._found[Diagnostic(severity, code, message, fix, line=line, path=self.path)] = None

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Adds what was found elsewhere, in a snippet for instance."""
        for each in diagnostics:
            if len(self._found) < MOST:
                self._found[each] = None

    def all(self) -> tuple[Diagnostic, ...]:
        """Everything so far."""
        return tuple(self._found)


CODES: dict[str, str] = {
    "PAGE001": "The front matter is not valid YAML; it was read line by line.",
    "PAGE002": "A key of the front matter is spelled unlike the one that is known; it was taken for that one.",
    "PAGE003": "A value of the front matter has a type that its key does not take; it was left out.",
    "PAGE004": "A tag is not closed; its contents are shown without it.",
    "PAGE005": "A closing tag has no opening tag; it was left out.",
    "PAGE006": "A component is unknown; its contents are shown without it, and with an `href` it is a link.",
    "PAGE007": "An attribute is an expression; expressions are not evaluated, and it was left out.",
    "PAGE008": "An expression in the text is shown as it was written.",
    "PAGE009": "An import or export is code or cannot be found; it was left out.",
    "PAGE010": "A snippet does not exist.",
    "PAGE011": "A snippet contains itself; the inner one was left out.",
    "PAGE012": "An element of HTML is not allowed on pages; it was removed.",
    "PAGE013": "An attribute of HTML is not allowed on pages; it was removed.",
    "PAGE014": "An address has a scheme that links must not have; the text is shown without the link.",
    "PAGE015": "An image, video or frame of another host is shown as a link.",
    "PAGE016": "Tags are nested too deeply; the innermost are shown without their tags.",
    "PAGE017": "A diagram or formula is shown as its code.",
    "PAGE018": "A block of code is not closed; it reaches to the end of the page.",
    "PAGE019": "An icon does not exist.",
    "PAGE020": "A comment is not closed; it is shown.",
    "PAGE021": "A formula between `$$` is shown as it was written.",
}
"""What each code means, in one line. Components have codes of their own (``tenantry_site.components``)."""
