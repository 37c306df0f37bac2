"""Makes user groups whose values (canaries) are all unique.

A canary has the type and form of an example value, such as a date or an email. Booleans, nulls and the constants of a
schema are copied."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any, NamedTuple, overload
from uuid import UUID

from tenantry.groups import SETTABLE_FIELDS, Environment, GroupDraft, Record, RecordList, Tag, UserGroup, thaw
from tenantry.provisioning import Provisioner

_DATE = re.compile(r"\d{4}-\d\d-\d\d(?=\Z|[T ])")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_COLOUR = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)
_FIRST_DAY = date(2100, 1, 1)  # later than any date in ordinary data
_LEAST, _SPAN, _STEP = 1_000_000_000, 400_000_000, 611_953  # numbers of ten digits, below 2**31
_SEPARATORS = re.compile(r"[^\d]")
_SHORTEST = 6  # characters; shorter strings may occur by chance

_PATTERNS = {
    "text": re.compile(r"canary[0-9a-f]{16}"),
    "uuid": re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}"),
    "date": re.compile(r"2[1-9]\d\d-?\d\d-?\d\d"),
    "number": re.compile("(?<!\\d)1(?:[,.'_ \u00a0\u202f\u2019]?\\d){9}(?!\\d)"),
    "colour": re.compile(r"(?<![0-9a-z])[0-9a-f]{6}(?![0-9a-z])"),
    "word": re.compile(rf"[^\W_]{{{_SHORTEST},}}"),
}
"""Finds each kind of canary in lower-case text."""


class Canary(NamedTuple):
    group: int
    """The group's index."""
    name: str
    """The property that has this value, such as ``properties.region``."""
    value: str


class CanaryGroups(Sequence[UserGroup]):
    """User groups with canaries, made by ``canary_groups``."""

    def __init__(self, groups: Iterable[UserGroup], canaries: Mapping[str, dict[str, Canary]]) -> None:
        self._groups = list(groups)
        self._canaries = {kind: dict(found) for kind, found in canaries.items()}
        self._known: dict[str, frozenset[Canary]] = {}

    def __len__(self) -> int:
        return len(self._groups)

    @overload
    def __getitem__(self, index: int) -> UserGroup: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[UserGroup]: ...
    def __getitem__(self, index: int | slice) -> UserGroup | Sequence[UserGroup]:
        return self._groups[index]

    def find(self, text: str) -> frozenset[Canary]:
        """Return the canaries in ``text``, regardless of case and thousands separators."""
        found = self._known.get(text)
        if found is None:
            found = frozenset(self._search(text.lower()))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[text] = found
        return found

    def add(self, group: int, name: str) -> str:
        """Return a canary for the group with the index ``group``; equal names give the same one. ``name``: what
        LeakFound calls the value, such as ``properties.region``."""
        value = _text(group, name)
        texts = self._canaries.setdefault("text", {})
        if value not in texts:
            texts[value] = Canary(group, name, value)
            self._known.clear()
        return value

    async def provision(self, provisioner: Provisioner, environment: Environment) -> dict[str, str]:
        """Create the groups in a store, and return their tokens by group id. Afterwards, this object contains the
        stored groups. Raises the errors of ``Provisioner.get_or_create``."""
        tokens = {}
        for number, group in enumerate(self._groups):
            draft = GroupDraft(group.provided_id, **{name: thaw(getattr(group, name)) for name in SETTABLE_FIELDS})
            made = await provisioner.get_or_create(environment, draft)
            self._groups[number] = made.group
            tokens[group.provided_id] = made.token
        return tokens

    def _search(self, text: str) -> Iterator[Canary]:
        for kind, canaries in self._canaries.items():
            for match in set(_PATTERNS[kind].findall(text)):
                plain = _SEPARATORS.sub("", match) if kind in {"number", "date"} else match.replace("-", "")
                canary = canaries.get(plain)
                if canary is not None:
                    yield canary


_REMEMBERED = 2_000  # strings


def canary_groups(
    count: int = 5,
    *,
    like: Mapping[str, Any] | UserGroup | None = None,
    schema: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    mapping: Mapping[str, str] | Callable[[int], Mapping[str, str]] | None = None,
    environment: Environment | None = None,
) -> CanaryGroups:
    """Make ``count`` groups whose ids, names and property values are canaries. The properties have the form of an
    example (``like``) or fit a JSON Schema (``schema``).

    - ``values``: property -> one value for all groups, or a function that takes the index of a group and returns a
      different value for each group. A returned value is a canary if it consists of six or more letters and digits.
    - ``mapping``: the mapping of all groups (schema -> data source), or a function that takes the index of a group and
      returns its mapping.

    Raises TypeError unless you pass exactly one of ``like`` and ``schema``. Raises ValueError if a function in
    ``values`` returns the same canary for two groups."""
    if (like is None) == (schema is None):
        raise TypeError("pass exactly one of an example (like={…}) and a JSON Schema (schema={…})")
    if isinstance(like, UserGroup):
        environment, mapping = environment or like.environment, mapping or thaw(like.mapping)
        like = thaw(like.properties) or {}
    example = like if like is not None else schema_example(schema or {})
    maker = _Maker(values or {})
    groups = [
        UserGroup(
            1,
            f"group-{number + 1}-{maker.text(number, 'user_group.id')}",
            f"{group_label(number)} {maker.text(number, 'user_group.name')}",
            environment or Environment(1, "production", Tag.TESTING),
            Record(maker.properties(number, example)),
            Record(mapping(number) if callable(mapping) else mapping or {}),
            sha256(f"canary {number}".encode()).digest()[:8],
            1,
            1,
        )
        for number in range(count)
    ]
    return CanaryGroups(groups, maker.canaries)


def group_label(number: int) -> str:
    return f"Group {number + 1}"


def schema_example(schema: Mapping[str, Any]) -> Any:
    """Return an example value. Reads only ``type``, ``format``, ``items``, ``minItems``, ``properties``, ``enum`` and
    ``const``."""
    if "const" in schema or "enum" in schema:
        return _Constant(schema.get("const", next(iter(schema.get("enum", ())), None)))
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if kind == "object":
        return {name: schema_example(inner) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [schema_example(schema.get("items", {}))] * max(1, schema.get("minItems", 1))
    if kind == "string":
        return _FORMATS.get(schema.get("format", ""), "text")
    return {"integer": 1, "number": 1.5, "boolean": True}.get(kind)


class _Constant(NamedTuple):
    value: Any


_FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "uuid": "00000000-0000-0000-0000-000000000000",
    "email": "a@example.com",
    "uri": "https://example.com",
}


class _Maker:
    def __init__(self, values: Mapping[str, Any]) -> None:
        self.canaries: dict[str, dict[str, Canary]] = {}
        self._values = values
        self._count = 0

    def properties(self, group: int, example: Mapping[str, Any]) -> dict[str, Any]:
        made = {name: self._value(group, f"properties.{name}", example[name]) for name in example}
        for name, value in self._values.items():
            made[name] = value
            if callable(value):
                made[name] = self._given(group, f"properties.{name}", value(group))
        return made

    def text(self, group: int, name: str) -> str:
        return self._new("text", group, name, _text(group, name))

    def _value(self, group: int, name: str, example: Any) -> Any:
        if isinstance(example, _Constant):
            return example.value
        if isinstance(example, Mapping | Record):
            return {key: self._value(group, f"{name}.{key}", example[key]) for key in example}
        if isinstance(example, list | tuple | RecordList):
            return [self._value(group, f"{name}[{index}]", item) for index, item in enumerate(example)]
        if isinstance(example, str):
            return self._like_text(group, name, example)
        if isinstance(example, bool) or not isinstance(example, int | float | Decimal):
            return example
        number = int(self._new("number", group, name, str(_LEAST + self._next() * _STEP % _SPAN)))
        return number if isinstance(example, int) else type(example)(f"{number}.25")

    def _like_text(self, group: int, name: str, example: str) -> str:
        day = _DATE.match(example)
        if day is not None:
            made = (_FIRST_DAY + timedelta(self._next())).isoformat()
            self._new("date", group, name, made.replace("-", ""))
            return made + example[day.end() :]
        if _UUID.fullmatch(example):
            return str(UUID(self._new("uuid", group, name, sha256(f"{group} {name}".encode()).hexdigest()[:32])))
        if _COLOUR.fullmatch(example):
            return "#" + self._new("colour", group, name, f"{0xC00000 + self._next() * 4099 % 0x3FFFFF:06x}")
        text = self.text(group, name)
        if "@" in example:
            return f"{text}@example.com"
        return f"https://{text}.example.com" if example.startswith(("http://", "https://")) else text

    def _given(self, group: int, name: str, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._given(group, f"{name}[{index}]", item) for index, item in enumerate(value)]
        word = str(value).lower()
        if isinstance(value, str | int) and not isinstance(value, bool) and _PATTERNS["word"].fullmatch(word):
            self._new("word", group, name, word)
        return value

    def _new(self, kind: str, group: int, name: str, value: str) -> str:
        known = self.canaries.setdefault(kind, {})
        if value in known and known[value].group != group:
            raise ValueError(
                f"{name} is the same for two groups: its function in `values` must return different values"
            )
        known[value] = Canary(group, name, value)
        return value

    def _next(self) -> int:
        self._count += 1
        return self._count


def _text(group: int, name: str) -> str:
    return "canary" + sha256(f"{group} {name}".encode()).hexdigest()[:16]
