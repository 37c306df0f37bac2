from __future__ import annotations

import logging
import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final

from tenantry.clock import utc_now
from tenantry.errors import (
    AlreadyExists,
    GroupChanged,
    GroupExpired,
    GroupSuspended,
    InvalidToken,
    StoreUnavailable,
    TenantryError,
    UnknownDataSource,
    UnknownGroup,
    UnknownToken,
)
from tenantry.groups import (
    UNCHANGED,
    UNNAMED,
    Author,
    Environment,
    GroupChanges,
    GroupDraft,
    IdempotencyKey,
    Issued,
    Token,
    UserGroup,
    revoking_changes,
)
from tenantry.ports import Store
from tenantry.provisioning.deadline import Deadline
from tenantry.provisioning.limits import check_changes, check_draft, check_viewer_id, checked_grace, merged, pointer_of
from tenantry.provisioning.property_contract import PropertyContract
from tenantry.tokens import KeyRing, draft_token, mask_within

_ATTEMPTS: Final = 10
"""Maximum attempts to merge into a group that other writers keep changing."""

_KEEP_CHANGING: Final = "other writers keep changing this user group: try again"

_log = logging.getLogger("tenantry.provisioning")


class NotLoaded(Enum):
    """The type of NOT_LOADED: a value for a group that the caller has not read. None means that it does not exist."""

    NOT_LOADED = "not loaded"


NOT_LOADED: Final = NotLoaded.NOT_LOADED


class Provisioner:
    """Writes the groups of ``store``, and signs their tokens with ``keys``.

    ``random(n)`` returns n unpredictable bytes. ``deadline`` limits all store calls together. ``contract`` checks
    properties before they are written.

    Parameters of the methods: ``author`` is recorded in the audit trail. If you have just read the group, pass it as
    ``loaded`` to save a read. Every method may raise StoreUnavailable. Methods that write may also raise
    OutcomeUnknown."""

    def __init__(
        self,
        store: Store,
        keys: KeyRing,
        *,
        random: Callable[[int], bytes] = secrets.token_bytes,
        deadline: Deadline | None = None,
        contract: PropertyContract | None = None,
    ) -> None:
        self._contract = contract
        self._groups = store.groups
        self._sources = store.sources
        self._keys = keys
        self._random = random
        self._deadline = deadline or Deadline()

    async def get_or_create(
        self,
        environment: Environment,
        draft: GroupDraft,
        once: IdempotencyKey | None = None,
        *,
        author: Author = UNNAMED,
        loaded: Issued | NotLoaded | None = NOT_LOADED,
    ) -> Issued[str]:
        """Return the group with the id ``draft.provided_id``, unchanged. If it does not exist, create it from
        ``draft``.

        Raises InvalidBody, UnknownDataSource, UnknownEnvironment, GroupSuspended, SigningKeyMissing,
        IdempotencyInFlight, IdempotencyKeyReused, IdempotencySuperseded and errors of the Provisioner's
        ``contract``."""
        check_draft(draft)
        await self._check_sources(environment, draft.mapping)
        if self._contract is not None and draft.properties is not None:
            self._enforce(
                environment, draft.provided_id, self._contract.schema_errors(environment.name, draft.properties)
            )
        if once is None:  # the group usually exists, and then needs no new token
            if loaded is NOT_LOADED:
                loaded = await self._load(environment, draft.provided_id)
            if loaded is not None:
                return self._provisioned(_active(loaded))
        try:
            issued = await self._create(environment, draft, once, author)
        except AlreadyExists:  # another group has this random handle: try another
            issued = await self._create(environment, draft, once, author)
        return self._provisioned(_active(issued))

    async def _create(
        self, environment: Environment, draft: GroupDraft, once: IdempotencyKey | None, author: Author
    ) -> Issued:
        token = draft_token(environment.tag, self._keys.active_id, self._random)
        creation = self._groups.get_or_create(environment, draft, token, once=once, author=author)
        return await self._deadline.write(creation)

    async def get(self, environment: Environment, provided_id: str) -> Issued[str] | None:
        """Return the group with its current token, or None if it does not exist. Raises GroupSuspended,
        SigningKeyMissing."""
        issued = await self._load(environment, provided_id)
        return None if issued is None else self._provisioned(_active(issued))

    async def active(
        self, environment: Environment, provided_id: str, *, loaded: Issued | NotLoaded | None = NOT_LOADED
    ) -> Issued[str]:
        """Return the group with its current token. Raises UnknownGroup, GroupSuspended, GroupExpired,
        SigningKeyMissing."""
        issued = _active(await self._existing(environment, provided_id, loaded))
        if issued.group.seconds_left(utc_now()) <= 0:
            raise GroupExpired(GroupExpired.MESSAGE)
        return self._provisioned(issued)

    async def _load(self, environment: Environment, provided_id: str) -> Issued | None:
        return await self._deadline.read(self._groups.get(environment, provided_id))

    async def update(
        self,
        environment: Environment,
        provided_id: str,
        changes: GroupChanges,
        *,
        merge: bool = False,
        author: Author = UNNAMED,
        loaded: Issued | NotLoaded | None = NOT_LOADED,
    ) -> Issued[str]:
        """Apply ``changes`` to the group and return it. With ``merge``, ``changes`` is a merge patch (RFC 7396).

        Before it writes, raises InvalidBody, UnknownDataSource, UnknownGroup, SigningKeyMissing and errors of the
        Provisioner's ``contract``."""
        await self._check_changes(environment, changes, merge=merge)
        for _ in range(_ATTEMPTS):
            issued = await self._existing(environment, provided_id, loaded)
            whole = merged(issued, changes) if merge else changes
            if self._contract is not None and whole.properties is not UNCHANGED:
                errors = self._contract.errors(environment.name, issued.group.properties, whole.properties)
                self._enforce(environment, provided_id, errors)
            self._provisioned(issued)  # raises SigningKeyMissing before the write, not after it
            try:
                return self._provisioned(await self._change(issued, whole, author, as_read=merge))
            except GroupChanged:
                loaded = NOT_LOADED
        raise StoreUnavailable(_KEEP_CHANGING)

    async def _change(self, issued: Issued, changes: GroupChanges, author: Author, *, as_read: bool) -> Issued:
        group = issued.group
        expected = group if as_read else None
        update = self._groups.update(group.environment, group.provided_id, changes, expected=expected, author=author)
        return await self._deadline.write(update)

    async def _check_changes(
        self, environment: Environment, changes: GroupChanges, *, merge: bool, known: set[str] | None = None
    ) -> None:
        check_changes(changes, merge=merge)
        if isinstance(changes.mapping, Mapping):
            sources: Mapping[str, Any] = changes.mapping
            kept = {schema: source for schema, source in sources.items() if source is not None}
            await self._check_sources(environment, kept, known)

    async def _existing(self, environment: Environment, provided_id: str, loaded: Issued | NotLoaded | None) -> Issued:
        issued = await self._load(environment, provided_id) if isinstance(loaded, NotLoaded) else loaded
        if issued is None:
            raise UnknownGroup("there is no user group with this id in this environment", field="/user_group_id")
        return issued

    async def rehearse(
        self,
        environment: Environment,
        provided_id: str,
        changes: GroupChanges,
        *,
        merge: bool = False,
    ) -> tuple[TenantryError, ...]:
        """Return the errors that the Provisioner's ``contract`` finds in ``changes``, without writing anything.
        Raises InvalidBody, UnknownDataSource, UnknownGroup."""
        await self._check_changes(environment, changes, merge=merge)
        issued = await self._existing(environment, provided_id, NOT_LOADED)
        whole = merged(issued, changes) if merge else changes
        if self._contract is None or whole.properties is UNCHANGED:
            return ()
        return tuple(self._contract.errors(environment.name, issued.group.properties, whole.properties))

    def _enforce(self, environment: Environment, provided_id: str, errors: Iterable[TenantryError]) -> None:
        for error in errors:
            if self._contract is not None and self._contract.refuses:
                raise error
            _log.warning(
                "user group %s of %s: %s [%s]", mask_within(provided_id), environment.name, error.message, error.code
            )

    async def rotate(
        self,
        environment: Environment,
        current_token: str,
        *,
        grace_seconds: int | None = None,
        once: IdempotencyKey | None = None,
        author: Author = UNNAMED,
    ) -> Issued[str]:
        """Replace ``current_token`` and return the group with its new token. Of several simultaneous calls, only one
        replaces the token. The old token stays valid for ``grace_seconds``, by default for the environment's grace
        period.

        Raises UnknownToken (also for a token that is malformed, forged or from another environment),
        TokenAlreadyRotated, GroupSuspended, SigningKeyMissing, IdempotencyInFlight, IdempotencyKeyReused and
        IdempotencySuperseded. Raises ValueError unless ``grace_seconds`` is from 0 to 86,400."""
        try:
            current = self._keys.read(current_token)
        except InvalidToken:
            if once is None:
                raise UnknownToken("no user group of this environment has this token", field="/current_token") from None
            # Send the store a random token, so that it still looks up the Idempotency-Key. The request may be a retry
            # after the token's signing key was removed, or may reuse the Idempotency-Key with another body. In all
            # other cases, the store raises UnknownToken.
            current = draft_token(environment.tag, self._keys.active_id, self._random)
        grace = None if grace_seconds is None else checked_grace(grace_seconds)
        # The group may have been suspended after the first request with this Idempotency-Key.
        return self._provisioned(_active(await self._replace_token(environment, current, grace, author, once=once)))

    async def _replace_token(
        self,
        environment: Environment,
        current: Token,
        grace_seconds: int | None,
        author: Author,
        *,
        once: IdempotencyKey | None = None,
    ) -> Issued:
        rotation = self._groups.rotate(
            environment,
            current,
            key_id=self._keys.active_id,
            nonce=self._random(16),
            grace_seconds=grace_seconds,
            once=once,
            author=author,
        )
        return await self._deadline.write(rotation)

    async def rotate_group(
        self,
        environment: Environment,
        provided_id: str,
        *,
        grace_seconds: int | None = None,
        author: Author = UNNAMED,
    ) -> Issued[str]:
        """Replace the token of the group, even if the token's signing key was removed.

        ``grace_seconds``: as in ``rotate``. Raises UnknownGroup and GroupSuspended. If another writer rotates the token
        during the call, raises TokenAlreadyRotated. If another writer deletes the group, raises UnknownToken."""
        issued = await self._load(environment, provided_id)
        if issued is None:
            raise UnknownGroup(f"there is no user group {provided_id!r} in {environment.name}")
        grace = None if grace_seconds is None else checked_grace(grace_seconds)
        return self._provisioned(await self._replace_token(environment, issued.token, grace, author))

    async def revoke_viewer(
        self,
        environment: Environment,
        provided_id: str,
        viewer_id: str,
        *,
        author: Author = UNNAMED,
        loaded: Issued | NotLoaded | None = NOT_LOADED,
    ) -> UserGroup:
        """Revoke all passes issued to the viewer so far, and return the group. Passes issued from the next second on
        are accepted.

        Raises InvalidBody, UnknownGroup, TooManyRevokedViewers."""
        check_viewer_id(viewer_id, "/viewer_id")
        for _ in range(_ATTEMPTS):
            issued = await self._existing(environment, provided_id, loaded)
            changes = revoking_changes(issued.group, viewer_id, utc_now())
            try:
                return (await self._change(issued, changes, author, as_read=True)).group
            except GroupChanged:
                loaded = NOT_LOADED
        raise StoreUnavailable(_KEEP_CHANGING)

    async def delete(self, environment: Environment, provided_id: str, *, author: Author = UNNAMED) -> UserGroup:
        """Delete the group and return it. Raises UnknownGroup."""
        return await self._deadline.write(self._groups.delete(environment, provided_id, author=author))

    def _provisioned(self, issued: Issued) -> Issued[str]:
        return Issued(issued.group, self._keys.mint(issued.token), issued.created, issued.replayed)

    async def _check_sources(
        self, environment: Environment, mapping: Mapping[str, str] | None, known: set[str] | None = None
    ) -> None:
        """Raises UnknownDataSource if a source does not exist, unless the environment has external data sources.
        Sources in ``known`` are not looked up. Found sources are added to ``known``."""
        if not mapping or environment.external_data_sources:
            return
        known = set() if known is None else known
        for schema in mapping:
            reference = mapping[schema]
            if reference in known:
                continue
            if await self._deadline.read(self._sources.get(environment, reference)) is None:
                # Nobody can choose an id that begins with ds_, so show a placeholder.
                name = "NAME" if reference.startswith("ds_") else shlex.quote(reference)
                raise UnknownDataSource(
                    f"there is no data source {reference!r} in the environment {environment.name}; register it with: "
                    f"tenantry data-source create {name} --environment {environment.name} --url …",
                    field=pointer_of(["mapping", schema]),
                )
            known.add(reference)


def _active(issued: Issued) -> Issued:
    if issued.group.suspended:
        raise GroupSuspended(GroupSuspended.MESSAGE)
    return issued
