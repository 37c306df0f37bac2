"""The components by name, and the link that is rendered for an unknown component with ``href``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from markupsafe import Markup

from tenantry_site.components import boxes, markup, media, params, tabs
from tenantry_site.components.markup import children, line, safe
from tenantry_site.page import Component, Element, RenderContext
from tenantry_site.templating import render_template

_BY_NAME: Mapping[str, Component] = {
    "Accordion": tabs.accordion,
    "AccordionGroup": tabs.accordion_group,
    "Badge": media.badge,
    "Callout": boxes.callout,
    "Card": boxes.card,
    "CardGroup": boxes.card_group,
    "Check": boxes.component_of(boxes.CHECK),
    "CodeGroup": tabs.code_group,
    "Column": boxes.column,
    "Columns": boxes.card_group,
    "Danger": boxes.component_of(boxes.DANGER),
    "Expandable": tabs.expandable,
    "Frame": media.frame,
    "Icon": media.icon,
    "Info": boxes.component_of(boxes.INFO),
    "Note": boxes.component_of(boxes.NOTE),
    "ParamField": params.param_field,
    "RequestExample": tabs.request_example,
    "ResponseExample": tabs.response_example,
    "ResponseField": params.response_field,
    "Snippet": media.snippet,
    "Step": tabs.step,
    "Steps": tabs.steps,
    "Tab": tabs.tab,
    "Tabs": tabs.tabs,
    "Tip": boxes.component_of(boxes.TIP),
    "Tooltip": media.tooltip,
    "Update": boxes.update,
    "Warning": boxes.component_of(boxes.WARNING),
}


def _as_plain_text(component: Component) -> Component:
    """Make a component return a plain str: joining ``Markup`` to other strings would escape them."""
    return lambda element, context: str(component(element, context))


COMPONENTS: Mapping[str, Component] = {name: _as_plain_text(component) for name, component in _BY_NAME.items()}
"""Name of an element -> the component that renders it."""


_TITLE_ATTRIBUTES = ("title", "label", "name", "text", "cta", "alt")
"""Attributes with the text of an unknown component, in order of preference."""
_BLOCK = re.compile(r"<(?!/?(?:a|abbr|b|br|code|del|em|i|img|kbd|mark|path|s|small|span|strong|sub|sup|svg|u)\b)")
_PARAGRAPH = re.compile(r"\s*<p>((?:(?!</?p>).)*)</p>\s*", re.DOTALL)


def unknown_link(element: Element, context: RenderContext) -> str:
    """A link for an unknown component with ``href``. The text is the title, else the contents, else the address.
    Contents with blocks or links, which a link may not contain, follow the link."""
    target = element.text("href").strip()
    href = context.href(target, element.line)
    inner = children(context, *element.children)
    if href is None:
        return str(inner)
    title = next((found for name in _TITLE_ATTRIBUTES if (found := line(context, element.text(name)))), Markup())
    only = _PARAGRAPH.fullmatch(inner)
    text = safe(only[1]) if only else inner
    if not title and text.strip() and not _BLOCK.search(text) and "<a" not in text:
        title, inner = text.strip(), Markup()
    else:
        title = markup.unlinked(title)
    link = render_template("components/link", inline=element.inline, href=safe(href), text=title or target)
    return str(link + inner)
