"""ProvisionedGroup: what ``/api/user`` answers with; and the error that it answers with, as the error that it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tenantry.errors import TenantryError, UnexpectedAnswer
from tenantry.groups import Tag


@dataclass(frozen=True, slots=True)
class ProvisionedGroup:
    """A user group as SPEC section 2.1 shows it. ``properties`` and ``api_environment_tag`` are None where the call
    does not return them; ``created`` is None but for get_or_create. ``token`` is a secret and stays out of ``repr``."""

    team_id: int
    token: str = field(repr=False)
    name: str
    provided_id: str
    properties: dict[str, Any] | None = field(default=None, repr=False)
    api_environment_tag: Tag | None = None
    created: bool | None = None
    replayed: bool = False


def read_group(document: Any, *, replayed: bool) -> ProvisionedGroup:
    """Raises UnexpectedAnswer where a field is missing or is of another type. Fields that we do not know are let be."""
    try:
        group, tag = document["user_group"], document["user_group"].get("api_environment_tag")
        found = ProvisionedGroup(
            group["team_id"],
            group["token"],
            group["name"],
            group["provided_id"],
            group.get("properties"),
            None if tag is None else Tag(tag),
            document.get("new_user_group"),
            replayed,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        found = None
    if found is None or not all(isinstance(text, str) for text in (found.token, found.name, found.provided_id)):
        raise UnexpectedAnswer("the answer is not that of /api/user: is a proxy or another service at this address?")
    return found


def read_error(status: int, document: Any, retry_after: str | None) -> TenantryError:
    """The error of the tree with the code of the answer; one that we do not know keeps its code and status."""
    try:
        shown = document["error"]
        code, message, request_id = str(shown["code"]), str(shown["message"]), str(document["request_id"])
        pointer = shown.get("field")
    except (KeyError, TypeError, AttributeError):
        return UnexpectedAnswer(f"HTTP {status} without an error of /api/user: is a proxy at this address?")
    kind = _KINDS.get(code, TenantryError)
    message = f"{message} (request {request_id})"
    error = kind.__new__(kind, message)  # the constructors of some classes want more than a message
    seconds = int(retry_after) if retry_after is not None and retry_after.isascii() and retry_after.isdigit() else None
    TenantryError.__init__(error, message, field=pointer)
    error.code, error.status, error.retry_after = code, status, seconds
    return error


def _tree(kind: type[TenantryError]) -> Iterator[type[TenantryError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _tree(child)


_KINDS = {kind.code: kind for kind in reversed(list(_tree(TenantryError))) if "code" in vars(kind)}
