"""The components by name: the 25 that pages use, and what some pages call them."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry_site.components import callouts, cards, disclosures, fields, media, steps, tabs, updates
from tenantry_site.nodes import Component

_DRAWN: Mapping[str, Component] = {
    "Accordion": disclosures.accordion,
    "AccordionGroup": disclosures.group,
    "Badge": media.badge,
    "Callout": callouts.callout,
    "Card": cards.card,
    "CardGroup": cards.group,
    "Check": callouts.of(callouts.CHECK),
    "CodeGroup": tabs.code_group,
    "Column": cards.column,
    "Columns": cards.group,
    "Danger": callouts.of(callouts.DANGER),
    "Expandable": disclosures.expandable,
    "Frame": media.frame,
    "Icon": media.icon,
    "Info": callouts.of(callouts.INFO),
    "Note": callouts.of(callouts.NOTE),
    "ParamField": fields.param_field,
    "RequestExample": tabs.request_example,
    "ResponseExample": tabs.response_example,
    "ResponseField": fields.response_field,
    "Snippet": media.snippet,
    "Step": steps.step,
    "Steps": steps.steps,
    "Tab": tabs.tab,
    "Tabs": tabs.tabs,
    "Tip": callouts.of(callouts.TIP),
    "Tooltip": media.tooltip,
    "Update": updates.update,
    "Warning": callouts.of(callouts.WARNING),
}


def _text(component: Component) -> Component:
    """Plain text at the door: where text and ``Markup`` are added, ``Markup`` escapes the text."""
    return lambda element, context: str(component(element, context))


COMPONENTS: Mapping[str, Component] = {name: _text(component) for name, component in _DRAWN.items()}
"""Name of an element -> what draws it."""
