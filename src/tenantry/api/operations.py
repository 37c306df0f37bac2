"""A decoded body becomes one of three operations; an operation knows its verb and the fields of its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

from pydantic import ValidationError

from tenantry.api.models import GetOrCreate, RequestBody, Rotate, Update
from tenantry.errors import AmbiguousRequest, InvalidBody
from tenantry.groups import Author, Environment, GroupChanges, GroupDraft, IdempotencyKey, Issued, thaw
from tenantry.provisioning import NotLoaded, Provisioned, Provisioner, check_changes, check_draft
from tenantry.provisioning.limits import check_text, pointer_of

Model = TypeVar("Model", bound=RequestBody)
Found: TypeAlias = Issued | NotLoaded | None


class Operation(Protocol):
    """What one request asks for."""

    @property
    def name(self) -> str:
        """The verb, for metrics and spans."""

    def check(self) -> None:
        """Raises InvalidBody where the verb would, without doing anything: for a caller who may not do it."""

    @property
    def provided_id(self) -> str | None:
        """The id of the group that is to be read for it; None if it is not named by its id."""

    async def run(
        self,
        provisioner: Provisioner,
        environment: Environment,
        once: IdempotencyKey | None,
        author: Author,
        found: Found,
    ) -> Provisioned:
        """``found``: the group, if it was read."""

    def answer(self, made: Provisioned) -> dict[str, Any]:
        """The JSON of a success, with exactly the fields of SPEC section 4."""


@dataclass(frozen=True, slots=True)
class GetOrCreateGroup:
    name: ClassVar = "get_or_create"
    draft: GroupDraft
    with_tag: bool
    """POST answers with ``api_environment_tag`` too (SPEC section 2.1)."""

    @property
    def provided_id(self) -> str:
        return self.draft.provided_id

    def check(self) -> None:
        check_draft(self.draft)

    async def run(
        self,
        provisioner: Provisioner,
        environment: Environment,
        once: IdempotencyKey | None,
        author: Author,
        found: Found,
    ) -> Provisioned:
        return await provisioner.get_or_create(environment, self.draft, once, author=author, loaded=found)

    def answer(self, made: Provisioned) -> dict[str, Any]:
        shown = _shown(made)
        shown["properties"] = thaw(made.group.properties)
        if self.with_tag:
            shown["api_environment_tag"] = made.group.environment.tag.value
        return {"success": 1, "new_user_group": made.created, "user_group": shown}


@dataclass(frozen=True, slots=True)
class UpdateGroup:
    name: ClassVar = "update"
    provided_id: str
    changes: GroupChanges

    def check(self) -> None:
        check_text(self.provided_id, "/user_group_id")
        check_changes(self.changes)

    async def run(
        self,
        provisioner: Provisioner,
        environment: Environment,
        once: IdempotencyKey | None,
        author: Author,
        found: Found,
    ) -> Provisioned:
        self.check()  # a program may change a group whose id was stored when nobody looked; a caller is told of it
        return await provisioner.update(environment, self.provided_id, self.changes, author=author, loaded=found)

    def answer(self, made: Provisioned) -> dict[str, Any]:
        shown = _shown(made)
        shown["properties"] = thaw(made.group.properties)
        shown["api_environment_tag"] = made.group.environment.tag.value
        return {"success": 1, "user_group": shown}


@dataclass(frozen=True, slots=True)
class RotateToken:
    name: ClassVar = "rotate"
    provided_id: ClassVar = None
    current_token: str

    def check(self) -> None:
        """Any text may be asked about."""

    async def run(
        self,
        provisioner: Provisioner,
        environment: Environment,
        once: IdempotencyKey | None,
        author: Author,
        found: Found,
    ) -> Provisioned:
        return await provisioner.rotate(environment, self.current_token, once=once, author=author)

    def answer(self, made: Provisioned) -> dict[str, Any]:
        return {"success": 1, "user_group": {**_shown(made), "api_environment_tag": made.group.environment.tag.value}}


def _shown(made: Provisioned) -> dict[str, Any]:
    group = made.group
    return {"team_id": group.team_id, "token": made.token, "name": group.name, "provided_id": group.provided_id}


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


Reader: TypeAlias = Callable[[dict[str, Any]], Operation]
"""Makes an operation of a body. Raises InvalidBody, AmbiguousRequest."""

OPERATIONS: Final[dict[str, Reader]] = {
    "GET": _get,
    "PUT": _put,
    "POST": _post,
    "QUERY": _get,
}
"""What each method of ``/api/user`` makes of a body."""

ROTATION: Final[dict[str, Reader]] = {"POST": _rotation}
"""The same of ``/api/user/rotate``, an address that has one purpose."""


def _valid(model: type[Model], body: dict[str, Any]) -> Model:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    # Raised here, and not in the handler: the error of pydantic knows the input.
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
