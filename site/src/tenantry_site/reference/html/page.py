"""Renders an API page in two columns: on one side the author's text and the documentation, on the other the form and
examples."""

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
    """Split the author's HTML into the text and the examples for the second column.

    All examples stay in the text, and the second string is empty, in two cases: there is more than one example for the
    request or for the response, or an example is inside another element.
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
    """The spans of the examples that are not inside another element. The HTML is well-formed."""
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
    """How to render a page. ``mode``: ``show``, ``simple`` or ``hide``. ``relay``: relative address of the relay, empty
    without one. ``host``: origin of the docs. ``repeat_description``: show the description of the operation."""

    mode: str = "show"
    relay: str = ""
    host: str = PLACEHOLDER_HOST
    repeat_description: bool = True


@dataclass(frozen=True, slots=True)
class RenderedEndpoint:
    """A rendered API page. ``parts``: the sections about the endpoint. ``interactive``: the page needs the playground's
    script."""

    html: str
    parts: tuple[Part, ...]
    interactive: bool


def render_endpoint(
    endpoint: Endpoint, html: str, setting: PageSettings, descriptions: Descriptions, highlight: Highlight
) -> RenderedEndpoint:
    """Render an API page. ``html``: the author's content, from which examples may move to the second column."""
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
    side.append(Markup(examples))  # noqa: S704  # part of ``html``, which is safe
    side.append(blocks.response_examples(endpoint, names, highlight))
    interactive = shown or (setting.mode != "hide" and len(endpoint.servers) > 1)
    page = render_template(
        "reference/endpoint",
        facts=_facts(endpoint, setting) if interactive else "",
        bar=blocks.endpoint_bar(endpoint, base=setting.mode != "hide", try_id=try_id),
        description=described,
        own=Markup(own),  # noqa: S704  # part of ``html``, which is safe
        parts=parts,
        side=side,
    )
    return RenderedEndpoint(str(page), parts, interactive)


def _facts(endpoint: Endpoint, setting: PageSettings) -> str:
    """The data about the endpoint that the playground's script needs, as JSON."""
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
