"""Components for frames around images, icons, tooltips, badges and snippets."""

from __future__ import annotations

from tenantry_site.components import icons, markup
from tenantry_site.components.markup import children, color_class, line
from tenantry_site.page import Element, RenderContext
from tenantry_site.templating import render_template

_SIZES = ((18, 3), (23, 4), (28, 5))
"""(Upper bound of an icon size in pixels, exclusive; step of the type scale). Larger icons get step 6."""


def frame(element: Element, context: RenderContext) -> str:
    """``<Frame caption hint>``: an image with a caption."""
    inner = children(context, *element.children)
    if not inner.strip():
        markup.report_empty(element, context, "put an image into it")
    return render_template(
        "components/frame",
        hint=line(context, element.text("hint")),
        content=inner,
        caption=line(context, element.text("caption")),
    )


def icon(element: Element, context: RenderContext) -> str:
    """``<Icon icon iconType color size>``. ``size``: in pixels."""
    attribute = "icon" if "icon" in element.attributes or "name" not in element.attributes else "name"
    if not element.text(attribute):
        markup.report_missing(element, context, "icon", "")
        return ""
    size, pixels = "inline", element.text("size").removesuffix("px")
    if pixels.isascii() and pixels.isdigit():
        size = f"size-{next((step for end, step in _SIZES if int(pixels[:6]) < end), 6)}"
    elif pixels:
        markup.report_unusable(element, context, "size", "write a number of pixels")
    return render_template("components/icon", size=size, icon=icons.icon(element, context, attribute=attribute))


def tooltip(element: Element, context: RenderContext) -> str:
    """``<Tooltip tip headline>``: an explanation, shown on hover and focus."""
    inner = children(context, *element.children)
    if not element.text("tip").strip():
        markup.report_missing(element, context, "tip", "")
        return inner
    tip = markup.unlinked(line(context, element.text("tip")))
    headline = markup.unlinked(line(context, element.text("headline")))
    return render_template(
        "components/tooltip", id=context.identifier("tip"), content=inner, headline=headline, tip=tip
    )


def badge(element: Element, context: RenderContext) -> str:
    """``<Badge color icon>``: a short label with a border."""
    return render_template(
        "components/badge",
        content=children(context, *element.children),
        color=color_class(element, context),
        icon=icons.icon(element, context, colored=False),
    )


def snippet(element: Element, context: RenderContext) -> str:
    """``<Snippet file>``: content that pages share, from another file."""
    path = element.text("file").strip()
    if not path:
        markup.report_missing(element, context, "file", "")
        return children(context, *element.children)
    return children(context, *context.snippet(path, element.line))
