"""The parts of a component that consists of parts: tabs of tabs, steps of steps, blocks of a code group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tenantry_site.components import notes
from tenantry_site.nodes import CodeBlock, Element, Fragment, Node, RenderContext

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^>]*>")
_VOID = frozenset({"br", "col", "hr", "img", "source", "track", "wbr"})


@dataclass(slots=True)
class Part:
    """One part, and what stands between it and the next."""

    node: Element | CodeBlock
    rest: list[Node] = field(default_factory=list)


def divide(element: Element, context: RenderContext, name: str, code: bool = False) -> tuple[list[Node], list[Part]]:
    """What stands before the first part, and the parts: children with the name, or blocks of ``code``."""
    before: list[Node] = []
    parts: list[Part] = []
    for node in _opened(element, context):
        if (isinstance(node, Element) and node.name == name) or (code and isinstance(node, CodeBlock)):
            parts.append(Part(node))
        else:
            (parts[-1].rest if parts else before).append(node)
    if not parts:
        return before, parts
    before = _whole(before)
    for part in parts:
        part.rest = _whole(part.rest)
    if before or any(part.rest for part in parts):
        notes.beside(element, context, "block of code" if code else f"<{name}>")
    return before, parts


def _opened(element: Element, context: RenderContext) -> Iterator[Node]:
    """The children, with those of snippets in the snippets' place."""
    for node in element.children:
        if isinstance(node, Element) and node.name == "Snippet" and node.text("file"):
            yield from context.snippet(node.text("file"), node.line)
        else:
            yield node


def _whole(nodes: list[Node]) -> list[Node]:
    """Nodes without tags that open or close something around the parts: they would tear the page apart here.

    Empty if nothing but space is left.
    """
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
    kept = [_without(node, unmatched[at]) if at in unmatched else node for at, node in enumerate(nodes)]
    return [] if all(isinstance(node, Fragment) and not node.html.strip() for node in kept) else kept


def _without(node: Node, spans: list[tuple[int, int]]) -> Node:
    if not isinstance(node, Fragment):
        return node
    html = node.html
    for start, end in sorted(spans, reverse=True):
        html = html[:start] + html[end:]
    return Fragment(html)
