"""The form of the playground. A script reads the inputs and sends the request; without the script, the form cannot be
sent.

Inputs have no ``name``, so that what a reader types never becomes part of an address, even if the script fails. The
template ``reference/form.html`` renders the rows that are listed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from markupsafe import Markup

from tenantry_site.reference import request
from tenantry_site.reference.html.blocks import PageIds, server_label
from tenantry_site.reference.operation import Body, Credential, Endpoint, Media, Variable
from tenantry_site.reference.request import Control
from tenantry_site.templating import render_template

_LOCATIONS: Final = {
    "path": "Path parameters",
    "query": "Query parameters",
    "header": "Headers",
    "cookie": "Cookies",
}
_ROWS: Final = (4, 14)
_LONGEST_UNFOLDED: Final = 2
"""Maximum number of optional inputs that are shown without being collapsed."""

Attributes = dict[str, object]


@dataclass(frozen=True, slots=True)
class FormOption:
    """An option of a select. ``text``: the label."""

    value: str | int
    text: str
    selected: bool = False


@dataclass(frozen=True, slots=True)
class FormField:
    """An input, textarea or select. ``prefix``: text before the input, with the id ``prefix_id``. ``hidden``: the input
    hides a secret until the reader presses Show."""

    element: Literal["input", "textarea", "select"]
    attributes: Attributes
    type: str = "text"
    text: str = ""
    rows: int = 0
    options: Sequence[FormOption] = ()
    prefix: str = ""
    prefix_id: str = ""
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class FormRow:
    """A field with its label. ``is_name``: the label is a name, to show as code."""

    id: str
    label: str
    field: FormField
    type: str = ""
    required: bool = False
    is_name: bool = True


@dataclass(frozen=True, slots=True)
class FormPart:
    """A group of rows. ``folded``: further rows, shown collapsed. ``attributes``: if given, all rows are inside an
    element with these HTML attributes, which the script shows or hides."""

    rows: Sequence[FormRow]
    folded: Sequence[FormRow] = ()
    attributes: Attributes | None = None


@dataclass(frozen=True, slots=True)
class FormSet:
    """The rows under one heading. ``choice``: the select by which a reader chooses the part to show."""

    legend: str
    parts: Sequence[FormPart]
    choice: FormRow | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


def form(endpoint: Endpoint, form_id: str, names: PageIds) -> Markup:
    return render_template("reference/form", id=form_id, sets=list(_Form(names).sets(endpoint)))


class _Form:
    def __init__(self, names: PageIds) -> None:
        self._names = names

    def sets(self, endpoint: Endpoint) -> Iterator[FormSet]:
        for index, server in enumerate(endpoint.servers):
            if server.variables:
                legend = f"Server {server_label(server)}" if len(endpoint.servers) > 1 else "Server"
                part = FormPart([self._variable(one) for one in server.variables])
                yield FormSet(legend, [part], attributes={"data-server": index, "hidden": index > 0})
        if endpoint.authorization:
            yield self._authorization(endpoint.authorization)
        inputs = request.of_parameters(endpoint.parameters)
        for location, legend in _LOCATIONS.items():
            here = [one for one in inputs if one.location == location]
            if here:
                yield FormSet(legend, [self._controls(here)])
        if endpoint.body is not None:
            yield self._body(endpoint.body)

    def _variable(self, one: Variable) -> FormRow:
        attributes: Attributes = {"data-variable": one.name}
        if one.enum:
            entry = FormField("select", attributes, options=_options(one.enum, one.default))
        else:
            entry = FormField("input", attributes | _value(one.default))
        return FormRow(self._names.new(f"try-{one.name}"), one.name, entry)

    def _authorization(self, ways: Sequence[Sequence[Credential]]) -> FormSet:
        parts = [
            FormPart(list(self._credentials(way)), attributes={"data-way": index, "hidden": index > 0})
            for index, way in enumerate(ways)
        ]
        choice = None
        if len(ways) > 1:
            names = (" and ".join(one.words for one in way) or "Nothing" for way in ways)
            choice = self._choice("try-way", "Sign in with", {"data-ways": True, "data-chooses": "way"}, names)
        return FormSet("Authorization", parts, choice)

    def _choice(self, wanted_id: str, label: str, attributes: Attributes, texts: Iterable[str]) -> FormRow:
        options = [FormOption(index, text) for index, text in enumerate(texts)]
        return FormRow(
            self._names.new(wanted_id), label, FormField("select", attributes, options=options), is_name=False
        )

    def _credentials(self, way: Sequence[Credential]) -> Iterator[FormRow]:
        for index, credential in enumerate(way):
            for part, label in enumerate(credential.labels):
                row_id = self._names.new(f"try-{label}")
                attributes: Attributes = {"data-credential": index, "data-part": part}
                prefix = "" if part else credential.prefix
                prefix_id = self._names.new(f"{row_id}-prefix") if prefix else ""
                if prefix:  # the script sends the prefix before the value, and removes it from a pasted value
                    attributes |= {"data-prefix": prefix, "aria-describedby": prefix_id}
                shown = credential.kind == "basic" and part == 0
                entry = FormField(
                    "input",
                    attributes,
                    type="text" if shown else "password",
                    prefix=prefix,
                    prefix_id=prefix_id,
                    hidden=not shown,
                )
                yield FormRow(row_id, label, entry, "" if credential.kind == "basic" else credential.kind)

    def _controls(self, inputs: Sequence[Control], attributes: Attributes | None = None) -> FormPart:
        needed = [self._control(one) for one in inputs if one.required]
        spare = [self._control(one) for one in inputs if not one.required]
        if len(spare) <= _LONGEST_UNFOLDED:
            return FormPart(needed + spare, (), attributes)
        return FormPart(needed, spare, attributes)

    def _control(self, one: Control) -> FormRow:
        attributes: Attributes = {"data-in": one.location, "data-name": one.name, "data-kind": one.kind}
        if one.style != "form" or not one.explode or one.whole:
            attributes |= {"data-style": "whole" if one.whole else one.style, "data-joined": not one.explode}
        attributes["required"] = one.required
        if one.placeholder and one.kind in ("text", "number", "list", "json"):
            attributes["placeholder"] = one.placeholder[:80]
        row_id = self._names.new(f"try-{one.name}")
        return FormRow(row_id, one.name, _field(one, attributes), _type(one), one.required)

    def _body(self, body: Body) -> FormSet:
        choice = None
        if len(body.media) > 1:
            attributes: Attributes = {"data-types": True, "data-chooses": "media"}
            choice = self._choice("try-content-type", "Content type", attributes, (one.type for one in body.media))
        parts = [
            self._media(one, body.required, {"data-media": index, "hidden": index > 0})
            for index, one in enumerate(body.media)
        ]
        return FormSet("Body", parts, choice)

    def _media(self, media: Media, required: bool, attributes: Attributes) -> FormPart:
        controls = request.of_form(media) if media.form in ("form", "multipart") else ()
        if controls:
            return self._controls(controls, attributes)
        whole: Attributes = {"data-body": True, "required": required}
        if media.form == "binary":
            row_id = self._names.new("try-file")
            entry = FormField("input", whole, type="file")
            return FormPart([FormRow(row_id, "File", entry, media.type, required, is_name=False)], (), attributes)
        rows = []
        if len(media.examples) > 1:
            row_id = self._names.new("try-example")
            options = [FormOption(one.text, one.summary or one.name) for one in media.examples]
            entry = FormField("select", {"data-examples": True}, options=options)
            rows.append(FormRow(row_id, "Example", entry, is_name=False))
        text = media.examples[0].text if media.examples else ""
        height = min(max(text.count("\n") + 1, _ROWS[0]), _ROWS[1])
        entry = FormField("textarea", whole, text=text, rows=height)
        rows.append(FormRow(self._names.new("try-body"), media.type, entry, required=required))
        return FormPart(rows, (), attributes)


def _field(one: Control, attributes: Attributes) -> FormField:
    if one.kind == "select":
        first = [] if one.required and one.value else [FormOption("", "not sent")]
        return FormField("select", attributes, options=first + _options(one.options, one.value))
    if one.kind in ("list", "json"):
        height = min(max(one.value.count("\n") + 1, 2), _ROWS[1])
        return FormField("textarea", attributes, text=one.value, rows=height)
    if one.kind == "file":
        return FormField("input", attributes, type="file")
    more: Attributes = {"inputmode": "decimal"} if one.kind == "number" else {}
    return FormField("input", attributes | more | _value(one.value))


def _options(values: Iterable[str], chosen: str) -> list[FormOption]:
    return [FormOption(value, value, value == chosen) for value in values]


def _value(text: str) -> Attributes:
    return {"value": text} if text else {}


def _type(one: Control) -> str:
    words = {"list": "one value a line", "json": "JSON"}.get(one.kind, "")
    return f"{one.words}, {words}" if words and one.words else one.words or words
