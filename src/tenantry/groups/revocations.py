from __future__ import annotations

import math
from datetime import datetime
from typing import Final

from tenantry.errors import TooManyRevokedViewers
from tenantry.groups.record import thaw
from tenantry.groups.user_group import UserGroup
from tenantry.groups.viewer import LONGEST_PASS
from tenantry.groups.writes import GroupChanges

MAX_REVOKED_VIEWERS: Final = 200
"""Maximum number of revocations that a group keeps. A revocation is kept until every pass
that was issued before it has expired."""


def revoking_changes(group: UserGroup, viewer_id: str, now: datetime) -> GroupChanges:
    """Return the changes that revoke all passes issued to the viewer up to ``now``. Raises TooManyRevokedViewers if the
    group would keep more than MAX_REVOKED_VIEWERS revocations."""
    seconds = now.timestamp()
    known = {} if group.revoked_viewers is None else thaw(group.revoked_viewers)
    kept = {each: before for each, before in known.items() if before + LONGEST_PASS > seconds and each != viewer_id}
    if len(kept) >= MAX_REVOKED_VIEWERS:
        raise TooManyRevokedViewers(
            f"{MAX_REVOKED_VIEWERS} viewers of this user group were revoked within a day: rotate its token instead, "
            "which ends the passes of all its viewers",
            field="/viewer_id",
        )
    # Passes have whole seconds, so a pass that is issued later in the current second is refused too. Keep a later known
    # time: the clock of the host that wrote it may have been ahead of ours.
    before = max(known.get(viewer_id, 0), math.floor(seconds) + 1)
    return GroupChanges(revoked_viewers={**kept, viewer_id: before})
