"""Renders the documentation of an endpoint: sections with parameters, body and responses, and their fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from tenantry_site.components.params import FieldLabel
from tenantry_site.page import Heading, Section
from tenantry_site.reference.bodies import compact
from tenantry_site.reference.descriptions import Descriptions, words
from tenantry_site.reference.html.blocks import PageIds
from tenantry_site.reference.operation import Endpoint, Media, Parameter, Response
from tenantry_site.reference.schemas import ABSENT, Shape
from tenantry_site.templating import render_template

_MOST_VALUES: Final = 40
_LONGEST_VALUE: Final = 200  # characters


class Fields:
    """Renders fields: parameters, and properties of bodies. ``names``: the ids of the page."""

    __slots__ = ("_names", "_prose")

    def __init__(self, descriptions: Descriptions, names: PageIds) -> None:
        self._prose = descriptions
        self._names = names

    def parameter(self, one: Parameter) -> Markup:
        """A parameter of a request, or a header of a response."""
        return render_template(
            "reference/field",
            id=self._names.new(f"{one.location}-{one.name}"),
            name=one.name,
            any_name=False,
            deprecated=one.deprecated,
            labels=field_labels(one.shape, required=one.required, deprecated=one.deprecated),
            description=self._prose.block(one.description),
            facts=list(field_facts(one.shape, one.example)),
            nested=self._nested(one.shape),
        )

    def body(self, shape: Shape, name: str = "") -> Markup:
        """The fields of a body or, without fields, its type. ``name``: prefix of the ids of the outermost fields;
        empty: no ids."""
        if name:
            return self._body(shape, name)
        return self._prose.once(shape, lambda: self._body(shape, ""))

    def _body(self, shape: Shape, name: str) -> Markup:
        typed = not shape.nested or shape.kind == "array"
        inner = shape.items if shape.kind == "array" and shape.items is not None and not shape.fields else shape
        return render_template(
            "reference/body",
            description=self._prose.block(shape.description),
            labels=field_labels(shape) if typed else None,
            facts=list(field_facts(shape)),
            fields=self._inside(inner, name),
        )

    def _inside(self, shape: Shape, name: str = "") -> Markup:
        """The properties and alternatives of a schema."""
        while shape.items is not None and not shape.fields:
            shape = shape.items
        parts = [
            self._property(
                one.shape, one.name, self._names.new(f"{name}-{one.name}") if name else "", required=one.required
            )
            for one in shape.fields
        ]
        if shape.extra is not None and (shape.nested or not shape.fields):
            parts.append(self._property(shape.extra, "any other name" if shape.fields else "any name", any_name=True))
        if shape.alternatives:
            alternatives = render_template(
                "reference/alternatives",
                title=shape.choice,
                discriminator=shape.discriminator,
                alternatives=[self._alternative(each) for each in shape.alternatives],
            )
            parts.append(alternatives)
        return Markup().join(parts)

    def _property(
        self, shape: Shape, name: str, field_id: str = "", *, required: bool = False, any_name: bool = False
    ) -> Markup:
        return render_template(
            "reference/field",
            id=field_id,
            name=name,
            any_name=any_name,
            deprecated=shape.deprecated,
            labels=field_labels(shape, required=required, deprecated=shape.deprecated),
            description=self._prose.block(shape.description),
            facts=list(field_facts(shape, ABSENT if shape.nested else shape.example)),
            nested=self._nested(shape),
        )

    def _nested(self, shape: Shape) -> dict[str, object] | None:
        """The collapsed contents of a field, with a title; None if the field has no contents."""
        if not shape.nested:
            return None
        inner = shape
        while inner.items is not None and not inner.fields:
            inner = inner.items
        title, name = "Its values", ""
        if inner.alternatives and not inner.fields:
            title = f"{inner.choice} {len(inner.alternatives)}"
        elif inner.fields:
            title, name = "1 field" if len(inner.fields) == 1 else f"{len(inner.fields)} fields", inner.name
        return {"title": title, "name": name, "fields": self._inside(inner)}

    def _alternative(self, shape: Shape) -> dict[str, object]:
        return {
            "name": shape.title or shape.name,
            "labels": field_labels(shape, deprecated=shape.deprecated),
            "description": self._prose.block(shape.description),
            "facts": list(field_facts(shape)),
            "fields": self._inside(shape),
        }


def field_labels(shape: Shape, *, required: bool = False, deprecated: bool = False) -> list[FieldLabel]:
    """The labels after the name of a field: its type, whether it is required, its default."""
    kind = shape.type + (f" ({shape.format})" if shape.format and shape.kind != "file" else "")
    if shape.nullable and (kind or shape.alternatives):
        kind = f"{kind or 'alternatives'} or null"
    labels = [FieldLabel("type", kind)] if kind else []
    labels += [
        FieldLabel(name, text)
        for name, text, shown in (
            ("required", "required", required),
            ("deprecated", "deprecated", deprecated),
            ("place", "read-only", shape.read_only),
            ("place", "write-only", shape.write_only),
            ("place", "recursive", shape.recursive),
        )
        if shown
    ]
    if shape.default is not ABSENT:
        labels.append(FieldLabel("default", "default:", shown_value(shape.default)))
    return labels


class FieldFact(NamedTuple):
    """A line below a field: ``text``, then ``values`` as code, then ``more`` text."""

    text: str
    values: Sequence[str] = ()
    more: str = ""


def field_facts(shape: Shape, example: Any = ABSENT) -> Iterator[FieldFact]:
    """The lines below a field: its bounds and its example."""
    yield from _bounds(shape)
    if example is not ABSENT:
        yield FieldFact("Example: ", [shown_value(example)])


def _bounds(shape: Shape) -> Iterator[FieldFact]:
    if shape.const is not ABSENT:
        yield FieldFact("Always ", [shown_value(shape.const)])
    if shape.enum:
        more = len(shape.enum) - _MOST_VALUES
        values = [shown_value(value) for value in shape.enum[:_MOST_VALUES]]
        yield FieldFact("One of ", values, f" and {more} more" if more > 0 else "")
    yield from (FieldFact(text[:1].upper() + text[1:]) for text in shape.constraints)
    if shape.pattern:
        yield FieldFact("Matches ", [shape.pattern[:_LONGEST_VALUE]])
    if shape.extra is not None and not shape.nested:
        yield FieldFact("Any names and values")
    if shape.items is not None and not shape.items.nested:
        yield from (fact._replace(text=f"Each: {fact.text}") for fact in _bounds(shape.items))


def shown_value(value: Any) -> str:
    """A value as pages show it, shortened to 200 characters. A string has no quotes, unless it is empty or begins or
    ends with a space."""
    text = value if isinstance(value, str) and value.strip() == value and value else compact(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


_LOCATIONS: Final = {
    "path": "Path parameters",
    "query": "Query parameters",
    "header": "Header parameters",
    "cookie": "Cookies",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A section of the page. ``text``: the section's words, for search."""

    heading: Heading
    html: Markup
    text: str

    @property
    def section(self) -> Section:
        """The section as it is indexed for search."""
        return Section(self.heading.id, self.heading.text, self.text)


class Sections:
    __slots__ = ("_fields", "_names", "_prose")

    def __init__(self, descriptions: Descriptions, names: PageIds) -> None:
        self._prose = descriptions
        self._names = names
        self._fields = Fields(descriptions, names)

    def render(self, endpoint: Endpoint) -> tuple[Part, ...]:
        """The sections that are not empty: authorization, parameters, body, responses and callbacks, in this order."""
        return tuple(self._parts(endpoint))

    def _parts(self, endpoint: Endpoint) -> Iterator[Part]:
        if endpoint.authorization:
            text = " ".join(one.words for way in endpoint.authorization for one in way)
            yield self._part(
                "Authorization",
                render_template("reference/authorization", ways=endpoint.authorization, described=self._prose.block),
                text,
            )
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
        section = render_template("reference/section", id=name, title=title, content=html)
        return Part(Heading(2, name, title), section, " ".join(text.split()))

    def _media(self, media: Sequence[Media], name: str) -> Markup:
        """The fields of the body in each content type. Only the fields of the first content type have ids."""
        rendered = [(one.type, self._fields.body(one.shape, "" if index else name)) for index, one in enumerate(media)]
        return render_template("reference/media", media=rendered)

    def _response(self, one: Response, *, first: bool) -> Markup:
        return render_template(
            "reference/response",
            id=self._names.new(f"response-{one.status}"),
            status=one.status,
            description=self._prose.line(one.description),
            headers=[self._fields.parameter(header) for header in one.headers],
            media=[(media.type, self._fields.body(media.shape)) for media in one.media],
            open=first and one.status[:1] == "2",
        )

    def _callbacks(self, endpoint: Endpoint) -> Markup:
        described = [
            (one, self._prose.block(one.operation.description or one.operation.ref.text("summary")))
            for one in endpoint.callbacks
        ]
        return render_template("reference/callbacks", callbacks=described)


def _summary(parameters: Iterable[Parameter]) -> str:
    return " ".join(f"{one.name} {words(one.description)}" for one in parameters)


def _texts(media: Iterable[Media]) -> Iterator[str]:
    for one in media:
        yield from (f"{field.name} {words(field.shape.description)}" for field in one.shape.fields)
