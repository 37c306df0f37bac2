from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tenantry.errors import GroupSuspended, InvalidBody, StoreUnavailable, TenantryError
from tenantry.groups import UNNAMED, Author, Environment, GroupRotation, GroupWrite, Issued, UserGroup
from tenantry.provisioning.limits import checked_grace
from tenantry.provisioning.upserts import UpsertProvisioner
from tenantry.tokens import KEY_ID_PATTERN, KeyRing

MAX_ROTATED_TOGETHER: Final = 500
"""Maximum number of groups that are rotated in one transaction."""
# A transaction blocks other writers for about ten milliseconds.

_ATTEMPTS: Final = 5
"""Maximum attempts to rotate a group that other writers keep changing."""


class Rotated(NamedTuple):
    """The result of rotating one group."""

    group: UserGroup
    result: Issued[str] | TenantryError
    """The group with its new token, or the error that prevented the rotation. After SigningKeyMissing, the group may
    have been rotated."""


class RotationPage(NamedTuple):
    """One page of a rotation of many groups, ordered by ``team_id``."""

    rotations: Sequence[Rotated]
    next: int | None
    """The value of ``after`` that requests the next page; None after the last group."""


class RotationProvisioner(UpsertProvisioner):
    """An UpsertProvisioner that also rotates many groups. Its deadline limits all calls together: if it has one, rotate
    only one page."""

    async def rotate_page(
        self,
        environment: Environment,
        *,
        after: int = 0,
        limit: int = MAX_ROTATED_TOGETHER,
        signed_by: str | None = None,
        grace_seconds: int | None = None,
        author: Author = UNNAMED,
    ) -> RotationPage:
        """Rotate the next groups with ``team_id > after``, at most ``limit``, in one transaction or a few.

        With ``signed_by``, only groups whose token was signed by the key with this id are rotated. ``grace_seconds``:
        as in ``rotate``. A suspended group gets the error GroupSuspended. A group that another writer deletes meanwhile
        is left out. Raises InvalidBody if ``signed_by`` is malformed or names the active key."""
        check_signed_by(signed_by, self._keys)
        page = self._groups.list(environment, after=after, limit=limit, signed_by=signed_by)
        listed = await self._deadline.read(page)
        versions = {each.provided_id: each.token_version for each in listed}
        rotations = await self.rotate_groups(
            environment, versions, signed_by=signed_by, grace_seconds=grace_seconds, author=author
        )
        return RotationPage(rotations, listed[-1].team_id if len(listed) == limit else None)

    async def rotate_groups(
        self,
        environment: Environment,
        versions: Mapping[str, int],
        *,
        signed_by: str | None = None,
        grace_seconds: int | None = None,
        author: Author = UNNAMED,
    ) -> Sequence[Rotated]:
        """Rotate the groups in ``versions``, like ``rotate_page``.

        ``versions``: the ``token_version`` of each group, by ``provided_id``. If a group has another version, it was
        already rotated. It is rotated again only if the key ``signed_by`` signed its current token. Otherwise its
        result has the current token, even if the group is suspended. So you can repeat the call after a failure."""
        grace = None if grace_seconds is None else checked_grace(grace_seconds)
        waiting = [*versions]
        results: dict[str, Rotated] = {}
        for _ in range(_ATTEMPTS):
            found = await self._read_many(environment, waiting)
            writes: list[GroupWrite] = []
            for provided_id, issued in ((each, found[each]) for each in waiting if each in found):
                if versions[provided_id] != issued.token.version and signed_by != issued.token.key_id:
                    results[provided_id] = self._rotated(issued)
                elif issued.group.suspended:
                    results[provided_id] = Rotated(issued.group, GroupSuspended(GroupSuspended.MESSAGE))
                else:
                    writes.append(GroupRotation(issued, self._keys.active_id, self._random(16), grace))
            done = await self._write_many(environment, writes, author) if writes else ()
            results |= {each.group.provided_id: self._rotated(each) for each in done if each is not None}
            waiting = [each.provided_id for each in writes if each.provided_id not in results]
            if not waiting:
                break
        busy = StoreUnavailable("other writers keep changing this user group: try again")
        results |= {each: Rotated(found[each].group, busy) for each in waiting}
        return [results[each] for each in versions if each in results]

    def _rotated(self, issued: Issued) -> Rotated:
        try:
            return Rotated(issued.group, self._provisioned(issued))
        except TenantryError as error:  # the key file may have changed since the rotation began
            return Rotated(issued.group, error)


def check_signed_by(key_id: str | None, keys: KeyRing) -> None:
    if key_id is None:
        return
    if not KEY_ID_PATTERN.fullmatch(key_id):
        raise InvalidBody("this must be the id of a signing key, such as k1", field="/signed_by")
    if key_id == keys.active_id:
        raise InvalidBody(
            f"{key_id} is the active signing key and would also sign the new tokens: run `tenantry keys rotate` first",
            field="/signed_by",
        )
