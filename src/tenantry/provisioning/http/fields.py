from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from tenantry.groups import MOMENT_RULE, read_moment
from tenantry.provisioning.limits import MAX_BYTES, MAX_DEPTH, MAX_KEYS, MAX_MAPPING, MAX_TEXT

MAX_TOKEN: Final = 512
"""Maximum characters of ``current_token``. Longer than any token: a wrong value gets ``unknown_token``, not an error
about length."""

NO_NUL: Final = r"^[^\x00]*$"

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, pattern=NO_NUL)]

GroupId = Annotated[Text, Field(description="The id of the group in your own database.", examples=["acme"])]
Name = Annotated[Text, Field(description="The name of the group.", examples=["Acme Ltd"])]
Properties = Annotated[
    dict[str, Any] | None,
    WithJsonSchema({"anyOf": [{"$ref": "#/components/schemas/Properties"}, {"type": "null"}]}),
    Field(examples=[{"region": "eu", "statuses": ["open", "paid"]}]),
]
Mapping = Annotated[
    dict[Text, Text] | None,
    WithJsonSchema({"anyOf": [{"$ref": "#/components/schemas/DataSourceMapping"}, {"type": "null"}]}),
    Field(
        max_length=MAX_MAPPING,
        description="Maps the id of a schema to a data source: the id that Tenantry gave it (`ds_…`) or your own id "
        "for it. Each data source must be registered in the environment, otherwise the response is 422 "
        '`unknown_data_source`. Example: `{"main": "warehouse_eu"}`.',
    ),
]
MappingPatch = Annotated[
    dict[Text, Text | None] | None,
    WithJsonSchema({"anyOf": [{"$ref": "#/components/schemas/DataSourceMappingPatch"}, {"type": "null"}]}),
    Field(
        max_length=MAX_MAPPING,
        description="Like this field of PUT, but merged into the group's mapping: null removes the entry of a schema.",
    ),
]


def _read_moment(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        return read_moment(value if isinstance(value, str) else "")
    except ValueError:
        raise PydanticCustomError("moment", MOMENT_RULE) from None  # pydantic's message does not mention the zone


ExpiresAt = Annotated[
    datetime | None,
    BeforeValidator(_read_moment),
    WithJsonSchema({"type": ["string", "null"], "format": "date-time"}),
    Field(
        description="The end date of the group, with a time zone (RFC 3339). From then on, its token is refused with "
        "401 `user_group_expired`. Each worker uses its own clock. A date in the past takes effect at once. A later "
        "date, or null (no end), makes the same token valid again.",
        examples=["2027-01-31T23:59:59Z"],
    ),
]

Suspended = Annotated[
    bool,
    Field(
        description="True suspends the group: its token and passes are refused with 401 `user_group_suspended`, and "
        "get-or-create, rotation and new passes with 403 `group_suspended`. False resumes it with the same token."
    ),
]

TEXT_SCHEMA: Final[dict[str, Any]] = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT, "pattern": NO_NUL}
MAPPING_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "maxProperties": MAX_MAPPING,
    "propertyNames": TEXT_SCHEMA,
    "additionalProperties": TEXT_SCHEMA,
}
MAPPING_PATCH_SCHEMA: Final[dict[str, Any]] = {
    **MAPPING_SCHEMA,
    "additionalProperties": {**TEXT_SCHEMA, "type": ["string", "null"]},
}
PROPERTIES_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": f"Free JSON, read as variables by dashboards and SQL. At most {MAX_BYTES} bytes as compact JSON, "
    f"{MAX_DEPTH} levels (this object is level 1) and {MAX_KEYS} names in all levels together; integers up to 2^53-1 "
    "in absolute value, finite numbers, no NUL and no lone surrogate.",
    "maxProperties": MAX_KEYS,
    "propertyNames": {"pattern": NO_NUL},
    "additionalProperties": True,
}
