"""Many user groups at once: handles and nonces are made from a group's number, so that nothing has to be read back.

They are loaded as rows, past the writes of the store, which would take an fsync for each.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.groups import Tag, Token
from tenantry.tokens import KeyRing, SigningKey

KEYS = KeyRing([SigningKey("k1", blake2b(b"benchmarks only", digest_size=32).digest())])
ENVIRONMENT = "production"
_PROPERTIES = json.dumps({"region": "eu", "seats": 25, "plan": "team", "statuses": ["open", "paid"]})
_COLUMNS = (
    "environment_id",
    "provided_id",
    "name",
    "properties",
    "handle",
    "token_version",
    "key_id",
    "nonce",
    "revision",
    "created_at",
    "updated_at",
)
_MICROS = 1_767_225_600_000_000  # 2026-01-01


def token(number: int) -> Token:
    """The live token of group ``number``."""
    random = blake2b(number.to_bytes(8, "big"), digest_size=24).digest()
    return Token(Tag.CUSTOMER, "k1", random[:8], 1, random[8:])


def raw(number: int) -> bytes:
    """The same as a request carries it."""
    return KEYS.mint(token(number)).encode()


def populate(url: str, count: int) -> None:
    """Makes the tables at ``url`` and groups 0 … ``count`` - 1 in one environment."""
    migrate(url)
    environment_id = asyncio.run(_environment(url))
    rows = (_row(number, environment_id) for number in range(count))
    if url.startswith("sqlite"):
        _into_sqlite(urlsplit(url).path[1:], rows)
    else:
        asyncio.run(_into_postgres(url, rows))


async def _environment(url: str) -> int:
    store = SQLStore(url)
    try:
        return (await store.environments.create(ENVIRONMENT, Tag.CUSTOMER)).id
    finally:
        await store.aclose()


def _row(number: int, environment_id: int) -> tuple[Any, ...]:
    live = token(number)
    name = f"Customer {number}"
    provided = f"customer-{number}"
    times = (_MICROS, _MICROS)
    return (environment_id, provided, name, _PROPERTIES, live.handle, live.version, live.key_id, live.nonce, 1, *times)


def _into_sqlite(path: str, rows: Iterator[tuple[Any, ...]]) -> None:
    connection = sqlite3.connect(path)
    marks = ", ".join("?" * len(_COLUMNS))
    with connection:
        connection.executemany(f"insert into user_groups ({', '.join(_COLUMNS)}) values ({marks})", rows)
    connection.execute("pragma wal_checkpoint(truncate)").close()
    connection.close()


async def _into_postgres(url: str, rows: Iterator[tuple[Any, ...]]) -> None:
    import asyncpg

    connection = await asyncpg.connect(url)
    try:
        await connection.copy_records_to_table("user_groups", records=rows, columns=_COLUMNS)
        await connection.execute("vacuum analyze user_groups")
    finally:
        await connection.close()
