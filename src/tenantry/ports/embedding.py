"""What dashboards ask of a store besides its groups: single-use codes, and whose pages may embed dashboards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from tenantry.groups import UNNAMED, AuditNote, Author, Environment


class CodeShare(NamedTuple):
    """The number of codes of one purpose that a store keeps at once for the group with the handle ``group``."""

    group: bytes
    most: int


class CodeStore(Protocol):
    """Keeps single-use codes. The code itself never comes here: only its SHA-256 ``digest`` (32 bytes)."""

    async def add_code(
        self,
        digest: bytes,
        *,
        purpose: str,
        payload: str,
        lifetime: float,
        api_token_id: int | None = None,
        audited: AuditNote | None = None,
        share: CodeShare | None = None,
    ) -> None:
        """Keeps ``payload`` under this digest for ``lifetime`` seconds of the store's clock; some codes whose time has
        passed are forgotten. ``purpose`` is a word of at most 16 characters. A code that an API token issued
        (``api_token_id``) ends when that is revoked, and not after its end date. ``audited`` goes into the audit trail
        with it. ``share``: of this purpose, the oldest codes of its group beyond its number are forgotten, in the same
        transaction. Raises AlreadyExists; Unauthorized where that API token is not good any more."""
        ...

    async def code_purpose(self, digest: bytes) -> str | None:
        """What a code is for, while it lives; else None. A read, also of the database: it is asked first, so that
        whoever guesses codes costs no write."""
        ...

    async def redeem_code(self, digest: bytes, *, purpose: str) -> str | None:
        """The payload, to exactly one of all callers, who may be on any host; None if it was given out already, its
        time has passed, it is for another purpose (it stays then), or there never was one."""
        ...

    async def read_code(self, digest: bytes, *, purpose: str) -> str | None:
        """The payload, which stays until its end: for a code that stands for a session. None as ``redeem_code``.
        A read, also of the database."""
        ...


class EmbeddingStore(Protocol):
    """Knows whose pages may embed the dashboards of an environment: nobody's, until they are set."""

    async def set_embedding_hosts(
        self, environment: Environment, hosts: Sequence[str], *, author: Author = UNNAMED
    ) -> tuple[str, ...]:
        """Replaces the origins whose pages may embed; kept as they are given. Raises UnknownEnvironment."""
        ...

    async def embedding_hosts(self) -> Mapping[str, tuple[str, ...]]:
        """The origins of each environment that has any, by its name. Never cached."""
        ...
