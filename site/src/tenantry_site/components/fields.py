"""Fields of a request and of a response."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.components import marks, notes
from tenantry_site.nodes import Element, RenderContext

PLACES = ("path", "query", "header", "body", "form", "cookie")
"""The attributes of ``<ParamField>`` that say where a parameter goes; their value is its name."""

_FIELD = Markup('<div class="field" id="{}"{}><div class="field-head">{}</div>{}</div>')
_NAME = Markup('<a class="field-name{}" href="#{}"><code>{}</code></a>')
_WORD = Markup('<span class="field-{}">{}</span>')
_DATA = Markup(' data-{}="{}"')
_VALUE = Markup('<span class="field-{}">{} <code>{}</code></span>')


def param_field(element: Element, context: RenderContext) -> str:
    """``<ParamField path|query|header|body=NAME type required optional default placeholder deprecated>``."""
    place = next((place for place in PLACES if place in element.attributes), "")
    name = element.text(place) or element.text("name")
    return _draw(element, context, "param", place, name)


def response_field(element: Element, context: RenderContext) -> str:
    """``<ResponseField name type required default deprecated>``."""
    return _draw(element, context, "response", "", element.text("name"))


def _draw(element: Element, context: RenderContext, prefix: str, place: str, name: str) -> str:
    if not name:
        notes.missing(element, context, place or "name", "")
    identifier = context.identifier(f"{prefix}-{name}" if name else prefix)
    old = element.flag("deprecated")
    head = [_NAME.format(" field-old" if old else "", identifier, name)] if name else []
    head += [_WORD.format(kind, word) for kind, word in _words(element, place, old) if word]
    head += [
        _VALUE.format(kind, word, marks.shown(element.attributes[kind]))
        for kind, word in (("default", "default:"), ("placeholder", "example:"))
        if element.attributes.get(kind) not in (None, "")
    ]
    trace = _trace(element, place, name) if prefix == "param" and name else ""
    return _FIELD.format(identifier, trace, Markup(" ").join(head), marks.content(element, context, "field-content"))


def _trace(element: Element, place: str, name: str) -> Markup:
    """What the playground of an ``api`` page makes an input of: ``reference.traces`` reads it."""
    given = {"param": name, "in": place, "type": element.text("type")}
    if element.flag("required"):
        given["required"] = "true"
    for kind in ("default", "placeholder"):
        if element.attributes.get(kind) not in (None, ""):
            given[kind] = marks.shown(element.attributes[kind])
    return Markup().join(_DATA.format(kind, value) for kind, value in given.items() if value)


def _words(element: Element, place: str, old: bool) -> tuple[tuple[str, str], ...]:
    return (
        ("type", element.text("type")),
        ("place", place),
        ("required", "required" if element.flag("required") else ""),
        ("optional", "optional" if element.flag("optional") and not element.flag("required") else ""),
        ("deprecated", "deprecated" if old else ""),
    )
