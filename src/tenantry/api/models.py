"""The bodies of requests, as pydantic models (SPEC section 4): what they refuse and what the documentation says is one.

Pydantic checks types, names and lengths; what a store cannot keep is refused by ``tenantry.provisioning``.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema

from tenantry.groups import UNCHANGED, GroupChanges, GroupDraft
from tenantry.provisioning.limits import MAX_BYTES, MAX_DEPTH, MAX_KEYS, MAX_MAPPING, MAX_TEXT

MAX_TOKEN: Final = 512
"""Characters of ``current_token``: enough for any token, and for what people mistake for one."""

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
        description="Schema id to data source: our id (`ds_…`) or your own id of it. Each must be registered in the "
        'environment, else 422 `unknown_data_source`. Such as `{"main": "warehouse_eu"}`.',
    ),
]

TEXT_SCHEMA: Final[dict[str, Any]] = {"type": "string", "minLength": 1, "maxLength": MAX_TEXT, "pattern": NO_NUL}
MAPPING_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "maxProperties": MAX_MAPPING,
    "propertyNames": TEXT_SCHEMA,
    "additionalProperties": TEXT_SCHEMA,
}
PROPERTIES_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": f"Free JSON, read as variables by dashboards and SQL. At most {MAX_BYTES} bytes as compact JSON, "
    f"{MAX_DEPTH} levels (this object is level 1) and {MAX_KEYS} names in all levels together; integers up to 2^53-1 "
    "either way, finite numbers, no NUL and no lone surrogate.",
    "maxProperties": MAX_KEYS,
    "propertyNames": {"pattern": NO_NUL},
    "additionalProperties": True,
}


class RequestBody(BaseModel):
    """No coercion, no unknown field."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class GetOrCreate(RequestBody):
    """Gets the user group with this id, or creates it. A group that exists is never changed."""

    user_group_id: GroupId
    name: Name = Field(default="", description="Default: the id.")  # "" cannot be sent, so it says "absent"
    mapping: Mapping = None
    properties: Properties = None

    def draft(self) -> GroupDraft:
        return GroupDraft(self.user_group_id, self.name or self.user_group_id, self.properties, self.mapping)


class Update(RequestBody):
    """Updates the user group with this id: absent fields stay, `properties` and `mapping` are replaced whole, null
    clears them."""

    user_group_id: GroupId
    name: Name = ""
    mapping: Mapping = None
    properties: Properties = None

    def changes(self) -> GroupChanges:
        given = self.model_fields_set
        return GroupChanges(
            self.name if "name" in given else UNCHANGED,
            self.properties if "properties" in given else UNCHANGED,
            self.mapping if "mapping" in given else UNCHANGED,
        )


class Rotate(RequestBody):
    """Replaces the user group token by a new one. The old one is dead when the answer arrives."""

    current_token: Annotated[
        str,
        StringConstraints(max_length=MAX_TOKEN, pattern=NO_NUL),
        Field(description="The current user group token of the group to rotate."),
    ]
