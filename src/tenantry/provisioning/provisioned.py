"""What a Provisioner gives, and what it may be given: a group that its caller has read already."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from tenantry.groups import UserGroup


class NotLoaded(Enum):
    """The type of NOT_LOADED: a group was not looked for yet; None says that there is none."""

    NOT_LOADED = "not loaded"


NOT_LOADED: Final = NotLoaded.NOT_LOADED


@dataclass(frozen=True, slots=True)
class Provisioned:
    """A group with its live token string. ``created``: it is new; ``replayed``: an Idempotency-Key was repeated."""

    group: UserGroup
    token: str = field(repr=False)
    created: bool = False
    replayed: bool = False
