"""``POST /dashboards/-/preview`` creates an address that shows a dashboard once, as a group sees it."""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol

from pydantic import Field
from starlette.responses import Response

from tenantry.dashboards.access import Access
from tenantry.dashboards.preview.previews import Previews
from tenantry.dashboards.protocol.panel_request import StrictBody, read_body
from tenantry.dashboards.single_use_codes import SECONDS, CodesOfGroups, Purpose
from tenantry.groups import Author, Scope
from tenantry.ports import ApiTokenStore
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

PATH: Final = "/-/preview"
"""Path of the endpoint, below the mount."""


class PreviewRequest(StrictBody):
    user_group_id: Annotated[str, Field(min_length=1, max_length=255)]
    dashboard: Annotated[str, Field(min_length=1, max_length=1_000)]
    as_viewer: dict[str, Any] | None = None
    """The values of ``viewer.*``, including ``id``."""


class PreviewBackend(CodesOfGroups, Protocol):
    @property
    def api_tokens(self) -> ApiTokenStore: ...


class PreviewEndpoint(Endpoint):
    def __init__(self, store: PreviewBackend, previews: Previews, access: Access) -> None:
        super().__init__("POST")
        self._api_tokens = store.api_tokens
        self._previews = previews
        self._access = access
        self._uses = ApiTokenUses()

    async def respond(self, request: ApiRequest) -> Response:
        """Return the address and its lifetime in seconds. Raises the errors of ``Previews.issue``, and those of
        ``/api/user`` for the API token and the body."""
        deadline = Deadline(STORE_SECONDS)
        caller = await authenticate(self._api_tokens, digest_of(request.api_token()), deadline, self._uses)
        raw = await request.read_body()
        request.require_media_type("application/json")
        wanted = read_body(raw, PreviewRequest)
        request.set_operation("preview")
        require_scope(caller, Scope.PREVIEW)
        author = Author(f"api token {caller.id} ({caller.label})", request.id)
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
    """Put the code into the fragment, which browsers do not send, so that no server logs it."""
    return f"{mount}/{dashboard}#code={code}"
