"""Updates: the entries of a changelog."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.components import marks
from tenantry_site.components.drawn import children, line
from tenantry_site.nodes import Element, RenderContext

_UPDATE = Markup(
    '<div class="update" id="{0}"><div class="update-head"><p class="update-label"><a href="#{0}">{1}</a></p>'
    '{2}{3}</div><div class="update-content">{4}</div></div>'
)


def update(element: Element, context: RenderContext) -> str:
    """``<Update label description tags>``. Its id is made of its label."""
    label = marks.unlinked(marks.title(element, context, "Update", attribute="label"))
    description = line(context, element.text("description"))
    tags = Markup().join(Markup('<li class="update-tag">{}</li>').format(tag) for tag in _tags(element))
    return _UPDATE.format(
        context.identifier(marks.plain(label), element.text("id")),
        label,
        Markup('<p class="update-description">{}</p>').format(description) if description else "",
        Markup('<ul class="update-tags" role="list">{}</ul>').format(tags) if tags else "",
        children(context, *element.children),
    )


def _tags(element: Element) -> list[str]:
    """A list, or words with commas between them."""
    value = element.attributes.get("tags")
    found = value if isinstance(value, list) else element.text("tags").split(",")
    return [text for each in found if isinstance(each, (str, int, float)) and (text := str(each).strip())]
