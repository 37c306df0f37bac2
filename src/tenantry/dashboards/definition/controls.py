from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, TypeVar

from tenantry.dashboards.definition.model import Control, DashboardFile
from tenantry.dashboards.definition.value_kinds import (
    Flag,
    Key,
    Listed,
    Schema,
    TemplateText,
    ValueKind,
    Word,
    mapping,
    read_keys,
    refuse,
)
from tenantry.dashboards.definition.zones import in_zone
from tenantry.sql import Source, SQLTemplate
from tenantry.sql.header import YamlNode
from tenantry.sql.parameters import (
    INSTANTS,
    RANGES,
    REFUSALS,
    RELATIVE_FORMS,
    UTC_ZONE,
    Bounds,
    InvalidDefinition,
    Moment,
    Parameter,
    ParameterType,
    PropertyReference,
    RelativeRange,
    ZoneOfGroup,
    declare,
    parse_relative,
    read_value,
    spell,
)

FILE_NAME: Final = r"[^\W\d_][\w-]*(?:/[^\W\d_][\w-]*)*"
FILE_FIX: Final = "start with a letter; continue with letters, digits, _ and -; write / between a folder and a file"
QUERY_NAME: Final = Word("a query file", FILE_NAME, FILE_FIX)
CONTROL_NAME: Final = Word("a control", r"[^\W\d_]\w*")
MAX_CONTROLS: Final = 40
MAX_PRESETS: Final = 12
_RANGE_NAME: Final = Word("a relative range", r"[\w +-]+", "write one such as last 30 days")
_PROPERTY: Final[Schema] = {"type": "object", "required": ["property"], "properties": {"property": {"type": "string"}}}


@dataclass(frozen=True, slots=True)
class _Given(ValueKind):
    # Any value: ``tenantry.sql.declare`` checks it later.

    title: str
    """The kind of value, in words."""

    def read(self, node: YamlNode, source: Source) -> Any:
        return node.plain()

    def schema(self) -> Schema:
        return {"anyOf": [{"type": ["string", "number", "boolean", "array", "null"]}, _PROPERTY], "title": self.title}


class _Choices:
    def read(self, node: YamlNode, source: Source) -> Any:
        return node.plain()

    def schema(self) -> Schema:
        by_query = {"type": "object", "required": ["query"], "properties": {"query": QUERY_NAME.schema()}}
        kinds = [{"type": "array", "minItems": 1}, by_query, {"type": "object", "minProperties": 1}]
        return {"anyOf": kinds, "title": "[VALUE, …], {VALUE: LABEL, …} or {query: NAME}"}


_DAY: Final = _Given("a day, such as 2026-01-31")
_AMOUNT: Final = _Given("a number")
_SHARED: Final = (
    Key("label", TemplateText(100), "the label for viewers; default: the name"),
    Key("description", TemplateText(500), "a sentence about the control"),
    Key(
        "default",
        _Given("a value, or {property: NAME}"),
        "the value until a viewer chooses; {property: region}: the group's value",
    ),
    Key("required", Flag(), "whether a viewer must choose before the queries run"),
)
CONTROL_KEYS: Final[Mapping[str, tuple[Key, ...]]] = MappingProxyType(
    {
        "range": (
            Key("range", _Given("a range, such as last-30-days"), "a range of days; the value is the default"),
            *_SHARED,
            Key("presets", Listed(_RANGE_NAME, MAX_PRESETS), "relative ranges to choose from"),
            Key("min", _DAY, "the first day"),
            Key("max", _DAY, "the last day"),
        ),
        "choices": (
            Key("choices", _Choices(), "the values that a viewer may choose, and their labels"),
            *_SHARED,
            Key("many", Flag(), "whether several may be chosen"),
        ),
        "text": (Key("text", _Given("text"), "any text; the value is the default"), *_SHARED),
        "number": (
            Key("number", _AMOUNT, "a number; the value is the default"),
            *_SHARED,
            Key("min", _AMOUNT, "the smallest number"),
            Key("max", _AMOUNT, "the greatest number"),
        ),
        "date": (
            Key("date", _DAY, "a day; the value is the default"),
            *_SHARED,
            Key("min", _DAY, "the first day"),
            Key("max", _DAY, "the last day"),
        ),
    }
)
"""The keys of each kind of control. The first key has the name of the kind."""


_EXAMPLE: Final = "write `period: {range: last 30 days}`, `region: {choices: [eu, us]}` or `name: {text: }`"
_TYPES: Final = {"range": "date range", "text": "text", "number": "decimal", "date": "date"}


def read_controls(node: YamlNode, source: Source, zone: ZoneOfGroup) -> Mapping[str, Control]:
    """Read a dashboard's controls. Raises TemplateError at the first mistake."""
    if not isinstance(node.value, dict):
        raise refuse(source, node, "controls must be a mapping", _EXAMPLE)
    if len(node.value) > MAX_CONTROLS:
        raise refuse(source, node, f"there are more than {MAX_CONTROLS} controls", "remove some")
    controls: dict[str, Control] = {}
    for name, each in node.value.items():
        CONTROL_NAME.read(YamlNode(name, node.keys[name]), source)
        control = _read_control(name, node.keys[name], each, source)
        controls[name] = replace(control, parameter=in_zone(control.parameter, zone))
    return MappingProxyType(controls)


def _read_control(name: str, offset: int, node: YamlNode, source: Source) -> Control:
    kinds = [kind for kind in CONTROL_KEYS if isinstance(node.value, dict) and kind in node.value]
    if len(kinds) != 1:
        problem = f"the control {name} is {' and '.join(kinds)} at once" if kinds else f"the control {name} has no kind"
        raise source.error(offset, problem, f"give it one of {', '.join(CONTROL_KEYS)}; {_EXAMPLE}")
    kind = kinds[0]
    nodes = mapping(node, source, f"a control with {kind}", [key.name for key in CONTROL_KEYS[kind]])
    values = read_keys(nodes, node, source, f"a control with {kind}", CONTROL_KEYS[kind])
    for preset, each in zip(values.get("presets", ()), _items(nodes.get("presets")), strict=True):
        _check_range(preset, each, source)
    try:
        parameter = declare({name: _definition(kind, values)})[name]
    except InvalidDefinition as error:
        at = next((nodes[key] for key in (*error.keys[1:], kind) if key in nodes), node)
        raise source.error(at.offset, f"the control {name}: {error.problem}", error.fix) from None
    return Control(parameter, offset, tuple(values.get("presets", ())))


def _definition(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    given = {key: values[key] for key in ("label", "description", "default", "required", "min", "max") if key in values}
    if kind == "choices":
        listed = "query" not in values["choices"]
        one = "choice" if listed else "text"
        return given | {"type": f"list of {one}" if values.get("many") else one, "choices": values["choices"]}
    own = values.get(kind)
    return given | {"type": _TYPES[kind]} | ({} if own in (None, "") or "default" in given else {"default": own})


def _items(node: YamlNode | None) -> list[YamlNode]:
    if node is None:
        return []
    return node.value if isinstance(node.value, list) else [node]


def _check_range(name: str, node: YamlNode, source: Source) -> None:
    try:
        parse_relative(name)
    except ValueError:
        fix = f"write one of: {', '.join(RELATIVE_FORMS)}"
        raise refuse(source, node, "this is not a relative range", fix) from None


_ONE_DAY: Final = timedelta(days=1)
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
_T = ParameterType
_READ_AS: Final[Mapping[ParameterType, frozenset[ParameterType]]] = MappingProxyType(
    {
        _T.DATE_RANGE: frozenset({_T.DATE_RANGE, _T.DATETIME_RANGE}),
        _T.DECIMAL: frozenset({_T.DECIMAL, _T.INTEGER}),
        _T.DATE: frozenset({_T.DATE, _T.DATETIME}),
    }
)
"""Type of a control -> the types of query parameters that accept its values. If a control's type is not listed, all
parameters except ranges accept its values."""

Template = TypeVar("Template", bound=SQLTemplate)


def sent_value(value: Any) -> Any:
    """Convert a parameter's value to the form in which viewers send it. In this form, the ``end`` of a range of days
    is the last day, not the day after it."""
    if isinstance(value, Bounds):
        last = value.end - _ONE_DAY if type(value.end) is date else value.end
        return {"start": _written(value.start), "end": _written(last)}
    return [spell(each) for each in value] if isinstance(value, tuple) else _written(value)


def _written(value: Any) -> str | None:
    return None if value is None else spell(value)


def controlled(dashboard: DashboardFile, template: Template) -> Template:
    """Return the template with each control's default and ``required`` set on the parameter of the same name. Raises
    TemplateError if the query does not accept the type or the default of the control."""
    own = {name: each for name, each in template.parameters.items() if name in dashboard.controls and not each.locked}
    changed = {name: _controlled(dashboard, dashboard.controls[name], each) for name, each in own.items()}
    return template if changed == own else template.redeclaring(changed)


def _controlled(dashboard: DashboardFile, control: Control, declared: Parameter) -> Parameter:
    given = control.parameter
    if given == declared:
        return declared
    taken = _READ_AS.get(given.type, frozenset(_T) - RANGES)
    if declared.type not in taken or (given.is_list and not declared.is_list):
        problem = f"a query declares params.{control.name} as {declared.kind}, and this control gives {given.kind}"
        fix = f"remove {control.name} from the query's header, or declare it there as {given.kind}"
        raise dashboard.source.error(control.offset, problem, fix)
    required = given.required or (declared.required and given.default is None)
    return replace(declared, default=_default(dashboard, control, declared), required=required)


def _default(dashboard: DashboardFile, control: Control, declared: Parameter) -> Any:
    default = control.parameter.default
    if default is None or isinstance(default, PropertyReference | RelativeRange):
        return default
    sent = sent_value(default)
    zone = declared.zone
    in_zone_of_group = isinstance(zone, PropertyReference)
    try:
        moment = Moment(UTC_ZONE if zone is None or isinstance(zone, PropertyReference) else zone, _ANY_TIME)
        value = read_value(declared, sent, moment)
    except REFUSALS:
        problem = f"a query declares params.{control.name}, and does not take the default of this control"
        fix = (
            f"give a default that the query takes ({declared.takes}), or remove {control.name} from the query's header"
        )
        raise dashboard.source.error(control.offset, problem, fix) from None
    return sent if in_zone_of_group and declared.type in INSTANTS else value
