"""What a driver's error means to a caller: try again, migrate first, or a mistake of ours that must be seen."""

from __future__ import annotations

import asyncio
import re
import sqlite3

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from tenantry.database.address import RUN_MIGRATE
from tenantry.errors import MigrationNeeded, StoreUnavailable

_NOT_ALLOWED = "42501"  # insufficient privilege; its text names a table or a column, and no value
_NO_TABLES = {"42P01", "42703", "3F000"}  # undefined table, column, schema
_REFUSED = {  # by the text: libpq gives no SQLSTATE for what ends an attempt to connect
    "there is no such database": re.compile(r'database "[^"]*" does not exist|no such database'),
    "the password is wrong": re.compile(r"password authentication failed|no password supplied"),
    "the user is refused": re.compile(
        r'role "[^"]*" (does not exist|is not permitted)|no pg_hba.conf entry|no such user'
    ),
    "the pooler has pool_mode = statement, where no transaction can be: use transaction or session": re.compile(
        "statement pooling mode"
    ),
    "the pooler refuses the simple query protocol, which begins and ends transactions: turn disable_pqexec off": (
        re.compile("PQexec disallowed")
    ),
}
_LOST = {"57P01", "57P02", "57P03", "57P05", "25P03"}  # shut down, crashed, starting up, idle too long
_BUSY = {"55P03", "57014", "40001", "40P01", "25006"}  # lock, cancelled, serialization, deadlock, standby
_BUSY_CLASSES = {"53", "58"}  # out of connections, memory or disk; input/output error


def driver_error(error: BaseException) -> BaseException:
    """The error of the driver itself, without what SQLAlchemy wrapped around it."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def connection_lost(error: BaseException) -> bool:
    """Whether the connection to PostgreSQL is gone, and with it every transaction that was not committed."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    cause = driver_error(error)
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return state in _LOST or state.startswith("08")
    return isinstance(cause, OSError) or type(cause).__name__ in _OF_CONNECTIONS


_OF_CONNECTIONS = {"OperationalError", "InterfaceError", "ConnectionTimeout"}  # of psycopg, without an SQLSTATE


def outdated(error: BaseException) -> bool:
    """Whether a prepared statement outlived what it was prepared for: a table was altered, or the server forgot it.
    Nothing was done, and it is prepared anew on another connection."""
    cause = driver_error(error)
    state = getattr(cause, "sqlstate", None)
    return state in _NO_STATEMENT or (state == "0A000" and "cached plan" in str(cause))


_NO_STATEMENT = {"26000", "42P05"}  # there is none of this name, or there is one already


def unavailable(error: BaseException, label: str) -> StoreUnavailable | None:
    """The error to raise to the caller of the store at ``label``; None when this one is not about availability."""
    cause = driver_error(error)
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(cause, label)
    state = getattr(cause, "sqlstate", None)
    if state in _NO_TABLES:
        return MigrationNeeded(f"the {label} has no tables of this version: {RUN_MIGRATE}")
    if state == _NOT_ALLOWED:
        return StoreUnavailable(
            f"the {label} refuses its role: {str(cause).partition(chr(10))[0]}. "
            "docs/stores.md lists the rights that it needs"
        )
    refused = _refused(cause)
    if refused is not None:
        return StoreUnavailable(f"the {label} cannot be used: {refused}")
    if isinstance(error, asyncio.TimeoutError | PoolTimeout):
        return StoreUnavailable(f"the {label} is too slow or busy: try again")
    if outdated(error):
        return StoreUnavailable(f"the {label} is being altered: try again")
    if connection_lost(error) or state in _BUSY or (state or "")[:2] in _BUSY_CLASSES:
        return StoreUnavailable(f"the {label} does not answer: try again")
    return None


def _refused(cause: BaseException) -> str | None:
    """Why PostgreSQL, or a pooler before it, takes no connection; None where it may take the next one."""
    if isinstance(cause, OSError) or not connection_lost(cause):
        return None
    return next((reason for reason, text in _REFUSED.items() if text.search(str(cause))), None)


def is_locked(error: sqlite3.Error) -> bool:
    """Whether another connection holds a lock that SQLite needed."""
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _of_sqlite(error: sqlite3.Error, label: str) -> StoreUnavailable | None:
    if is_locked(error):
        return StoreUnavailable(f"the {label} is locked by another writer: try again")
    text = str(error)
    if text.startswith(("no such table", "no such column")) or " has no column named " in text:
        return MigrationNeeded(f"the {label} has no tables of this version: {RUN_MIGRATE}")
    if _primary_code(error) in _UNUSABLE:
        return StoreUnavailable(f"the {label} cannot be used: {text}")
    return None


_UNUSABLE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,  # many processes opened the write-ahead log at the same moment
    sqlite3.SQLITE_READONLY,
}


def _primary_code(error: sqlite3.Error) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0) or 0
    return code & 0xFF
