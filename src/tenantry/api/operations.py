"""The operations of ``/api/user`` (SPEC section 4): the models of request bodies, and what each becomes.

Pydantic checks types, names and lengths, and describes them in the OpenAPI document; what a store cannot hold is
refused by ``tenantry.provisioning``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, WithJsonSchema

from tenantry.errors import AmbiguousRequest, InvalidBody
from tenantry.groups import UNCHANGED, Author, Environment, GroupChanges, GroupDraft, IdempotencyKey, Issued, thaw
from tenantry.provisioning import NOT_LOADED, NotLoaded, Provisioned, Provisioner, check_changes, check_draft
from tenantry.provisioning.limits import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_KEYS,
    MAX_MAPPING,
    MAX_TEXT,
    check_text,
    pointer_of,
)

# --- request bodies ---------------------------------------------------------------------------------------------------

MAX_TOKEN: Final = 512
"""Characters of ``current_token``: enough for any token, and for what is sent by mistake."""

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

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class GetOrCreate(RequestBody):
    """Gets the user group with this id, or creates it. A group that exists is never changed."""

    user_group_id: GroupId
    name: Name = Field(default="", description="Default: the id.")  # "" cannot be sent, so it means "absent"
    mapping: Mapping = None
    properties: Properties = None

    def draft(self) -> GroupDraft:
        """The group to create if there is none."""
        return GroupDraft(self.user_group_id, self.name or self.user_group_id, self.properties, self.mapping)


class Update(RequestBody):
    """Updates the user group with this id: absent fields stay, `properties` and `mapping` are replaced whole, null
    clears them."""

    user_group_id: GroupId
    name: Name = ""
    mapping: Mapping = None
    properties: Properties = None

    def changes(self) -> GroupChanges:
        """What was sent; absent fields are UNCHANGED."""
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


# --- operations -------------------------------------------------------------------------------------------------------

Model = TypeVar("Model", bound=RequestBody)
LoadedGroup: TypeAlias = Issued | NotLoaded | None


class ProvisioningCall(NamedTuple):
    """What an operation runs with; ``loaded`` is its group, if it was read already."""

    provisioner: Provisioner
    environment: Environment
    author: Author
    once: IdempotencyKey | None = None
    loaded: LoadedGroup = NOT_LOADED


class Operation(Protocol):
    """What one request asks for."""

    @property
    def name(self) -> str:
        """For metrics and spans."""

    def check(self) -> None:
        """Raises InvalidBody where ``run`` would, without doing anything: for a caller who may not do it."""

    @property
    def provided_id(self) -> str | None:
        """The id of the group to read for it; None if the group is not named by its id."""

    async def run(self, call: ProvisioningCall) -> Provisioned:
        """Does it. Raises what the Provisioner raises."""

    def document(self, result: Provisioned) -> dict[str, Any]:
        """The JSON of a success, with exactly the fields of SPEC section 4."""


@dataclass(frozen=True, slots=True)
class GetOrCreateGroup:
    """The operation of GET and QUERY, and of POST with a ``user_group_id``."""

    name: ClassVar[str] = "get_or_create"
    draft: GroupDraft
    with_tag: bool
    """POST answers with ``api_environment_tag`` too (SPEC section 2.1)."""

    @property
    def provided_id(self) -> str:
        return self.draft.provided_id

    def check(self) -> None:
        check_draft(self.draft)

    async def run(self, call: ProvisioningCall) -> Provisioned:
        return await call.provisioner.get_or_create(
            call.environment, self.draft, call.once, author=call.author, loaded=call.loaded
        )

    def document(self, result: Provisioned) -> dict[str, Any]:
        group = _group_fields(result)
        group["properties"] = thaw(result.group.properties)
        if self.with_tag:
            group["api_environment_tag"] = result.group.environment.tag.value
        return {"success": 1, "new_user_group": result.created, "user_group": group}


@dataclass(frozen=True, slots=True)
class UpdateGroup:
    """The operation of PUT."""

    name: ClassVar[str] = "update"
    provided_id: str
    changes: GroupChanges

    def check(self) -> None:
        check_text(self.provided_id, "/user_group_id")
        check_changes(self.changes)

    async def run(self, call: ProvisioningCall) -> Provisioned:
        self.check()  # an id that breaks today's limits may be stored; a caller gets the error of the limits
        return await call.provisioner.update(
            call.environment, self.provided_id, self.changes, author=call.author, loaded=call.loaded
        )

    def document(self, result: Provisioned) -> dict[str, Any]:
        group = _group_fields(result)
        group["properties"] = thaw(result.group.properties)
        group["api_environment_tag"] = result.group.environment.tag.value
        return {"success": 1, "user_group": group}


@dataclass(frozen=True, slots=True)
class RotateToken:
    """The operation of POST with a ``current_token``."""

    name: ClassVar[str] = "rotate"
    provided_id: ClassVar[None] = None
    current_token: str

    def check(self) -> None:
        """Any text is accepted."""

    async def run(self, call: ProvisioningCall) -> Provisioned:
        return await call.provisioner.rotate(call.environment, self.current_token, once=call.once, author=call.author)

    def document(self, result: Provisioned) -> dict[str, Any]:
        return {
            "success": 1,
            "user_group": {**_group_fields(result), "api_environment_tag": result.group.environment.tag.value},
        }


def _group_fields(result: Provisioned) -> dict[str, Any]:
    group = result.group
    return {"team_id": group.team_id, "token": result.token, "name": group.name, "provided_id": group.provided_id}


# --- from a body ------------------------------------------------------------------------------------------------------


def _get(body: dict[str, Any]) -> Operation:
    return GetOrCreateGroup(_valid(GetOrCreate, body).draft(), with_tag=False)


def _put(body: dict[str, Any]) -> Operation:
    update = _valid(Update, body)
    return UpdateGroup(update.user_group_id, update.changes())


def _rotation(body: dict[str, Any]) -> Operation:
    return RotateToken(_valid(Rotate, body).current_token)


def _post(body: dict[str, Any]) -> Operation:
    rotates, creates = "current_token" in body, "user_group_id" in body
    if rotates == creates:
        raise AmbiguousRequest("send either current_token (to rotate) or user_group_id (to get or create)", field="")
    if rotates:
        return _rotation(body)
    return GetOrCreateGroup(_valid(GetOrCreate, body).draft(), with_tag=True)


OperationParser: TypeAlias = Callable[[dict[str, Any]], Operation]
"""Makes an operation of a body. Raises InvalidBody, AmbiguousRequest."""

OPERATIONS: Final[dict[str, OperationParser]] = {
    "GET": _get,
    "PUT": _put,
    "POST": _post,
    "QUERY": _get,
}
"""What each method of ``/api/user`` makes of a body."""

ROTATION: Final[dict[str, OperationParser]] = {"POST": _rotation}
"""The same of ``/api/user/rotate``, a path with one purpose."""


def _valid(model: type[Model], body: dict[str, Any]) -> Model:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    # Raised here, and not in the handler: the error of pydantic holds the input.
    path = first["loc"][:-1] if first["loc"][-1:] == ("[key]",) else first["loc"]
    raise InvalidBody(_MESSAGES.get(first["type"], first["msg"]), field=pointer_of(path))


_MESSAGES: Final = {
    "extra_forbidden": "there is no such field",
    "missing": "this field is required",
    "string_type": "this must be a string",
    "string_unicode": "a lone surrogate cannot be stored",
    "string_pattern_mismatch": "a NUL character cannot be stored",
    "dict_type": "this must be an object",
}
