"""The diagnostics of components."""

from __future__ import annotations

from tenantry_site.diagnostic import Severity
from tenantry_site.nodes import Element, RenderContext

CODES: dict[str, str] = {
    "PAGE050": "A component stands outside the one that it is a part of.",
    "PAGE051": "A component holds something beside its parts.",
    "PAGE052": "A component has no title, or no name.",
    "PAGE053": "An attribute's value is of no use.",
    "PAGE054": "A component is empty, or has none of the parts that it shows.",
}
"""Diagnostic code -> what it is about."""


def outside(element: Element, context: RenderContext, parents: str) -> None:
    """A part of something stands alone; it is shown all the same."""
    message = f"<{element.name}> stands outside {parents}: it is shown as a section of its own"
    context.report(Severity.WARNING, "PAGE050", message, f"put it into {parents}", element.line)


def beside(element: Element, context: RenderContext, parts: str) -> None:
    """Something stands between the parts; it is shown with the part before it."""
    message = f"<{element.name}> holds something that is not in a {parts}: it is shown with the part before it"
    context.report(
        Severity.INFO, "PAGE051", message, f"put it into a {parts}, or before or after <{element.name}>", element.line
    )


def missing(element: Element, context: RenderContext, attribute: str, shown: str) -> None:
    """An attribute is missing that readers need. One that is an expression was reported when it was read."""
    if attribute in element.attributes and element.attributes[attribute] is None:
        return
    message = f"<{element.name}> has no {attribute}" + (f': "{shown}" is shown' if shown else "")
    context.report(Severity.WARNING, "PAGE052", message, f'write <{element.name} {attribute}="…">', element.line)


def unusable(element: Element, context: RenderContext, attribute: str, fix: str) -> None:
    """An attribute's value cannot be honoured; the default is taken."""
    value = element.attributes.get(attribute)
    message = f"<{element.name}> has {attribute}={value!r:.60}, which is not used"
    context.report(Severity.INFO, "PAGE053", message, fix, element.line)


def empty(element: Element, context: RenderContext, fix: str) -> None:
    """There is nothing to show, or nothing of what the component shows."""
    what = "has no parts: its contents are shown without it" if element.children else "is empty"
    context.report(Severity.WARNING, "PAGE054", f"<{element.name}> {what}", fix, element.line)
