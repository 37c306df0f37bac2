"""Cards, alone and in columns, and the entries of a changelog."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.components import diagnostics, icons, markup
from tenantry_site.components.markup import children, line, safe
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
    heading = markup.title(element, context, target if href else "")
    if href:
        heading = Markup('<a class="card-link" href="{}">{}</a>').format(safe(href), markup.unlinked(heading))
    classes = "card card-horizontal" if element.flag("horizontal") else "card"
    return Markup('<div class="{}">{}{}<div class="card-body">{}{}{}</div></div>').format(
        classes,
        _image(element, context),
        icons.icon(element, context),
        Markup('<p class="card-title">{}</p>').format(heading) if heading else "",
        markup.content(element, context, "card-content"),
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
        diagnostics.unusable(element, context, "cols", f"write a number from 1 to {COLUMNS}")
        columns = min(columns, COLUMNS) or 2
    inner = children(context, *element.children)
    return Markup('<div class="cards cols-{}">{}</div>').format(columns, inner)


def column(element: Element, context: RenderContext) -> str:
    """``<Column>``: one of ``<Columns>``."""
    return Markup('<div class="column">{}</div>').format(children(context, *element.children))


_UPDATE = Markup(
    '<div class="update" id="{0}"><div class="update-head"><p class="update-label"><a href="#{0}">{1}</a></p>'
    '{2}{3}</div><div class="update-content">{4}</div></div>'
)


def update(element: Element, context: RenderContext) -> str:
    """``<Update label description tags>``. Its id is made of its label."""
    label = markup.unlinked(markup.title(element, context, "Update", attribute="label"))
    description = line(context, element.text("description"))
    tags = Markup().join(Markup('<li class="update-tag">{}</li>').format(tag) for tag in _tags(element))
    return _UPDATE.format(
        context.identifier(markup.plain(label), element.text("id")),
        label,
        Markup('<p class="update-description">{}</p>').format(description) if description else "",
        Markup('<ul class="update-tags" role="list">{}</ul>').format(tags) if tags else "",
        children(context, *element.children),
    )


def _tags(element: Element) -> list[str]:
    """A list, or a text with commas."""
    value = element.attributes.get("tags")
    found = value if isinstance(value, list) else element.text("tags").split(",")
    return [text for each in found if isinstance(each, (str, int, float)) and (text := str(each).strip())]
