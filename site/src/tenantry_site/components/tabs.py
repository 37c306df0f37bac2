"""Components that divide content into sections: tabs, code groups, steps, accordions and expandables.

Without JavaScript, tabs are a list of links with all sections below it; ``components.js`` turns them into a tablist.
Accordions and expandables are ``<details>`` elements, which need no script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from tenantry_site.components import icons, markup
from tenantry_site.components.markup import children, line, safe
from tenantry_site.page import CodeBlock, Element, Fragment, Node, RenderContext
from tenantry_site.templating import render_template

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^>]*>")
_VOID = frozenset({"br", "col", "hr", "img", "source", "track", "wbr"})


@dataclass(slots=True)
class ComponentPart:
    """A part of a component, such as a tab. ``rest``: the content between this part and the next."""

    node: Element | CodeBlock
    rest: list[Node] = field(default_factory=list)


def divide(
    element: Element, context: RenderContext, name: str, code: bool = False
) -> tuple[list[Node], list[ComponentPart]]:
    """The content before the first part, and the parts: the children called ``name`` and, with ``code``, code blocks.
    Content outside the parts is reported."""
    before: list[Node] = []
    parts: list[ComponentPart] = []
    for node in _children(element, context):
        if (isinstance(node, Element) and node.name == name) or (code and isinstance(node, CodeBlock)):
            parts.append(ComponentPart(node))
        else:
            (parts[-1].rest if parts else before).append(node)
    if not parts:
        return before, parts
    before = _balanced(before)
    for part in parts:
        part.rest = _balanced(part.rest)
    if before or any(part.rest for part in parts):
        markup.report_beside(element, context, "code block" if code else f"<{name}>")
    return before, parts


def _children(element: Element, context: RenderContext) -> Iterator[Node]:
    for node in element.children:
        if isinstance(node, Element) and node.name == "Snippet" and node.text("file"):
            yield from context.snippet(node.text("file"), node.line)
        else:
            yield node


def _balanced(nodes: list[Node]) -> list[Node]:
    """The nodes without unmatched HTML tags, which would break the page. Separating the parts leaves a tag unmatched if
    its element is around several parts. Empty if only white space is left."""
    unmatched: dict[int, list[tuple[int, int]]] = {}
    stack: list[tuple[str, int, tuple[int, int]]] = []
    for at, node in enumerate(nodes):
        if not isinstance(node, Fragment):
            continue
        for tag in _TAG.finditer(node.html):
            if tag[2].lower() in _VOID:
                continue
            if not tag[1]:
                stack.append((tag[2], at, tag.span()))
            elif stack and stack[-1][0] == tag[2]:
                stack.pop()
            else:
                unmatched.setdefault(at, []).append(tag.span())
    for _, at, span in stack:
        unmatched.setdefault(at, []).append(span)
    kept = [_without_tags(node, unmatched[at]) if at in unmatched else node for at, node in enumerate(nodes)]
    return [] if all(isinstance(node, Fragment) and not node.html.strip() for node in kept) else kept


def _without_tags(node: Node, spans: list[tuple[int, int]]) -> Node:
    if not isinstance(node, Fragment):
        return node
    html = node.html
    for start, end in sorted(spans, reverse=True):
        html = html[:start] + html[end:]
    return Fragment(html)


@dataclass(frozen=True, slots=True)
class TabPanel:
    """The template variables of a tab. ``titled``: the content already shows the title."""

    id: str
    title: Markup
    icon: Markup
    content: Markup
    titled: bool = False

    @property
    def key(self) -> str:
        """On a page, tabs with the same key are selected together."""
        return markup.plain(self.title).casefold()


def tabs(element: Element, context: RenderContext) -> str:
    """``<Tabs>`` with ``<Tab title icon iconType id>``. Tabs with the same title on a page are selected together."""
    before, parts = divide(element, context, "Tab")
    if not parts:
        return _without_parts(element, context, "put <Tab title=…> into it")
    rendered = [_tab(part, number, context) for number, part in enumerate(parts, 1)]
    return tab_group(rendered, children(context, *before))


def tab(element: Element, context: RenderContext) -> str:
    """A ``<Tab>`` outside ``<Tabs>``: it is reported, and rendered alone."""
    markup.report_outside(element, context, "<Tabs>")
    return render_template("components/tab", tab=_tab(ComponentPart(element), 1, context))


def code_group(element: Element, context: RenderContext) -> str:
    """``<CodeGroup>``: code blocks as tabs, each labelled with its title, else its language."""
    before, parts = divide(element, context, "Tab", code=True)
    if not parts:
        return _without_parts(element, context, "put fenced code blocks into it")
    rendered = [_code(part, number, context) for number, part in enumerate(parts, 1)]
    if len(rendered) == 1 and not isinstance(parts[0].node, Element):
        return children(context, *before) + rendered[0].content
    return tab_group(rendered, children(context, *before), code=True)


def request_example(element: Element, context: RenderContext) -> str:
    """``<RequestExample>``: a code group that an API page shows next to its text."""
    return _example(element, context, "request", "Request example")


def response_example(element: Element, context: RenderContext) -> str:
    """``<ResponseExample>``: a code group, like ``<RequestExample>``."""
    return _example(element, context, "response", "Response example")


def _example(element: Element, context: RenderContext, name: str, title: str) -> str:
    content = safe(code_group(element, context))
    return render_template("components/example", kind=name, title=title, content=content)


def _tab(part: ComponentPart, number: int, context: RenderContext) -> TabPanel:
    element = part.node
    assert isinstance(element, Element)  # noqa: S101  # only code groups have other parts
    title = markup.unlinked(markup.title(element, context, f"Tab {number}"))
    name = context.identifier(markup.plain(title), element.text("id"))
    return TabPanel(name, title, icons.icon(element, context), children(context, *element.children, *part.rest))


def _code(part: ComponentPart, number: int, context: RenderContext) -> TabPanel:
    code = part.node
    if isinstance(code, Element):
        return _tab(part, number, context)
    title = code.title or code.language or f"Code {number}"
    return TabPanel(
        context.identifier(title),
        escape(title),
        Markup(),
        safe(code.html) + children(context, *part.rest),
        bool(code.title),
    )


def tab_group(tabs: Sequence[TabPanel], before: str = "", *, code: bool = False, mark: str = "") -> Markup:
    """Tabs as a list of links, with the sections below the list. ``before``: content above the list. ``mark``: a name
    by which scripts find the group."""
    return render_template("components/tabs", tabs=tabs, before=before, code=code, mark=mark)


def _without_parts(element: Element, context: RenderContext, fix: str) -> str:
    markup.report_empty(element, context, fix)
    return children(context, *element.children)


SIZES = frozenset({"p", "h2", "h3", "h4"})
DIGITS = 4


def steps(element: Element, context: RenderContext) -> str:
    """``<Steps titleSize>`` with ``<Step title icon iconType titleSize stepNumber id>``."""
    before, parts = divide(element, context, "Step")
    if not parts:
        markup.report_empty(element, context, "put <Step title=…> into it")
        return children(context, *element.children)
    size = element.text("titleSize")
    items: list[dict[str, object]] = []
    number = 0
    for part in parts:
        if isinstance(part.node, Element):
            number = _number(part.node, number + 1, context)
            items.append(_step(part.node, tuple(part.rest), size, number, context))
    return children(context, *before) + render_template("components/steps", steps=items)


def step(element: Element, context: RenderContext) -> str:
    """A ``<Step>`` outside ``<Steps>``: it is reported, and rendered as a list of one step."""
    markup.report_outside(element, context, "<Steps>")
    alone = _step(element, (), "", _number(element, 1, context), context)
    return render_template("components/steps", steps=[alone])


def _step(
    element: Element, rest: tuple[Node, ...], size: str, number: int, context: RenderContext
) -> dict[str, object]:
    heading = markup.title(element, context)
    tag = element.text("titleSize") or size or "p"
    if tag not in SIZES:
        markup.report_unusable(element, context, "titleSize", "write one of p, h2, h3, h4")
        tag = "p"
    return {
        "id": context.identifier(markup.plain(heading) or "step", element.text("id")),
        "number": number,
        "icon": icons.icon(element, context),
        "title": heading,
        "tag": tag,
        "content": children(context, *element.children, *rest),
    }


def _number(element: Element, following: int, context: RenderContext) -> int:
    """The step's number: ``stepNumber`` if valid, else ``following``."""
    if "stepNumber" not in element.attributes:
        return following
    text = element.text("stepNumber")
    if text.isascii() and text.isdigit() and len(text) <= DIGITS:
        return int(text)
    markup.report_unusable(element, context, "stepNumber", f"write a number of at most {DIGITS} digits")
    return following


def accordion(element: Element, context: RenderContext) -> str:
    """``<Accordion title description icon iconType defaultOpen id>``. Without ``id``, the id is made from the title."""
    return _details(element, context, "accordion", "Details")


def accordion_group(element: Element, context: RenderContext) -> str:
    """``<AccordionGroup>``: accordions in one frame."""
    return render_template("components/accordion_group", content=children(context, *element.children))


def expandable(element: Element, context: RenderContext) -> str:
    """``<Expandable title defaultOpen>``: the nested fields of a field."""
    return _details(element, context, "expandable", "Details")


def _details(element: Element, context: RenderContext, name: str, default: str) -> str:
    heading = markup.title(element, context, default)
    description = line(context, element.text("description"))
    return render_template(
        "components/details",
        name=name,
        id=context.identifier(markup.plain(heading), element.text("id")),
        open=element.flag("defaultOpen") or element.flag("open"),
        icon=icons.icon(element, context),
        title=heading,
        description=description,
        content=markup.content(element, context),
    )
