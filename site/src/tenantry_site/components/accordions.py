"""What opens and closes: accordions and expandables. Both are ``<details>`` and need no script."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.components import icons, markup
from tenantry_site.components.markup import children, line
from tenantry_site.nodes import Element, RenderContext

_DETAILS = Markup(
    '<details class="{}" id="{}"{}><summary>{}<span class="summary-text">{}{}</span></summary>{}</details>'
)


def accordion(element: Element, context: RenderContext) -> str:
    """``<Accordion title description icon iconType defaultOpen id>``. Its id is made of its title."""
    return _details(element, context, "accordion", "Details")


def group(element: Element, context: RenderContext) -> str:
    """``<AccordionGroup>``: accordions in one frame."""
    return Markup('<div class="accordion-group">{}</div>').format(children(context, *element.children))


def expandable(element: Element, context: RenderContext) -> str:
    """``<Expandable title defaultOpen>``: the fields of a field."""
    return _details(element, context, "expandable", "Details")


def _details(element: Element, context: RenderContext, name: str, default: str) -> str:
    heading = markup.title(element, context, default)
    description = line(context, element.text("description"))
    return _DETAILS.format(
        name,
        context.identifier(markup.plain(heading), element.text("id")),
        Markup(" open") if element.flag("defaultOpen") or element.flag("open") else "",
        icons.icon(element, context),
        Markup('<span class="summary-title">{}</span>').format(heading),
        Markup('<span class="summary-description">{}</span>').format(description) if description else "",
        markup.content(element, context, f"{name}-content"),
    )
