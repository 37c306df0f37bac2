"""Parses the text of an OpenAPI document, JSON or YAML, into plain values. Raises only ``UnreadableDocument``.

Text that begins like JSON is parsed as JSON first, because YAML takes about fifty times as long. YAML is read by the
core schema of YAML 1.2, in which ``on``, ``no``, ``12:30`` and ``2024-01-01`` are strings; keys become strings too.

Values are sanitized, because the text is untrusted: YAML aliases can form cycles or expand to billions of values, and
JSON strings can contain lone surrogates.
"""

from __future__ import annotations

import json
import re
from functools import cache
from math import isfinite
from typing import Any, Final

# Maximum number of keys of a mapping with ``<<`` merges. In a chain of merges, each merge can double the number of
# keys.
_MOST_MERGED: Final = 10_000


class UnreadableDocument(Exception):
    """Raised for a document that cannot be read. ``line`` and ``column`` count from 1; 0: unknown."""

    def __init__(self, message: str, fix: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.line = line
        self.column = column


def parse(text: str | bytes) -> Any:
    """The value of a document: dicts with string keys, lists, strings, finite numbers, bool and None.

    Raises UnreadableDocument, also if the value is nested deeper than ``DEEPEST`` or has more than ``MOST`` values.
    """
    try:
        return sanitize(_read(_decoded(text)))
    except TooDeep as error:
        problem = str(error)
    except RecursionError:  # raised by the JSON parser in some versions of Python
        problem = _TOO_DEEP
    raise UnreadableDocument(problem, "split it into several documents, or remove repeated parts")


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    encoding = "utf-16" if text[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return text.decode(encoding)
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise UnreadableDocument("it is not text in UTF-8", "save it as UTF-8", line) from None


def _read(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return _yaml(text)
    try:
        return json.loads(text, parse_constant=str)
    except ValueError as error:
        first = error
    try:
        return _yaml(text)  # YAML in braces allows comments and unquoted strings
    except UnreadableDocument:
        if isinstance(first, json.JSONDecodeError):
            message = f"it is not JSON: {first.msg}"
            raise UnreadableDocument(message, "fix the JSON at this value", first.lineno, first.colno) from None
        raise UnreadableDocument(f"it is not JSON: {first}", "fix the JSON") from None


def _yaml(text: str) -> Any:
    import yaml  # most sites have no YAML document, and the module takes 10 ms to load

    try:
        _limit_depth(text)
        return yaml.load(text, Loader=_loader())  # noqa: S506  # a safe loader, by its base class
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = f"it is not YAML: {error.problem or error.context}"
        position = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise UnreadableDocument(message, "fix the YAML at this value", *position) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        message = str(error).splitlines()[0] if str(error) else "unknown error"
        raise UnreadableDocument(f"it is not YAML: {message}", "fix the YAML") from None


def _limit_depth(text: str) -> None:
    """Raise TooDeep for text that is nested too deeply. Depth is counted in the events of the YAML parser, which is not
    recursive. The C loader recurses without a limit and would overflow the stack."""
    import yaml  # as above

    starts = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
    ends = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
    depth = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, starts):
            depth += 1
            if depth > DEEPEST:
                raise TooDeep(_TOO_DEEP)
        elif isinstance(event, ends):
            depth -= 1


_WHOLE: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TRUTH: Final = re.compile(r"true|True|TRUE|false|False|FALSE")


@cache
def _loader() -> type[Any]:
    """A safe YAML loader with the scalar types of YAML 1.2, and merge keys (``<<``), which 1.2 no longer has."""
    import yaml  # as above

    base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]  # the base class is chosen at run time
        yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}

        def flatten_mapping(self, node: Any) -> None:
            super().flatten_mapping(node)
            if len(node.value) > _MOST_MERGED:
                raise yaml.constructor.ConstructorError(None, None, "a mapping merges too many keys", node.start_mark)

    def resolve(tag: str, pattern: re.Pattern[str], first: str) -> None:
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern.pattern})$"), list(first))

    # all other plain scalars are strings, including .inf, .nan and dates
    resolve("bool", _TRUTH, "tTfF")
    resolve("int", _WHOLE, "-+0123456789")
    resolve("float", _NUMBER, "-+.0123456789")
    resolve("merge", re.compile("<<"), "<")
    Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
    Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: _integer(loader.construct_scalar(node)))
    Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))
    Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))
    return Loader


def _integer(text: str) -> int:
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    return int(text, base) if base == 10 else int(text[2:], base)


DEEPEST: Final = 100
_TOO_DEEP: Final = f"it is nested deeper than {DEEPEST} levels"
MOST: Final = 1_000_000
"""Maximum number of values in a document. Values behind a YAML alias count once for each use."""


class TooDeep(Exception):
    """Raised for a value that is nested deeper than ``DEEPEST`` or has more than ``MOST`` values."""


def sanitize(value: Any) -> Any:
    return _Sanitizer().copy(value, 0)


class _Sanitizer:
    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MOST

    def copy(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return value if value.isascii() else _whole(value)
        if kind is dict or kind is list:
            self._left -= len(value)
            if depth >= DEEPEST or self._left < 0:
                raise TooDeep(_TOO_DEEP if depth >= DEEPEST else f"it has more than {MOST:,} values")
            if kind is list:
                return [self.copy(item, depth + 1) for item in value]
            return {_key(key): self.copy(item, depth + 1) for key, item in value.items()}
        return _scalar(value)


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _key(key: Any) -> str:
    if isinstance(key, str):
        return _whole(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(_scalar(key))


def _scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) < 10**100 else "a number of more than 100 digits"
    return _whole(str(value))
