"""Aside: what stands beside the documentation: the form, the request in three languages, examples of answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from markupsafe import Markup

from tenantry_site.reference.drawing import code
from tenantry_site.reference.drawing.code import Block, Highlight
from tenantry_site.reference.drawing.names import Names
from tenantry_site.reference.operation import Endpoint, Media, Response
from tenantry_site.reference.request import Request
from tenantry_site.reference.snippets import LANGUAGES

_MOST: Final = 12  # examples of answers; the statuses themselves are all in the documentation


def snippets(request: Request, names: Names, highlight: Highlight) -> Markup:
    """The request in each language."""
    blocks = (Block(title, language, write(request)) for title, language, write in LANGUAGES)
    return code.titled("request", "Request", code.group(blocks, names, highlight, "snippets"))


def answers(endpoint: Endpoint, names: Names, highlight: Highlight) -> Markup:
    """An example of each answer that has one."""
    blocks = list(_answers(endpoint.responses))[:_MOST]
    if not blocks:
        return Markup()
    return code.titled("response", "Response", code.group(blocks, names, highlight))


def payloads(endpoint: Endpoint, names: Names, highlight: Highlight) -> Markup:
    """What a webhook sends."""
    media = endpoint.body.media[:1] if endpoint.body is not None else ()
    blocks = [block for one in media for block in _examples(one, "")]
    return code.titled("request", "Payload", code.group(blocks, names, highlight)) if blocks else Markup()


def _answers(responses: tuple[Response, ...]) -> Iterator[Block]:
    for one in responses:
        if one.media:
            yield from _examples(one.media[0], one.status)


def _examples(media: Media, status: str) -> Iterator[Block]:
    language = {"json": "json", "text": media.type.rpartition("/")[2].rpartition("+")[2]}.get(media.form, "text")
    for example in media.examples:
        words = example.summary or (example.name if len(media.examples) > 1 or not status else "")
        yield Block(" ".join(filter(None, (status, words))), language, example.text)
