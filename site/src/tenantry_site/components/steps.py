"""Steps: an ordered list, whose items have titles."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.components import marks, notes
from tenantry_site.components.drawn import children
from tenantry_site.components.parts import divide
from tenantry_site.nodes import Element, Node, RenderContext

SIZES = frozenset({"p", "h2", "h3", "h4"})
DIGITS = 4

_STEP = Markup('<li class="step" id="{}" value="{}">{}{}<div class="step-content">{}</div></li>')
_NUMBER = Markup('<span class="step-number" aria-hidden="true">{}</span>')
_LIST = Markup('<ol class="step-list" role="list">{}</ol>')


def steps(element: Element, context: RenderContext) -> str:
    """``<Steps titleSize>`` of ``<Step title icon iconType titleSize stepNumber id>``."""
    before, parts = divide(element, context, "Step")
    if not parts:
        notes.empty(element, context, "put <Step title=…> into it")
        return children(context, *element.children)
    size = element.text("titleSize")
    items: list[Markup] = []
    number = 0
    for part in parts:
        if isinstance(part.node, Element):
            number = _number(part.node, number + 1, context)
            items.append(_step(part.node, tuple(part.rest), size, number, context))
    return children(context, *before) + _LIST.format(Markup().join(items))


def step(element: Element, context: RenderContext) -> str:
    """A ``<Step>`` that stands alone: a list of one."""
    notes.outside(element, context, "<Steps>")
    return _LIST.format(_step(element, (), "", _number(element, 1, context), context))


def _step(element: Element, rest: tuple[Node, ...], size: str, number: int, context: RenderContext) -> Markup:
    heading = marks.title(element, context)
    tag = element.text("titleSize") or size or "p"
    if tag not in SIZES:
        notes.unusable(element, context, "titleSize", "write one of p, h2, h3, h4")
        tag = "p"
    return _STEP.format(
        context.identifier(marks.plain(heading) or "step", element.text("id")),
        number,
        marks.icon(element, context) or _NUMBER.format(number),
        Markup('<{0} class="step-title">{1}</{0}>').format(tag, heading) if heading else "",
        children(context, *element.children, *rest),
    )


def _number(element: Element, following: int, context: RenderContext) -> int:
    """The step's number: its ``stepNumber``, else the one after the step before."""
    if "stepNumber" not in element.attributes:
        return following
    text = element.text("stepNumber")
    if text.isascii() and text.isdigit() and len(text) <= DIGITS:
        return int(text)
    notes.unusable(element, context, "stepNumber", f"write a number of at most {DIGITS} digits")
    return following
