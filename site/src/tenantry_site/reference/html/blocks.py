"""Renders parts of an API page: the line with method and address, the code of the request in three languages, and the
examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from tenantry_site.components.tabs import TabPanel, tab_group
from tenantry_site.reference.operation import Endpoint, Media, Response, Server
from tenantry_site.reference.request import Request
from tenantry_site.reference.snippets import LANGUAGES
from tenantry_site.templating import render_template

_WORD: Final = re.compile(r"[^a-z0-9_]+")
_IDS: Final = re.compile(r'\bid="([^"]*)"')


class PageIds:
    """Hands out unique ids on one page. ``html``: HTML whose ids are taken. ``taken``: further ids that are taken."""

    __slots__ = ("_taken",)

    def __init__(self, html: str = "", taken: Iterable[str] = ()) -> None:
        self._taken = {*_IDS.findall(html), *taken}

    def new(self, wanted: str) -> str:
        """An unused id: the slug of ``wanted``, with a number added if it is taken."""
        bare = slug(wanted) or "part"
        name, number = bare, 2
        while name in self._taken:
            name, number = f"{bare}-{number}", number + 1
        self._taken.add(name)
        return name


def slug(text: str) -> str:
    """The words of the text in lower case, joined by hyphens, for ids and addresses; at most 80 characters."""
    return _WORD.sub("-", text.lower()).strip("-")[:80].rstrip("-")


Highlight = Callable[[str, str], str]
"""Returns the HTML of a code block, given its language and code."""


@dataclass(frozen=True, slots=True)
class Block:
    title: str
    language: str
    text: str


def code_tabs(blocks: Iterable[Block], names: PageIds, highlight: Highlight, mark: str = "") -> Markup:
    """Code blocks as tabs; without a script, one below the other. ``mark``: a name by which scripts find the group."""
    tabs = [
        TabPanel(
            names.new(f"example-{block.title}"),
            escape(block.title),
            Markup(),
            Markup(highlight(block.language, block.text)),  # noqa: S704  # Highlight returns HTML
        )
        for block in blocks
    ]
    return tab_group(tabs, code=True, mark=mark)


def titled_example(kind: str, title: str, html: Markup) -> Markup:
    """A code block or group of tabs with a title. ``kind``: ``request`` or ``response``."""
    return render_template("components/example", kind=kind, title=title, content=html)


_NAMES: Final = re.compile(r"(\{[^{}]*\})")


def endpoint_bar(endpoint: Endpoint, *, base: bool, try_id: str = "") -> Markup:
    """The line with method, address and path. ``base``: show the server's address. ``try_id``: id of the form, to which
    the line links on narrow screens."""
    servers = endpoint.servers if base else ()
    return render_template(
        "reference/endpoint_bar",
        method=endpoint.method,
        servers=[server_label(server) for server in servers],
        base=servers[0].url if servers else "",
        path=_NAMES.split(endpoint.path),
        deprecated=endpoint.deprecated,
        try_id=try_id,
    )


def server_label(server: Server) -> str:
    words = server.url or "This site"
    return f"{words} ({' '.join(server.description.split())[:60]})" if server.description else words


_MOST: Final = 12  # maximum number of response examples; descriptions of responses have no such limit


def snippets(request: Request, names: PageIds, highlight: Highlight) -> Markup:
    blocks = (Block(title, language, write(request)) for title, language, write in LANGUAGES)
    return titled_example("request", "Request", code_tabs(blocks, names, highlight, "snippets"))


def response_examples(endpoint: Endpoint, names: PageIds, highlight: Highlight) -> Markup:
    """The examples of responses, as tabs; empty without examples."""
    blocks = list(_answers(endpoint.responses))[:_MOST]
    if not blocks:
        return Markup()
    return titled_example("response", "Response", code_tabs(blocks, names, highlight))


def request_examples(endpoint: Endpoint, names: PageIds, highlight: Highlight) -> Markup:
    """The examples of the request that a webhook sends, as tabs; empty without examples."""
    media = endpoint.body.media[:1] if endpoint.body is not None else ()
    blocks = [block for one in media for block in _examples(one, "")]
    return titled_example("request", "Payload", code_tabs(blocks, names, highlight)) if blocks else Markup()


def _answers(responses: tuple[Response, ...]) -> Iterator[Block]:
    for one in responses:
        if one.media:
            yield from _examples(one.media[0], one.status)


def _examples(media: Media, status: str) -> Iterator[Block]:
    language = {"json": "json", "text": media.type.rpartition("/")[2].rpartition("+")[2]}.get(media.form, "text")
    for example in media.examples:
        words = example.summary or (example.name if len(media.examples) > 1 or not status else "")
        yield Block(" ".join(filter(None, (status, words))), language, example.text)
