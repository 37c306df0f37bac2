"""The parts of an API page that have no fields: unique ids, blocks of code behind tabs, the line with method and
address, the request in three languages and the examples of responses."""

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
    """The ids of one page."""

    __slots__ = ("_taken",)

    def __init__(self, html: str = "", taken: Iterable[str] = ()) -> None:
        self._taken = {*_IDS.findall(html), *taken}

    def new(self, parse_spec: str) -> str:
        """An id as near to ``wanted`` as can be."""
        bare = slug(parse_spec) or "part"
        name, number = bare, 2
        while name in self._taken:
            name, number = f"{bare}-{number}", number + 1
        self._taken.add(name)
        return name


def slug(text: str) -> str:
    """Words for an address: lower case, joined by hyphens."""
    return _WORD.sub("-", text.lower()).strip("-")[:80].rstrip("-")


Highlight = Callable[[str, str], str]
"""The finished block of a language and a text."""


@dataclass(frozen=True, slots=True)
class Block:
    """One text behind a tab."""

    title: str
    language: str
    text: str


def code_tabs(blocks: Iterable[Block], names: PageIds, highlight: Highlight, mark: str = "") -> Markup:
    """Blocks behind tabs. Without a script they stand one under the other. ``mark``: a name for scripts to find it."""
    tabs = [
        TabPanel(
            names.new(f"example-{block.title}"),
            escape(block.title),
            Markup(),
            Markup(highlight(block.language, block.text)),  # noqa: S704  # finished HTML, by its type
        )
        for block in blocks
    ]
    return tab_group(tabs, code=True, mark=mark)


def titled_example(kind: str, title: str, html: Markup) -> Markup:
    """A block or a group with words over it."""
    return render_template("components/example", kind=kind, title=title, content=html)


_NAMES: Final = re.compile(r"(\{[^{}]*\})")


def endpoint_bar(endpoint: Endpoint, *, base: bool, try_id: str = "") -> Markup:
    """Method, base address if ``base``, path. ``try_id`` is the id of the form, to lead to where the page is narrow."""
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
    """A server as a reader chooses it."""
    words = server.url or "This site"
    return f"{words} ({' '.join(server.description.split())[:60]})" if server.description else words


_MOST: Final = 12  # examples of answers; the statuses themselves are all in the documentation


def snippets(request: Request, names: PageIds, highlight: Highlight) -> Markup:
    """The request in each language."""
    blocks = (Block(title, language, write(request)) for title, language, write in LANGUAGES)
    return titled_example("request", "Request", code_tabs(blocks, names, highlight, "snippets"))


def response_examples(endpoint: Endpoint, names: PageIds, highlight: Highlight) -> Markup:
    """An example of each answer that has one."""
    blocks = list(_answers(endpoint.responses))[:_MOST]
    if not blocks:
        return Markup()
    return titled_example("response", "Response", code_tabs(blocks, names, highlight))


def request_examples(endpoint: Endpoint, names: PageIds, highlight: Highlight) -> Markup:
    """What a webhook sends."""
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
