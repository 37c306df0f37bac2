"""The parts of an API page that have no fields: unique ids, blocks of code behind tabs, the line with method and
address, the request in three languages and the examples of responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from tenantry_site.reference.operation import Endpoint, Media, Response, Server
from tenantry_site.reference.request import Request
from tenantry_site.reference.snippets import LANGUAGES

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

_TABS: Final = Markup('<div class="tab-group code-group" data-tabs{}><div class="tab-list">{}</div>{}</div>')
_LINK: Final = Markup('<a class="tab-link" href="#{}">{}</a>')
_PANEL: Final = Markup('<div class="tab" id="{}" data-tab="{}"><p class="tab-title">{}</p>{}</div>')
_TITLED: Final = Markup('<div class="example example-{}"><p class="example-title">{}</p>{}</div>')


@dataclass(frozen=True, slots=True)
class Block:
    """One text behind a tab."""

    title: str
    language: str
    text: str


def code_tabs(blocks: Iterable[Block], names: PageIds, highlight: Highlight, mark: str = "") -> Markup:
    """Blocks behind tabs. Without a script they stand one under the other. ``mark``: a name for scripts to find it."""
    rendered = [(names.new(f"example-{block.title}"), block) for block in blocks]
    links = Markup().join(_LINK.format(name, block.title) for name, block in rendered)
    panels = Markup().join(
        _PANEL.format(name, block.title.casefold(), block.title, _rendered(block, highlight))
        for name, block in rendered
    )
    return _TABS.format(Markup(" data-{}").format(mark) if mark else "", links, panels)


def titled_example(kind: str, title: str, html: Markup) -> Markup:
    """A block or a group with words over it."""
    return _TITLED.format(kind, title, html)


def _rendered(block: Block, highlight: Highlight) -> Markup:
    return Markup(highlight(block.language, block.text))  # noqa: S704  # finished HTML, by its type


_BAR: Final = Markup('<div class="endpoint">{}<span class="endpoint-address">{}{}</span>{}{}</div>')
_METHOD: Final = Markup('<span class="method method-{}">{}</span>')
_BASE: Final = Markup('<span class="endpoint-base">{}</span>')
_SELECT: Final = Markup('<select class="endpoint-bases" data-bases aria-label="Base URL">{}</select>')
_OPTION: Final = Markup('<option value="{}">{}</option>')
_PATH: Final = Markup('<code class="endpoint-path">{}</code>')
_VARIABLE: Final = Markup('<span class="endpoint-variable">{}</span>')
_NAMES: Final = re.compile(r"(\{[^{}]*\})")


def endpoint_bar(endpoint: Endpoint, *, base: bool, try_id: str = "") -> Markup:
    """Method, base address if ``base``, path. ``try_id`` is the id of the form, to lead to where the page is narrow."""
    link = Markup('<a class="endpoint-try" href="#{}">Try it</a>').format(try_id) if try_id else Markup()
    old = Markup('<span class="field-deprecated">deprecated</span>') if endpoint.deprecated else Markup()
    return _BAR.format(method(endpoint.method), _base(endpoint) if base else "", _path(endpoint.path), old, link)


def method(name: str) -> Markup:
    """The mark of a method, in the colour of what it does."""
    return _METHOD.format(name.lower(), name if name != "WEBHOOK" else "Webhook")


def server_label(server: Server) -> str:
    """A server as a reader chooses it."""
    words = server.url or "This site"
    return f"{words} ({' '.join(server.description.split())[:60]})" if server.description else words


def _base(endpoint: Endpoint) -> Markup:
    if len(endpoint.servers) > 1:
        options = (_OPTION.format(index, server_label(server)) for index, server in enumerate(endpoint.servers))
        return _SELECT.format(Markup().join(options))
    return _BASE.format(endpoint.servers[0].url) if endpoint.servers and endpoint.servers[0].url else Markup()


def _path(path: str) -> Markup:
    parts = (_VARIABLE.format(part) if part[:1] == "{" else escape(part) for part in _NAMES.split(path))
    return _PATH.format(Markup().join(parts))


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
