"""A group to write to, and what the tests of the store read while they do."""

import secrets

from tenantry.backends.sql import SQLStore
from tenantry.cache import slot_index
from tenantry.groups import GroupDraft, Issued, Tag
from tenantry.testing import make_token


class RecordingListener:
    """A ChangeListener that records the generations of its changes."""

    def __init__(self) -> None:
        self.generations: list[int] = []

    def changed(self, handle: bytes, generation: int) -> None:
        self.generations.append(generation)


def version_of(store: SQLStore, issued: Issued) -> int:
    """The version of the group's slot now."""
    assert store.slots is not None
    return store.slots.versions[slot_index(issued.token.handle)]


async def acme(store: SQLStore) -> Issued:
    production = await store.environments.create("production", Tag.CUSTOMER)
    return await store.groups.get_or_create(production, GroupDraft("acme", "Acme"), make_token())


async def rotate(store: SQLStore, issued: Issued) -> Issued:
    return await store.groups.rotate(issued.group.environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
