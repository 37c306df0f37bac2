from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar

from tenantry.errors import StoreUnavailable, TenantryError
from tenantry.groups import (
    UNCHANGED,
    UNNAMED,
    Author,
    Environment,
    GroupChanges,
    GroupCreation,
    GroupDraft,
    GroupUpdate,
    GroupWrite,
    Issued,
    merged_draft,
)
from tenantry.provisioning.limits import check_draft, check_text, merged
from tenantry.provisioning.provisioner import Provisioner
from tenantry.tokens import draft_token

T = TypeVar("T")

_log = logging.getLogger("tenantry.provisioning")

_BETWEEN_TURNS: Final = 50
"""After this many groups, the event loop may run other tasks."""
# This takes a few milliseconds.

_ATTEMPTS: Final = 5
"""Maximum attempts to write a group that other writers keep changing."""


@dataclass(frozen=True, slots=True)
class Upsert:
    """Applies ``changes`` to a group. If the group does not exist, creates it."""

    provided_id: str
    changes: GroupChanges


class Outcome(StrEnum):
    """What a successful upsert did."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Upserted:
    """What a successful upsert did, and the group with its token."""

    outcome: Outcome
    group: Issued[str]


UpsertResult: TypeAlias = Upserted | TenantryError
"""The result of one upsert. An error means that nothing was written, with two exceptions:

- OutcomeUnknown: the write may have been committed.
- SigningKeyMissing: the write was committed if the key was removed during the write. Then rotate the group to get a
  token."""


class UpsertProvisioner(Provisioner):
    """A Provisioner that also writes batches. With a ``deadline``, call ``upsert_many`` only once."""

    async def upsert_many(
        self, environment: Environment, upserts: Sequence[Upsert], *, merge: bool = True, author: Author = UNNAMED
    ) -> list[UpsertResult]:
        """Create or update groups. Return a result for each upsert, in the same order. Each group may have only one
        upsert. An invalid upsert does not affect the others. If the store fails, each upsert without a result gets the
        error.

        With ``merge``, changes are merge patches (RFC 7396). Without it, they replace ``properties`` and ``mapping``. A
        group that already has the new values is not written. An unexpected exception is raised if it occurs before any
        valid upsert has a result. Later, it is logged, and each remaining upsert gets an error."""
        results: dict[str, UpsertResult] = {}
        sources: set[str] = set()
        waiting: dict[str, GroupChanges] = {}
        async for upsert in _in_turns(upserts):
            try:
                check_text(upsert.provided_id, "/user_group_id")
                await self._check_changes(environment, upsert.changes, merge=merge, known=sources)
            except TenantryError as error:
                results[upsert.provided_id] = error
            else:
                waiting[upsert.provided_id] = upsert.changes
        refused = len(results)
        for _ in range(_ATTEMPTS):
            if not waiting:
                break
            try:
                results |= await self._attempt(environment, waiting, merge=merge, author=author)
            except Exception as raised:  # the caller must get the results of earlier attempts
                if len(results) == refused:
                    raise
                results |= dict.fromkeys(waiting, _logged(raised, author))
            waiting = {provided_id: changes for provided_id, changes in waiting.items() if provided_id not in results}
        busy = StoreUnavailable("other writers keep changing this user group: try again")
        return [results.get(each.provided_id, busy) for each in upserts]

    async def _attempt(
        self, environment: Environment, wanted: Mapping[str, GroupChanges], *, merge: bool, author: Author
    ) -> dict[str, UpsertResult]:
        """Try once to write the groups. A group that another writer changes meanwhile gets no result."""
        results: dict[str, UpsertResult] = {}
        writes: list[GroupWrite] = []
        try:
            found = await self._read_many(environment, [*wanted])
        except TenantryError as error:
            return dict.fromkeys(wanted, error)
        async for provided_id, changes in _in_turns(wanted.items()):
            try:
                write = self._plan(environment, provided_id, changes, found.get(provided_id), merge=merge)
            except TenantryError as error:
                results[provided_id] = error
                continue
            if isinstance(write, Issued):
                results[provided_id] = Upserted(Outcome.UNCHANGED, write)
            else:
                writes.append(write)
        if not writes:
            return results
        try:
            done = await self._write_many(environment, writes, author)
        except TenantryError as error:
            return results | dict.fromkeys([each.provided_id for each in writes], error)
        async for write, issued in _in_turns(zip(writes, done, strict=True)):
            if issued is not None:
                outcome = Outcome.CREATED if issued.created else Outcome.UPDATED
                try:
                    results[write.provided_id] = Upserted(outcome, self._provisioned(issued))
                except TenantryError as error:  # the key file may have changed since the write was planned
                    results[write.provided_id] = error
        return results

    def _plan(
        self, environment: Environment, provided_id: str, changes: GroupChanges, issued: Issued | None, *, merge: bool
    ) -> GroupWrite | Issued[str]:
        if issued is None:
            given: dict[str, Any] = {"name": provided_id, **changes.given()}
            draft = merged_draft(provided_id, changes) if merge else GroupDraft(provided_id, **given)
            check_draft(draft)
            if self._contract is not None and draft.properties is not None:
                errors = self._contract.schema_errors(environment.name, draft.properties)
                self._enforce(environment, provided_id, errors)
            return GroupCreation(draft, draft_token(environment.tag, self._keys.active_id, self._random))
        whole = merged(issued, changes) if merge else changes
        provisioned = self._provisioned(issued)  # raises SigningKeyMissing before the write, not after it
        if not whole.differing(issued.group):
            return provisioned
        if self._contract is not None and whole.properties is not UNCHANGED:
            errors = self._contract.errors(environment.name, issued.group.properties, whole.properties)
            self._enforce(environment, provided_id, errors)
        return GroupUpdate(issued.group, whole)

    async def _read_many(self, environment: Environment, provided_ids: Sequence[str]) -> dict[str, Issued]:
        found: dict[str, Issued] = {}
        for start in range(0, len(provided_ids), _BETWEEN_TURNS):  # not all at once, because each group may be large
            some = provided_ids[start : start + _BETWEEN_TURNS]
            found |= await self._deadline.read(self._groups.get_many(environment, some))
            await asyncio.sleep(0)
        return found

    async def _write_many(
        self, environment: Environment, writes: Sequence[GroupWrite], author: Author
    ) -> Sequence[Issued | None]:
        return await self._deadline.write(self._groups.write_many(environment, writes, author=author))


def _logged(raised: Exception, author: Author) -> TenantryError:
    """Log the exception without its message. Return the error to report."""
    # The message may contain a property.
    frames, extra = "".join(traceback.format_tb(raised.__traceback__)), {"request_id": author.request_id}
    _log.error(
        "upserts of %s failed with %s\n%s",
        author.request_id or author.name,
        type(raised).__qualname__,
        frames,
        extra=extra,
    )
    return TenantryError("internal error: the server's log has details under the request id")


async def _in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    for number, item in enumerate(items, 1):
        yield item
        if number % _BETWEEN_TURNS == 0:
            await asyncio.sleep(0)
