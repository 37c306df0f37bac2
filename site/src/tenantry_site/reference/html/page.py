"""The two columns of an API page, put together: the text that its author wrote without the examples that belong beside
it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from tenantry_site.reference.descriptions import Descriptions
from tenantry_site.reference.html import blocks
from tenantry_site.reference.html.blocks import Highlight, PageIds
from tenantry_site.reference.html.form import form
from tenantry_site.reference.html.sections import Part, Sections
from tenantry_site.reference.operation import Credential, Endpoint
from tenantry_site.reference.request import NAME, PLACEHOLDER_HOST, initial, literal
from tenantry_site.reference.snippets import node_frame
from tenantry_site.templating import render_template

_EDGE: Final = re.compile(r"<(/?)(?:div|details|figure|section|table|ul|ol|blockquote)\b")
_EXAMPLE: Final = '<div class="example example-'


def split_examples(html: str) -> tuple[str, str]:
    """The text, and the examples: at most one of a request and one of a response, which are in nothing else.

    More of them belong to the words around them, and stay.
    """
    if _EXAMPLE not in html:
        return html, ""
    spans = list(_spans(html))
    kinds = [html[start + len(_EXAMPLE) : start + len(_EXAMPLE) + 3] for start, _ in spans]
    if len(kinds) != len(set(kinds)) or len(spans) != html.count(_EXAMPLE):
        return html, ""
    taken = "".join(html[start:end] for start, end in spans)
    for start, end in reversed(spans):
        html = html[:start] + html[end:]
    return html, taken


def _spans(html: str) -> list[tuple[int, int]]:
    """Where the examples at the outermost level begin and end; finished HTML closes what it opens."""
    found, depth, start = [], 0, -1
    for edge in _EDGE.finditer(html):
        if edge[1]:
            depth -= 1
            if start >= 0 and depth == 0:
                found.append((start, html.index(">", edge.end()) + 1))
                start = -1
        else:
            if depth == 0 and html.startswith(_EXAMPLE, edge.start()):
                start = edge.start()
            depth += 1
    return found


@dataclass(frozen=True, slots=True)
class PageSettings:
    """What a page says of how it is rendered. ``relay`` is the address of the relay as the page has to write it."""

    mode: str = "show"
    relay: str = ""
    host: str = PLACEHOLDER_HOST
    repeat_description: bool = True


@dataclass(frozen=True, slots=True)
class RenderedEndpoint:
    """An API page: its HTML, the sections that were added, and whether it has something for the script to do."""

    html: str
    parts: tuple[Part, ...]
    interactive: bool


def render_endpoint(
    endpoint: Endpoint, html: str, setting: PageSettings, descriptions: Descriptions, highlight: Highlight
) -> RenderedEndpoint:
    """``html`` is what the page's author wrote; examples in it go to the side."""
    names = PageIds(html)
    own, examples = split_examples(html)
    shown = setting.mode == "show" and endpoint.callable
    try_id = names.new("try-it") if shown else ""
    parts = Sections(descriptions, names).render(endpoint)
    described = descriptions.block(endpoint.description) if setting.repeat_description else Markup()
    side = []
    if shown:
        side.append(form(endpoint, try_id, names))
    if endpoint.callable:
        side.append(blocks.snippets(initial(endpoint, setting.host), names, highlight))
    else:
        side.append(blocks.request_examples(endpoint, names, highlight))
    side.append(Markup(examples))  # noqa: S704  # a part of what a reader rendered
    side.append(blocks.response_examples(endpoint, names, highlight))
    interactive = shown or (setting.mode != "hide" and len(endpoint.servers) > 1)
    page = render_template(
        "reference/endpoint",
        facts=_facts(endpoint, setting) if interactive else "",
        bar=blocks.endpoint_bar(endpoint, base=setting.mode != "hide", try_id=try_id),
        description=described,
        own=Markup(own),  # noqa: S704  # from a reader
        parts=parts,
        side=side,
    )
    return RenderedEndpoint(str(page), parts, interactive)


def _facts(endpoint: Endpoint, setting: PageSettings) -> str:
    """What the script has to know, as JSON."""
    body = endpoint.body.media if endpoint.body is not None else ()
    facts = {
        "method": endpoint.method,
        "path": [one if index % 2 else literal(one) for index, one in enumerate(NAME.split(endpoint.path))],
        "servers": [{"url": one.url, "filled": one.filled} for one in endpoint.servers],
        "ways": [[_credential(one) for one in way] for way in endpoint.authorization],
        "media": [[one.type, one.form] for one in body],
        "host": setting.host,
        "query": "QUERY" in endpoint.path_methods and endpoint.method != "QUERY",
        "relay": setting.relay,
        "node": _frame(endpoint),
    }
    return json.dumps({key: value for key, value in facts.items() if value}, ensure_ascii=False, separators=(",", ":"))


def _frame(endpoint: Endpoint) -> str:
    if endpoint.body is None or endpoint.method not in ("GET", "HEAD"):
        return ""
    return node_frame(endpoint.method, endpoint.body.media[0].form, by_query="QUERY" in endpoint.path_methods)


def _credential(one: Credential) -> dict[str, Any]:
    return {"kind": one.kind, "in": one.location, "name": one.name, "labels": one.labels}
