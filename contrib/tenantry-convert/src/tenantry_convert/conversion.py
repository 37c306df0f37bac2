"""Collects the rewrites of one query, and compiles the converted SQL as the last step.

If the compiler refuses a converted construct, the original is restored and listed with the compiler's reason. So
queries reported as ``whole`` always compile.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenantry.errors import Location, TemplateError
from tenantry.sql import SQLTemplate
from tenantry.sql.inspect import InvalidDefinition

TENANT_REMINDER = (
    "Nothing here restricts the rows to one customer. Add the condition by hand, in every select: "
    "where customer_id = {{ user_group.id }}"
)
"""Printed with every converted query, because the other tool's query does not restrict the rows to a customer."""

DEFAULT_NAME: Final = "query"
"""The name of a query without a name."""
_STAND_IN = "x"
_LIST_BEFORE = re.compile(r"\bin\s*\(?\s*$", re.IGNORECASE)
_LIMIT_BEFORE = re.compile(r"\b(?:limit|offset)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedVariable:
    """A variable of another tool. ``definition`` declares the parameter that replaces it."""

    definition: Mapping[str, Any]
    kind: str = "value"
    """``value``, ``field filter``, ``time unit``, ``constant`` or ``other`` (a viewer sends no value for it)."""
    column: tuple[str, ...] = ()
    """For a field filter: the names of the table and the column, if they are known."""
    alias: str = ""
    """For a field filter: the column as SQL, if the document contains it."""
    widget: str = ""
    """For a field filter: the operator, such as ``date/range``."""
    choices: tuple[str, ...] = ()
    """The possible values, if the document lists them."""
    many: bool = False
    """Whether a viewer can choose several values."""
    all_values: bool = False
    """Whether a viewer can choose "all values". In a template, an absent parameter means all values."""
    reason: str = ""
    """For the kind ``other``: why it cannot be converted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedQuery:
    """A query of another tool. ``variables`` is None if the document is only SQL."""

    text: str
    name: str = DEFAULT_NAME
    description: str = ""
    dialect: str | None = None
    variables: Mapping[str, ImportedVariable] | None = None
    period: str = ""
    """The document's initial time range, in Tenantry's syntax, such as ``last 6 hours``."""


@dataclass(frozen=True, slots=True)
class ConversionItem:
    """A construct to check by hand. ``left``: whether it was left unconverted."""

    line: int
    column: int
    construct: str
    reason: str
    left: bool

    def __str__(self) -> str:
        what = "not converted" if self.left else "note"
        return f"{self.line}:{self.column}: {what}: {self.construct}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedQuery:
    """A ``.sql`` file and the constructs to check by hand."""

    name: str
    text: str
    body: str
    """``text`` without the header."""
    dialect: str
    params: Mapping[str, Mapping[str, Any]]
    items: tuple[ConversionItem, ...]

    @property
    def whole(self) -> bool:
        """Whether every construct was converted. If so, the query compiles."""
        return not any(item.left for item in self.items)


@dataclass(slots=True)
class _Rewrite:
    start: int
    end: int
    text: str | None
    """The new text; None if the span stays as it was."""
    around: tuple[int, int] | None = None
    """For a bracket of an optional clause: the span of the clause. The bracket is removed only if everything in the
    clause was converted."""


@dataclass(slots=True)
class Conversion:
    """A conversion in progress."""

    query: ImportedQuery
    dialect: str
    params: dict[str, dict[str, Any]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Name of a variable in the other tool -> name of the parameter."""
    fragments: dict[str, str] = field(default_factory=dict)
    """Name of each included fragment -> the SQL in its place when the result is compiled."""
    _rewrites: list[_Rewrite] = field(default_factory=list)
    _assumed: list[tuple[int, str]] = field(default_factory=list)
    _items: list[ConversionItem] = field(default_factory=list)

    def replace(self, start: int, end: int, text: str, *, around: tuple[int, int] | None = None) -> None:
        """Replace a span. If ``around`` is given, the span is replaced only if everything in ``around`` is
        converted."""
        self._rewrites.append(_Rewrite(start, end, text, around))

    def leave(self, start: int, end: int, reason: str) -> None:
        """Leave a span unconverted, and list it with the reason."""
        self._rewrites.append(_Rewrite(start, end, None))
        self.report(start, self.query.text[start:end], reason, left=True)

    def report(self, offset: int, construct: str, reason: str, *, left: bool = False) -> None:
        """List a construct with a reason, unless it is listed already. ``left``: whether it was left unconverted."""
        at = _location(self.query.text, offset)
        shown = " ".join(construct.split())
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        item = ConversionItem(at.line, at.column, shown, reason, left)
        if item not in self._items:
            self._items.append(item)

    def assume(self, offset: int, name: str) -> None:
        """Note that a variable's type is assumed. ``finish`` lists this if the variable is converted."""
        self._assumed.append((offset, name))

    def declare(self, name: str, wanted: str, definition: Mapping[str, Any]) -> str:
        """Declare a parameter for the variable ``name``, once. Return its name: ``wanted``, with a number if taken."""
        if name not in self.names:
            taken, number = set(self.names.values()), 1
            unique = wanted
            while unique in taken:
                number += 1
                unique = f"{wanted}_{number}"
            self.names[name] = unique
            self.params[unique] = dict(definition)
        return f"params.{self.names[name]}"

    def finish(self) -> ConvertedQuery:
        """Compile, restore the constructs that the compiler refuses, and add the header."""
        self._rewrites.sort(key=lambda rewrite: rewrite.start)
        self._compile()
        body, _ = self._assemble(None)
        params = self._used(body)
        self._list_assumed()
        items = tuple(sorted(self._items, key=lambda item: (item.line, item.column)))
        head = _header(
            title=self.query.name,
            description=self.query.description,
            dialect=self.dialect,
            params=params,
        )
        comments = "".join(_as_comment(line) for line in (TENANT_REMINDER, *map(str, items)))
        text = f"{head}{comments}{body.strip()}\n"
        return ConvertedQuery(
            name=self.query.name, text=text, body=body, dialect=self.dialect, params=params, items=items
        )

    def _compile(self) -> None:
        for _ in range(len(self._rewrites) + len(self.params) + 1):
            body, spans = self._assemble(_STAND_IN)
            try:
                SQLTemplate(body, self.dialect, params=self._used(body), fragments=self.fragments)
            except InvalidDefinition as error:
                self._drop_field(error)
            except TemplateError as error:
                if not self._leave_refused(error, body, spans):
                    return
            else:
                return

    def _list_assumed(self) -> None:
        for offset, name in self._assumed:
            if any(each.start <= offset < each.end and each.text is not None for each in self._rewrites):
                kind = self.params[self.names[name]]["type"]
                self.report(offset, name, f"its type is not in the text: {kind} is assumed; change it in the header")

    def _used(self, body: str) -> dict[str, dict[str, Any]]:
        return {name: each for name, each in self.params.items() if re.search(rf"\bparams\.{name}\b", body)}

    def _drop_field(self, error: InvalidDefinition) -> None:
        name, *field_names = error.keys
        dropped = next((each for each in field_names if each in self.params[name] and each != "type"), None)
        other = next(key for key, each in self.names.items() if each == name)
        self.report(0, other, f"{error.problem} ({error.fix})", left=True)
        if dropped is None:
            self.params[name] = {"type": "text"}
        else:
            del self.params[name][dropped]

    def _leave_refused(self, error: TemplateError, body: str, spans: list[tuple[int, int, _Rewrite]]) -> bool:
        reason = _reason(error)
        offset = _offset(body, error.location) if error.location is not None else 0
        at = next((span for span in spans if span[0] <= offset < span[1]), None)
        if at is not None and at[2].text is not None:
            at[2].text = None
            construct = self.query.text[at[2].start : at[2].end]
            self.report(at[2].start, construct, reason, left=True)
            return True
        before = [span for span in spans if span[1] <= offset]
        original = before[-1][2].end + offset - before[-1][1] if before else offset
        line = self.query.text[original:].split("\n", 1)[0]
        self.report(original, line or "the query", reason, left=True)
        return False

    def _assemble(self, stand_in: str | None) -> tuple[str, list[tuple[int, int, _Rewrite]]]:
        parts: list[str] = []
        spans: list[tuple[int, int, _Rewrite]] = []
        position = length = 0
        for rewrite in self._rewrites:
            between = self.query.text[position : rewrite.start]
            new = rewrite.text
            if new is None or (stand_in is None and rewrite.around is not None and self._is_left_in(*rewrite.around)):
                new = self.query.text[rewrite.start : rewrite.end] if stand_in is None else stand_in
            length += len(between)
            spans.append((length, length + len(new), rewrite))
            length += len(new)
            parts += [between, new]
            position = rewrite.end
        parts.append(self.query.text[position:])
        return "".join(parts), spans

    def _is_left_in(self, start: int, end: int) -> bool:
        return any(each.text is None and start <= each.start < end for each in self._rewrites)


def for_position(definition: Mapping[str, Any], text: str, start: int) -> dict[str, Any]:
    """Return the definition with the type for its position: a list after ``in``, an integer after ``limit``."""
    of = str(definition["type"])
    if _LIST_BEFORE.search(text, 0, start) and not of.startswith("list of "):
        return {**definition, "type": f"list of {of}"}
    if of in {"text", "decimal"} and _LIMIT_BEFORE.search(text, 0, start):
        return {**definition, "type": "integer", "min": 0}
    return dict(definition)


def _reason(error: TemplateError) -> str:
    lines = error.message.splitlines()
    problem = lines[0].partition(": ")[2] if error.location is not None else lines[0]
    fix = next((line.strip() for line in lines if line.strip().startswith("fix: ")), "")
    return f"{problem} ({fix.removeprefix('fix: ')})" if fix else problem


def _location(text: str, offset: int) -> Location:
    return Location(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _offset(text: str, at: Location) -> int:
    return sum(len(line) + 1 for line in text.split("\n")[: at.line - 1]) + at.column - 1


def _as_comment(line: str) -> str:
    plain = line.replace("\r", " ").replace("\n", " ")
    return f"-- {plain}{' (tenantry:ignore tag-in-comment)' if '{{' in plain else ''}\n"


# --- the header of the file: YAML in flow style, which is JSON --------------------------------------------------------


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NOT_PLAIN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none", "nan", "inf"}


def _header(*, title: str, description: str, dialect: str, params: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["/* ---", f"title: {_scalar(title)}"]
    if description:
        lines.append(f"description: {_scalar(description)}")
    lines.append(f"dialect: {dialect}")
    if params:
        lines.append("params:")
        lines += [f"  {name}: {_mapping(definition)}" for name, definition in params.items()]
    return "\n".join([*lines, "--- */"]) + "\n"


def _mapping(definition: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {_value(value)}" for name, value in definition.items()) + "}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(name))}: {_value(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
            return value
        # The header is a comment, so it must not contain `/*` or `*/`.
        return json.dumps(value).replace("*/", r"*\u002f").replace("/*", r"/\u002a")
    return json.dumps(value)
