"""``when``: the groups that may open a dashboard, or see a panel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tenantry.dashboards.definition.value_kinds import Fields, Key, Listed, Schema, ValueKind, Word, refuse
from tenantry.groups import Record, RecordList
from tenantry.sql import Source, look_up
from tenantry.sql.header import YamlNode

_MAX_VALUES: Final = 100


@dataclass(frozen=True, slots=True)
class When:
    """A condition on the property at ``path``, below ``user_group.properties``."""

    path: str
    values: tuple[Any, ...]
    offset: int = 0

    def holds(self, variables: Mapping[str, Any] | Record) -> bool:
        """Whether the property equals one of the values, or is a list that contains one of them."""
        # A missing property equals no value; 1 does not equal true.
        found = look_up(variables, f"user_group.properties.{self.path}")
        items = found if isinstance(found, RecordList | list | tuple) else [found]
        return any(_are_equal(item, value) for item in items for value in self.values)

    def as_dict(self) -> dict[str, Any]:
        return {"property": self.path, "in": list(self.values)}

    def __str__(self) -> str:
        return f"{self.path} is {' or '.join(map(str, self.values))}"


def _are_equal(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


@dataclass(frozen=True, slots=True)
class _Scalar(ValueKind):
    def read(self, node: YamlNode, source: Source) -> Any:
        if isinstance(node.value, str | int | float) and node.value != "":
            return node.value
        raise refuse(
            source, node, "this must be text, a number, true or false", "write for example `in: [pro]` or `in: [true]`"
        )

    def schema(self) -> Schema:
        return {"type": ["string", "number", "boolean"], "minLength": 1}


_FIELDS: Final = Fields(
    "a condition",
    (
        Key("property", Word("a property", r"[^\W\d_]\w*(?:\.[^\W\d_]\w*)*"), "a property of the group", required=True),
        Key(
            "in",
            Listed(_Scalar(), _MAX_VALUES),
            "the property values for which the panel or dashboard is shown",
            required=True,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Condition(ValueKind):
    def read(self, node: YamlNode, source: Source) -> When:
        fields = _FIELDS.read(node, source)
        return When(fields["property"], tuple(fields["in"]), node.offset)

    def schema(self) -> Schema:
        return _FIELDS.schema()


WHEN: Final = Key(
    "when",
    _Condition(),
    "the groups that see it, such as {property: plan, in: [pro]}; groups without the property do not",
)
