"""The keys of controls in a dashboard's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from tenantry.dashboards.definition.value_kinds import Flag, Key, Listed, Schema, TemplateText, ValueKind, Word
from tenantry.sql import Source
from tenantry.sql.header import YamlNode

QUERY_NAME: Final = Word("a query file", r"[^\W\d_][\w-]*(?:/[^\W\d_][\w-]*)*")
CONTROL_NAME: Final = Word("a control", r"[^\W\d_]\w*")
MAX_CONTROLS: Final = 40
MAX_PRESETS: Final = 12
_RANGE_NAME: Final = Word("a relative range", r"[\w +-]+")
_PROPERTY: Final[Schema] = {"type": "object", "required": ["property"], "properties": {"property": {"type": "string"}}}


@dataclass(frozen=True, slots=True)
class _Given(ValueKind):
    """Any value. ``tenantry.sql.declare`` checks it later."""

    title: str
    """The kind of value, in words."""

    def read(self, node: YamlNode, source: Source) -> Any:
        return node.plain()

    def schema(self) -> Schema:
        return {"anyOf": [{"type": ["string", "number", "boolean", "array", "null"]}, _PROPERTY], "title": self.title}


class _Choices:
    def read(self, node: YamlNode, source: Source) -> Any:
        return node.plain()

    def schema(self) -> Schema:
        by_query = {"type": "object", "required": ["query"], "properties": {"query": QUERY_NAME.schema()}}
        kinds = [{"type": "array", "minItems": 1}, by_query, {"type": "object", "minProperties": 1}]
        return {"anyOf": kinds, "title": "[VALUE, …], {VALUE: LABEL, …} or {query: NAME}"}


_DAY: Final = _Given("a day, such as 2026-01-31")
_AMOUNT: Final = _Given("a number")
_SHARED: Final = (
    Key("label", TemplateText(100), "the label for viewers; default: the name"),
    Key("description", TemplateText(500), "a sentence about the control"),
    Key(
        "default",
        _Given("a value, or {property: NAME}"),
        "the value until a viewer chooses; {property: region} takes the group's",
    ),
    Key("required", Flag(), "whether a viewer must choose before the queries run"),
)
CONTROL_KEYS: Final[Mapping[str, tuple[Key, ...]]] = MappingProxyType(
    {
        "range": (
            Key("range", _Given("a range, such as last-30-days"), "a range of days; the value is the default"),
            *_SHARED,
            Key("presets", Listed(_RANGE_NAME, MAX_PRESETS), "relative ranges to choose from"),
            Key("min", _DAY, "the first day"),
            Key("max", _DAY, "the last day"),
        ),
        "choices": (
            Key("choices", _Choices(), "the values that a viewer may choose, and their labels"),
            *_SHARED,
            Key("many", Flag(), "whether several may be chosen"),
        ),
        "text": (Key("text", _Given("text"), "any text; the value is the default"), *_SHARED),
        "number": (
            Key("number", _AMOUNT, "a number; the value is the default"),
            *_SHARED,
            Key("min", _AMOUNT, "the smallest number"),
            Key("max", _AMOUNT, "the greatest number"),
        ),
        "date": (
            Key("date", _DAY, "a day; the value is the default"),
            *_SHARED,
            Key("min", _DAY, "the first day"),
            Key("max", _DAY, "the last day"),
        ),
    }
)
"""The keys of each kind of control. The first key has the name of the kind."""
