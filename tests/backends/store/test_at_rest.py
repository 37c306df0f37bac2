"""What is in the database file: the parts of a token that a signing key needs, and never a token."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection

from tenantry.backends.sql import SQLStore
from tenantry.backends.sql.change_log import WriteContext
from tenantry.groups import UNNAMED, GroupDraft, IdempotencyKey, Scope, Tag, Token
from tenantry.testing import make_token
from tenantry.tokens import KeyRing, SigningKey


def _on_disk(url: str) -> bytes:
    path = Path(url.removeprefix("sqlite:///"))
    return b"".join(each.read_bytes() for each in path.parent.glob(path.name + "*"))


async def test_no_token_is_in_the_file(sqlite_url: str) -> None:
    """Neither a token nor its payload or signature is in the file or its log, after create, rotation and replay.

    The handle is, which shows that the search reads the right bytes.
    """
    keys = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
    once = IdempotencyKey("key", (bytes(32),))
    tokens: list[Token] = []
    store = SQLStore(sqlite_url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    for number in range(5):
        issued = await store.groups.get_or_create(production, GroupDraft(f"g{number}", "G"), make_token())
        rotated = await store.groups.rotate(
            production, issued.token, key_id="k1", nonce=secrets.token_bytes(16), grace_seconds=60, once=once
        )
        once = IdempotencyKey(f"key{number}", (bytes(32),))
        tokens += [issued.token, rotated.token]
    before = _on_disk(sqlite_url)
    await store.aclose()
    for content in (before, _on_disk(sqlite_url)):
        for token in tokens:
            text = keys.mint(token).encode()
            payload, signature = text[len("ugtc_k1_") :].split(b".")
            assert token.handle in content
            assert text not in content
            assert payload not in content
            assert signature[:20] not in content


async def test_the_file_is_durable(sqlite_url: str) -> None:
    """The writer runs with a write-ahead log, full synchronisation and foreign keys. Red when one pragma goes."""
    store = SQLStore(sqlite_url)

    def settings(connection: Connection, context: WriteContext) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [connection.exec_driver_sql(f"pragma {name}").scalar() for name in names]

    runner = store._runner
    assert await runner.write(settings, WriteContext(UNNAMED, store._clock), runner.deadline()) == ["wal", 2, 1]
    await store.aclose()


async def test_a_scope_of_a_later_version_grants_nothing(sqlite_url: str) -> None:
    """Where two versions serve one store: the token keeps its other scopes, here and in lists. Red with a KeyError,
    which a request would be answered by 500."""
    store = SQLStore(sqlite_url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    await store.api_tokens.create(production, digest=b"d" * 32, label="", scopes=[Scope.INTROSPECT], hint="Ab3d")
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute("update api_tokens set scopes = 'introspect later'")
    found = await store.api_tokens.get(b"d" * 32)
    assert found is not None
    assert found.scopes == {Scope.INTROSPECT}
    assert [each.scopes for each in await store.api_tokens.list(production)] == [{Scope.INTROSPECT}]
    await store.aclose()
