"""Callouts: a few sentences apart from the text, with an icon and a word."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from tenantry_site.components import marks, notes
from tenantry_site.components.drawn import line
from tenantry_site.components.tints import tint
from tenantry_site.nodes import Component, Element, RenderContext


class Sort(NamedTuple):
    """A sort of callout: its class, its word and its icon."""

    name: str
    word: str
    icon: str


NOTE = Sort("note", "Note", "circle-info")
INFO = Sort("info", "Info", "circle-info")
TIP = Sort("tip", "Tip", "lightbulb")
CHECK = Sort("check", "Check", "circle-check")
WARNING = Sort("warning", "Warning", "triangle-exclamation")
DANGER = Sort("danger", "Danger", "circle-exclamation")

_TYPES = {
    "note": NOTE, "info": INFO, "important": INFO, "tip": TIP, "hint": TIP, "check": CHECK, "success": CHECK,
    "warning": WARNING, "warn": WARNING, "caution": WARNING, "danger": DANGER, "error": DANGER,
}  # fmt: skip


def callout(element: Element, context: RenderContext) -> str:
    """``<Callout type icon iconType color title>``: a sort by ``type``, or one's own icon and colour."""
    wanted = element.text("type").lower()
    sort = _TYPES.get(wanted)
    if wanted and sort is None:
        notes.unusable(element, context, "type", "write one of note, info, tip, check, warning, danger")
    if sort is not None:
        return _draw(element, context, sort, sort.name)
    return _draw(element, context, Sort("", "", ""), f"own{tint(element, context)}")


def of(sort: Sort) -> Component:
    """The component of one sort: ``<Warning>``, ``<Tip>``. ``title`` and ``icon`` are honoured."""
    return lambda element, context: _draw(element, context, sort, sort.name)


def _draw(element: Element, context: RenderContext, sort: Sort, classes: str) -> str:
    own = line(context, element.text("title"))
    word = Markup('<span class="callout-word">{}</span>').format(sort.word) if sort.word else ""
    head = Markup('<p class="callout-title">{}</p>').format(Markup(" ").join(filter(None, (word, own))))
    body = marks.content(element, context, "callout-content")
    if not body and not own:
        notes.empty(element, context, "write what it is to say between its tags")
    icon = marks.icon(element, context, sort.icon, tinted=False)
    return Markup('<div class="callout callout-{}" role="note">{}<div class="callout-body">{}{}</div></div>').format(
        classes, icon, head if word or own else "", body
    )
