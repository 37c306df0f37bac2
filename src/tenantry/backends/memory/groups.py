from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tenantry.backends.audit.details import creation_details, rotation_details, update_details
from tenantry.backends.memory.tables import MemoryTables
from tenantry.backends.stored import IDEMPOTENCY_LIFETIME, UNKNOWN_TOKEN, StoredGroup, StoredResponse, matches
from tenantry.errors import (
    AlreadyExists,
    GroupChanged,
    GroupSuspended,
    TokenAlreadyRotated,
    UnknownGroup,
    UnknownToken,
)
from tenantry.groups import (
    UNNAMED,
    Author,
    Environment,
    GroupChanges,
    GroupDraft,
    GroupRotation,
    GroupUpdate,
    GroupWrite,
    IdempotencyKey,
    Issued,
    Token,
    UserGroup,
)
from tenantry.ports import GroupStore


class MemoryGroups(GroupStore):
    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def get_or_create(
        self,
        environment: Environment,
        draft: GroupDraft,
        token: Token,
        *,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        with self._tables.lock:
            issued = self._once(environment, once, lambda: self._get_or_create(environment, draft, token))
            if issued.created and not issued.replayed:
                details = creation_details(draft)
                self._tables.note(author, "group.created", environment.name, draft.provided_id, **details)
            return issued

    def _get_or_create(self, environment: Environment, draft: GroupDraft, token: Token) -> Issued:
        tables = self._tables
        handle = tables.provided.get((environment.id, draft.provided_id))
        if handle is not None:
            return tables.handles[handle].issued()
        environment = tables.own(environment)
        if token.handle in tables.handles:
            raise AlreadyExists("the new token contains the handle of another group: generate another token")
        tables.team_id += 1
        group = draft.make_group(tables.team_id, environment, token)
        stored = StoredGroup(group, replace(token, tag=environment.tag))
        tables.handles[token.handle] = stored
        tables.provided[environment.id, draft.provided_id] = token.handle
        return stored.issued(created=True)

    async def update(
        self,
        environment: Environment,
        provided_id: str,
        changes: GroupChanges,
        *,
        expected: UserGroup | None = None,
        author: Author = UNNAMED,
    ) -> Issued:
        def write() -> tuple[Issued, bool]:
            stored = self._stored(environment, provided_id)
            stored.require(expected)
            changed = stored.updated(changes)
            if changed is stored:
                return stored.issued(), False
            self._tables.note(author, "group.updated", environment.name, provided_id, **update_details(changes))
            return self._put(changed), True

        with self._tables.lock:
            handle = self._stored(environment, provided_id).group.handle
            return self._tables.write((handle,), write)

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
        def rotate() -> Issued:
            tables = self._tables
            stored = tables.handles.get(current.handle)
            if stored is None:
                raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
            rotated = stored.rotated(
                environment,
                current,
                key_id=key_id,
                nonce=nonce,
                grace_seconds=grace_seconds,
                now=tables.clock(),
            )
            group = rotated.group
            tables.note(author, "group.rotated", environment.name, group.provided_id, **rotation_details(group))
            return self._put(rotated)

        def write() -> tuple[Issued, bool]:
            issued = self._once(environment, once, rotate)
            return issued, not issued.replayed

        return self._tables.write((current.handle,), write)

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        def write() -> tuple[UserGroup, bool]:
            del self._tables.handles[stored.group.handle]
            del self._tables.provided[environment.id, provided_id]
            self._tables.drop_viewer_usage(environment, provided_id)
            self._tables.note(author, "group.deleted", environment.name, provided_id)
            return stored.group, True

        with self._tables.lock:
            stored = self._stored(environment, provided_id)
            return self._tables.write((stored.group.handle,), write)

    async def get(
        self, environment: Environment | None = None, provided_id: str = "", *, handle: bytes | None = None
    ) -> Issued | None:
        tables = self._tables
        with tables.lock:
            if environment is not None:
                return tables.issued(environment, provided_id)
            stored = None if handle is None else tables.handles.get(handle)
            return None if stored is None else stored.issued()

    async def get_many(self, environment: Environment, provided_ids: Sequence[str]) -> Mapping[str, Issued]:
        with self._tables.lock:
            found = {provided_id: self._tables.issued(environment, provided_id) for provided_id in provided_ids}
        return {provided_id: issued for provided_id, issued in found.items() if issued is not None}

    async def write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], *, author: Author = UNNAMED
    ) -> Sequence[Issued | None]:
        with self._tables.lock:
            return [await self._write_if_expected(environment, write, author) for write in writes]

    async def _write_if_expected(self, environment: Environment, write: GroupWrite, author: Author) -> Issued | None:
        try:
            if isinstance(write, GroupUpdate):
                return await self.update(
                    environment, write.provided_id, write.changes, expected=write.group, author=author
                )
            if isinstance(write, GroupRotation):
                return await self.rotate(
                    environment,
                    write.issued.token,
                    key_id=write.key_id,
                    nonce=write.nonce,
                    grace_seconds=write.grace_seconds,
                    author=author,
                )
            issued = await self.get_or_create(environment, write.draft, write.token, author=author)
        except (AlreadyExists, GroupChanged, GroupSuspended, TokenAlreadyRotated, UnknownGroup, UnknownToken):
            return None
        return issued if issued.created else None

    async def list(
        self,
        environment: Environment,
        *,
        after: int = 0,
        limit: int = 100,
        match: str = "",
        signed_by: str | None = None,
    ) -> Sequence[UserGroup]:
        with self._tables.lock:
            every = [*self._tables.handles.values()]
        here = [each.group for each in every if signed_by in (None, each.token.key_id)]
        found = [
            group
            for group in here
            if group.environment.id == environment.id and group.team_id > after and matches(group, match)
        ]
        return sorted(found, key=lambda group: group.team_id)[:limit]

    def _stored(self, environment: Environment, provided_id: str) -> StoredGroup:
        handle = self._tables.provided.get((environment.id, provided_id))
        if handle is None:
            raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
        return self._tables.handles[handle]

    def _put(self, stored: StoredGroup) -> Issued:
        self._tables.handles[stored.group.handle] = stored
        return stored.issued()

    def _once(self, environment: Environment, once: IdempotencyKey | None, write: Callable[[], Issued]) -> Issued:
        if once is None:
            return write()
        now, answers = self._tables.clock(), self._tables.answers
        for key in [key for key, (expires, _) in answers.items() if expires <= now]:
            del answers[key]
        stored = answers.get((environment.id, once.key))
        if stored is not None:
            return stored[1].replay(once, self._tables.handles.get(stored[1].group.handle))
        issued = write()
        answers[environment.id, once.key] = (now + IDEMPOTENCY_LIFETIME, StoredResponse.of(once, issued))
        return issued
