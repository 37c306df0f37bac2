from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from pydantic import Field
from starlette.responses import JSONResponse, Response

from tenantry.dashboards import StrictBody
from tenantry.editor.requests import EditorRequest, GroupBody, find_environment, find_group
from tenantry.editor.workbench import Workbench
from tenantry.groups import Environment, UserGroup
from tenantry.ports import GroupStore

_PAGE: Final = 50
"""Maximum number of groups in one response."""
_LAST: Final = 2**63 - 2


class GroupsBody(StrictBody):
    environment: Annotated[str, Field(max_length=255)]
    search: Annotated[str, Field(max_length=255)] = ""
    """Find groups whose id starts with this string, or whose name contains it in upper or lower case (A to Z)."""
    after: Annotated[int, Field(ge=0, le=_LAST)] = 0
    """The value ``after`` of the previous response."""


async def search_groups(workbench: Workbench, asked: EditorRequest[GroupsBody]) -> Response:
    body = asked.body
    environment = await find_environment(workbench, asked.author, body.environment)
    found = await workbench.store.groups.list(environment, after=body.after, limit=_PAGE + 1, match=body.search)
    shown, more = found[:_PAGE], len(found) > _PAGE
    return JSONResponse(
        {
            "groups": [{"id": each.provided_id, "name": each.name} for each in shown],
            "more": more,
            "after": shown[-1].team_id if more else None,
        }
    )


async def show_group(workbench: Workbench, asked: EditorRequest[GroupBody]) -> Response:
    body = asked.body
    group = (await find_group(workbench, asked.author, body.environment, body.group)).group
    about: dict[str, Any] = {
        "id": group.provided_id,
        "name": group.name,
        "schemas": [] if group.mapping is None else sorted(group.mapping),
        "suspended": group.suspended,
        "expires_at": None if group.expires_at is None else group.expires_at.isoformat(),
    }
    return JSONResponse(about)


async def spread_groups(store: GroupStore, environment: Environment, size: int) -> AsyncIterator[UserGroup]:
    """Yield up to ``size`` groups in the order of their creation, spread over the whole environment."""
    first = await _after(store, environment, 0)
    if first is None:
        return
    start = first.team_id
    span = await _last_id(store, environment, start) - start
    found: UserGroup | None = first
    for number in range(1, size + 1):
        if found is None:
            return
        yield found
        place = start + number * span // max(1, size - 1)
        found = await _after(store, environment, max(found.team_id, place - 1))


async def _after(store: GroupStore, environment: Environment, team_id: int) -> UserGroup | None:
    found = await store.list(environment, after=team_id, limit=1)
    return found[0] if found else None


async def _last_id(store: GroupStore, environment: Environment, known: int) -> int:
    # The store lists groups only by ascending id, so find the last one by doubling and then halving the step.
    reach = 1
    while (found := await _after(store, environment, known + reach)) is not None:
        known, reach = found.team_id, reach * 2
    while reach > 1:
        reach //= 2
        found = await _after(store, environment, known + reach)
        known = known if found is None else found.team_id
    found = await _after(store, environment, known)
    return known if found is None else found.team_id
