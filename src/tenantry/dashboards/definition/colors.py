from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tenantry.dashboards.definition.value_kinds import Schema, ValueKind, refuse
from tenantry.errors import did_you_mean, misspelt
from tenantry.sql import Source
from tenantry.sql.header import YamlNode


@dataclass(frozen=True, slots=True)
class ColorsOfNames(ValueKind):
    """Maps series names to colours. A colour is a palette position, a word such as ``good``, or ``"#2456c4"``."""

    words: ClassVar[Sequence[str]] = ("accent", "good", "warn", "bad", "quiet")
    pattern: ClassVar[str] = "#(?:[0-9a-fA-F]{3}){1,2}"
    palette: ClassVar[int] = 8
    most: ClassVar[int] = 100

    def read(self, node: YamlNode, source: Source) -> dict[str, int | str]:
        if not isinstance(node.value, dict) or not node.value:
            raise refuse(source, node, "colors must be a mapping from names to colours", "write {Won: good, Lost: bad}")
        if len(node.value) > self.most:
            raise refuse(source, node, f"there are more than {self.most} names", "write fewer")
        return {name: self._color(each, source) for name, each in node.value.items()}

    def _color(self, node: YamlNode, source: Source) -> int | str:
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= self.palette:
            return value
        if isinstance(value, str) and (value in self.words or re.fullmatch(self.pattern, value)):
            return value
        fix = f'write "#2456c4" in quotes, a number from 1 to {self.palette}, or one of: {", ".join(self.words)}'
        near = did_you_mean(value, self.words) if isinstance(value, str) else ""
        edit = misspelt(value, self.words) if isinstance(value, str) else None
        raise refuse(source, node, "this is not a colour", f"{near}{fix}", edit)

    def schema(self) -> Schema:
        colors: list[Schema] = [
            {"enum": list(self.words)},
            {"type": "integer", "minimum": 1, "maximum": self.palette},
            {"type": "string", "pattern": f"^{self.pattern}$", "title": 'a colour such as "#2456c4"'},
        ]
        return {
            "type": "object",
            "minProperties": 1,
            "maxProperties": self.most,
            "additionalProperties": {"anyOf": colors},
        }
