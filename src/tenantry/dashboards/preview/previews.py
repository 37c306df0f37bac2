"""Previews: a single-use code opens a session for one dashboard and one group."""

# The store keeps only hashes of codes and session keys. A code or session ends when its API token ends.

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Protocol

from pydantic import Field
from starlette.responses import Response

from tenantry.clock import utc_now
from tenantry.dashboards.access import Access
from tenantry.dashboards.protocol.panel_request import StrictBody, read_body
from tenantry.dashboards.single_use_codes import SECONDS, CodesOfGroups, Purpose, SingleUseCodes, code_digest
from tenantry.errors import (
    InvalidBody,
    InvalidPass,
    NotFound,
    Unauthorized,
    UnknownGroup,
)
from tenantry.groups import AuditNote, Author, Environment, Issued, Scope, UserGroup, Viewer
from tenantry.ports import ApiTokenStore, Clock
from tenantry.provisioning import Deadline
from tenantry.provisioning.http import (
    STORE_SECONDS,
    ApiRequest,
    ApiTokenUses,
    Endpoint,
    authenticate,
    digest_of,
    json_response,
    require_scope,
)
from tenantry.tokens import PREVIEW_PREFIX, check_pass_length, claims_of, viewer_of


@dataclass(frozen=True, slots=True)
class Preview:
    group: UserGroup
    """The group's current state in the store."""
    dashboard: str
    session: bytes
    """The digest of the session's key."""
    shown_by: str | None = None
    """The id of the EditorPreview that accepts the session. None: only dashboards outside of the SQL editor accept the
    session."""


class Previews:
    """Issues and opens previews. ``session_seconds``: the lifetime of a session."""

    def __init__(
        self,
        store: CodesOfGroups,
        *,
        time_of_day: Clock = utc_now,
        session_seconds: float = SECONDS[Purpose.PREVIEW_SESSION],
    ) -> None:
        self._session_seconds = session_seconds
        self._groups = store.groups
        self._time_of_day = time_of_day
        self._codes = SingleUseCodes(store.codes)

    async def issue(
        self,
        environment: Environment,
        provided_id: str,
        dashboard: str,
        author: Author,
        access: Access | None,
        *,
        api_token_id: int | None = None,
        as_viewer: Mapping[str, Any] | None = None,
        drafts: str | None = None,
        shown_by: str | None = None,
    ) -> str:
        """Issue a preview code for this group. The code becomes invalid when the API token does.

        - ``access``: checks that the group may open the dashboard. None: no check.
        - ``as_viewer``: the values of ``viewer.*`` in the preview, including ``id``.
        - ``drafts``: a digest of unsaved texts, for the audit trail.
        - ``shown_by``: as in Preview.

        Raises:
        - UnknownGroup, and NotFound for a dashboard that the group may not open;
        - InvalidBody for an expired or suspended group, or for values that no viewer can have;
        - Unauthorized for a revoked API token, and StoreUnavailable.
        """
        issued = await self._groups.get(environment, provided_id)
        if issued is None:
            raise UnknownGroup(f"there is no user group {provided_id!r} in {environment.name}", field="/user_group_id")
        if self.seconds_left(issued.group) <= 0:
            problem = "is suspended: resume it"
            if not issued.group.suspended:
                problem = "has expired: give it a later expires_at, or none"
            raise InvalidBody(f"this user group {problem}", field="/user_group_id")
        payload = {
            "group": issued.group.handle.hex(),
            "dashboard": dashboard,
            "by": author.name,
            "api_token": api_token_id,
            "viewer": None if as_viewer is None else claims_of(self._viewer(as_viewer, issued.group)),
            "drafts": drafts,
            "shown_by": shown_by,
        }
        if access is not None and access.find(dashboard, _as_kept(issued, payload)) is None:
            raise NotFound("this user group has no such dashboard", field="/dashboard")
        made = _note("preview.created", issued.group, payload, author)
        return await self._codes.issue(Purpose.PREVIEW, json.dumps(payload), api_token_id=api_token_id, audited=made)

    async def open(self, payload: str, *, shown_by: str | None = None) -> str | None:
        """Open a session for a code's payload, and return its key. Returns None if the group was deleted, the API token
        was revoked, or the code was issued for another ``shown_by``. Raises UserGroupExpired, UserGroupSuspended,
        PassRevoked, StoreUnavailable."""
        kept: dict[str, Any] = json.loads(payload)
        group = await self._group(kept) if kept.get("shown_by") == shown_by else None
        if group is None:
            return None
        opened = _note("preview.opened", group, kept, Author(kept["by"]))
        try:
            return PREVIEW_PREFIX + await self._codes.issue(
                Purpose.PREVIEW_SESSION,
                payload,
                self._session_seconds,
                api_token_id=kept.get("api_token"),
                audited=opened,
            )
        except Unauthorized:
            return None

    async def find(self, key: str) -> Preview | None:
        """Return the preview of the session with this key, or None if the session has ended. Raises UserGroupExpired,
        UserGroupSuspended, PassRevoked, StoreUnavailable."""
        code = key.removeprefix(PREVIEW_PREFIX)
        payload = await self._codes.read(Purpose.PREVIEW_SESSION, code)
        kept: dict[str, Any] = {} if payload is None else json.loads(payload)
        group = await self._group(kept) if kept else None
        return None if group is None else Preview(group, kept["dashboard"], code_digest(code), kept.get("shown_by"))

    async def _group(self, kept: Mapping[str, Any]) -> UserGroup | None:
        issued = await self._groups.get(handle=bytes.fromhex(kept["group"]))
        if issued is None:
            return None
        issued.group.require_access(self._time_of_day())
        return _as_kept(issued, kept)

    def _viewer(self, as_viewer: Mapping[str, Any], group: UserGroup) -> Viewer:
        seconds = int(SECONDS[Purpose.PREVIEW] + self._session_seconds) + 1  # the session cannot end later
        return assumed_viewer(as_viewer, group, self._time_of_day(), seconds, field="/as_viewer")

    def seconds_left(self, group: UserGroup) -> float:
        return group.seconds_left(self._time_of_day())


def _as_kept(issued: Issued, kept: Mapping[str, Any]) -> UserGroup:
    claims = kept.get("viewer")
    return issued.group if claims is None else issued.group.with_viewer(viewer_of(claims, issued.token.version))


def _note(action: str, group: UserGroup, kept: Mapping[str, Any], author: Author) -> AuditNote:
    details = {"dashboard": kept["dashboard"]}
    if kept.get("viewer") is not None:
        details["viewer"] = kept["viewer"].get("sub", "")
    if kept.get("drafts") is not None:
        details["drafts"] = kept["drafts"]
    return AuditNote(author, action, group.environment.name, group.provided_id, details)


def assumed_viewer(values: Mapping[str, Any], group: UserGroup, now: datetime, seconds: int, *, field: str) -> Viewer:
    """Return the viewer that an operator or author assumes. ``values``: the values of ``viewer.*``, including ``id``.
    Works even for a viewer whose passes were revoked. Raises InvalidBody, which names ``field``, for values that no
    viewer can have.
    """
    since = int(now.timestamp())
    attributes = {name: value for name, value in values.items() if name != "id"}
    claims: dict[str, Any] = {"iat": since, "exp": since + seconds, "viewer": attributes}
    if "id" in values:
        claims["sub"] = values["id"]
    try:
        viewer = viewer_of(claims, group.token_version)
        check_pass_length(claims)
    except InvalidPass as error:
        raise InvalidBody(error.message.replace("`sub`", "`id`"), field=field) from None
    # A revocation in this second refuses all passes of the second. Date the viewer later, so that it is not refused.
    issued = max(since, group.revoked_before(viewer.id))
    return replace(viewer, issued_at=datetime.fromtimestamp(issued, UTC))


PATH: Final = "/-/preview"
"""Path of the endpoint, below the mount."""


class PreviewRequest(StrictBody):
    user_group_id: Annotated[str, Field(min_length=1, max_length=255)]
    dashboard: Annotated[str, Field(min_length=1, max_length=1_000)]
    as_viewer: dict[str, Any] | None = None


class PreviewBackend(CodesOfGroups, Protocol):
    @property
    def api_tokens(self) -> ApiTokenStore: ...


class PreviewEndpoint(Endpoint):
    """Creates a single-use link to a dashboard as a group sees it. The request must have an API token."""

    def __init__(self, store: PreviewBackend, previews: Previews, access: Access) -> None:
        super().__init__("POST")
        self._api_tokens = store.api_tokens
        self._previews = previews
        self._access = access
        self._uses = ApiTokenUses()

    async def respond(self, request: ApiRequest) -> Response:
        deadline = Deadline(STORE_SECONDS)
        caller = await authenticate(self._api_tokens, digest_of(request.api_token()), deadline, self._uses)
        raw = await request.read_body()
        request.require_media_type("application/json")
        wanted = read_body(raw, PreviewRequest)
        request.set_operation("preview")
        require_scope(caller, Scope.PREVIEW)
        author = Author.of_request(caller, request.id)
        issuing = self._previews.issue(
            caller.environment,
            wanted.user_group_id,
            wanted.dashboard,
            author,
            self._access,
            api_token_id=caller.id,
            as_viewer=wanted.as_viewer,
        )
        code = await deadline.write(issuing)
        address = preview_address(request.root_path, wanted.dashboard, code)
        return json_response({"success": 1, "address": address, "seconds": int(SECONDS[Purpose.PREVIEW])})


def preview_address(mount: str, dashboard: str, code: str) -> str:
    """Return an address with the code in the fragment."""
    # Browsers do not send the fragment, so no server logs the code.
    return f"{mount}/{dashboard}#code={code}"
