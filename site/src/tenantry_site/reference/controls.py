"""Controls: the inputs that stand for the parts of a request, with what is in them at first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tenantry_site.reference.bodies import compact, pretty
from tenantry_site.reference.operation import Media, Parameter
from tenantry_site.reference.schemas import ABSENT, Shape

Kind = Literal["text", "number", "select", "list", "json", "file"]


@dataclass(frozen=True, slots=True)
class Control:
    """One input. ``place`` is that of a parameter, or ``body`` for a field of a form.

    ``value`` is the text in it at first: a list has one value a line, an object is JSON. ``options`` are those of a
    select. ``style`` and ``explode`` say how several values are written, as in OpenAPI; ``whole``: as one JSON text.
    """

    name: str
    location: str
    kind: Kind
    value: str = ""
    options: tuple[str, ...] = ()
    required: bool = False
    style: str = "form"
    explode: bool = True
    whole: bool = False
    words: str = ""
    placeholder: str = ""


def of_parameters(parameters: Iterable[Parameter]) -> tuple[Control, ...]:
    """One input for each parameter, required ones first."""
    made = (_of_parameter(one) for one in parameters)
    return tuple(sorted(made, key=lambda control: not control.required))


def of_form(media: Media) -> tuple[Control, ...]:
    """One input for each field of a form body."""
    return tuple(sorted(_of_fields(media), key=lambda control: not control.required))


def _of_parameter(one: Parameter) -> Control:
    shape = one.shape
    given = one.example
    if given is ABSENT and one.required:
        given = _fallback(shape)
    kind, options = _kind(shape)
    value = _text(given, kind)
    hint = one.placeholder or _text(one.example if one.example is not ABSENT else shape.default, kind)
    return Control(
        name=one.name,
        location=one.location,
        kind=kind,
        value=value if one.required else "",
        options=options,
        required=one.required,
        style=one.style,
        explode=one.explode,
        whole=one.json,
        words=shape.type,
        placeholder=hint.replace("\n", " "),
    )


def _of_fields(media: Media) -> Iterator[Control]:
    for field in media.shape.fields:
        if field.shape.read_only or field.name.startswith("/"):
            continue
        kind, options = _kind(field.shape, form=True)
        given = field.shape.example if field.shape.example is not ABSENT else _fallback(field.shape)
        value = "" if kind == "file" or not field.required else _text(given, kind)
        hint = _text(given, kind).replace("\n", " ")
        yield Control(
            field.name, "body", kind, value, options, field.required, words=field.shape.type, placeholder=hint
        )


def _fallback(shape: Shape) -> Any:
    for value in (shape.const, shape.default, shape.enum[0] if shape.enum else ABSENT):
        if value is not ABSENT and value is not None:
            return value
    return ABSENT


def _kind(shape: Shape, *, form: bool = False) -> tuple[Kind, tuple[str, ...]]:
    if shape.kind == "boolean":
        return "select", ("true", "false")
    choices = (shape.const,) if shape.const is not ABSENT else shape.enum
    if choices and all(isinstance(value, (str, int, float)) for value in choices):
        return "select", tuple(_text(value, "text") for value in choices)
    if shape.kind == "array":
        if form and shape.items is not None and shape.items.kind == "file":
            return "file", ()
        return "list", ()
    kinds: dict[str, Kind] = {"integer": "number", "number": "number", "object": "json", "file": "file"}
    found = kinds.get(shape.kind, "text")
    return ("text" if " or " in shape.type else found), ()


def _text(value: Any, kind: Kind) -> str:
    """A value as it is typed."""
    if value is ABSENT or value is None:
        return ""
    if kind == "list" and isinstance(value, list):
        return "\n".join(_text(item, "text") for item in value)
    if isinstance(value, str):
        return value
    return pretty(value) if kind == "json" else compact(value)
