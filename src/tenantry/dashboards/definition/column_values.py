"""Values of a dashboard's file that name columns: all of them, and a name with its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tenantry.dashboards.definition.values import Listed, Schema, ValueKind, refuse
from tenantry.sql import Source
from tenantry.sql.header import YamlNode

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class AllOr(ValueKind):
    """``all`` columns, or a list of some. ``all`` reads as None."""

    some: Listed

    def read(self, node: YamlNode, source: Source) -> Any:
        return None if node.value == ALL else self.some.read(node, source)

    def schema(self) -> Schema:
        return {"anyOf": [{"const": ALL}, self.some.schema()]}


@dataclass(frozen=True, slots=True)
class Named(ValueKind):
    """A name, or a mapping of that one name to what is said of it: ``route``, ``{share: percent}``."""

    name: ValueKind
    about: ValueKind

    def read(self, node: YamlNode, source: Source) -> dict[str, Any]:
        if not isinstance(node.value, dict):
            return {"name": self.name.read(node, source)}
        if len(node.value) != 1:
            fix = "write - name: percent, or - name: {format: percent, title: …}, one for each"
            raise refuse(source, node, "this is one name and what is said of it", fix)
        ((name, value),) = node.value.items()
        found = {"name": self.name.read(YamlNode(name, node.keys[name]), source)}
        return found if value.value is None else found | self.about.read(value, source)

    def schema(self) -> Schema:
        one = {"minProperties": 1, "maxProperties": 1}
        return {"anyOf": [self.name.schema(), {"type": "object", "additionalProperties": self.about.schema()} | one]}
