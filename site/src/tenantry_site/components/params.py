"""Components that describe the parameters of a request and the fields of a response."""

from __future__ import annotations

from typing import NamedTuple

from tenantry_site.components import markup
from tenantry_site.page import Element, RenderContext
from tenantry_site.templating import render_template

LOCATIONS = ("path", "query", "header", "body", "form", "cookie")
"""Attributes of ``<ParamField>``, of which an author sets one. It says where the parameter is sent, and its value is
the parameter's name."""


class FieldLabel(NamedTuple):
    """A label after a field's name (``required``, ``default: 5``). ``kind``: suffix of its CSS class; ``value``: shown
    as code after ``text``."""

    kind: str
    text: str
    value: str | None = None


def param_field(element: Element, context: RenderContext) -> str:
    """``<ParamField path|query|header|body=NAME type required optional default placeholder deprecated>``."""
    location = next((location for location in LOCATIONS if location in element.attributes), "")
    name = element.text(location) or element.text("name")
    return _render(element, context, "param", location, name)


def response_field(element: Element, context: RenderContext) -> str:
    """``<ResponseField name type required default deprecated>``."""
    return _render(element, context, "response", "", element.text("name"))


def _render(element: Element, context: RenderContext, prefix: str, location: str, name: str) -> str:
    if not name:
        markup.report_missing(element, context, location or "name", "")
    identifier = context.identifier(f"{prefix}-{name}" if name else prefix)
    deprecated = element.flag("deprecated")
    labels = [FieldLabel(kind, label) for kind, label in _labels(element, location, deprecated) if label]
    labels += [
        FieldLabel(kind, label, markup.shown(element.attributes[kind]))
        for kind, label in (("default", "default:"), ("placeholder", "example:"))
        if element.attributes.get(kind) not in (None, "")
    ]
    return render_template(
        "components/field",
        id=identifier,
        playground=_playground_attributes(element, location, name) if prefix == "param" and name else {},
        name=name,
        deprecated=deprecated,
        labels=labels,
        content=markup.content(element, context),
    )


def _playground_attributes(element: Element, location: str, name: str) -> dict[str, str]:
    """Data attributes that describe a parameter. ``reference`` reads them to build the playground of an ``api``
    page."""
    given = {"param": name, "in": location, "type": element.text("type")}
    if element.flag("required"):
        given["required"] = "true"
    for kind in ("default", "placeholder"):
        if element.attributes.get(kind) not in (None, ""):
            given[kind] = markup.shown(element.attributes[kind])
    return {f"data-{kind}": value for kind, value in given.items() if value}


def _labels(element: Element, location: str, deprecated: bool) -> tuple[tuple[str, str], ...]:
    return (
        ("type", element.text("type")),
        ("place", location),
        ("required", "required" if element.flag("required") else ""),
        ("optional", "optional" if element.flag("optional") and not element.flag("required") else ""),
        ("deprecated", "deprecated" if deprecated else ""),
    )
