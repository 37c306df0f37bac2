"""Kinds of values in a dashboard's file. Each validates a YAML node and has a JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol

from tenantry.dashboards.definition.variables import Definition
from tenantry.errors import Edit, TemplateError, did_you_mean, misspelt
from tenantry.sql import MAX_TEXT, Source
from tenantry.sql.header import YamlNode

Schema = dict[str, Any]

_NAME_FIX: Final = "write a name; in quotes if it looks like a number"
_DURATION: Final = re.compile(r"(\d{1,6}) ?(s|seconds?|min|minutes?|h|hours?|d|days?)")
_SECONDS: Final[Mapping[str, int]] = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class ValueKind(Protocol):
    def read(self, node: YamlNode, source: Source) -> Any:
        """Return the value of a node. Raises TemplateError if it is invalid."""
        ...

    def schema(self) -> Schema: ...


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    kind: ValueKind
    about: str
    """Description of the key in the JSON Schema and the docs. It may end in ``; default: …``."""
    required: bool = False


def refuse(source: Source, node: YamlNode, problem: str, fix: str, edit: Edit | None = None) -> TemplateError:
    return source.error(node.offset, problem, fix, edit=edit)


@dataclass(frozen=True, slots=True)
class TemplateText(ValueKind):
    longest: int = 2_000

    def read(self, node: YamlNode, source: Source) -> str:
        text = _text(node, source, "this must be text", "put it in quotes")
        if len(text) > self.longest:
            raise refuse(source, node, f"this text is longer than {self.longest} characters", "shorten it")
        try:
            Definition(text)
        except TemplateError as error:
            raise refuse(source, node, error.problem, "write a path, as in {{ user_group.name }}") from None
        return text

    def schema(self) -> Schema:
        return {"type": "string", "maxLength": self.longest}


@dataclass(frozen=True, slots=True)
class Word(ValueKind):
    what: str
    """What error messages call a value of this kind, such as ``a query file``."""
    pattern: str
    fix: str = "start with a letter; continue with letters, digits and _"

    def read(self, node: YamlNode, source: Source) -> str:
        text = _text(node, source, f"this must be the name of {self.what}", _NAME_FIX)
        if not re.fullmatch(self.pattern, text):
            raise refuse(source, node, f"this is not a name of {self.what}", self.fix)
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^(?:{self.pattern})$", "title": f"the name of {self.what}"}


@dataclass(frozen=True, slots=True)
class ColumnName(ValueKind):
    """The name of a column of the query: any printable characters."""

    longest: ClassVar[int] = 200

    def read(self, node: YamlNode, source: Source) -> str:
        text = _text(node, source, "this must be the name of a column", _NAME_FIX)
        if not text or len(text) > self.longest or not text.isprintable():
            raise refuse(source, node, "this is not a name of a column", "write the name as in the query")
        return text

    def schema(self) -> Schema:
        return {"type": "string", "minLength": 1, "maxLength": self.longest, "title": "a column of the query"}


@dataclass(frozen=True, slots=True)
class Statement(ValueKind):
    def read(self, node: YamlNode, source: Source) -> str:
        text = _text(
            node, source, "this must be a SQL statement", "write `sql: select …`, or `sql: |` and the lines below it"
        )
        if not text.strip():
            raise refuse(source, node, "this statement is empty", "write select …")
        return text

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"\S", "maxLength": MAX_TEXT}


@dataclass(frozen=True, slots=True)
class OneOf(ValueKind):
    words: Sequence[str]

    def read(self, node: YamlNode, source: Source) -> str:
        if isinstance(node.value, str) and node.value in self.words:
            return node.value
        written = node.value if isinstance(node.value, str) else ""
        fix = f"{did_you_mean(written, self.words)}One of: {', '.join(self.words)}"
        raise refuse(source, node, "this word is not allowed here", fix, misspelt(written, self.words))

    def schema(self) -> Schema:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Flag(ValueKind):
    def read(self, node: YamlNode, source: Source) -> bool:
        if isinstance(node.value, bool):
            return node.value
        raise refuse(source, node, "this must be true or false", "write true, or remove the key")

    def schema(self) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Number(ValueKind):
    least: float
    greatest: float
    whole: bool = True

    def read(self, node: YamlNode, source: Source) -> int | float:
        value = node.value
        number = isinstance(value, int if self.whole else int | float) and not isinstance(value, bool)
        if number and isinstance(value, int | float) and self.least <= value <= self.greatest:
            return value
        kind = "an integer" if self.whole else "a number"
        fix = f"write {kind} from {self.least:g} to {self.greatest:g}"
        raise refuse(source, node, f"this is not {kind} in range", fix)

    def schema(self) -> Schema:
        return {"type": "integer" if self.whole else "number", "minimum": self.least, "maximum": self.greatest}


@dataclass(frozen=True, slots=True)
class Duration(ValueKind):
    """A duration in seconds, written ``30 s``, ``5 min``, ``1 h`` or a number of seconds."""

    least: int
    greatest: int

    def read(self, node: YamlNode, source: Source) -> float:
        seconds = self._seconds(node.value)
        if seconds is None or not self.least <= seconds <= self.greatest:
            fix = f"write a time from {self.least} to {self.greatest} seconds, such as 30 s, 5 min or 1 h"
            raise refuse(source, node, "this is not a valid length of time", fix)
        return seconds

    def _seconds(self, value: Any) -> float | None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        match = _DURATION.fullmatch(value) if isinstance(value, str) else None
        return None if match is None else float(int(match[1]) * _SECONDS[match[2][0]])

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"type": "number", "minimum": self.least, "maximum": self.greatest},
                {"type": "string", "pattern": f"^(?:{_DURATION.pattern})$"},
            ],
            "title": "a length of time: 30 s, 5 min, 1 h, or a number of seconds",
        }


@dataclass(frozen=True, slots=True)
class Listed(ValueKind):
    """A list of at most ``most`` values, or a single value."""

    kind: ValueKind
    most: int

    def read(self, node: YamlNode, source: Source) -> list[Any]:
        nodes = node.value if isinstance(node.value, list) else [node]
        if not nodes:
            raise refuse(source, node, "this list is empty", "remove the key, or add items")
        if len(nodes) > self.most:
            raise refuse(source, nodes[self.most], f"this list has more than {self.most} items", "write fewer")
        return [self.kind.read(each, source) for each in nodes]

    def schema(self) -> Schema:
        one = self.kind.schema()
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": self.most}]}


@dataclass(frozen=True, slots=True)
class Fields(ValueKind):
    what: str
    """How errors name the mapping."""
    keys: tuple[Key, ...]

    def read(self, node: YamlNode, source: Source) -> dict[str, Any]:
        nodes = mapping(node, source, self.what, [key.name for key in self.keys])
        return read_keys(nodes, node, source, self.what, self.keys)

    def schema(self) -> Schema:
        return object_schema(self.keys)


@dataclass(frozen=True, slots=True)
class Either(ValueKind):
    """A mapping, or a short form that ``lengthen`` converts to the mapping."""

    short: ValueKind
    long: Fields
    lengthen: Callable[[Any], Any]

    def read(self, node: YamlNode, source: Source) -> Any:
        if isinstance(node.value, dict):
            return self.long.read(node, source)
        return self.lengthen(self.short.read(node, source))

    def schema(self) -> Schema:
        return {"anyOf": [self.short.schema(), self.long.schema()]}


@dataclass(frozen=True, slots=True)
class Anything(ValueKind):
    """Any mapping, with variables in its strings."""

    about: str
    """How errors name the mapping."""

    def read(self, node: YamlNode, source: Source) -> Any:
        if not isinstance(node.value, dict):
            raise refuse(source, node, f"this must be {self.about}", "write a mapping")
        value = node.plain()
        try:
            Definition(value)
        except TemplateError as error:
            raise refuse(source, node, error.message, "correct the variable at this place") from None
        return value

    def schema(self) -> Schema:
        return {"type": "object", "title": self.about}


def mapping(node: YamlNode, source: Source, what: str, names: Sequence[str]) -> dict[str, YamlNode]:
    """Return a mapping's nodes by key, and leave out nulls. Raises TemplateError if the node is not a mapping or has
    an unknown key."""
    if not isinstance(node.value, dict):
        raise refuse(source, node, f"{what} must be a mapping", f"write `{names[0]}: …`, each key on its own line")
    for name in node.value:
        if name not in names:
            fix = f"{did_you_mean(name, names)}The keys: {', '.join(names)}"
            if node.value[name].value is None:  # as in {text: Hello, world}, where YAML reads two keys
                fix += ". Put text with a comma in quotes"
            raise source.error(node.keys[name], f"{what} has no key {name}", fix, edit=misspelt(name, names))
    return {name: each for name, each in node.value.items() if each.value is not None}


def read_keys(
    nodes: Mapping[str, YamlNode], node: YamlNode, source: Source, what: str, keys: Iterable[Key]
) -> dict[str, Any]:
    """Read the values of ``keys``. Raises TemplateError for an invalid value or a missing required key."""
    values: dict[str, Any] = {}
    for key in keys:
        if key.name in nodes:
            values[key.name] = key.kind.read(nodes[key.name], source)
        elif key.required:
            raise refuse(source, node, f"{what} has no {key.name}", f"write `{key.name}: …` ({key.about})")
    return values


def object_schema(keys: Iterable[Key], **more: Any) -> Schema:
    keys = tuple(keys)
    required = [key.name for key in keys if key.required]
    schema: Schema = {
        "type": "object",
        "properties": {key.name: key.kind.schema() | {"description": key.about} for key in keys},
        "additionalProperties": False,
    }
    return schema | ({"required": required} if required else {}) | more


def _text(node: YamlNode, source: Source, problem: str, fix: str) -> str:
    if not isinstance(node.value, str):
        raise refuse(source, node, problem, fix)
    return node.value
