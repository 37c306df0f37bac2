"""Parsing: the text of an OpenAPI document, JSON or YAML, into plain values. Nothing but ``Unreadable`` is raised.

JSON is tried first where the text begins like it: reading YAML takes some fifty times as long. YAML is read by the
core schema of its version 1.2, in which ``on``, ``no``, ``12:30`` and ``2024-01-01`` are text; keys become text too.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, Final

from tenantry_site.reference.plain import DEEPEST, TooDeep, plain

_MOST_MERGED: Final = 10_000  # keys of one mapping after ``<<``: a chain of merges doubles at each step


class Unreadable(Exception):
    """Why a document cannot be read, and where; line and column count from 1 and are 0 where they are not known."""

    def __init__(self, message: str, fix: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix
        self.line = line
        self.column = column


def parse(text: str | bytes) -> Any:
    """The value of a document: dicts with keys of text, lists, text, finite numbers, bool, None.

    Raises Unreadable, also for what nests deeper or expands to more than a document written by people does.
    """
    try:
        return plain(_read(_decoded(text)))
    except TooDeep as error:
        raise Unreadable(str(error), "take it apart into several documents, or leave out what repeats") from None
    except RecursionError:
        raise Unreadable("it nests too deep", "take it apart into several documents") from None


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    encoding = "utf-16" if text[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return text.decode(encoding)
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise Unreadable("it is not text in UTF-8", "save it as UTF-8", line) from None


def _read(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return _yaml(text)
    try:
        return json.loads(text, parse_constant=str)
    except ValueError as error:
        first = error
    try:
        return _yaml(text)  # the braces of YAML allow more: comments, bare words
    except Unreadable:
        if isinstance(first, json.JSONDecodeError):
            message = f"it is not JSON: {first.msg}"
            raise Unreadable(message, "mend the JSON at this place", first.lineno, first.colno) from None
        raise Unreadable(f"it is not JSON: {first}", "mend the JSON") from None


def _yaml(text: str) -> Any:
    import yaml  # most sites have no YAML document, and it takes 10 ms to load

    try:
        _limit_depth(text)
        return yaml.load(text, Loader=_loader())  # noqa: S506  # a safe loader, by its base class
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = f"it is not YAML: {error.problem or error.context}"
        place = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise Unreadable(message, "mend the YAML at this place", *place) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        message = str(error).splitlines()[0] if str(error) else "an unknown mistake"
        raise Unreadable(f"it is not YAML: {message}", "mend the YAML") from None


def _limit_depth(text: str) -> None:
    """Raises TooDeep. The loader written in C goes down without a limit, until the process has no stack: what nests is
    counted first, in the events of the parser, which does not go down."""
    import yaml  # as above

    starts = (yaml.SequenceStartEvent, yaml.MappingStartEvent)
    ends = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
    depth = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if isinstance(event, starts):
            depth += 1
            if depth > DEEPEST:
                raise TooDeep(f"it nests deeper than {DEEPEST} levels")
        elif isinstance(event, ends):
            depth -= 1


_WHOLE: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TRUTH: Final = re.compile(r"true|True|TRUE|false|False|FALSE")
_NOTHING: Final = re.compile(r"~|null|Null|NULL|")


@cache
def _loader() -> type[Any]:
    """A safe loader with the scalars of YAML 1.2, and with ``<<``, which documents with anchors use."""
    import yaml  # as above

    base: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]  # the one of two that is there
        yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}

        def flatten_mapping(self, node: Any) -> None:
            super().flatten_mapping(node)
            if len(node.value) > _MOST_MERGED:
                raise yaml.constructor.ConstructorError(None, None, "a mapping merges too many keys", node.start_mark)

    def resolve(tag: str, pattern: re.Pattern[str], first: str) -> None:
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern.pattern})$"), list(first))

    # what is not here is text: .inf, .nan and dates too
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
