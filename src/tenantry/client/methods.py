"""The API calls of both clients: the signatures, docstrings and requests of their methods."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from inspect import signature
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from tenantry._lazy import load_httpx
from tenantry.client.answers import (
    CreatedPass,
    GroupPage,
    ListedGroup,
    ListedSource,
    ProvisionedGroup,
    Reply,
    SourcePage,
    read_deleted,
    read_error,
    read_group,
    read_page,
    read_pass,
    read_revocation,
    read_source,
    read_sources,
)
from tenantry.client.calls import Call, NoReply, RetryLimits, Send, json_body, load_json, plain, retrying_call
from tenantry.errors import DataSourceNotFound, OutcomeUnknown, TenantryError, UnknownGroup
from tenantry.groups import UNCHANGED, Unchanged

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_SOURCES: Final = "/api/data-sources"


def documented_as(call: Callable[..., Call[Any]]) -> Callable[[F], F]:
    result = str(call.__annotations__["return"]).removeprefix("Call[").removesuffix("]")

    def decorate(method: F) -> F:
        wraps(call, assigned=("__name__", "__doc__"))(method)
        method.__qualname__ = call.__name__
        method.__annotations__ = {**call.__annotations__, "return": result}
        vars(method)["__signature__"] = signature(call).replace(return_annotation=result)
        return method

    return decorate


class ApiCalls:
    """Makes the calls of one client. The API token is never in a ``repr`` or an error message."""

    def __init__(self, base_url: str, api_token: str, *, limits: RetryLimits, get_method: str) -> None:
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise ValueError("base_url must start with http:// or https://, such as http://127.0.0.1:8000")
        if not api_token or not api_token.isascii() or not api_token.isprintable():
            raise ValueError("api_token must be the string that `tenantry api-token create` printed")
        self.url: str = base_url.rstrip("/")
        self.headers: dict[str, str] = {
            "Authorization": f"Token {api_token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        self.limits: RetryLimits = limits
        self._get_method = get_method

    @staticmethod
    def library() -> Any:
        return load_httpx("tenantry.client")

    def get_or_create(
        self,
        user_group_id: str,
        *,
        name: str | None = None,
        properties: Mapping[str, Any] | None = None,
        mapping: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> Call[ProvisionedGroup]:
        """Get the group, or create it. An existing group is not changed. Raises GroupSuspended."""
        fields = {"name": name, "properties": properties, "mapping": mapping}
        given = {key: value for key, value in fields.items() if value is not None}
        return self._write(self._get_method, user_group_id, given, dry_run=dry_run)

    def update(
        self,
        user_group_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        properties: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        mapping: Mapping[str, str] | Unchanged | None = UNCHANGED,
        dry_run: bool = False,
    ) -> Call[ProvisionedGroup]:
        """Replace each given field completely. None clears ``properties`` or ``mapping``. Raises UnknownGroup."""
        fields = {"name": name, "properties": properties, "mapping": mapping}
        return self._write("PUT", user_group_id, fields, dry_run=dry_run)

    def merge(
        self,
        user_group_id: str,
        *,
        name: str | Unchanged = UNCHANGED,
        properties: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        mapping: Mapping[str, str | None] | Unchanged | None = UNCHANGED,
        expires_at: datetime | Unchanged | None = UNCHANGED,
        suspended: bool | Unchanged = UNCHANGED,
        dry_run: bool = False,
    ) -> Call[ProvisionedGroup]:
        """Merge the given members into the group's ``properties`` and ``mapping`` (RFC 7396). None removes a member.

        ``expires_at``: the time, with a time zone, from which the group's token is refused. None removes the end date.
        ``suspended``: True refuses the group's token and passes until you set it to False. Raises UnknownGroup, and
        ValueError if ``expires_at`` has no time zone.
        """
        fields = {
            "name": name,
            "properties": properties,
            "mapping": mapping,
            "expires_at": expires_at,
            "suspended": suspended,
        }
        patch = {"Content-Type": "application/merge-patch+json"}
        return self._write("PATCH", user_group_id, fields, patch, dry_run=dry_run)

    def delete(self, user_group_id: str, *, dry_run: bool = False) -> Call[ListedGroup | None]:
        """Delete the group and return it. Return None if a retry finds that it is already deleted. Raises
        UnknownGroup."""
        send = Send("DELETE", dry_run=dry_run, parameters={"user_group_id": user_group_id})
        return _deletion(retrying_call(send, self.limits, read_deleted), UnknownGroup, dry_run=dry_run)

    def rotate(
        self, current_token: str, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> Call[ProvisionedGroup]:
        """Replace the group's token. Retries are safe, because all attempts send the same idempotency key, which is
        random by default. Raises UnknownToken, TokenAlreadyRotated, GroupSuspended."""
        key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
        return self._call("POST", {"current_token": current_token}, {"Idempotency-Key": key}, dry_run=dry_run)

    def create_pass(
        self,
        user_group_id: str,
        viewer_id: str | None = None,
        viewer: Mapping[str, Any] | None = None,
        *,
        seconds: int | None = None,
        scope: str | None = None,
    ) -> Call[CreatedPass]:
        """Make a pass for one viewer, with the arguments of ``tenantry.mint_pass``. The API token needs the scope
        ``passes``. Raises UnknownGroup, GroupSuspended, GroupExpired."""
        fields = {"viewer_id": viewer_id, "viewer": viewer, "seconds": seconds, "scope": scope}
        given = {key: plain(value) for key, value in fields.items() if value is not None}
        body = json_body({"user_group_id": user_group_id, **given})
        return retrying_call(Send("POST", body, path="/api/user/passes"), self.limits, read_pass)

    def revoke_viewer(self, user_group_id: str, viewer_id: str) -> Call[datetime]:
        """Refuse all passes that were issued to this viewer so far. Returns the time (aware, UTC) from which new
        passes are accepted. Raises UnknownGroup, TooManyRevokedViewers."""
        body = json_body({"user_group_id": user_group_id, "viewer_id": viewer_id})
        return retrying_call(Send("POST", body, path="/api/user/viewers/revoke"), self.limits, read_revocation)

    def find(self, user_group_id: str) -> Call[ListedGroup | None]:
        """Return the group without its token, or None."""
        page = yield from self._list({"user_group_id": user_group_id})
        return page.groups[0] if page.groups else None

    def data_source(self, name: str) -> Call[ListedSource | None]:
        """Return the data source with this name or id, or None."""
        page = yield from self.sources(name=name)
        return page.sources[0] if page.sources else None

    def create_data_source(
        self,
        name: str,
        url: str,
        *,
        password: str | None = None,
        session: Mapping[str, str] | None = None,
        tables: Mapping[str, Any] | None = None,
        test: bool = True,
        dry_run: bool = False,
    ) -> Call[ListedSource]:
        """Register a data source. If ``test`` is true, the service connects to the source first. Raises InvalidSource,
        SourceTestFailed or AlreadyExists. If an attempt succeeded but its reply was lost, the retry raises
        AlreadyExists."""
        fields = {"url": url, "password": password, "session": session, "tables": tables, "test": test}
        return self._write_source("POST", name, fields, dry_run=dry_run)

    def update_data_source(
        self,
        name: str,
        *,
        new_name: str | Unchanged = UNCHANGED,
        url: str | Unchanged = UNCHANGED,
        password: str | Unchanged = UNCHANGED,
        session: Mapping[str, str] | Unchanged | None = UNCHANGED,
        tables: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        test: bool = True,
        dry_run: bool = False,
    ) -> Call[ListedSource]:
        """Replace each given field, and keep the other fields. None removes the session variables (``session``) or the
        declaration of guarded tables (``tables``). If ``test`` is true, the service first connects to the changed
        source, unless you only rename it, or remove session variables or the declaration. Raises DataSourceNotFound,
        InvalidSource, SourceTestFailed. With ``new_name``, also raises AlreadyExists, and SourceInUse if groups are
        mapped to the old name."""
        fields = {"new_name": new_name, "url": url, "password": password, "session": session, "tables": tables}
        return self._write_source("PATCH", name, {**fields, "test": test}, dry_run=dry_run)

    def delete_data_source(self, name: str, *, force: bool = False, dry_run: bool = False) -> Call[ListedSource | None]:
        """Delete the data source and return it. Return None if a retry finds that it is already deleted. Raises
        DataSourceNotFound. If user groups map to the source, raises SourceInUse unless ``force`` is true."""
        parameters = {"name": name, **({"force": "true"} if force else {})}
        send = Send("DELETE", dry_run=dry_run, path=_SOURCES, parameters=parameters)
        return _deletion(retrying_call(send, self.limits, read_source), DataSourceNotFound, dry_run=dry_run)

    def page(self, *, after: int, limit: int, match: str) -> Call[GroupPage]:
        wanted = {
            "limit": str(limit),
            **({"after": str(after)} if after else {}),
            **({"match": match} if match else {}),
        }
        return self._list(wanted)

    def sources(self, *, after: str = "", limit: int = 100, name: str = "") -> Call[SourcePage]:
        wanted = {"limit": str(limit), "after": after, "name": name}
        parameters = {key: value for key, value in wanted.items() if value}
        return retrying_call(Send("GET", path=_SOURCES, parameters=parameters), self.limits, read_sources)

    def _list(self, wanted: dict[str, str]) -> Call[GroupPage]:
        return retrying_call(Send("GET", path="/api/users", parameters=wanted), self.limits, read_page)

    def _write(
        self,
        method: str,
        user_group_id: str,
        fields: Mapping[str, Any],
        headers: dict[str, str] | None = None,
        *,
        dry_run: bool,
    ) -> Call[ProvisionedGroup]:
        given = {name: plain(value) for name, value in fields.items() if value is not UNCHANGED}
        return self._call(method, {"user_group_id": user_group_id, **given}, headers, dry_run=dry_run)

    def _write_source(self, method: str, name: str, fields: Mapping[str, Any], *, dry_run: bool) -> Call[ListedSource]:
        given = {key: plain(value) for key, value in fields.items() if value is not UNCHANGED}
        send = Send(method, json_body({"name": name, **given}), dry_run=dry_run, path=_SOURCES)
        return retrying_call(send, self.limits, read_source)

    def _call(
        self, method: str, fields: dict[str, Any], headers: dict[str, str] | None = None, *, dry_run: bool
    ) -> Call[ProvisionedGroup]:
        return retrying_call(Send(method, json_body(fields), headers or {}, dry_run), self.limits, read_group)


def _deletion(call: Call[T], missing: type[TenantryError], *, dry_run: bool) -> Call[T | None]:
    reply, may_be_done = None, False
    while True:
        try:
            step = call.send(reply)
        except StopIteration as done:
            found: T = done.value
            return found
        except missing:
            if may_be_done and not dry_run:
                return None
            raise
        reply = yield step
        may_be_done = may_be_done or isinstance(reply, NoReply) or _is_unknown(reply)


def _is_unknown(reply: Reply | None) -> bool:
    return reply is not None and isinstance(read_error(reply.status, load_json(reply.content), None), OutcomeUnknown)
