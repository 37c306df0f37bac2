"""A writer on this host that is quicker than the resolver, at every moment in which that looks at its version."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tenantry.groups import LookupResult
from tenantry.resolver import Resolver
from tenantry.testing import make_group
from tests.resolver.fake import KEYS, FakeBackend


class Racing(list[int]):
    """Versions that are looked at: at the look number ``due`` a writer on this host is quicker, and done."""

    def __init__(self, backend: FakeBackend, write: Callable[[], None]) -> None:
        super().__init__(backend.table.versions)
        self.due = -1
        self._write = write

    def __getitem__(self, slot: int) -> int:  # type: ignore[override]
        self.due -= 1
        if self.due == 0:
            self._write()
        return super().__getitem__(slot)


@pytest.mark.parametrize("due", range(1, 9))
async def test_a_write_between_any_two_reads_of_its_version(due: int) -> None:
    """The second-level cache holds the old group, and no poll has reported the write: a request after it sees
    the new one.
    Red when the version of the pending is read after the one by which a second-level answer is allowed."""
    backend = FakeBackend()
    old, token = backend.issue(name="old")
    new = make_group(handle=old.handle, revision=2, name="new")
    backend.table.versions = versions = Racing(backend, lambda: backend.write(new))
    resolver = Resolver(backend, keys=KEYS)
    _, another = backend.issue()
    await resolver.resolve(another)
    assert resolver._poller is not None
    await resolver._poller.poll()
    backend.near[old.handle] = LookupResult(old, 10)
    versions.due = due
    await resolver.resolve(token)
    if versions.due > 0:  # fewer looks than that
        backend.write(new)
    assert await resolver.resolve(token) is new
