"""SQLStore: the Store in an SQLite file or a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from tenantry.backends.clock import utc_now
from tenantry.backends.sql import queries, rows, write_directory, write_groups
from tenantry.backends.sql.runner import Runner
from tenantry.errors import MigrationNeeded, StoreUnavailable, UnknownGroup
from tenantry.groups import (
    ApiToken,
    Environment,
    GroupChanges,
    GroupDraft,
    Issued,
    Once,
    RegisteredSource,
    Scope,
    Tag,
    Token,
    UserGroup,
)
from tenantry.migrations import HEAD
from tenantry.migrations.address import RUN_MIGRATE, read_address
from tenantry.ports import ChangeListener, Clock

T_co = TypeVar("T_co", covariant=True)
_ATTEMPTS = 3


class SQLStore:
    """A Store (tenantry.ports) at ``sqlite:///file.db``, ``sqlite:////absolute/file.db`` or ``postgresql://…``.

    ``deadline`` is the number of seconds within which each call returns or raises StoreUnavailable; it counts from the
    call, so it covers queue, lock and connection. ``clock`` gives the time of day in UTC. Making a store does no I/O;
    the tables are made by ``tenantry migrate``. It may be used from several event loops; ``aclose`` gives back its
    connections. Raises InvalidSettings when the URL cannot be used.
    """

    def __init__(self, url: str, *, deadline: float = 2.0, clock: Clock = utc_now) -> None:
        address = read_address(url)
        self.label = address.label
        self._clock = clock
        self._runner = Runner(address, patience=deadline)

    def __repr__(self) -> str:
        return f"<SQLStore in {self.label}>"

    # --- Backend ---

    async def find(self, token: Token) -> UserGroup | None:
        runner = self._runner
        found = await runner.read(queries.GROUP_BY_HANDLE, runner.deadline(), handle=token.handle)
        if not found:
            return None
        stored = rows.stored_group(found[0])
        return stored.group if stored.accepts(token, self._clock()) else None

    # --- GroupStore ---

    async def get_or_create(
        self, environment: Environment, draft: GroupDraft, token: Token, *, once: Once | None = None
    ) -> Issued:
        deadline = self._runner.deadline()
        found = None if once else await self._get(environment, draft.provided_id, deadline)
        if found is not None:
            return found
        work = partial(
            write_groups.get_or_create,
            environment=environment,
            draft=draft,
            token=token,
            once=once,
            now=self._clock(),
        )
        return await self._runner.write(work, deadline)

    async def update(self, environment: Environment, provided_id: str, changes: GroupChanges) -> Issued:
        work = partial(
            write_groups.update, environment=environment, provided_id=provided_id, changes=changes, now=self._clock()
        )
        return await self._write_to(environment, provided_id, work)

    async def rotate(
        self,
        environment: Environment,
        current: Token,
        *,
        key_id: str,
        nonce: bytes,
        grace_seconds: int = 0,
        once: Once | None = None,
    ) -> Issued:
        work = partial(
            write_groups.rotate,
            environment=environment,
            current=current,
            key_id=key_id,
            nonce=nonce,
            grace_seconds=grace_seconds,
            once=once,
            now=self._clock(),
        )
        return await self._runner.write(work, self._runner.deadline(), handle=current.handle)

    async def delete(self, environment: Environment, provided_id: str) -> UserGroup:
        work = partial(write_groups.delete, environment=environment, provided_id=provided_id)
        return await self._write_to(environment, provided_id, work)

    async def get(self, environment: Environment, provided_id: str) -> Issued | None:
        return await self._get(environment, provided_id, self._runner.deadline())

    async def groups(self, environment: Environment, *, after: int = 0, limit: int = 100) -> Sequence[UserGroup]:
        found = await self._runner.read(
            queries.GROUPS, self._runner.deadline(), environment_id=environment.id, after=after, limit=limit
        )
        return [rows.stored_group(row).group for row in found]

    async def _get(self, environment: Environment, provided_id: str, deadline: float) -> Issued | None:
        found = await self._runner.read(
            queries.GROUP_BY_ID, deadline, environment_id=environment.id, provided_id=provided_id
        )
        return rows.stored_group(found[0]).issued() if found else None

    async def _write_to(self, environment: Environment, provided_id: str, work: _WriteTo[T_co]) -> T_co:
        """Runs a write to a group named by its id. Its handle is read first, because the listeners are to hear of it
        before the write; should another group stand there by then, the write does nothing and is begun again."""
        deadline = self._runner.deadline()
        for _ in range(_ATTEMPTS):
            found = await self._get(environment, provided_id, deadline)
            if found is None:
                raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
            handle = found.group.handle
            try:
                return await self._runner.write(partial(work, handle=handle), deadline, handle=handle)
            except write_groups.HandleMoved:
                continue
        raise StoreUnavailable("others delete and create this group without end: try again")

    # --- EnvironmentStore ---

    async def create_environment(self, name: str, tag: Tag, *, external_data_sources: bool = False) -> Environment:
        work = partial(
            write_directory.create_environment,
            name=name,
            tag=tag,
            external_data_sources=external_data_sources,
            now=self._clock(),
        )
        return await self._runner.write(work, self._runner.deadline())

    async def environment(self, name: str) -> Environment | None:
        found = await self._runner.read(queries.ENVIRONMENT, self._runner.deadline(), name=name)
        return rows.environment(found[0]) if found else None

    async def environments(self) -> Sequence[Environment]:
        return [rows.environment(row) for row in await self._runner.read(queries.ENVIRONMENTS, self._runner.deadline())]

    # --- ApiTokenStore ---

    async def create_api_token(
        self, environment: Environment, *, digest: bytes, label: str, scopes: Collection[Scope], hint: str
    ) -> ApiToken:
        work = partial(
            write_directory.create_api_token,
            environment=environment,
            digest=digest,
            label=label,
            scopes=scopes,
            hint=hint,
            now=self._clock(),
        )
        return await self._runner.write(work, self._runner.deadline())

    async def api_token(self, digest: bytes) -> ApiToken | None:
        found = await self._runner.read(queries.LIVE_API_TOKEN, self._runner.deadline(), digest=digest)
        return rows.api_token(found[0]) if found else None

    async def api_tokens(self, environment: Environment) -> Sequence[ApiToken]:
        found = await self._runner.read(queries.API_TOKENS, self._runner.deadline(), environment_id=environment.id)
        return [rows.api_token(row) for row in found]

    async def revoke_api_token(self, environment: Environment, token_id: int) -> ApiToken:
        work = partial(write_directory.revoke_api_token, environment=environment, token_id=token_id, now=self._clock())
        return await self._runner.write(work, self._runner.deadline())

    # --- SourceStore ---

    async def data_source(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = await self._runner.read(
            queries.SOURCE, self._runner.deadline(), environment_id=environment.id, reference=reference
        )
        return rows.data_source(found[0]) if found else None

    async def create_data_source(
        self, environment: Environment, *, source_id: str, provided_id: str, url: str, trusted: bool = False
    ) -> RegisteredSource:
        work = partial(
            write_directory.create_data_source,
            environment=environment,
            source_id=source_id,
            provided_id=provided_id,
            url=url,
            trusted=trusted,
            now=self._clock(),
        )
        return await self._runner.write(work, self._runner.deadline())

    async def data_sources(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = await self._runner.read(queries.SOURCES, self._runner.deadline(), environment_id=environment.id)
        return [rows.data_source(row) for row in found]

    async def delete_data_source(self, environment: Environment, reference: str) -> RegisteredSource:
        work = partial(write_directory.delete_data_source, environment=environment, reference=reference)
        return await self._runner.write(work, self._runner.deadline())

    # --- Store ---

    def subscribe(self, listener: ChangeListener) -> None:
        self._runner.listeners.subscribe(listener)

    async def ready(self) -> None:
        """Raises MigrationNeeded when the tables are not those of this version, else StoreUnavailable."""
        found = [row[0] for row in await self._runner.read(queries.REVISION, self._runner.deadline())]
        if found != [HEAD]:
            at = ", ".join(found) or "none"
            raise MigrationNeeded(f"the {self.label} is at revision {at}, this version needs {HEAD}: {RUN_MIGRATE}")

    async def aclose(self) -> None:
        """Closes the connections. The store can be used again: it opens new ones."""
        await self._runner.aclose()


class _WriteTo(Protocol[T_co]):
    """A write that wants to be told which group it was announced for."""

    def __call__(self, connection: Connection, *, handle: bytes) -> T_co: ...
