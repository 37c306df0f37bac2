"""Token: a user group token whose shape and signature were checked, and the parts that are kept at rest."""

from __future__ import annotations

from dataclasses import dataclass, field

from tenantry.groups.environment import Tag


@dataclass(frozen=True, slots=True)
class Token:
    """The parts of a user group token (tokens/shape.py); no I/O has been done for it.

    ``handle`` is 8 random public bytes, constant per group: the cache's and the store's key. ``nonce`` is 16 random
    bytes, new at each rotation, and never shown. A store keeps these parts and never the token string: the same parts
    and the same signing key give the same string, bit for bit.
    """

    tag: Tag
    key_id: str
    handle: bytes
    version: int
    nonce: bytes = field(repr=False)
