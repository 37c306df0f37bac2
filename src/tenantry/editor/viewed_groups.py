from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.clock import utc_now
from tenantry.dashboards.preview import assumed_viewer
from tenantry.editor.authors import EditorAuthor
from tenantry.editor.requests import GroupBody, find_group
from tenantry.editor.workbench import Workbench
from tenantry.groups import LONGEST_PASS, UserGroup


async def find_viewed_group(workbench: Workbench, author: EditorAuthor, body: GroupBody) -> UserGroup:
    """Find the group of a request, with the viewer's values if the request has some. The group may be suspended or
    expired. Raises UnknownGroup, RightMissing, and InvalidBody for values that no viewer can have."""
    found = await find_group(workbench, author, body.environment, body.group)
    return as_viewer(found.group, body.viewer)


def as_viewer(group: UserGroup, values: Mapping[str, Any] | None) -> UserGroup:
    """Return the group with a viewer that has these values of ``viewer.*``. With None, return it without a viewer.
    Raises InvalidBody."""
    if values is None:
        return group
    return group.with_viewer(assumed_viewer(values, group, utc_now(), LONGEST_PASS, field="/viewer"))
