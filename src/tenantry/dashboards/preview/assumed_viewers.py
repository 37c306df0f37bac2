from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tenantry.errors import InvalidBody, InvalidPass
from tenantry.groups import UserGroup, Viewer
from tenantry.tokens import check_pass_length, viewer_of


def assumed_viewer(values: Mapping[str, Any], group: UserGroup, now: datetime, seconds: int, *, field: str) -> Viewer:
    """Return a viewer with these values of ``viewer.*``, including ``id``, for an operator or author. This also works
    if the viewer's passes are revoked. Raises InvalidBody, which names ``field``, for values that no viewer can have.
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
