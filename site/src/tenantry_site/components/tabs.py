"""Tabs of text and of code.

Without a script they are a list of links and the sections that it leads to, one under the other; the script makes a
tablist of them (``components.js``).
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape

from tenantry_site.components import marks, notes
from tenantry_site.components.drawn import children, safe
from tenantry_site.components.parts import Part, divide
from tenantry_site.nodes import Element, RenderContext

_TABS = Markup('<div class="{}" data-tabs>{}<div class="tab-list">{}</div>{}</div>')
_LINK = Markup('<a class="tab-link" href="#{}">{}{}</a>')
_PANEL = Markup('<div class="tab" id="{}" data-tab="{}">{}{}</div>')
_TITLE = Markup('<p class="tab-title">{}{}</p>')


@dataclass(frozen=True, slots=True)
class _Tab:
    """A tab, drawn. ``titled``: its content shows the title by itself."""

    id: str
    title: Markup
    icon: Markup
    content: Markup
    titled: bool = False


def tabs(element: Element, context: RenderContext) -> str:
    """``<Tabs>`` of ``<Tab title icon iconType id>``. Tabs of the same title change together on a page."""
    before, parts = divide(element, context, "Tab")
    if not parts:
        return _nothing(element, context, "put <Tab title=…> into it")
    drawn = [_tab(part, number, context) for number, part in enumerate(parts, 1)]
    return _write("tab-group", children(context, *before), drawn)


def tab(element: Element, context: RenderContext) -> str:
    """A ``<Tab>`` that stands alone."""
    notes.outside(element, context, "<Tabs>")
    alone = _tab(Part(element), 1, context)
    return Markup('<div class="tab-alone" id="{}">{}{}</div>').format(
        alone.id,
        _TITLE.format(alone.icon, alone.title),
        alone.content,
    )


def code_group(element: Element, context: RenderContext) -> str:
    """``<CodeGroup>``: blocks of code, each under its title, else its language."""
    before, parts = divide(element, context, "Tab", code=True)
    if not parts:
        return _nothing(element, context, "put fenced blocks of code into it")
    drawn = [_code(part, number, context) for number, part in enumerate(parts, 1)]
    if len(drawn) == 1 and not isinstance(parts[0].node, Element):
        return children(context, *before) + drawn[0].content
    return _write("tab-group code-group", children(context, *before), drawn)


def request_example(element: Element, context: RenderContext) -> str:
    """``<RequestExample>``: a code group that an API page shows beside its text."""
    return _example(element, context, "request", "Request example")


def response_example(element: Element, context: RenderContext) -> str:
    """``<ResponseExample>``."""
    return _example(element, context, "response", "Response example")


def _example(element: Element, context: RenderContext, name: str, words: str) -> str:
    return Markup('<div class="example example-{}"><p class="example-title">{}</p>{}</div>').format(
        name,
        words,
        safe(code_group(element, context)),
    )


def _tab(part: Part, number: int, context: RenderContext) -> _Tab:
    element = part.node
    assert isinstance(element, Element)  # noqa: S101  # tabs of text have no other parts
    title = marks.unlinked(marks.title(element, context, f"Tab {number}"))
    name = context.identifier(marks.plain(title), element.text("id"))
    return _Tab(name, title, marks.icon(element, context), children(context, *element.children, *part.rest))


def _code(part: Part, number: int, context: RenderContext) -> _Tab:
    code = part.node
    if isinstance(code, Element):
        return _tab(part, number, context)
    title = code.title or code.language or f"Code {number}"
    return _Tab(
        context.identifier(title),
        escape(title),
        Markup(),
        safe(code.html) + children(context, *part.rest),
        bool(code.title),
    )


def _write(classes: str, before: Markup, drawn: list[_Tab]) -> str:
    links = Markup().join(_LINK.format(each.id, each.icon, each.title) for each in drawn)
    panels = Markup().join(
        _PANEL.format(
            each.id,
            marks.plain(each.title).casefold(),
            "" if each.titled else _TITLE.format(each.icon, each.title),
            each.content,
        )
        for each in drawn
    )
    return _TABS.format(classes, before, links, panels)


def _nothing(element: Element, context: RenderContext, fix: str) -> str:
    notes.empty(element, context, fix)
    return children(context, *element.children)
