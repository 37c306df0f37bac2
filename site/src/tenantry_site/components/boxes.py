"""What has a frame of its own: callouts, cards alone and in columns, and the entries of a changelog."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from tenantry_site.components import icons, markup
from tenantry_site.components.markup import children, color_class, line, safe
from tenantry_site.page import Component, Element, RenderContext


class CalloutKind(NamedTuple):
    """A kind of callout: its class, its label and its icon."""

    name: str
    label: str
    icon: str


NOTE = CalloutKind("note", "Note", "circle-info")
INFO = CalloutKind("info", "Info", "circle-info")
TIP = CalloutKind("tip", "Tip", "lightbulb")
CHECK = CalloutKind("check", "Check", "circle-check")
WARNING = CalloutKind("warning", "Warning", "triangle-exclamation")
DANGER = CalloutKind("danger", "Danger", "circle-exclamation")

_TYPES = {
    "note": NOTE, "info": INFO, "important": INFO, "tip": TIP, "hint": TIP, "check": CHECK, "success": CHECK,
    "warning": WARNING, "warn": WARNING, "caution": WARNING, "danger": DANGER, "error": DANGER,
}  # fmt: skip


def callout(element: Element, context: RenderContext) -> str:
    """``<Callout type icon iconType color title>``: a kind by ``type``, or one's own icon and colour."""
    wanted = element.text("type").lower()
    kind = _TYPES.get(wanted)
    if wanted and kind is None:
        markup.report_unusable(element, context, "type", "write one of note, info, tip, check, warning, danger")
    if kind is not None:
        return _callout(element, context, kind, kind.name)
    return _callout(element, context, CalloutKind("", "", ""), f"own{color_class(element, context)}")


def component_of(kind: CalloutKind) -> Component:
    """The component of one kind: ``<Warning>``, ``<Tip>``. ``title`` and ``icon`` are honoured."""
    return lambda element, context: _callout(element, context, kind, kind.name)


def _callout(element: Element, context: RenderContext, kind: CalloutKind, classes: str) -> str:
    own = line(context, element.text("title"))
    label = Markup('<span class="callout-word">{}</span>').format(kind.label) if kind.label else ""
    head = Markup('<p class="callout-title">{}</p>').format(Markup(" ").join(filter(None, (label, own))))
    body = markup.content(element, context, "callout-content")
    if not body and not own:
        markup.report_empty(element, context, "write its text between its tags")
    icon = icons.icon(element, context, kind.icon, colored=False)
    return Markup('<div class="callout callout-{}" role="note">{}<div class="callout-body">{}{}</div></div>').format(
        classes, icon, head if label or own else "", body
    )


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
    picture = element.text("img").strip()
    source = context.source(picture, element.line) if picture else None
    classes = "card card-horizontal" if element.flag("horizontal") else "card"
    return Markup('<div class="{}">{}{}<div class="card-body">{}{}{}</div></div>').format(
        classes,
        _IMAGE.format(safe(source)) if source else "",
        icons.icon(element, context),
        Markup('<p class="card-title">{}</p>').format(heading) if heading else "",
        markup.content(element, context, "card-content"),
        Markup('<p class="card-cta">{}</p>').format(element.text("cta")) if element.text("cta") else "",
    )


def card_group(element: Element, context: RenderContext) -> str:
    """``<CardGroup cols>``, ``<Columns cols>``: its children side by side where there is room."""
    wanted = element.text("cols") or "2"
    columns = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 3 else 0
    if not 1 <= columns <= COLUMNS:
        markup.report_unusable(element, context, "cols", f"write a number from 1 to {COLUMNS}")
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
