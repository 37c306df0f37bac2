"""Notes: what the author of a site is told on its pages while writing. A reader of a served site never sees them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tenantry_site.diagnostic import Diagnostic, Severity

_SHOWN = 50
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def notes(found: Iterable[Diagnostic], source: str) -> str:
    """A closed list at the foot of a page: what is said of ``source``, its file, first. Empty where all is well."""
    told = [said for said in found if said.severity is not Severity.INFO]
    told.sort(key=lambda said: (said.path != source, _ORDER[said.severity]))
    if not told:
        return ""
    here = sum(said.path == source for said in told) if source else 0
    return (
        '<aside aria-label="Notes for the author"><details class="author-notes">'
        f"<summary>{_counted(len(told))}{f', {here} of them on this page' if here else ''}</summary>"
        f"{_list(told)}</details></aside>"
    )


def notes_page(found: Iterable[Diagnostic], up: str, script: str) -> bytes:
    """The page that stands in for a site that cannot be shown. ``up`` leads to the site's root."""
    told = sorted(found, key=lambda said: _ORDER[said.severity])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The site cannot be shown</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="{escape(up)}_tokens.css">{script}</head>'
        '<body class="author-page"><main><h1>The site cannot be shown</h1>'
        f'<p>This page shows the site as soon as it can.</p><div class="author-notes">{_list(told)}</div>'
        "</main></body></html>"
    ).encode()


def _counted(number: int) -> str:
    return "1 thing to mend" if number == 1 else f"{number:,} things to mend"


def _list(told: Sequence[Diagnostic]) -> str:
    items = "".join(map(_item, told[:_SHOWN]))
    rest = len(told) - _SHOWN
    return f"<ul>{items}{f'<li>and {rest:,} more: tenantry site check</li>' if rest > 0 else ''}</ul>"


def _item(said: Diagnostic) -> str:
    place = ":".join([said.path or "the site", *(str(number) for number in (said.line, said.column) if number)])
    return (
        f'<li><p><span class="{said.severity.value}">{said.severity.value}</span> {escape(said.message)}</p>'
        f"{f'<p>{escape(said.fix)}</p>' if said.fix else ''}<code>{escape(place)} {escape(said.code)}</code></li>"
    )
