from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from tenantry.groups import MOMENT_RULE, read_moment
from tenantry.provisioning.limits import MAX_BYTES, MAX_DEPTH, MAX_KEYS, MAX_MAPPING, MAX_TEXT

MAX_TOKEN: Final = 512
"""Maximum characters of ``current_token``. Every token is shorter. A longer value gets an error about its length; any
other wrong value gets the error ``unknown_token``."""

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
        description="Maps the id of a schema to a data source. Write the id that Tenantry gave the data source "
        "(`ds_…`) or your own name for it. Each data source must be registered in the environment, otherwise the "
        'response is 422 `unknown_data_source`. Example: `{"main": "warehouse_eu"}`.',
    ),
]
MappingPatch = Annotated[
    dict[Text, Text | None] | None,
    WithJsonSchema({"anyOf": [{"$ref": "#/components/schemas/DataSourceMappingPatch"}, {"type": "null"}]}),
    Field(
        max_length=MAX_MAPPING,
        description="Like `mapping` in PUT, but the entries are merged into the group's mapping. An entry whose value "
        "is null is removed.",
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
        description="The end date of the group, with a time zone (RFC 3339). From then on, the group's token is "
        "refused with 401 `user_group_expired`. Each worker uses its own clock. A date in the past takes effect at "
        "once. If you set a later date, or null (no end date), the same token becomes valid again.",
        examples=["2027-01-31T23:59:59Z"],
    ),
]

Suspended = Annotated[
    bool,
    Field(
        description="True suspends the group. Its token and passes are then refused with 401 `user_group_suspended`. "
        "Get-or-create, rotation and new passes are refused with 403 `group_suspended`. "
        "False resumes the group with the same token."
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
