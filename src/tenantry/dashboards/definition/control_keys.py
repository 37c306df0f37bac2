"""The keys of controls in a dashboard's file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from tenantry.dashboards.definition.value_kinds import Flag, Key, Listed, Schema, TemplateText, Word
from tenantry.sql import Source
from tenantry.sql.header import YamlNode

QUERY_NAME: Final = Word("a query file", r"[^\W\d_][\w-]*(?:/[^\W\d_][\w-]*)*")
CONTROL_NAME: Final = Word("a control", r"[^\W\d_]\w*")
MAX_CONTROLS: Final = 40
MAX_PRESETS: Final = 12
_RANGE_NAME: Final = Word("a relative range", r"[\w +-]+")
_PROPERTY: Final[Schema] = {"type": "object", "required": ["property"], "properties": {"property": {"type": "string"}}}


class _Given:
    def read(self, node: YamlNode, source: Source) -> Any:
        return node.plain()

    def schema(self) -> Schema:
        return {"anyOf": [{"type": ["string", "number", "boolean", "array", "null"]}, _PROPERTY]}


class _Choices:
    def read(self, node: YamlNode, source: Source) -> Any:
        return node.plain()

    def schema(self) -> Schema:
        by_query = {"type": "object", "required": ["query"], "properties": {"query": QUERY_NAME.schema()}}
        return {"anyOf": [{"type": "array", "minItems": 1}, by_query, {"type": "object", "minProperties": 1}]}


_GIVEN: Final = _Given()
_SHARED: Final = (
    Key("label", TemplateText(100), "the label for viewers; default: the name"),
    Key("description", TemplateText(500), "a sentence about the control"),
    Key("default", _GIVEN, "the value until a viewer chooses; {property: region} takes the group's"),
    Key("required", Flag(), "whether a viewer must choose before the queries run"),
)
CONTROL_KEYS: Final[Mapping[str, tuple[Key, ...]]] = MappingProxyType(
    {
        "range": (
            Key("range", _GIVEN, "a range of days; the value is the default, as last-30-days"),
            *_SHARED,
            Key("presets", Listed(_RANGE_NAME, MAX_PRESETS), "relative ranges to choose from"),
            Key("min", _GIVEN, "the first day"),
            Key("max", _GIVEN, "the last day"),
        ),
        "choices": (
            Key("choices", _Choices(), "the values: a list, a mapping to their labels, or {query: NAME}"),
            *_SHARED,
            Key("many", Flag(), "whether several may be chosen"),
        ),
        "text": (Key("text", _GIVEN, "any text; the value is the default"), *_SHARED),
        "number": (
            Key("number", _GIVEN, "a number; the value is the default"),
            *_SHARED,
            Key("min", _GIVEN, "the smallest"),
            Key("max", _GIVEN, "the greatest"),
        ),
        "date": (
            Key("date", _GIVEN, "a day; the value is the default"),
            *_SHARED,
            Key("min", _GIVEN, "the first day"),
            Key("max", _GIVEN, "the last day"),
        ),
    }
)
"""The keys of each kind of control. The first key has the name of the kind."""
