"""Author notes: the diagnostics of a site on its own pages, while it is written. A served site has none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.theme import render_template

_SHOWN = 50
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def author_notes(diagnostics: Iterable[Diagnostic], source: str) -> Markup:
    """A closed list at the foot of a page, those of ``source``, its file, first. Empty where all is well."""
    found = [each for each in diagnostics if each.severity is not Severity.INFO]
    found.sort(key=lambda each: (each.path != source, _ORDER[each.severity]))
    if not found:
        return Markup()
    here = sum(each.path == source for each in found) if source else 0
    return render_template("author_notes.html", count=len(found), here=here, **_items(found))


def error_page(diagnostics: Iterable[Diagnostic], root: str, script: Markup) -> bytes:
    """The page instead of a site that cannot be shown. ``root`` leads to the site's root."""
    found = sorted(diagnostics, key=lambda each: _ORDER[each.severity])
    return render_template("author_page.html", root=root, script=script, **_items(found)).encode()


def _items(diagnostics: Sequence[Diagnostic]) -> dict[str, object]:
    shown = [
        (each, ":".join([each.path or "the site", *(str(number) for number in (each.line, each.column) if number)]))
        for each in diagnostics[:_SHOWN]
    ]
    return {"items": shown, "more": len(diagnostics) - len(shown)}
