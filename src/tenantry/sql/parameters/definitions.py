from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from tenantry.errors import Edit, did_you_mean, misspelt, nearest
from tenantry.sql.dialects.dialect import MAX_PARAMETERS
from tenantry.sql.parameters.declared import (
    INSTANTS,
    MATCHINGS,
    MAX_ITEMS,
    NAME,
    RANGES,
    TEXTS,
    UTC_ZONE,
    Parameter,
    ParameterType,
    PropertyReference,
    invalid_definition,
)
from tenantry.sql.parameters.relative_ranges import RelativeRange, parse_relative
from tenantry.sql.parameters.typed_values import REFUSALS, EmptyRange, Moment, is_empty, read_value

MAX_PARAMETERS_DECLARED: Final = 100
_LIST_OF = "list of "
_PROPERTY, _QUERY = "property", "query"
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)  # no default depends on the time

_T = ParameterType
_COMPARED = frozenset({_T.INTEGER, _T.DECIMAL, _T.DATE, _T.DATETIME, _T.INTERVAL, _T.DATE_RANGE, _T.DATETIME_RANGE})
_TYPES_OF: Final[Mapping[str, frozenset[ParameterType]]] = {
    "min": _COMPARED,
    "max": _COMPARED,
    "max_length": frozenset({_T.TEXT}),
    "choices": RANGES | {_T.TEXT, _T.INTEGER, _T.DECIMAL, _T.DATE, _T.UUID, _T.CHOICE},
    "zone": RANGES | INSTANTS | {_T.CHOICE},
    "open": frozenset({_T.DATE_RANGE, _T.DATETIME_RANGE}),
    "match": frozenset({_T.TEXT}),
    "is_null": frozenset(_T) - RANGES,
}
_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("string", "str", "varchar", "char", "character varying"), (_T.TEXT,)),
    **dict.fromkeys(("number", "numeric"), (_T.INTEGER, _T.DECIMAL)),
    **dict.fromkeys(("int", "bigint", "smallint", "long"), (_T.INTEGER,)),
    **dict.fromkeys(("float", "double", "real", "money"), (_T.DECIMAL,)),
    **dict.fromkeys(("bool", "flag", "checkbox"), (_T.BOOLEAN,)),
    **dict.fromkeys(("timestamp", "timestamptz", "instant"), (_T.DATETIME,)),
    **dict.fromkeys(("time", "duration", "timedelta"), (_T.INTERVAL,)),
    **dict.fromkeys(("enum", "select", "dropdown", "category", "option"), (_T.CHOICE,)),
    **dict.fromkeys(("range", "period"), (_T.DATE_RANGE, _T.DATETIME_RANGE)),
    **dict.fromkeys(("list", "array", "multiselect"), (f"{_LIST_OF}{_T.TEXT}",)),
    "guid": (_T.UUID,),
}
"""Type name in another language → our types."""
FIELDS: Final = ("type", "label", "description", "default", "required", "locked", *_TYPES_OF, "max_items")
"""Fields that a definition may have."""


def declare(definitions: Mapping[str, Any]) -> Mapping[str, Parameter]:
    """Return a Parameter for each definition, by name.

    Example of ``definitions``: ``{"rows": {"type": "integer", "max": 1000, "default": 100}}``. Each definition is a
    mapping, the name of a type, or a Parameter. Raises InvalidDefinition for the first problem.
    """
    if not isinstance(definitions, Mapping):
        raise invalid_definition((), "the parameters must be a mapping", "write a name and a definition for each")
    if len(definitions) > MAX_PARAMETERS_DECLARED:
        raise invalid_definition(
            (), f"more than {MAX_PARAMETERS_DECLARED} parameters", "declare only the parameters that the SQL uses"
        )
    return {name: _declare_one(name, definition) for name, definition in definitions.items()}


def _declare_one(name: Any, definition: Any) -> Parameter:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        fix = "start with a letter; continue with letters, digits and _"
        raise invalid_definition((str(name),), "not a parameter name", fix)
    if isinstance(definition, Parameter):
        if definition.name != name:
            raise invalid_definition((name,), f"the Parameter is called {definition.name}", "use one name")
        return definition
    if isinstance(definition, str):
        definition = {"type": definition}
    if not isinstance(definition, Mapping):
        raise invalid_definition((name,), "not a definition", "write its type, as in `{type: integer, max: 1000}`")
    return _Definition(name, definition).parameter()


class _Definition:
    def __init__(self, name: str, fields: Mapping[Any, Any]) -> None:
        self._name = name
        self._fields = fields
        for key in fields:
            if key not in FIELDS:
                fix = f"{did_you_mean(str(key), FIELDS)}The fields: {', '.join(FIELDS)}"
                self._reject(str(key), "no such field", fix, misspelt(str(key), FIELDS))
        self._type, self._is_list = self._read_type()
        for key, types in _TYPES_OF.items():
            if self._has(key) and self._type not in types:
                can = ", ".join(sorted(types))
                self._reject(key, f"not for the type {self._type}", f"remove it; these types have it: {can}")
        if self._has("max_items") and not self._is_list:
            self._reject("max_items", "not for one value", f"remove it, or write `type: {_LIST_OF}{self._type}`")

    def parameter(self) -> Parameter:
        locked, required = self._flag("locked"), self._flag("required")
        zone = self._zone()
        self._moment = Moment(UTC_ZONE if zone is None or isinstance(zone, PropertyReference) else zone, _ANY_TIME)
        choices, labels, query = self._choices()
        parameter = Parameter(
            name=self._name,
            type=self._type,
            is_list=self._is_list,
            label=self._text("label"),
            description=self._text("description"),
            required=required,
            locked=locked,
            min=self._limit("min"),
            max=self._limit("max"),
            max_length=self._count("max_length", None),
            max_items=self._count("max_items", MAX_ITEMS) if self._is_list else None,
            choices=choices,
            labels=labels,
            choices_query=query,
            zone=zone,
            open=self._open(),
            is_null=self._is_null(choices),
            match=self._match(),
        )
        if parameter.min is not None and parameter.max is not None and parameter.min > parameter.max:
            self._reject("min", "greater than max", "swap them")
        return self._with_default(parameter)

    def _with_default(self, parameter: Parameter) -> Parameter:
        default = self._default(parameter)
        if parameter.locked and not isinstance(default, PropertyReference):
            fix = "name this property, as in `default: {property: region}`"
            self._reject("locked", "a locked parameter is a property of the group", fix)
        if parameter.required and default is not None:
            fix = "remove one of the two: a parameter with a default is never missing"
            self._reject("required", "required, and has a default", fix)
        return replace(parameter, default=default)

    def _default(self, parameter: Parameter) -> Any:
        raw = self._fields.get("default")
        if raw is None:
            return None
        if isinstance(raw, Mapping) and _PROPERTY in raw:
            return self._property("default", raw)
        if is_empty(raw):
            self._reject("default", "an empty string is not a value", "remove it: the parameter is then absent")
        relative = _relative(raw) if parameter.is_range else None
        try:
            # min and max limit what a viewer sends, not the author's relative default.
            tried = parameter if relative is None else replace(parameter, min=None, max=None)
            value = read_value(tried, raw, self._moment)
        except EmptyRange as refusal:
            self._reject("default", str(refusal), f"give a value that fits: {parameter.takes}")
        except REFUSALS:
            self._reject("default", "this default does not fit", f"give a value that fits: {parameter.takes}")
        if relative is not None:
            return relative
        in_zone_of_group = self._type in INSTANTS and isinstance(parameter.zone, PropertyReference)
        return raw if in_zone_of_group else value

    def _read_type(self) -> tuple[ParameterType, bool]:
        written = self._fields.get("type")
        names = [*ParameterType, *(f"{_LIST_OF}{each}" for each in ParameterType if each not in RANGES)]
        if not isinstance(written, str) or written not in names:
            near = _other_names(written) or did_you_mean(written, names) if isinstance(written, str) else ""
            fix = f"{near}The types: {', '.join(ParameterType)}; and {_LIST_OF}any of these except ranges"
            edit = misspelt(written, names) if isinstance(written, str) and not _other_names(written) else None
            self._reject("type", "no type" if written is None else "no such type", fix, edit)
        name = written.removeprefix(_LIST_OF)
        return ParameterType(name), name != written

    def _zone(self) -> tzinfo | PropertyReference | None:
        raw = self._fields.get("zone")
        if raw is None:
            return None
        if isinstance(raw, Mapping):
            return self._property("zone", raw)
        zone = find_zone(raw)
        if zone is None:
            near = nearest(raw, available_timezones()) if isinstance(raw, str) else None
            fix = f"did you mean {near}?" if near else "write a name such as Europe/Vienna, or {property: timezone}"
            self._reject("zone", "not a time zone", fix)
        return zone

    def _property(self, key: str, raw: Mapping[Any, Any]) -> PropertyReference:
        path = raw.get(_PROPERTY)
        names = path.split(".") if isinstance(path, str) else []
        if len(raw) != 1 or not names or not all(map(NAME.fullmatch, names)):
            self._reject(key, "does not name a property", f"write `{key}: {{property: region}}`, or a path with dots")
        return PropertyReference(".".join(names))

    def _choices(self) -> tuple[tuple[Any, ...] | None, tuple[str, ...], str | None]:
        raw = self._fields.get("choices")
        if raw is None:
            if self._type is ParameterType.CHOICE:
                self._reject("choices", "a choice without choices", "list them, as in `choices: [eu, us]`")
            return None, (), None
        if isinstance(raw, Mapping) and set(raw) == {_QUERY}:
            if not isinstance(raw[_QUERY], str) or not raw[_QUERY]:
                self._reject("choices", "does not name a query", "write `choices: {query: NAME}`")
            return None, (), raw[_QUERY]
        if not isinstance(raw, Mapping | list | tuple) or not raw:
            fix = "write [eu, us], {eu: Europe, us: United States}, or {query: NAME}"
            self._reject("choices", "no choices", fix)
        values = tuple(map(self._choice, raw))
        if len(set(values)) != len(values):
            self._reject("choices", "a choice occurs twice", "remove one of them")
        labels = raw.values() if isinstance(raw, Mapping) else raw
        return values, tuple(map(str, labels)), None

    def _choice(self, raw: Any) -> Any:
        plain = Parameter(name=self._name, type=self._type)
        try:
            if is_empty(raw) or isinstance(raw, list | tuple):
                value = None
            elif self._type in RANGES:
                read_value(plain, raw, self._moment)
                value = _relative(raw)
            else:
                value = read_value(plain, raw, self._moment)
        except REFUSALS:
            value = None
        if value is None:
            kind = "a range such as last 30 days" if self._type in RANGES else f"of the type {self._type}"
            fix = (
                "numbers, true and false are strings only in quotes"
                if self._type in TEXTS
                else f"each choice must be {kind}"
            )
            self._reject("choices", "a choice that does not fit", fix)
        return value

    def _limit(self, key: str) -> Any:
        raw = self._fields.get(key)
        if raw is None:
            return None
        of = {_T.DATE_RANGE: _T.DATE, _T.DATETIME_RANGE: _T.DATETIME}.get(self._type, self._type)
        plain = Parameter(name=self._name, type=of)
        try:
            value = None if isinstance(raw, list | tuple) else read_value(plain, raw, self._moment)
        except REFUSALS:
            value = None
        if value is None:
            self._reject(key, f"does not fit the type {self._type}", f"give {plain.takes}")
        return value

    def _count(self, key: str, otherwise: int | None) -> int | None:
        raw = self._fields.get(key)
        if raw is None:
            return otherwise
        most = MAX_PARAMETERS if key == "max_items" else None
        if type(raw) is not int or raw < 1 or (most is not None and raw > most):
            self._reject(key, "not an allowed number", f"give a whole number from 1{f' to {most}' if most else ''}")
        return raw

    def _open(self) -> frozenset[str]:
        raw = self._fields.get("open")
        found = {None: frozenset[str](), "start": {"start"}, "end": {"end"}, "both": {"start", "end"}}
        if raw is not None and (not isinstance(raw, str) or raw not in found):
            self._reject("open", "does not name an end", "write start, end or both")
        return frozenset(found[raw])

    def _is_null(self, choices: tuple[Any, ...] | None) -> str | None:
        word = self._text("is_null")
        if word and choices is not None and word in choices:
            self._reject("is_null", f"{word} is one of the choices", "give NULL its own word")
        return word or None

    def _match(self) -> str:
        match = self._text("match") or "equals"
        if match not in MATCHINGS or (self._is_list and match != "equals"):
            fix = f"write one of {', '.join(MATCHINGS)}; for a list, write equals"
            self._reject("match", "not a way to compare", fix)
        return match

    def _flag(self, key: str) -> bool:
        raw = self._fields.get(key)
        if raw is not None and not isinstance(raw, bool):
            self._reject(key, "must be true or false", f"write `{key}: true`, or remove it")
        return bool(raw)

    def _text(self, key: str) -> str:
        raw = self._fields.get(key)
        if raw is not None and not isinstance(raw, str):
            self._reject(key, "must be a string", "put it in quotes")
        return raw or ""

    def _has(self, key: str) -> bool:
        return self._fields.get(key) is not None

    def _reject(self, key: str, problem: str, fix: str, edit: Edit | None = None) -> NoReturn:
        raise invalid_definition((self._name, key), problem, fix, edit)


def _other_names(written: str) -> str:
    name = written.lower()
    prefix = next((each for each in (_LIST_OF, "list ", "array of ") if name.startswith(each)), "")
    found = _OTHER_NAMES.get(name.removeprefix(prefix).strip().removesuffix("s" if prefix else ""), ())
    if prefix:
        found = tuple(f"{_LIST_OF}{each}" for each in found)
    return f"write {' or '.join(found)}. " if found else ""


def find_zone(name: Any) -> tzinfo | None:
    if not isinstance(name, str) or not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # ValueError and OSError: the name is the path of a folder, or cannot be the path of a zone.
        return None


def _relative(raw: Any) -> RelativeRange | None:
    try:
        return parse_relative(raw) if isinstance(raw, str) else None
    except ValueError:
        return None
