"""Reading: what a backend found for a token, and how far that answer may be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from tenantry.groups.group import UserGroup


@dataclass(frozen=True, slots=True)
class Reading:
    """The group of a token, or None.

    ``generation`` is the store's at the snapshot that was read (not later than it); None where the backend knows none.
    ``seconds`` is for how long the answer is good by the store's own clock (the grace of an old token, the ``exp`` of
    an introspection), counted from when it was asked for; None: it has no end of its own.
    """

    group: UserGroup | None
    generation: int | None = None
    seconds: float | None = None
