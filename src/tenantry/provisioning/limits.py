"""Checks a user group's fields against the limits (docs/http-api.md).

Errors name the field by JSON pointer (RFC 6901) and never show the value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from tenantry.errors import InvalidBody
from tenantry.groups import (
    MOMENT_RULE,
    SETTABLE_FIELDS,
    GroupChanges,
    GroupDraft,
    Issued,
    Record,
    RecordList,
    is_storable_text,
    merged_changes,
    number_problem,
    thaw,
)
from tenantry.tokens import holds_token, mask_within

MAX_TEXT: Final = 255
"""Maximum characters of an id, a name, a schema id or a data source id. The minimum is 1."""

MAX_BYTES: Final = 32 * 1024
"""Maximum size of the properties, in bytes of compact JSON (UTF-8)."""

MAX_DEPTH: Final = 8
"""Maximum nesting of objects and arrays in the properties. The outermost object is level 1."""

MAX_KEYS: Final = 256
"""Maximum number of names in the properties, on all levels."""

MAX_MAPPING: Final = 100
"""Maximum number of entries in a mapping."""

LONGEST_GRACE: Final = 86_400
"""Maximum seconds that a rotated token may stay valid: one day."""

_LONGEST_POINTER_PART = 255
_WORST_NUMBER = 25  # characters of the longest float or integer
_WORST_CHARACTER = 6  # bytes of a character that is written as an escape: \u0001


_NEVER_NULL: Final = frozenset({"name", "suspended"})


def check_draft(draft: GroupDraft) -> None:
    """Raises InvalidBody if a field exceeds a limit."""
    check_text(draft.provided_id, "/user_group_id")
    _check_fields({name: getattr(draft, name) for name in SETTABLE_FIELDS}, merge=False)


def check_changes(changes: GroupChanges, *, merge: bool = False) -> None:
    """Raises InvalidBody if a field exceeds a limit. With ``merge``, a mapping may contain nulls."""
    _check_fields(changes.given(), merge=merge)


def _check_fields(fields: Mapping[str, Any], *, merge: bool) -> None:
    for name, value in fields.items():
        if value is None and name not in _NEVER_NULL:
            continue
        if name == "mapping":
            check_mapping(value, merge=merge)
        else:
            _CHECKS[name](value, f"/{name}")


def merged(issued: Issued, patch: GroupChanges) -> GroupChanges:
    """Return the changes that merge ``patch`` into the group. Raises InvalidBody if the result exceeds a limit."""
    changes = merged_changes(issued.group, patch)
    check_changes(changes)
    return changes


def checked_grace(seconds: int) -> int:
    if not 0 <= seconds <= LONGEST_GRACE:
        raise ValueError(f"the grace period must be from 0 to {LONGEST_GRACE} seconds")
    return seconds


def check_text(text: object, pointer: str) -> None:
    """Raises InvalidBody unless ``text`` has 1 to 255 characters and contains no NUL, lone surrogate or token."""
    if not isinstance(text, str):
        raise InvalidBody("this must be a string", field=pointer)
    if not 1 <= len(text) <= MAX_TEXT:
        raise InvalidBody(f"this must have 1 to {MAX_TEXT} characters", field=pointer)
    _check_characters(text, pointer)


def check_viewer_id(viewer_id: str, pointer: str) -> None:
    """Raises InvalidBody unless ``check_text`` accepts the id and all its characters are printable, as passes
    require."""
    check_text(viewer_id, pointer)
    if not viewer_id.isprintable():
        raise InvalidBody("this must contain only printable characters", field=pointer)


def check_moment(moment: object, pointer: str) -> None:
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidBody(MOMENT_RULE, field=pointer)


def check_flag(flag: object, pointer: str) -> None:
    if type(flag) is not bool:
        raise InvalidBody("this must be true or false", field=pointer)


def check_mapping(mapping: Mapping[str, str], *, merge: bool = False) -> None:
    """Raises InvalidBody unless the mapping has at most 100 entries and ``check_text`` accepts each key and value. With
    ``merge``, values may also be null."""
    if not isinstance(mapping, Mapping | Record):
        raise InvalidBody("this must be an object", field="/mapping")
    if len(mapping) > MAX_MAPPING:
        raise InvalidBody(f"a mapping must have at most {MAX_MAPPING} entries", field="/mapping")
    for schema in mapping:
        pointer = "/mapping" + pointer_of([schema])
        check_text(schema, pointer)
        if not (merge and mapping[schema] is None):
            check_text(mapping[schema], pointer)


def check_properties(properties: Mapping[str, Any], pointer: str = "/properties") -> None:
    if not isinstance(properties, Mapping | Record):
        raise InvalidBody("this must be an object", field=pointer)
    validator = _PropertyValidator()
    validator.visit(properties, ("properties",), 1)
    if validator.at_most > MAX_BYTES:
        plain = json.dumps(thaw(Record(properties)), ensure_ascii=False, separators=(",", ":"))
        if len(plain.encode()) > MAX_BYTES:
            raise InvalidBody(f"the properties are larger than {MAX_BYTES} bytes of JSON", field=pointer)


_CHECKS: Final[Mapping[str, Callable[[Any, str], None]]] = {
    "name": check_text,
    "properties": check_properties,
    "expires_at": check_moment,
    "suspended": check_flag,
}
"""Settable field -> a function that checks the value at a JSON pointer. The check of ``mapping``, which depends on
``merge``, is not here."""


def pointer_of(path: Iterable[object]) -> str:
    """Make a JSON pointer that is safe to show: tokens are masked, each part is cut to 255 characters, and lone
    surrogates become question marks."""
    pointer = ""
    for part in path:
        clean = mask_within(str(part))[:_LONGEST_POINTER_PART].encode("utf-8", "replace").decode()
        pointer += "/" + clean.replace("~", "~0").replace("/", "~1")
    return pointer


def _check_characters(text: str, pointer: str) -> None:
    if holds_token(text):  # otherwise lists, dashboards and the audit trail would show stored tokens
        raise InvalidBody("this value holds a secret token, which is never stored: send another value", field=pointer)
    if not is_storable_text(text):
        raise InvalidBody("a NUL character or a lone surrogate cannot be stored", field=pointer)


class _PropertyValidator:
    """Checks properties. ``at_most``: an estimate of their bytes of JSON, which is never too low."""

    __slots__ = ("at_most", "keys")

    def __init__(self) -> None:
        self.keys = 0
        self.at_most = 0

    def visit(self, value: Any, path: tuple[object, ...], depth: int) -> None:
        kind = type(value)
        if kind is str:
            self._text(value, path)
        elif kind is bool or value is None:
            self.at_most += 6
        elif kind is int or kind is float:
            self._number(value, path)
        elif depth > MAX_DEPTH:
            raise InvalidBody(f"the properties are nested deeper than {MAX_DEPTH} levels", field=pointer_of(path))
        elif isinstance(value, Mapping | Record):
            self._object(value, path, depth)
        elif isinstance(value, list | tuple | RecordList):
            self.at_most += 4
            for index, item in enumerate(value):
                self.visit(item, (*path, index), depth + 1)
        else:
            raise InvalidBody("this is not a JSON value", field=pointer_of(path))

    def _text(self, text: str, path: tuple[object, ...]) -> None:
        self.at_most += _WORST_CHARACTER * len(text) + 4
        if not text.isascii() or "\0" in text or "ug" in text:
            _check_characters(text, pointer_of(path))

    def _number(self, number: float, path: tuple[object, ...]) -> None:
        self.at_most += _WORST_NUMBER + 1
        if (problem := number_problem(number)) is not None:
            raise InvalidBody(problem, field=pointer_of(path))

    def _object(self, value: Mapping[str, Any] | Record, path: tuple[object, ...], depth: int) -> None:
        self.at_most += 4
        self.keys += len(value)
        if self.keys > MAX_KEYS:
            raise InvalidBody(f"the properties have more than {MAX_KEYS} names in all", field="/properties")
        for name in value:
            if not isinstance(name, str):
                raise InvalidBody("property names must be strings", field=pointer_of(path))
            inner = (*path, name)
            self._text(name, inner)
            self.visit(value[name], inner, depth + 1)
