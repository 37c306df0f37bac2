"""Rejects data sources on SQLite, DuckDB or PostgreSQL that can read the tables of a store or of its copy, also
through a link. A source is checked when it is registered, and again on each connection."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from tenantry.database.address import PostgresServer, libpq_url, load_psycopg
from tenantry.database.connection_problems import connection_problem
from tenantry.database.source_url import TIMEZONE_OPTION, lacks_secrets
from tenantry.database.tables import metadata, revisions
from tenantry.errors import InvalidSettings, InvalidSource

logger: logging.Logger = logging.getLogger(__name__)

TABLES: Final = (*metadata.tables, revisions.name)
"""All tables of a store. Other programs may use these names too, so a schema counts as a store only if its table
``generation`` has a column ``store_id``, and its table ``user_groups`` a column ``nonce``."""

_SQLITE_MAGIC: Final = b"SQLite format 3\0"

_IN_SQLITE: Final = """
select count(*) from sqlite_master where type = 'table'
  and (name = 'generation' and sql like '%store_id%' or name = 'user_groups' and sql like '%nonce%')
"""

# Checks all roles of which the current role is a member: even a read-only query can switch to them with
# set_config('role', …).
IN_POSTGRESQL: Final = """
select quote_ident(n.nspname) || '.' || quote_ident(c.relname), quote_ident(current_user),
  pg_has_role(c.relowner, 'member') or exists (
    select from pg_roles r where r.rolname = 'pg_read_all_data' and pg_has_role(r.oid, 'member')),
  readers.names
from pg_class c join pg_namespace n on n.oid = c.relnamespace
  cross join lateral (
    select array_agg(quote_ident(r.rolname)::text) as names from pg_roles r where pg_has_role(r.oid, 'member')
      and has_schema_privilege(r.oid, n.oid, 'usage') and has_any_column_privilege(r.oid, c.oid, 'select')) as readers
where c.relkind in ('r', 'p') and c.relname = any ($1::text[])
  and 2 = (select count(*) from pg_attribute a join pg_class o on o.oid = a.attrelid
    where o.relnamespace = n.oid and not a.attisdropped
      and (o.relname, a.attname) in (('generation', 'store_id'), ('user_groups', 'nonce')))
  and (pg_has_role(c.relowner, 'member') or readers.names is not null)
order by 1
"""
"""SQL that finds each table of a store that the role can read. Its parameter is TABLES. Pass its rows to
``check_postgresql_rows``."""


def check_sqlite(connection: sqlite3.Connection) -> None:
    """Raise InvalidSource if the file is a store."""
    with closing(connection.execute(_IN_SQLITE)) as cursor:
        (found,) = cursor.fetchone()
    if found == 2:
        raise InvalidSource(
            "this SQLite file is a store of Tenantry: a query could read every tenant's properties and the stored "
            "parts of all tokens. Keep the data of your app in another file, and register that file",
            field="/url",
        )


def is_sqlite(path: Path) -> bool:
    """Whether the file is an SQLite database. Raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC


def check_postgresql_rows(found: Sequence[Sequence[Any]]) -> None:
    """Raise InvalidSource if there are any rows. ``found``: the result of IN_POSTGRESQL."""
    if not found:
        return
    names, role, owns = ", ".join(row[0] for row in found), found[0][1], any(row[2] for row in found)
    readers = ", ".join(sorted({name for row in found for name in row[3] or ()}))
    remedy = (
        "Give the source a separate role, which is not a superuser, does not own these tables, and is not a member of "
        "their owner or of pg_read_all_data: `create role reader login`, then `grant select on` the tables of your app"
        if owns
        else f"As the owner of these tables, run: revoke all on {names} from {readers}, public"
    )
    raise InvalidSource(
        f"the role {role} of the data source can read Tenantry's own tables ({names}), and with them every tenant's "
        f"properties. {remedy}. The store and your app can then share the database",
        field="/url",
    )


async def check_source(name: str, url: str, seconds: float) -> None:
    """Raise InvalidSource if the source can read a store's tables, or if libpq does not know an option of its URL.
    If the server does not answer within ``seconds``, or the file cannot be read, only log a warning with the
    source's ``name``. A URL with unresolved secrets is not checked."""
    try:
        parsed = make_url(url).difference_update_query([TIMEZONE_OPTION])
    except (ArgumentError, ValueError):
        return  # an error names the problem when the source is opened
    if lacks_secrets(parsed):
        return  # checked when it is opened with its secrets
    kind = parsed.get_backend_name()
    unchecked = None
    if kind in ("sqlite", "duckdb"):
        unchecked = await asyncio.to_thread(_check_file, parsed)
    elif kind in ("postgresql", "postgres"):
        unchecked = await _check_server(parsed, seconds)
    if unchecked is not None:
        logger.warning(
            "Tenantry could not check whether data source %r can read Tenantry's own tables (%s). It checks again "
            "before it runs a query on this data source",
            name,
            unchecked,
        )


# The next two functions return why the source could not be checked. They never return an error's message, because it
# may quote the URL.


def _check_file(url: URL) -> str | None:
    path = Path((url.database or "").removeprefix("file:").partition("?")[0]).expanduser()
    try:
        if not path.is_file() or not is_sqlite(path):
            return None
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            check_sqlite(connection)
    except (OSError, ValueError, sqlite3.Error) as error:
        return type(error).__name__
    return None


async def _check_server(url: URL, seconds: float) -> str | None:
    dsn = libpq_url(url)
    unreadable = False
    try:
        driver = load_psycopg()
    except InvalidSettings:
        return "psycopg is not installed: pip install 'tenantry[postgres]'"
    try:
        async with asyncio.timeout(seconds):
            connection = await PostgresServer(dsn, "").connect(seconds=seconds)
            try:
                found, _ = await connection.run(IN_POSTGRESQL, ("{" + ",".join(TABLES) + "}",))
            finally:
                connection.terminate()
        check_postgresql_rows(found)
    except InvalidSettings:
        unreadable = True
    except (OSError, ValueError, TimeoutError, driver.Error) as error:
        return connection_problem(error, f"{url.host}:{url.port or 5432}")
    # Raise outside the except clause: otherwise the context would be the caught error, which quotes the URL.
    if unreadable:
        raise InvalidSource(
            "the URL of the data source has an option, or a value of an option, that libpq does not know: correct the "
            "part after the '?'",
            field="/url",
        )
    return None
