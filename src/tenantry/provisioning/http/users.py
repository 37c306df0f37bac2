from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from tenantry.backends import matches
from tenantry.groups import MAX_INT, Scope, UserGroup
from tenantry.provisioning import Deadline
from tenantry.provisioning.http.endpoint import ApiContext, Endpoint, digest_of, json_response, require_scope
from tenantry.provisioning.http.operations import listed_group
from tenantry.provisioning.http.request import ApiRequest, read_number, read_text

LARGEST_PAGE: Final = 500
"""Maximum number of groups on one page."""
# Each group may have 32 KiB of properties.

DEFAULT_PAGE: Final = 100


class UserGroupsEndpoint(Endpoint):
    """``/api/users``: lists groups in pages, without tokens. Needs the scope ``provision:read``."""

    def __init__(self, context: ApiContext) -> None:
        super().__init__("GET", observer=context.observer)
        self._context = context

    async def respond(self, request: ApiRequest) -> Response:
        context, deadline = self._context, Deadline(self._context.store_seconds)
        caller = await context.authenticate(digest_of(request.api_token()), deadline)  # 400, 401
        wanted = request.query("user_group_id", "match", "after", "limit")  # 400
        request.set_operation("list")
        limit = read_number(wanted, "limit", 1, LARGEST_PAGE, DEFAULT_PAGE)  # 400
        after = read_number(wanted, "after", 0, MAX_INT, 0)  # 400
        match = read_text(wanted, "match") or ""  # 400
        provided_id = read_text(wanted, "user_group_id")  # 400
        require_scope(caller, Scope.PROVISION_READ)
        if provided_id is not None:
            issued = await deadline.read(context.store.groups.get(caller.environment, provided_id))
            one = [] if issued is None else [issued.group]
            return json_response(
                _page([group for group in one if group.team_id > after and matches(group, match)], None)
            )
        # Read one group more than the page shows, to find out whether there is a next page.
        listing = context.store.groups.list(caller.environment, after=after, limit=limit + 1, match=match)
        found = list(await deadline.read(listing))
        more = len(found) > limit
        return json_response(_page(found[:limit], found[limit - 1].team_id if more else None))


def _page(groups: list[UserGroup], following: int | None) -> dict[str, Any]:
    return {"success": 1, "user_groups": [listed_group(group) for group in groups], "next": following}
