"""Cards, alone and in columns."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.components import marks, notes
from tenantry_site.components.drawn import children, safe
from tenantry_site.nodes import Element, RenderContext

COLUMNS = 4
"""The most columns that a line of text of a page can be divided into."""

_IMAGE = Markup('<img class="card-image" src="{}" alt="" loading="lazy">')


def card(element: Element, context: RenderContext) -> str:
    """``<Card title icon iconType color href img horizontal cta arrow>``.

    The title is the link, and its target is the whole card: the text may hold links of its own.
    """
    target = element.text("href").strip()
    href = context.href(target, element.line) if target else None
    heading = marks.title(element, context, target if href else "")
    if href:
        heading = Markup('<a class="card-link" href="{}">{}</a>').format(safe(href), marks.unlinked(heading))
    classes = "card card-horizontal" if element.flag("horizontal") else "card"
    return Markup('<div class="{}">{}{}<div class="card-body">{}{}{}</div></div>').format(
        classes,
        _image(element, context),
        marks.icon(element, context),
        Markup('<p class="card-title">{}</p>').format(heading) if heading else "",
        marks.content(element, context, "card-content"),
        Markup('<p class="card-cta">{}</p>').format(element.text("cta")) if element.text("cta") else "",
    )


def _image(element: Element, context: RenderContext) -> Markup:
    path = element.text("img").strip()
    source = context.source(path, element.line) if path else None
    return _IMAGE.format(safe(source)) if source else Markup()


def group(element: Element, context: RenderContext) -> str:
    """``<CardGroup cols>``, ``<Columns cols>``: its children side by side where there is room."""
    wanted = element.text("cols") or "2"
    columns = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 3 else 0
    if not 1 <= columns <= COLUMNS:
        notes.unusable(element, context, "cols", f"write a number from 1 to {COLUMNS}")
        columns = min(columns, COLUMNS) or 2
    inner = children(context, *element.children)
    return Markup('<div class="cards cols-{}">{}</div>').format(columns, inner)


def column(element: Element, context: RenderContext) -> str:
    """``<Column>``: one of ``<Columns>``."""
    return Markup('<div class="column">{}</div>').format(children(context, *element.children))
