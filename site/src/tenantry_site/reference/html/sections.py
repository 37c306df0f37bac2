"""Sections: the documentation of an endpoint, under headings: parameters and properties with their types and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup, escape

from tenantry_site.page import Heading, Section
from tenantry_site.reference.bodies import compact
from tenantry_site.reference.descriptions import Descriptions, words
from tenantry_site.reference.html.blocks import PageIds
from tenantry_site.reference.operation import Authorization, Endpoint, Media, Parameter, Response
from tenantry_site.reference.schemas import ABSENT, Field, Shape

_FIELD: Final = Markup('<div class="field"{}><div class="field-head">{}</div>{}</div>')
_CONTENT: Final = Markup('<div class="field-content">{}</div>')
_NAME: Final = Markup('<span class="field-name{}"><code>{}</code></span>')
_LINKED: Final = Markup('<a class="field-name{}" href="#{}"><code>{}</code></a>')
_WORD: Final = Markup('<span class="field-{}">{}</span>')
_DEFAULT: Final = Markup('<span class="field-default">default: <code>{}</code></span>')
_FACTS: Final = Markup('<ul class="field-facts">{}</ul>')
_FACT: Final = Markup("<li>{}</li>")
_CODE: Final = Markup("<code>{}</code>")
_INNER: Final = Markup(
    '<details class="expandable"><summary><span class="summary-text"><span class="summary-title">{}</span></span>'
    '</summary><div class="expandable-content">{}</div></details>'
)
_ALTERNATIVE: Final = Markup('<div class="alternative"><div class="field-head">{}</div>{}</div>')
_CHOICE: Final = Markup('<div class="alternatives"><p class="alternatives-title">{}</p>{}</div>')

_MOST_VALUES: Final = 40
_LONGEST_VALUE: Final = 200  # characters


class Fields:
    """Draws fields with the descriptions of one site; ids are those of one page."""

    __slots__ = ("_names", "_prose")

    def __init__(self, descriptions: Descriptions, names: PageIds) -> None:
        self._prose = descriptions
        self._names = names

    def parameter(self, one: Parameter) -> Markup:
        """A parameter, or a header of a response."""
        name = self._names.new(f"{one.location}-{one.name}")
        head = [_LINKED.format(" field-old" if one.deprecated else "", name, one.name)]
        head += _words(one.shape, required=one.required, deprecated=one.deprecated)
        facts = list(_facts(one.shape, ABSENT if one.example is ABSENT else one.example))
        return self._field(head, one.description, facts, one.shape, Markup(' id="{}"').format(name))

    def body(self, shape: Shape, name: str = "") -> Markup:
        """The fields of a body; where it has none, its type. ``name``: give the outermost fields ids that begin so."""
        if name:
            return self._body(shape, name)
        return self._prose.once(shape, lambda: self._body(shape, ""))

    def _body(self, shape: Shape, name: str) -> Markup:
        sanitize = not shape.nested
        about = self._prose.block(shape.description)
        head = Markup()
        if sanitize or shape.kind == "array":
            words = Markup(" ").join(_words(shape, required=False, deprecated=False))
            facts = _list(_facts(shape, ABSENT))
            head = Markup('<p class="field-head">{}</p>{}').format(words, facts)
        else:
            head = _list(_bounds(shape))
        inner = shape.items if shape.kind == "array" and shape.items is not None and not shape.fields else shape
        return about + head + self._inside(inner, name)

    def _inside(self, shape: Shape, name: str = "") -> Markup:
        """What a shape consists of."""
        while shape.items is not None and not shape.fields:
            shape = shape.items
        parts = [self._property(field, name) for field in shape.fields]
        if shape.extra is not None and (shape.nested or not shape.fields):
            key = Markup('<span class="field-name field-any">any other name</span>')
            alone = Markup('<span class="field-name field-any">any name</span>')
            parts.append(self._described(shape.extra, [key if shape.fields else alone], required=False))
        if shape.alternatives:
            title = escape(shape.choice)
            if shape.discriminator:
                title += Markup(", as <code>{}</code> says").format(shape.discriminator)
            parts.append(_CHOICE.format(title, Markup().join(self._alternative(each) for each in shape.alternatives)))
        return Markup().join(parts)

    def _property(self, field: Field, name: str) -> Markup:
        old = " field-old" if field.shape.deprecated else ""
        if name:
            found = self._names.new(f"{name}-{field.name}")
            label = _LINKED.format(old, found, field.name)
            return self._described(field.shape, [label], field.required, Markup(' id="{}"').format(found))
        return self._described(field.shape, [_NAME.format(old, field.name)], field.required)

    def _described(self, shape: Shape, head: list[Markup], required: bool, mark: Markup | None = None) -> Markup:
        head = [*head, *_words(shape, required=required, deprecated=shape.deprecated)]
        example = shape.example if not shape.nested else ABSENT
        return self._field(head, shape.description, list(_facts(shape, example)), shape, mark or Markup())

    def _field(self, head: list[Markup], about: str, facts: list[Markup], shape: Shape, mark: Markup) -> Markup:
        content = self._prose.block(about) + _list(iter(facts))
        if shape.nested:
            inner = shape
            while inner.items is not None and not inner.fields:
                inner = inner.items
            if inner.alternatives and not inner.fields:
                title = Markup("{} {}").format(inner.choice, len(inner.alternatives))
            elif inner.fields:
                several = "1 field" if len(inner.fields) == 1 else f"{len(inner.fields)} fields"
                title = Markup("{} of <code>{}</code>").format(several, inner.name) if inner.name else escape(several)
            else:
                title = escape("Its values")
            content += _INNER.format(title, self._inside(inner))
        return _FIELD.format(mark, Markup(" ").join(head), _CONTENT.format(content) if content else "")

    def _alternative(self, shape: Shape) -> Markup:
        head = [_NAME.format("", label)] if (label := shape.title or shape.name) else []
        head += _words(shape, required=False, deprecated=shape.deprecated)
        content = self._prose.block(shape.description) + _list(_facts(shape, ABSENT)) + self._inside(shape)
        return _ALTERNATIVE.format(Markup(" ").join(head), content)


def _words(shape: Shape, *, required: bool, deprecated: bool) -> list[Markup]:
    kind = shape.type + (f" ({shape.format})" if shape.format and shape.kind != "file" else "")
    kind += " or null" if shape.nullable and kind else ""
    parts = [_WORD.format("type", kind)] if kind else []
    parts += [
        _WORD.format(name, word)
        for name, word, shown in (
            ("required", "required", required),
            ("deprecated", "deprecated", deprecated),
            ("place", "read-only", shape.read_only),
            ("place", "write-only", shape.write_only),
            ("place", "recursive", shape.recursive),
        )
        if shown
    ]
    if shape.default is not ABSENT:
        parts.append(_DEFAULT.format(shown_value(shape.default)))
    return parts


def _facts(shape: Shape, example: Any) -> Iterator[Markup]:
    yield from _bounds(shape)
    if example is not ABSENT:
        yield Markup("Example: <code>{}</code>").format(shown_value(example))


def _bounds(shape: Shape) -> Iterator[Markup]:
    if shape.const is not ABSENT:
        yield Markup("Always <code>{}</code>").format(shown_value(shape.const))
    if shape.enum:
        values = Markup(" ").join(_CODE.format(shown_value(value)) for value in shape.enum[:_MOST_VALUES])
        more = len(shape.enum) - _MOST_VALUES
        yield Markup("One of {}{}").format(values, f" and {more} more" if more > 0 else "")
    yield from (escape(words[:1].upper() + words[1:]) for words in shape.constraints)
    if shape.pattern:
        yield Markup("Matches <code>{}</code>").format(shape.pattern[:_LONGEST_VALUE])
    if shape.extra is not None and not shape.nested:
        yield escape("Any names and values")
    if shape.items is not None and not shape.items.nested:
        yield from (Markup("Each: {}").format(fact) for fact in _bounds(shape.items))


def _list(facts: Iterator[Markup]) -> Markup:
    items = Markup().join(map(_FACT.format, facts))
    return _FACTS.format(items) if items else Markup()


def shown_value(value: Any) -> str:
    """A value as a reader would write it: a text without quotes unless that would hide it."""
    text = value if isinstance(value, str) and value.strip() == value and value else compact(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


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

    def render(self, endpoint: Endpoint) -> tuple[Part, ...]:
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
