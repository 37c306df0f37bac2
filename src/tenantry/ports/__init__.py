"""The plug-in points, each one capability. A third party implements one by its shape and need not import us.

All times are aware datetimes in UTC. Every method may raise StoreUnavailable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tenantry.groups import (
    UNNAMED,
    ApiToken,
    AuditEntry,
    Author,
    Caller,
    ChainHead,
    Changes,
    Environment,
    GroupChanges,
    GroupDraft,
    GroupWrite,
    IdempotencyKey,
    Issued,
    LookupResult,
    RevokedApiToken,
    Scope,
    Tag,
    Token,
    UserGroup,
)
from tenantry.ports.embedding import CodeShare as CodeShare
from tenantry.ports.embedding import CodeStore as CodeStore
from tenantry.ports.embedding import EmbeddingStore as EmbeddingStore
from tenantry.ports.sources import LeasedSources as LeasedSources
from tenantry.ports.sources import SourceDirectory as SourceDirectory
from tenantry.ports.sources import SourceLease as SourceLease
from tenantry.ports.sources import SourceLeaseHolder as SourceLeaseHolder
from tenantry.ports.sources import SourceStore as SourceStore
from tenantry.ports.usage import UsageStore as UsageStore


class Backend(Protocol):
    """Finds the group of a token. The one method that a third party has to write."""

    async def find(self, token: Token) -> UserGroup | None:
        """The group with this handle, if the token is its live one (same version, nonce and key id), or the version
        just before while its grace lasts; else None. The signature has been checked already."""
        ...


class Slots(Protocol):
    """The slots of one host: ``tenantry.cache.SLOT_COUNT`` versions, shared by all its processes (a seqlock).

    A writer to a group stores a new odd version in its slot before the commit (a write is in progress) and a new even
    one after it, before it returns. An answer is cached under the even version that was read before asking: when they
    differ, it is void.
    """

    @property
    def versions(self) -> Sequence[int]:
        """Live: each access reads the version as it is now."""
        ...

    def copy(self) -> Sequence[int]:
        """All versions as they are now; they stay so."""
        ...

    def repair(self, slot: int, version: int) -> None:
        """Ends a write in progress if it still has this ``version``: its writer has crashed."""
        ...


class SnapshotBackend(Backend, Protocol):
    """A backend whose answers say how far they may be trusted."""

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """What ``find`` finds, with the generation of the snapshot. ``fresh``: ask the store of record itself, not a
        cache before it. The generation is None where it is not known: such an answer is used once."""
        ...


class LeasedBackend(SnapshotBackend, Protocol):
    """A backend whose changes can be followed, so that what it answers may be cached under a lease."""

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        """The changes after generation ``since``; None: as many of the last as are at hand. A list that would take long
        to read begins later than asked. ``lease``: for how many seconds after this call the caller will use what it
        has cached; a writer whose write it cannot see has to wait for so long. Raises StoreUnavailable."""
        ...

    @property
    def slots(self) -> Slots | None:
        """This host's slots of the store; None until ``changes`` has answered once. Another object: start anew."""
        ...


class EvictionListener(Protocol):
    """Takes the messages of a bus. Both methods make a cache ask again: a false message costs a read, nothing else."""

    def evict(self, handle: bytes, generation: int) -> None:
        """The group with this handle was written to, in this generation."""

    def flush(self) -> None:
        """The bus may have lost messages: nothing that is cached is known to be new."""


class Bus(Protocol):
    """Notifies of changes sooner than the next poll would. It may lose, repeat and reorder: nothing rests on it."""

    async def follow(self, listener: EvictionListener) -> None:
        """Listens until it is cancelled, through every loss of its connection; ``flush`` after each."""
        ...


class WatchedBus(Bus, Protocol):
    """A bus that knows whether its messages arrive, for ``/readyz``."""

    @property
    def status(self) -> str:
        """``idle``, ``connecting``, ``receiving``, ``lost`` (no connection), or ``deaf``: connected, and its own
        messages do not come."""
        ...


class ChangeListener(Protocol):
    """Called for each write of a store in this process, to send it to others."""

    def changed(self, handle: bytes, generation: int) -> None:
        """A rotation, update or deletion was committed. Called before the writer returns: it must not wait or raise."""


class GroupStore(LeasedBackend, Protocol):
    """Reads and writes user groups. Each write is one transaction; ``author`` goes into the audit trail with it."""

    @property
    def settling(self) -> float:
        """Seconds for which writes that were committed still wait until no process of this host can go by what it knew
        before; mostly 0.0. Whoever gives a write a deadline adds them."""
        ...

    async def get_or_create(
        self,
        environment: Environment,
        draft: GroupDraft,
        token: Token,
        *,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """The group with ``draft.provided_id``, created with ``token`` if there is none; never changes one that exists.
        Raises IdempotencyKeyReused, IdempotencySuperseded."""
        ...

    async def update(
        self,
        environment: Environment,
        provided_id: str,
        changes: GroupChanges,
        *,
        expected: UserGroup | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """``expected``: the group as the caller has read it; nothing is done if it was written to since.
        Raises UnknownGroup, GroupChanged."""
        ...

    async def rotate(
        self,
        environment: Environment,
        current: Token,
        *,
        key_id: str,
        nonce: bytes,
        grace_seconds: int | None = None,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        """Compare-and-swap: replaces ``current`` by version + 1 with this key id and nonce; of N at once one wins.
        ``grace_seconds``: None means the environment's own.
        Raises UnknownToken, TokenAlreadyRotated, IdempotencyKeyReused, IdempotencySuperseded."""
        ...

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        """Raises UnknownGroup."""
        ...

    async def get(self, environment: Environment, provided_id: str) -> Issued | None:
        """The group with this id and its live token; None if there is none."""
        ...

    async def get_many(self, environment: Environment, provided_ids: Sequence[str]) -> Mapping[str, Issued]:
        """Those of these groups that there are, by their ids, in one read."""
        ...

    async def write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], *, author: Author = UNNAMED
    ) -> Sequence[Issued | None]:
        """All of ``writes``, in one transaction; each is about another group. None stands for one that was not done,
        because its group is not as the write expects it: created by somebody else, or changed, or deleted; read it
        again. The others are done all the same. One that changes nothing is answered and is no write."""
        ...

    async def get_by_handle(self, handle: bytes) -> Issued | None:
        """The group with this handle, of any environment, and its live token; None if there is none."""
        ...

    async def groups(
        self, environment: Environment, *, after: int = 0, limit: int = 100, match: str = ""
    ) -> Sequence[UserGroup]:
        """Groups with ``team_id > after``, ordered by ``team_id``. ``match``: only those whose id begins with it or
        whose name contains it; in names A to Z are the same as a to z."""
        ...


class EnvironmentStore(Protocol):
    """Reads and writes environments."""

    async def create_environment(
        self,
        name: str,
        tag: Tag,
        *,
        external_data_sources: bool = False,
        grace_seconds: int = 0,
        author: Author = UNNAMED,
    ) -> Environment:
        """Raises AlreadyExists."""
        ...

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        """The grace of rotations to come; a grace that is running stays. Raises UnknownEnvironment."""
        ...

    async def environment(self, name: str) -> Environment | None:
        """The environment of this name; None if there is none."""
        ...

    async def environments(self) -> Sequence[Environment]:
        """All of them, oldest first."""
        ...


class ApiTokenStore(Protocol):
    """Reads and writes API tokens. The secret itself never comes here: only its SHA-256 ``digest`` (32 bytes)."""

    async def create_api_token(
        self,
        environment: Environment,
        *,
        digest: bytes,
        label: str,
        scopes: Collection[Scope],
        hint: str,
        expires_at: datetime | None = None,
        author: Author = UNNAMED,
    ) -> ApiToken:
        """Registers a token; ``hint`` is the last four characters of its secret. It is refused from ``expires_at`` on;
        None: it has no end."""
        ...

    async def api_token(self, digest: bytes) -> ApiToken | None:
        """The live token with this digest; None if there is none or it was revoked. Never cached.
        Raises ApiTokenExpired."""
        ...

    async def record_api_token_use(self, token: ApiToken) -> None:
        """Stores that the token was used now, unless that is stored of any time within the last hour. It is no entry of
        the audit trail."""
        ...

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]:
        """Those of this environment, oldest first; revoked and expired ones too."""
        ...

    async def revoke_api_token(
        self, environment: Environment, token_id: int, *, author: Author = UNNAMED
    ) -> RevokedApiToken:
        """Revokes it, and ends the codes and sessions that it issued (``add_code``), in one transaction. Raises
        UnknownApiToken."""
        ...


class AuditTrail(Protocol):
    """Reads what was done. It is written by the writes themselves, in their transactions, and never altered."""

    async def audit(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        """Entries with ``number > after``, oldest first; of one environment if it is named."""
        ...

    async def audit_head(self) -> ChainHead | None:
        """The entry that was sealed last, as the store has noted it; None before the first one."""
        ...


class Store(
    GroupStore,
    EnvironmentStore,
    EmbeddingStore,
    ApiTokenStore,
    SourceStore,
    CodeStore,
    UsageStore,
    AuditTrail,
    Protocol,
):
    """Everything that Tenantry keeps."""

    async def caller(self, digest: bytes, provided_id: str) -> Caller | None:
        """The live API token with this digest, and the group of its environment with this id: what ``api_token`` and
        ``get`` find, in one read. None if there is no such token or it was revoked. Never cached.
        Raises ApiTokenExpired."""
        ...

    def subscribe(self, listener: ChangeListener) -> None:
        """Calls ``listener`` for each write from now on."""
        ...

    async def ready(self) -> None:
        """Returns when the store answers and its tables are those of this version; raises StoreUnavailable if not."""

    async def aclose(self) -> None:
        """Closes what is open on this event loop."""
        ...


Clock = Callable[[], datetime]
"""The time of day: an aware datetime in UTC."""

MonotonicClock = Callable[[], float]
"""Seconds since some start, never going back."""
