from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tenantry.backends import UNKNOWN_TOKEN, StoredGroup
from tenantry.clock import utc_now
from tenantry.errors import GroupChanged, TenantryError, UnknownGroup, UnknownToken
from tenantry.groups import (
    UNNAMED,
    Author,
    Environment,
    GroupChanges,
    GroupCreation,
    GroupDraft,
    GroupRotation,
    GroupUpdate,
    GroupWrite,
    IdempotencyKey,
    Issued,
    Token,
    UserGroup,
)
from tenantry.ports import GroupStore, Store
from tenantry.provisioning import NOT_LOADED, Deadline, NotLoaded, PropertyContract, RotationProvisioner
from tenantry.tokens import KeyRing, draft_token

NO_TOKEN = ""
"""The token in the result of a dry run, where a real write would issue a token."""
NO_TEAM_ID = 0
"""The ``team_id`` in the result of a dry run, if a real write would create the group. Real ids start at 1."""
_NO_CHANGES = GroupChanges()


class DryRunProvisioner(RotationProvisioner):
    """Returns the same results and raises the same errors as RotationProvisioner, but writes nothing.

    Groups that would be created have ``NO_TOKEN`` and ``NO_TEAM_ID``. Violations of ``contract`` are raised even if
    ``contract.refuses`` is false. Idempotency-Keys are ignored."""

    def __init__(self, store: Store, keys: KeyRing, *, deadline: Deadline, contract: PropertyContract | None) -> None:
        super().__init__(store, keys, deadline=deadline, contract=contract)
        self._unissued: set[Token] = set()

    async def active(
        self, environment: Environment, provided_id: str, *, loaded: Issued | NotLoaded | None = NOT_LOADED
    ) -> Issued[str]:
        return replace(await super().active(environment, provided_id, loaded=loaded), token=NO_TOKEN)

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        return await self._deadline.read(group_to_write(self._groups, environment, provided_id))

    async def _create(
        self, environment: Environment, draft: GroupDraft, once: IdempotencyKey | None, author: Author
    ) -> Issued:
        return self._created(environment, draft, draft_token(environment.tag, self._keys.active_id, self._random))

    def _created(self, environment: Environment, draft: GroupDraft, token: Token) -> Issued:
        self._draw(token)
        return Issued(draft.make_group(NO_TEAM_ID, environment, token), token, created=True)

    async def _change(self, issued: Issued, changes: GroupChanges, author: Author, *, as_read: bool) -> Issued:
        return StoredGroup(issued.group, issued.token).updated(changes).issued()

    async def _write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], author: Author
    ) -> Sequence[Issued | None]:
        changes = [each.provided_id for each in writes if not isinstance(each, GroupCreation)]
        found = await self._read_many(environment, changes)
        done: list[Issued | None] = []
        for write in writes:
            if isinstance(write, GroupCreation):
                done.append(self._created(environment, write.draft, write.token))
            elif isinstance(write, GroupUpdate):
                done.append(_updated(found.get(write.provided_id), write))
            else:
                done.append(self._rotated_later(found.get(write.provided_id), write))
        return done

    def _rotated_later(self, found: Issued | None, write: GroupRotation) -> Issued | None:
        rotated = None if found is None else StoredGroup(found.group, found.token).rotated_if_live(write, utc_now())
        if rotated is None:
            return None
        self._draw(rotated.token)
        return rotated.issued()

    async def _replace_token(
        self,
        environment: Environment,
        current: Token,
        grace_seconds: int | None,
        author: Author,
        *,
        once: IdempotencyKey | None = None,
    ) -> Issued:
        found = await self._deadline.read(self._groups.get(handle=current.handle))
        if found is None:
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        rotated = StoredGroup(found.group, found.token).rotated(
            environment,
            current,
            key_id=self._keys.active_id,
            nonce=self._random(16),
            grace_seconds=grace_seconds,
            now=utc_now(),
        )
        self._draw(rotated.token)
        return rotated.issued()

    def _draw(self, token: Token) -> Token:
        self._unissued.add(token)
        return token

    def _provisioned(self, issued: Issued) -> Issued[str]:
        made = super()._provisioned(issued)
        return replace(made, token=NO_TOKEN) if issued.token in self._unissued else made

    def _enforce(self, environment: Environment, provided_id: str, errors: Iterable[TenantryError]) -> None:
        for error in errors:
            raise error


async def group_to_write(
    groups: GroupStore, environment: Environment, provided_id: str, changes: GroupChanges = _NO_CHANGES
) -> UserGroup:
    """Return the group as it would be after these changes. Raises UnknownGroup."""
    issued = await groups.get(environment, provided_id)
    if issued is None:
        raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
    return StoredGroup(issued.group, issued.token).updated(changes).group


def _updated(found: Issued | None, write: GroupUpdate) -> Issued | None:
    if found is None:
        return None
    stored = StoredGroup(found.group, found.token)
    try:
        stored.require(write.group)
    except GroupChanged:
        return None
    return stored.updated(write.changes).issued()
