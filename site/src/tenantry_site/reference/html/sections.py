"""Sections: the documentation of an endpoint, under headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from tenantry_site.nodes import Heading, Section
from tenantry_site.reference.descriptions import Descriptions, words
from tenantry_site.reference.html.blocks import PageIds
from tenantry_site.reference.html.fields import Fields
from tenantry_site.reference.operation import Authorization, Endpoint, Media, Parameter, Response

_SECTION: Final = Markup('<section aria-labelledby="{0}"><h2 id="{0}"><a href="#{0}">{1}</a></h2>{2}</section>')
_RESPONSE: Final = Markup(
    '<details class="response" id="{}"{}><summary><span class="status status-{}">{}</span>'
    '<span class="summary-text">{}</span></summary><div class="response-content">{}</div></details>'
)
_BARE: Final = Markup(
    '<div class="response response-bare" id="{}"><span class="status status-{}">{}</span>'
    '<span class="summary-text">{}</span></div>'
)
_TYPE: Final = Markup('<p class="content-type"><code>{}</code></p>')
_PART: Final = Markup('<p class="part-title">{}</p>{}')

_LOCATIONS: Final = {
    "path": "Path parameters",
    "query": "Query parameters",
    "header": "Header parameters",
    "cookie": "Cookies",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One section: its heading, its HTML and its words for search."""

    heading: Heading
    html: Markup
    text: str

    @property
    def section(self) -> Section:
        """What search knows of it."""
        return Section(self.heading.id, self.heading.text, self.text)


class Sections:
    """Draws the sections of one page."""

    __slots__ = ("_fields", "_names", "_prose")

    def __init__(self, descriptions: Descriptions, names: PageIds) -> None:
        self._prose = descriptions
        self._names = names
        self._fields = Fields(descriptions, names)

    def draw(self, endpoint: Endpoint) -> tuple[Part, ...]:
        """Authorization, parameters, body, responses, callbacks: those that there are."""
        return tuple(self._parts(endpoint))

    def _parts(self, endpoint: Endpoint) -> Iterator[Part]:
        if endpoint.authorization:
            text = " ".join(one.words for way in endpoint.authorization for one in way)
            yield self._part("Authorization", self._authorization(endpoint.authorization), text)
        if not endpoint.documented:
            for location, title in _LOCATIONS.items():
                here = [one for one in endpoint.parameters if one.location == location]
                if here:
                    html = Markup().join(map(self._fields.parameter, here))
                    yield self._part(title, html, _summary(here))
        if endpoint.body is not None and not endpoint.documented:
            html = self._prose.block(endpoint.body.description) + self._media(endpoint.body.media, "body")
            text = " ".join([words(endpoint.body.description), *_texts(endpoint.body.media)])
            yield self._part("Body", html, text)
        if endpoint.responses:
            rendered = [self._response(one, first=not index) for index, one in enumerate(endpoint.responses)]
            text = " ".join(f"{one.status} {words(one.description)}" for one in endpoint.responses)
            yield self._part("Responses", Markup().join(rendered), text)
        if endpoint.callbacks:
            yield self._part("Callbacks", self._callbacks(endpoint), " ".join(one.name for one in endpoint.callbacks))

    def _part(self, title: str, html: Markup, text: str) -> Part:
        name = self._names.new(title)
        return Part(Heading(2, name, title), _SECTION.format(name, title, html), " ".join(text.split()))

    def _authorization(self, ways: Authorization) -> Markup:
        items = []
        for way in ways:
            names = Markup(" and ").join(Markup("<strong>{}</strong>").format(one.words) for one in way) or Markup(
                "<strong>Nothing</strong>"
            )
            about = Markup().join(_begins(one.prefix) + self._prose.block(one.description) for one in way)
            items.append(Markup('<li class="way">{}{}</li>').format(names, about))
        lead = Markup("<p>One of these is enough:</p>") if len(items) > 1 else Markup()
        return Markup('{}<ul class="ways">{}</ul>').format(lead, Markup().join(items))

    def _media(self, media: Sequence[Media], name: str) -> Markup:
        """The fields in each content type; the first one's have ids."""
        return Markup().join(
            _TYPE.format(one.type) + self._fields.body(one.shape, "" if index else name)
            for index, one in enumerate(media)
        )

    def _response(self, one: Response, *, first: bool) -> Markup:
        name = self._names.new(f"response-{one.status}")
        parts = []
        if one.headers:
            parts.append(_PART.format("Headers", Markup().join(map(self._fields.parameter, one.headers))))
        parts += [_TYPE.format(media.type) + self._fields.body(media.shape) for media in one.media]
        about, kind = self._prose.line(one.description), one.status[:1].lower()
        if not parts:
            return _BARE.format(name, kind, one.status, about)
        opened = Markup(" open") if first and kind == "2" else ""
        return _RESPONSE.format(name, opened, kind, one.status, about, Markup().join(parts))

    def _callbacks(self, endpoint: Endpoint) -> Markup:
        rows = []
        for one in endpoint.callbacks:
            title = Markup('<strong>{}</strong> <span class="method method-{}">{}</span> <code>{}</code>').format(
                one.name, one.operation.method.lower(), one.operation.method, one.expression
            )
            about = one.operation.description or one.operation.ref.text("summary")
            rows.append(Markup('<li class="way">{}{}</li>').format(title, self._prose.block(about)))
        return Markup('<p>The API sends these in turn:</p><ul class="ways">{}</ul>').format(Markup().join(rows))


def _begins(prefix: str) -> Markup:
    """What a credential begins with, as text: the field of the playground holds it already, and hides it."""
    return Markup("<p>It begins with <code>{}</code>.</p>").format(prefix.strip()) if prefix.strip() else Markup()


def _summary(parameters: Iterable[Parameter]) -> str:
    return " ".join(f"{one.name} {words(one.description)}" for one in parameters)


def _texts(media: Iterable[Media]) -> Iterator[str]:
    for one in media:
        yield from (f"{field.name} {words(field.shape.description)}" for field in one.shape.fields)
