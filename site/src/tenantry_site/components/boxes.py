"""Components that draw boxes: callouts, cards, columns, and changelog entries."""

from __future__ import annotations

from typing import NamedTuple

from tenantry_site.components import icons, markup
from tenantry_site.components.markup import children, color_class, line, safe
from tenantry_site.page import Component, Element, RenderContext
from tenantry_site.templating import render_template


class CalloutKind(NamedTuple):
    """A kind of callout. ``name``: the CSS class."""

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
    """``<Callout type icon iconType color title>``. ``type`` selects a kind. Without it, the author's icon and colour
    are used."""
    wanted = element.text("type").lower()
    kind = _TYPES.get(wanted)
    if wanted and kind is None:
        markup.report_unusable(element, context, "type", "write one of note, info, tip, check, warning, danger")
    if kind is not None:
        return _callout(element, context, kind, kind.name)
    return _callout(element, context, CalloutKind("", "", ""), f"own{color_class(element, context)}")


def component_of(kind: CalloutKind) -> Component:
    """The component for one kind of callout, such as ``<Warning>``, with the attributes ``title`` and ``icon``."""
    return lambda element, context: _callout(element, context, kind, kind.name)


def _callout(element: Element, context: RenderContext, kind: CalloutKind, classes: str) -> str:
    own = line(context, element.text("title"))
    body = markup.content(element, context)
    if not body and not own:
        markup.report_empty(element, context, "write its text between its tags")
    icon = icons.icon(element, context, kind.icon, colored=False)
    return render_template("components/callout", classes=classes, icon=icon, label=kind.label, title=own, content=body)


COLUMNS = 4
"""Maximum number of columns that fit on a page."""


def card(element: Element, context: RenderContext) -> str:
    """``<Card title icon iconType color href img horizontal cta arrow>``.

    The whole card can be clicked, but only the title is an ``<a>``, because the card's text may contain other links.
    Without a title, the link has no visible text, and the card's text is its label.
    """
    target = element.text("href").strip()
    href = context.href(target, element.line) if target else None
    title = markup.title(element, context)
    content = markup.content(element, context)
    picture = element.text("img").strip()
    source = context.source(picture, element.line) if picture else None
    return render_template(
        "components/card",
        horizontal=element.flag("horizontal"),
        image=safe(source or ""),
        icon=icons.icon(element, context),
        href=safe(href or ""),
        title=markup.unlinked(title) if href else title,
        label=markup.plain(content) or element.text("cta") or target,
        content=content,
        cta=element.text("cta"),
    )


def card_group(element: Element, context: RenderContext) -> str:
    """``<CardGroup cols>``, ``<Columns cols>``: the children in columns, if there is room."""
    wanted = element.text("cols") or "2"
    columns = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 3 else 0
    if not 1 <= columns <= COLUMNS:
        markup.report_unusable(element, context, "cols", f"write a number from 1 to {COLUMNS}")
        columns = min(columns, COLUMNS) or 2
    return render_template("components/cards", columns=columns, content=children(context, *element.children))


def column(element: Element, context: RenderContext) -> str:
    return render_template("components/column", content=children(context, *element.children))


def update(element: Element, context: RenderContext) -> str:
    """``<Update label description tags>``, a changelog entry. The id is made from the label."""
    label = markup.unlinked(markup.title(element, context, "Update", attribute="label"))
    return render_template(
        "components/update",
        description=line(context, element.text("description")),
        id=context.identifier(markup.plain(label), element.text("id")),
        label=label,
        tags=_tags(element),
        content=children(context, *element.children),
    )


def _tags(element: Element) -> list[str]:
    """The attribute ``tags``: a list, or a string separated by commas."""
    value = element.attributes.get("tags")
    found = value if isinstance(value, list) else element.text("tags").split(",")
    return [text for each in found if isinstance(each, (str, int, float)) and (text := str(each).strip())]
