"""The operations of ``/api/user`` (SPEC section 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from tenantry.errors import AmbiguousRequest, InvalidBody, nearest
from tenantry.groups import (
    LATER_SETTABLE_FIELDS,
    SETTABLE_FIELDS,
    Author,
    Environment,
    GroupChanges,
    GroupDraft,
    IdempotencyKey,
    Issued,
    Scope,
    UserGroup,
    thaw,
)
from tenantry.provisioning import NOT_LOADED, NotLoaded, Provisioner, check_changes, check_draft
from tenantry.provisioning.http.fields import (
    MAX_TOKEN,
    NO_NUL,
    ExpiresAt,
    GroupId,
    Mapping,
    MappingPatch,
    Name,
    Properties,
    Suspended,
)
from tenantry.provisioning.limits import check_text, pointer_of

# --- operations -------------------------------------------------------------------------------------------------------

LoadedGroup: TypeAlias = Issued | NotLoaded | None
"""The group as it was before the operation. None: the group does not exist. NOT_LOADED: the group was not read."""


@dataclass(frozen=True, slots=True)
class OperationCall:
    provisioner: Provisioner
    environment: Environment
    author: Author
    once: IdempotencyKey | None = None
    loaded: LoadedGroup = NOT_LOADED


class ApiBody(BaseModel):
    """A request body. Values are not converted to other types, and unknown fields are refused."""

    model_config: ClassVar[ConfigDict] = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class Operation(ApiBody, ABC):
    operation: ClassVar[str]
    """Name of the operation in metrics and spans."""
    needed_scope: ClassVar[Scope] = Scope.PROVISION_WRITE
    takes_key: ClassVar[bool] = True
    """Whether the operation uses an Idempotency-Key."""

    @property
    def group_to_load(self) -> str | None:
        return None

    def check(self) -> None:
        """Raise InvalidBody if ``run`` would raise it."""

    @abstractmethod
    async def run(self, call: OperationCall) -> Issued[str]:
        """Carry out the operation. Raises the errors of the Provisioner's method that it calls."""

    @abstractmethod
    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        """Return the JSON of a successful response. Operations of SPEC section 4 return exactly the fields that are
        listed there."""


class GetOrCreate(Operation):
    """Gets the user group with this id, or creates it. An existing group is not changed."""

    operation: ClassVar[str] = "get_or_create"
    user_group_id: GroupId
    name: Name = Field(default="", description="Default: the id.")  # "" cannot be sent, so it means "absent"
    mapping: Mapping = None
    properties: Properties = None

    @property
    def group_to_load(self) -> str:
        return self.user_group_id

    def draft(self) -> GroupDraft:
        name = self.name or self.user_group_id
        return GroupDraft(self.user_group_id, name, properties=self.properties, mapping=self.mapping)

    def check(self) -> None:
        check_draft(self.draft())

    async def run(self, call: OperationCall) -> Issued[str]:
        return await call.provisioner.get_or_create(
            call.environment, self.draft(), call.once, author=call.author, loaded=call.loaded
        )

    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        """For POST, the JSON also contains ``api_environment_tag`` (SPEC section 2.1)."""
        group = _group_fields(result, properties=True, tag=method == "POST")
        return {"success": 1, "new_user_group": result.created, "user_group": group}


class Update(Operation):
    """Updates the user group with this id. Fields that the body does not contain stay as they are. `properties` and
    `mapping` replace the old values completely; null clears a field."""

    operation: ClassVar[str] = "update"
    merges: ClassVar[bool] = False
    user_group_id: GroupId
    name: Name = ""
    mapping: Mapping = None
    properties: Properties = None

    @property
    def group_to_load(self) -> str:
        return self.user_group_id

    def changes(self) -> GroupChanges:
        given: dict[str, Any] = {name: getattr(self, name) for name in SETTABLE_FIELDS if name in self.model_fields_set}
        return GroupChanges(**given)

    def check(self) -> None:
        check_text(self.user_group_id, "/user_group_id")
        check_changes(self.changes(), merge=self.merges)

    async def run(self, call: OperationCall) -> Issued[str]:
        self.check()  # before the look-up: an existing group's id may exceed a limit that is newer than the group
        return await call.provisioner.update(
            call.environment,
            self.user_group_id,
            self.changes(),
            merge=self.merges,
            author=call.author,
            loaded=call.loaded,
        )

    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        return {"success": 1, "user_group": _group_fields(result, properties=True, tag=True)}


class Merge(Update):
    """Changes the user group with this id by a merge patch (RFC 7396). Fields that the body does not contain stay as
    they are. Members of `properties` and `mapping` are merged into the old ones. A member that is null is removed; a
    field that is null is cleared. Only PATCH and bulk requests can set an end date, suspend or resume a group."""

    operation: ClassVar[str] = "merge"
    merges: ClassVar[bool] = True
    mapping: MappingPatch = None  # type: ignore[assignment]  # wider: null removes an entry
    expires_at: ExpiresAt = None
    suspended: Suspended = False

    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        return {"success": 1, "user_group": merged_group(result)}


class Replacement(Merge):
    """A bulk line that replaces `properties` and `mapping`, and may set an end date or suspend the group."""

    mapping: Mapping = None  # type: ignore[assignment]  # unlike Merge: no null values


class Delete(Operation):
    """Deletes the user group with this id. On this host, the group's token is invalid before you receive the response;
    on other hosts, within the staleness bound."""

    operation: ClassVar[str] = "delete"
    user_group_id: GroupId

    def check(self) -> None:
        check_text(self.user_group_id, "/user_group_id")

    async def run(self, call: OperationCall) -> Issued[str]:
        gone = await call.provisioner.delete(call.environment, self.user_group_id, author=call.author)
        return Issued(gone, token="")

    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        return {"success": 1, "user_group": listed_group(result.group)}


class Rotate(Operation):
    """Replaces the user group token with a new one. If the environment has no grace period, the old token is invalid on
    this host before you receive the response; on other hosts, within the staleness bound."""

    operation: ClassVar[str] = "rotate"
    current_token: Annotated[
        str,
        StringConstraints(max_length=MAX_TOKEN, pattern=NO_NUL),
        Field(description="The current user group token of the group to rotate."),
    ]

    async def run(self, call: OperationCall) -> Issued[str]:
        return await call.provisioner.rotate(call.environment, self.current_token, once=call.once, author=call.author)

    def document(self, result: Issued[str], method: str) -> dict[str, Any]:
        return {"success": 1, "user_group": rotated_group(result)}


LISTED_FIELDS: Final = (
    "team_id", "name", "provided_id", "properties", "mapping", "api_environment_tag", *LATER_SETTABLE_FIELDS
)  # fmt: skip
"""The fields of a group in lists and in the response to DELETE."""


def listed_group(group: UserGroup) -> dict[str, Any]:
    plain = group.as_dict()
    return {name: plain[name] for name in LISTED_FIELDS}


def rotated_group(result: Issued[str]) -> dict[str, Any]:
    return _group_fields(result, properties=False, tag=True)


def merged_group(result: Issued[str]) -> dict[str, Any]:
    """Return the fields of SPEC section 4.2 and the fields that only PATCH sets."""
    plain = result.group.as_dict()
    later = {name: plain[name] for name in LATER_SETTABLE_FIELDS}
    return {**_group_fields(result, properties=True, tag=True), **later}


def _group_fields(result: Issued[str], *, properties: bool, tag: bool) -> dict[str, Any]:
    group = result.group
    fields = {"team_id": group.team_id, "token": result.token, "name": group.name, "provided_id": group.provided_id}
    if properties:
        fields["properties"] = thaw(group.properties)
    if tag:
        fields["api_environment_tag"] = group.environment.tag.value
    return fields


# --- from a body ------------------------------------------------------------------------------------------------------

Model = TypeVar("Model", bound=ApiBody)


def parse_body(model: type[Model], body: dict[str, Any]) -> Model:
    """Validate ``body``. Raises InvalidBody for the first invalid field."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
    # Raise InvalidBody outside the handler: inside, its __context__ would be pydantic's error, which contains the
    # input.
    path = first["loc"]
    if first["type"] == "extra_forbidden":  # the last part is the field's name, which may be "[key]" itself
        message = _no_such_field(str(path[-1]), [*model.model_fields])
    else:
        path = path[:-1] if path[-1:] == ("[key]",) else path
        message = (
            MESSAGES[first["type"]].format_map(first.get("ctx", {})) if first["type"] in MESSAGES else first["msg"]
        )
    raise InvalidBody(message, field=pointer_of(path))


def _no_such_field(name: str, fields: list[str]) -> str:
    # The message never quotes `name`, which may be a secret.
    near = nearest(name, [*fields, *SETTABLE_FIELDS])
    if near is None:
        return f"there is no such field; the fields are {', '.join(fields)}"
    if near in fields:
        return f"there is no such field; did you mean {near}? The fields are {', '.join(fields)}"
    return f"there is no such field here: PATCH sets {near}; the fields are {', '.join(fields)}"


def _parse_post(body: dict[str, Any]) -> Operation:
    rotates, creates = "current_token" in body, "user_group_id" in body
    if rotates == creates:
        raise AmbiguousRequest("send either current_token (to rotate) or user_group_id (to get or create)", field="")
    return parse_body(Rotate if rotates else GetOrCreate, body)


OperationParser: TypeAlias = Callable[[dict[str, Any]], Operation]
"""A function that parses a JSON body. It raises InvalidBody or AmbiguousRequest."""

OPERATIONS: Final[dict[str, OperationParser]] = {
    "GET": partial(parse_body, GetOrCreate),
    "PUT": partial(parse_body, Update),
    "PATCH": partial(parse_body, Merge),
    "DELETE": partial(parse_body, Delete),
    "POST": _parse_post,
    "QUERY": partial(parse_body, GetOrCreate),
}
"""Method of ``/api/user`` -> parser of the body. For DELETE, the parser gets the query parameters instead."""


def parse_line(body: dict[str, Any], *, replace: bool) -> Merge:
    """Parse a line of a bulk body. Raises InvalidBody."""
    return parse_body(Replacement if replace else Merge, body)


ROTATION: Final[dict[str, OperationParser]] = {"POST": partial(parse_body, Rotate)}


def parser_of(model: type[Operation]) -> OperationParser:
    return partial(parse_body, model)


MESSAGES: Final = {
    "missing": "this field is required",
    "string_type": "this must be a string",
    "string_unicode": "a lone surrogate cannot be stored",
    "string_pattern_mismatch": "a NUL character cannot be stored",
    "string_too_short": "this must not be empty",
    "string_too_long": "this must have at most {max_length} characters",
    "too_long": "this must have at most {max_length} entries",
    "dict_type": "this must be an object",
    "bool_type": "this must be true or false",
    "int_type": "this must be a whole number",
    "greater_than_equal": "this must be at least {ge}",
}
"""The type of a pydantic error -> our message. An error of any other type keeps pydantic's message."""
