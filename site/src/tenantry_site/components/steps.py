"""Steps: an ordered list, whose items have titles."""

from __future__ import annotations

from markupsafe import Markup

from tenantry_site.components import marks, notes
from tenantry_site.components.drawn import children
from tenantry_site.components.parts import divide
from tenantry_site.nodes import Draw, Element, Node

SIZES = frozenset({"p", "h2", "h3", "h4"})
DIGITS = 4

_STEP = Markup('<li class="step" id="{}" value="{}">{}{}<div class="step-content">{}</div></li>')
_NUMBER = Markup('<span class="step-number" aria-hidden="true">{}</span>')
_LIST = Markup('<ol class="step-list" role="list">{}</ol>')


def steps(element: Element, draw: Draw) -> str:
    """``<Steps titleSize>`` of ``<Step title icon iconType titleSize stepNumber id>``."""
    before, parts = divide(element, draw, "Step")
    if not parts:
        notes.empty(element, draw, "put <Step title=…> into it")
        return children(draw, *element.children)
    size = element.text("titleSize")
    items: list[Markup] = []
    number = 0
    for part in parts:
        if isinstance(part.node, Element):
            number = _number(part.node, number + 1, draw)
            items.append(_step(part.node, tuple(part.rest), size, number, draw))
    return children(draw, *before) + _LIST.format(Markup().join(items))


def step(element: Element, draw: Draw) -> str:
    """A ``<Step>`` that stands alone: a list of one."""
    notes.outside(element, draw, "<Steps>")
    return _LIST.format(_step(element, (), "", _number(element, 1, draw), draw))


def _step(element: Element, rest: tuple[Node, ...], size: str, number: int, draw: Draw) -> Markup:
    heading = marks.title(element, draw)
    tag = element.text("titleSize") or size or "p"
    if tag not in SIZES:
        notes.unusable(element, draw, "titleSize", "write one of p, h2, h3, h4")
        tag = "p"
    return _STEP.format(
        draw.identifier(marks.plain(heading) or "step", element.text("id")),
        number,
        marks.icon(element, draw) or _NUMBER.format(number),
        Markup('<{0} class="step-title">{1}</{0}>').format(tag, heading) if heading else "",
        children(draw, *element.children, *rest),
    )


def _number(element: Element, following: int, draw: Draw) -> int:
    """The step's number: its ``stepNumber``, else the one after the step before."""
    if "stepNumber" not in element.attributes:
        return following
    text = element.text("stepNumber")
    if text.isascii() and text.isdigit() and len(text) <= DIGITS:
        return int(text)
    notes.unusable(element, draw, "stepNumber", f"write a number of at most {DIGITS} digits")
    return following
