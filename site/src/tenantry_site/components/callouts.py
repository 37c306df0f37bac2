"""Callouts: a few sentences apart from the text, with an icon and a label."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from tenantry_site.components import diagnostics, icons, markup
from tenantry_site.components.colors import color_class
from tenantry_site.components.markup import line
from tenantry_site.nodes import Component, Element, RenderContext


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
        diagnostics.unusable(element, context, "type", "write one of note, info, tip, check, warning, danger")
    if kind is not None:
        return _render(element, context, kind, kind.name)
    return _render(element, context, CalloutKind("", "", ""), f"own{color_class(element, context)}")


def component_of(kind: CalloutKind) -> Component:
    """The component of one kind: ``<Warning>``, ``<Tip>``. ``title`` and ``icon`` are honoured."""
    return lambda element, context: _render(element, context, kind, kind.name)


def _render(element: Element, context: RenderContext, kind: CalloutKind, classes: str) -> str:
    own = line(context, element.text("title"))
    label = Markup('<span class="callout-word">{}</span>').format(kind.label) if kind.label else ""
    head = Markup('<p class="callout-title">{}</p>').format(Markup(" ").join(filter(None, (label, own))))
    body = markup.content(element, context, "callout-content")
    if not body and not own:
        diagnostics.empty(element, context, "write its text between its tags")
    icon = icons.icon(element, context, kind.icon, colored=False)
    return Markup('<div class="callout callout-{}" role="note">{}<div class="callout-body">{}{}</div></div>').format(
        classes, icon, head if label or own else "", body
    )
