"""Reads YAML 1.2 (core schema).

`NO`, `on`, `1:30` and `2026-01-01` are strings. Duplicate keys, anchors, aliases, tags and directives are errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tenantry.errors import TemplateError
from tenantry.sql.source import Source

MAX_DEPTH = 16
"""Maximum nesting of mappings and lists."""
INSTALL = "pip install 'tenantry[sql]'"

Scalar: TypeAlias = str | int | float | bool | None
_CONSTANTS: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBERS = re.compile(
    r"(?P<decimal>[-+]?[0-9]+)|0o(?P<octal>[0-7]+)|0x(?P<hexadecimal>[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<infinity>[-+]?\.(?:inf|Inf|INF))|(?P<nan>\.(?:nan|NaN|NAN))"
)
_BASES = {"decimal": 10, "octal": 8, "hexadecimal": 16}
_DIRECTIVE = re.compile("^[\ufeff\r\x85\u2028\u2029]*%", re.MULTILINE)
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_LONGEST_NUMBER = 400  # digits
_BETWEEN_COUNTS = 500  # events between calls of `advance`


@dataclass(frozen=True, slots=True)
class YamlNode:
    """A scalar, a list of nodes or a dict of nodes. ``offset`` is where the node begins."""

    value: Scalar | list[YamlNode] | dict[str, YamlNode]
    offset: int
    keys: dict[str, int] = field(default_factory=dict)
    """If the node is a dict: key → offset of the key."""

    def offset_of(self, keys: Iterable[str]) -> int:
        """Follow ``keys`` from this node inwards. Return the offset of the last key that exists, or of this
        node if none does."""
        node, offset = self, self.offset
        for key in keys:
            if isinstance(node.value, dict) and key in node.value:
                offset, node = node.keys[key], node.value[key]
            elif isinstance(node.value, list) and key.isdigit():
                node = node.value[int(key)]
                offset = node.offset
            else:
                break
        return offset

    def plain(self) -> Any:
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def read_yaml(source: Source, start: int, end: int, *, advance: Callable[[int], None] | None = None) -> YamlNode:
    """Return the root node of the YAML document between two offsets of ``source``.

    Calls ``advance`` with the number of characters that were read since the previous call. Raises TemplateError for
    malformed YAML, and if PyYAML is not installed.
    """
    try:
        import yaml  # loaded only for files with YAML
        from yaml.reader import ReaderError
    except ImportError:
        problem = "reading YAML needs the library PyYAML, which is not installed"
        raise source.error(start, problem, INSTALL) from None
    directive = _DIRECTIVE.search(source.text, start, end)
    if directive is not None:
        raise source.error(directive.end() - 1, "directives (%YAML, %TAG) are not supported", "remove the line")
    try:
        events = yaml.parse(
            source.text[start:end], Loader=yaml.SafeLoader
        )  # the loader written in Python, because its marks count characters
        return _Reader(source, start).document(events if advance is None else _counted(events, advance))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = start + mark.index if mark is not None else start
        raise source.error(min(offset, end - 1), _problem(error.problem or error.context), _fix(error)) from None
    except ReaderError as error:
        raise source.error(start + error.position, "YAML has no such character", "remove it") from None
    except (yaml.YAMLError, ValueError, OverflowError, AssertionError) as error:  # such as an escape beyond Unicode
        raise source.error(start, _problem(str(error)), "correct the YAML") from None


def _counted(events: Iterator[Any], advance: Callable[[int], None]) -> Iterator[Any]:
    read = end = 0
    for number, event in enumerate(events, 1):
        end = event.end_mark.index
        if number % _BETWEEN_COUNTS == 0:
            advance(end - read)
            read = end
        yield event
    advance(end - read)


def _problem(text: str | None) -> str:
    lines = (text or "").strip().splitlines()
    return f"this is not YAML: {lines[0]}" if lines else "this is not YAML"


def _fix(error: Any) -> str:
    if "mapping values are not allowed" in (error.problem or ""):
        return "put a string that contains ': ' in quotes"
    if "but got '{'" in (error.problem or "") or "found unhashable" in (error.problem or ""):
        return "put a string that contains {{ in quotes"
    if "'\\t'" in (error.problem or ""):
        return "indent with spaces: YAML does not allow tabs there"
    if "cannot start any token" in (error.problem or ""):
        return "put a string that begins with such a character in quotes"
    return "write `key: value`, indented with spaces; put a value that is not plain text in quotes"


class _Reader:
    def __init__(self, source: Source, start: int) -> None:
        self._source = source
        self._start = start

    def document(self, events: Iterator[Any]) -> YamlNode:
        root: YamlNode | None = None
        for event in events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                if root is not None:
                    raise self._error(event, "this begins a second document", "remove the ---")
            elif kind not in {"StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"}:
                root = self._node(event, events, 0)
        return root if root is not None else YamlNode(None, self._start)

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> YamlNode:
        kind = type(event).__name__
        if kind == "AliasEvent" or event.anchor is not None:
            raise self._error(event, "anchors (&name) and aliases (*name) are not supported", "write the value out")
        if event.tag is not None:
            raise self._error(event, "tags (!name) are not supported", "remove the tag; quotes make anything a string")
        if depth > MAX_DEPTH:
            raise self._error(event, f"this is more than {MAX_DEPTH} levels deep", "use fewer levels")
        offset = self._offset(event)
        if kind == "MappingStartEvent":
            return self._mapping(offset, events, depth)
        if kind == "SequenceStartEvent":
            items = []
            while type(item := next(events)).__name__ != "SequenceEndEvent":
                items.append(self._node(item, events, depth + 1))
            return YamlNode(items, offset)
        return YamlNode(self._scalar(event), offset)

    def _mapping(self, offset: int, events: Iterator[Any], depth: int) -> YamlNode:
        nodes: dict[str, YamlNode] = {}
        keys: dict[str, int] = {}
        while type(event := next(events)).__name__ != "MappingEndEvent":
            key = self._node(event, events, depth + 1)
            if isinstance(key.value, list | dict):
                fix = "write `key: value`; put a string that begins with {{ in quotes"
                raise self._error(event, "a key must be a string", fix)
            name = event.value  # as written, since `on` and `1` are strings
            if name in nodes:
                first = self._source.location(keys[name])
                raise self._error(event, f"the key {name} appears twice; first at {first}", "remove one of them")
            keys[name] = key.offset
            nodes[name] = self._node(next(events), events, depth + 1)
        return YamlNode(nodes, offset, keys)

    def _scalar(self, event: Any) -> Scalar:
        text: str = event.value
        if _UNWRITABLE.search(text):
            raise self._error(event, "this string contains a NUL or a lone surrogate", "remove the escape")
        if event.style is not None:  # quoted, or a block
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        match = _NUMBERS.fullmatch(text)
        if match is None:
            return text
        if len(text) > _LONGEST_NUMBER:
            raise self._error(event, "this number is too long", "put it in quotes if it is a string")
        base = _BASES.get(match.lastgroup or "")
        if base is not None:
            return int(match[match.lastgroup or 0], base)
        special = match.lastgroup in {"infinity", "nan"}
        return float(text.replace(".", "") if special else text)

    def _offset(self, event: Any) -> int:
        return self._start + int(event.start_mark.index)

    def _error(self, event: Any, problem: str, fix: str) -> TemplateError:
        return self._source.error(self._offset(event), problem, fix)
