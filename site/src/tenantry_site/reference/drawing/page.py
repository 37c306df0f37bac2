"""Page: the two columns of an API page, put together."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from tenantry_site.reference.drawing import address, aside
from tenantry_site.reference.drawing.code import Highlight
from tenantry_site.reference.drawing.form import form
from tenantry_site.reference.drawing.names import Names
from tenantry_site.reference.drawing.sections import Part, Sections
from tenantry_site.reference.operation import Credential, Endpoint, Server
from tenantry_site.reference.own import divide
from tenantry_site.reference.prose import Prose
from tenantry_site.reference.request import NAME, PLACEHOLDER_HOST, initial, literal
from tenantry_site.reference.snippets.javascript import node_frame

_PAGE: Final = Markup(
    '<div class="api"{}><div class="api-columns"><div class="api-text">{}{}<div class="api-own">{}</div>{}</div>'
    '<div class="api-side">{}</div></div></div>'
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a page says of how it is drawn. ``relay`` is the address of the relay as the page has to write it."""

    mode: str = "show"
    relay: str = ""
    host: str = PLACEHOLDER_HOST
    repeat_description: bool = True


@dataclass(frozen=True, slots=True)
class Drawn:
    """An API page: its HTML, the sections that were added, and whether it has something for the script to do."""

    html: str
    parts: tuple[Part, ...]
    lively: bool


def draw(endpoint: Endpoint, html: str, setting: Setting, prose: Prose, highlight: Highlight) -> Drawn:
    """``html`` is what the page's author wrote; examples in it go to the side."""
    names = Names(html)
    own, examples = divide(html)
    shown = setting.mode == "show" and endpoint.callable
    try_id = names.new("try-it") if shown else ""
    parts = Sections(prose, names).draw(endpoint)
    described = prose.block(endpoint.description) if setting.repeat_description else Markup()
    side = []
    if shown:
        side.append(form(endpoint, try_id, names))
    if endpoint.callable:
        side.append(aside.snippets(initial(endpoint, setting.host), names, highlight))
    else:
        side.append(aside.payloads(endpoint, names, highlight))
    side.append(Markup(examples))  # noqa: S704  # a part of what a reader drew
    side.append(aside.answers(endpoint, names, highlight))
    lively = shown or (setting.mode != "hide" and len(endpoint.servers) > 1)
    facts = Markup(' data-api="{}"').format(_facts(endpoint, setting)) if lively else Markup()
    bar = address.bar(endpoint, base=setting.mode != "hide", try_id=try_id)
    written = Markup().join(part.html for part in parts)
    page = _PAGE.format(facts, bar, described, Markup(own), written, Markup().join(side))  # noqa: S704  # from a reader
    return Drawn(str(page), parts, lively)


def _facts(endpoint: Endpoint, setting: Setting) -> str:
    """What the script has to know, as JSON."""
    body = endpoint.body.media if endpoint.body is not None else ()
    facts = {
        "method": endpoint.method,
        "path": [one if index % 2 else literal(one) for index, one in enumerate(NAME.split(endpoint.path))],
        "servers": [_server(one) for one in endpoint.servers],
        "ways": [[_credential(one) for one in way] for way in endpoint.authorization],
        "media": [[one.type, one.form] for one in body],
        "host": setting.host,
        "query": "QUERY" in endpoint.siblings and endpoint.method != "QUERY",
        "relay": setting.relay,
        "node": _frame(endpoint),
    }
    return json.dumps({key: value for key, value in facts.items() if value}, ensure_ascii=False, separators=(",", ":"))


def _frame(endpoint: Endpoint) -> str:
    if endpoint.body is None or endpoint.method not in ("GET", "HEAD"):
        return ""
    return node_frame(endpoint.method, endpoint.body.media[0].form, by_query="QUERY" in endpoint.siblings)


def _server(one: Server) -> dict[str, Any]:
    return {"url": one.url, "filled": one.filled}


def _credential(one: Credential) -> dict[str, Any]:
    return {"kind": one.kind, "in": one.place, "name": one.name, "labels": one.labels}
