"""What a caller asks of a store: a group to create, changes to make, a key that makes a write happen once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final


class Unchanged(Enum):
    """The type of UNCHANGED, which says that a field was absent; None says that it is to be cleared."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """The group to create when there is none with this ``provided_id`` in the environment."""

    provided_id: str
    name: str
    properties: Mapping[str, Any] | None = field(default=None, repr=False)
    mapping: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """An update: fields left UNCHANGED stay; ``properties`` and ``mapping`` are replaced whole, never merged."""

    name: str | Unchanged = UNCHANGED
    properties: Mapping[str, Any] | Unchanged | None = field(default=UNCHANGED, repr=False)
    mapping: Mapping[str, str] | Unchanged | None = UNCHANGED


@dataclass(frozen=True, slots=True)
class Once:
    """An Idempotency-Key with keyed hashes (32 bytes each) of the body that came with it.

    One hash per signing key, the active key's first: the first is stored, any of them is recognised, so that a rotation
    of the signing keys does not break a replay.
    """

    key: str
    body_hashes: tuple[bytes, ...]
